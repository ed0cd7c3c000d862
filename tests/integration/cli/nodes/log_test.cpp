// The lines that --verbose and --log-level write about nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/cli/tool.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {
namespace {

TEST(CliNodeEvents, HaveAtLeastTheLevelThatWasAskedFor) {
  Nodes nodes(3);
  const auto start = [&](const Words& options) {
    Words words{"run", "r", "--wait", "2m", "--nodes", nodes.joined_urls(), "--json"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", "echo held; read line"});
    return start_tool(words);
  };
  const auto end = [](ChildProcess& child) {
    child.write_input("\n");
    EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
    return child.errors();
  };
  ChildProcess debug = start({"--log-level", "debug"});
  ASSERT_TRUE(debug.wait_for_output("held")) << debug.errors();
  // As a server that closes an idle connection.
  nodes[0].command({"CLIENT", "KILL", "TYPE", "normal"});
  const std::string node = R"("level":"debug","node":")" + nodes[0].url() + R"(","event":)";
  ASSERT_TRUE(debug.wait_for_errors(node + R"("down")")) << debug.errors();
  ASSERT_TRUE(debug.wait_for_errors(node + R"("up")")) << debug.errors();
  const std::string all = end(debug);
  EXPECT_THAT(all, testing::HasSubstr(R"("event":"down")"));
  EXPECT_THAT(all, testing::HasSubstr(R"("level":"info")"));
  EXPECT_THAT(all, testing::Not(testing::HasSubstr(R"("level":"warning")"))) << all;

  ChildProcess verbose = start({"--verbose"});
  ASSERT_TRUE(verbose.wait_for_output("held")) << verbose.errors();
  nodes[0].command({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_THAT(end(verbose), testing::Not(testing::HasSubstr(R"("level":"debug")")));

  ChildProcess warnings = start({"--log-level", "warning"});
  ASSERT_TRUE(warnings.wait_for_output("held")) << warnings.errors();
  EXPECT_THAT(end(warnings), testing::Not(testing::HasSubstr(R"("event":"up")")));
}

}  // namespace
}  // namespace redlock::test
