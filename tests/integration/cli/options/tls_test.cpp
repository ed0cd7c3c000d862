// TLS on the command line: the name of the servers' certificates.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "integration/cli/tool.hpp"
#include "support/certificates.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;

TEST(CliServerName, MayStandInTheUrlAnOptionOrAVariable) {
  RedisServerOptions options;
  options.tls.emplace();
  options.tls->certificate = certificates().other_host_server.certificate;
  options.tls->key = certificates().other_host_server.key;
  options.tls->ca = certificates().ca;
  const RedisServer server(options);
  const std::vector<std::string> trusting{"QUORUM_LOCK_CACERT=" + certificates().ca.string()};
  const auto run = [&](Words words, std::vector<std::string> more = {}) {
    more.insert(more.end(), trusting.begin(), trusting.end());
    return run_tool(std::move(words), {.environment = more});
  };
  const std::string named = server.tls_url() + "?server_name=elsewhere.invalid";
  EXPECT_EQ(run({"bootstrap", "--nodes", named}).exit_code, 0);
  EXPECT_EQ(run({"acquire", "a", "--nodes", named}).exit_code, 0);
  EXPECT_EQ(run({"acquire", "b", "--nodes", server.tls_url(), "--server-name", "elsewhere.invalid"})
                .exit_code,
            0);
  EXPECT_EQ(run({"acquire", "c", "--nodes", server.tls_url()},
                {"QUORUM_LOCK_SERVER_NAME=elsewhere.invalid"})
                .exit_code,
            0);
  const ProcessResult refused = run({"acquire", "d", "--nodes", server.tls_url()});
  EXPECT_EQ(refused.exit_code, 69);
  EXPECT_THAT(refused.errors,
              HasSubstr("certificate is for 'elsewhere.invalid', expected '127.0.0.1'"));
  const ProcessResult wrong =
      run_tool({"acquire", "e", "--nodes", "127.0.0.1", "--server-name", "x"});
  EXPECT_EQ(wrong.exit_code, 64);
  EXPECT_THAT(wrong.errors, HasSubstr("a server name is given, but no node's URL is rediss://"));
}

}  // namespace
}  // namespace redlock::test
