// doctor --watch, which reports what changes, and doctor --nagios, for monitoring.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "integration/cli/tool.hpp"
#include "integration/deployment.hpp"
#include "support/eventually.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ChildProcess watching(const Nodes& nodes, Words options) {
  Words words{"doctor", "--watch", "--interval", "100ms", "--nodes", nodes.joined_urls()};
  words.insert(words.end(), options.begin(), options.end());
  return start_tool(std::move(words));
}

TEST(CliDoctorWatch, ReportsWhatAppearsAndWhatIsGone) {
  Nodes nodes(3);
  ChildProcess child = watching(nodes, {});
  ASSERT_TRUE(child.wait_for_output("all is well", longest_wait)) << child.errors();
  nodes[1].kill();
  ASSERT_TRUE(child.wait_for_output("unreachable  " + nodes[1].url(), longest_wait));
  ASSERT_TRUE(child.wait_for_output("remedy", longest_wait));
  nodes[1].start();
  ASSERT_TRUE(child.wait_for_output("unreachable  " + nodes[1].url() + "\n  gone", longest_wait))
      << child.output();
  child.signal(SIGINT);
  ASSERT_TRUE(child.wait());
  EXPECT_EQ(child.errors(), "");
}

TEST(CliDoctorWatch, EndsWithTheExitCodeOfTheLastCheck) {
  Nodes nodes(3);
  ChildProcess child = watching(nodes, {"--json"});
  ASSERT_TRUE(child.wait_for_output(R"("verdict":"ok")", longest_wait)) << child.errors();
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0}));
  EXPECT_EQ(count_lines(child.output()), 1U) << "nothing has changed";

  ChildProcess other = watching(nodes, {"--json"});
  ASSERT_TRUE(other.wait_for_output(R"("verdict":"ok")", longest_wait)) << other.errors();
  nodes[0].kill();
  ASSERT_TRUE(other.wait_for_output(R"("id":"unreachable")", longest_wait));
  other.signal(SIGTERM);
  EXPECT_EQ(other.wait(), (ExitStatus{1, 0}));
}

ProcessResult nagios(const std::string& nodes, Words options = {}) {
  Words words{"doctor", "--nagios", "--nodes", nodes};
  words.insert(words.end(), options.begin(), options.end());
  ProcessResult result = run_tool(std::move(words));
  EXPECT_EQ(count_lines(result.output), 1U) << result.output << result.errors;
  EXPECT_EQ(result.errors, "");
  return result;
}

TEST(CliDoctorNagios, ExitsWithTheStateOfTheDeployment) {
  Nodes nodes(3);
  const std::string urls = nodes.joined_urls();
  const ProcessResult ok = nagios(urls);
  EXPECT_EQ(ok.exit_code, 0) << ok.output;
  EXPECT_THAT(ok.output,
              StartsWith("REDLOCK OK - 3 of 3 nodes have a vote, 2 are needed|nodes=3;"));

  nodes[0].kill();
  const ProcessResult warning = nagios(urls);
  EXPECT_EQ(warning.exit_code, 1) << warning.output;
  EXPECT_THAT(warning.output, StartsWith("REDLOCK WARNING - 2 of 3 nodes have a vote"));
  EXPECT_THAT(warning.output, HasSubstr("unreachable " + nodes[0].url()));
  EXPECT_THAT(warning.output, HasSubstr("voters=2;3:;2:;0;3 reachable=2;"));

  nodes[1].kill();
  const ProcessResult critical = nagios(urls);
  EXPECT_EQ(critical.exit_code, 2) << critical.output;
  EXPECT_THAT(critical.output, StartsWith("REDLOCK CRITICAL - 1 of 3 nodes has a vote"));

  nodes[2].kill();
  const ProcessResult unknown = nagios(urls);
  EXPECT_EQ(unknown.exit_code, 3) << unknown.output;
  EXPECT_THAT(unknown.output, StartsWith("REDLOCK UNKNOWN - no node can be reached"));
}

TEST(CliDoctorNagios, OfNodesWithoutAVoteIsCritical) {
  NewNodes nodes(3);
  const ProcessResult result = nagios(nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 2) << result.output;
  EXPECT_THAT(result.output, HasSubstr("not-bootstrapped"));
}

TEST(CliDoctorNagios, IsUnknownWhereTheUsageIsWrong) {
  for (const Words& options :
       {Words{"--watch"}, Words{"--json"}, Words{"--no-such-option"}, Words{"r"}}) {
    const ProcessResult result = nagios("127.0.0.1:1", options);
    EXPECT_EQ(result.exit_code, 3) << options[0];
    EXPECT_THAT(result.output, StartsWith("REDLOCK UNKNOWN - ")) << options[0];
    EXPECT_THAT(result.output, Not(HasSubstr("|")));
  }
}

}  // namespace
}  // namespace redlock::test
