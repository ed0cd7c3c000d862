// The options of all verbs that say how to reach the nodes and what the nodes must be like. Real
// servers are opened, locked and used by token, each time by a separate command.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "integration/cli/tool.hpp"
#include "support/certificates.hpp"
#include "support/fake_server.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {
namespace {

using std::chrono::hours;
using testing::HasSubstr;

class CliOptions : public testing::Test {
 protected:
  /// Runs the tool with the options after the words.
  [[nodiscard]] static ProcessResult tool(Words words, const Words& options) {
    words.insert(words.end(), options.begin(), options.end());
    return run_tool(std::move(words));
  }
  /// Acquires, extends and releases a lock.
  static void expect_locks(const Words& options) {
    const ProcessResult acquired = tool({"acquire", "r", "--quiet", "--ttl", "20s"}, options);
    ASSERT_EQ(acquired.exit_code, 0) << acquired.errors;
    const std::string token = acquired.output.substr(0, 40);
    for (const Words& words : {Words{"extend", "r", "--ttl", "30s", "--token", token},
                               Words{"release", "r", "--token", token}}) {
      const ProcessResult result = tool(words, options);
      EXPECT_EQ(result.exit_code, 0) << result.errors;
    }
  }
  static void open(const Words& options) {
    const ProcessResult opened = tool({"bootstrap"}, options);
    ASSERT_EQ(opened.exit_code, 0) << opened.output << opened.errors;
    const ProcessResult checked = tool({"doctor"}, options);
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
  }
};

TEST_F(CliOptions, CertificatesAreForNodesThatDemandThem) {
  RedisServerOptions server;
  server.tls = TlsOptions{.certificate = certificates().server.certificate,
                          .key = certificates().server.key,
                          .ca = certificates().ca,
                          .clients = ClientCertificates::required};
  const NewNodes nodes(3, server);
  std::string urls;
  for (std::size_t i = 0; i < 3; ++i) urls += (i == 0 ? "" : ",") + nodes[i].tls_url();
  const Words options{"--nodes",  urls,
                      "--cacert", certificates().ca.string(),
                      "--cert",   certificates().client.certificate.string(),
                      "--key",    certificates().client.key.string()};
  ASSERT_NO_FATAL_FAILURE(open(options));
  expect_locks(options);
  const ProcessResult without = tool({"acquire", "r"}, {"--nodes", urls});
  EXPECT_EQ(without.exit_code, 69);
  EXPECT_THAT(without.errors, HasSubstr("certificate"));
}

TEST_F(CliOptions, ALargerQuorumIsNeeded) {
  const Nodes nodes(3);
  const Words options{"--nodes", nodes.joined_urls(), "--quorum", "3"};
  expect_locks(options);
  nodes[1].command({"SET", "r", "foreign", "PX", "60000"});
  EXPECT_EQ(tool({"acquire", "r"}, options).exit_code, 75);
  EXPECT_EQ(tool({"acquire", "r"}, {"--nodes", nodes.joined_urls()}).exit_code, 0);
}

TEST_F(CliOptions, LeasesMayBeLongerAndQuarantinesTooIfAllSaySo) {
  const NewNodes nodes(3);
  const Words options{"--nodes", nodes.joined_urls(), "--max-ttl", "10m", "--restart-guard", "11m"};
  ASSERT_NO_FATAL_FAILURE(open(options));
  EXPECT_EQ(tool({"acquire", "r", "--ttl", "9m"}, options).exit_code, 0);
  const ProcessResult other = tool({"acquire", "s"}, {"--nodes", nodes.joined_urls()});
  EXPECT_EQ(other.exit_code, 69);
  EXPECT_THAT(other.errors, HasSubstr("max TTL"));
}

TEST_F(CliOptions, NodesThatKeepAllVoteAsSoonAsTheyAreBack) {
  NewNodes nodes(
      1, RedisServerOptions{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}});
  const Words options{"--nodes", nodes.joined_urls(), "--durable"};
  ASSERT_NO_FATAL_FAILURE(open(options));
  expect_locks(options);
  nodes[0].restart();
  expect_locks(options);
  nodes[0].restart();
  EXPECT_EQ(tool({"acquire", "r"}, {"--nodes", nodes.joined_urls()}).exit_code, 69)
      << "nobody said that it keeps all";
}

TEST_F(CliOptions, ClocksMayBeFurtherApart) {
  NewNodes nodes(3, RedisServerOptions{.clock = ServerClock::movable});
  nodes[2].move_clock(hours(1));
  Words options{"--nodes", nodes.joined_urls(), "--quorum", "3", "--clock-bound", "2h"};
  ASSERT_NO_FATAL_FAILURE(open(options));
  expect_locks(options);
  options.resize(4);
  const ProcessResult refused = tool({"acquire", "r"}, options);
  EXPECT_EQ(refused.exit_code, 69);
  EXPECT_THAT(refused.errors, HasSubstr("clock"));
}

TEST_F(CliOptions, ConnectingHasATimeLimitOfItsOwn) {
  FakeServer mute;
  mute.answer_all([](const Command&) { return FakeAnswer::silence(); });
  // With a password: without one, doctor and list would count as connected when the server has
  // accepted.
  const std::string url = "redis://:secret@127.0.0.1:" + std::to_string(mute.port());
  const Words options{"--nodes", url, "--timeout", "20s", "--connect-timeout", "50ms"};
  for (const Words& words : {Words{"acquire", "r"}, Words{"list"}, Words{"doctor"}}) {
    const ProcessResult result = tool(words, options);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.output + result.errors,
                HasSubstr("no connection within 50 ms (connect timeout)"));
  }
}

}  // namespace
}  // namespace redlock::test
