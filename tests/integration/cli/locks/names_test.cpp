// The names of holders in the output of the command line.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

TEST(CliNames, AHolderThatWasKilledHasANameAllTheSame) {
  Nodes nodes(3);
  const Words to_nodes{"--nodes", nodes.joined_urls()};
  Words run{"run", "job", "--ttl", "20s", "--name", "night; ly"};
  run.insert(run.end(), to_nodes.begin(), to_nodes.end());
  run.insert(run.end(), {"--", "sleep", "1000"});
  const auto inspect = [&](Words more) {
    Words words{"inspect", "job"};
    words.insert(words.end(), to_nodes.begin(), to_nodes.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words);
  };
  ChildProcess holder = start_tool(run);
  EXPECT_TRUE(eventually(
      [&] { return json_of(inspect({"--json"})).at("holder_name") == "night; ly"; }, seconds(30)));
  holder.signal(SIGKILL);
  ASSERT_TRUE(holder.wait().has_value());
  const Json json = json_of(inspect({"--json"}));
  EXPECT_EQ(json.at("holder_name"), "night; ly");
  EXPECT_EQ(json.at("waiters"), 0);
  EXPECT_TRUE(json.at("next").is_null());
  EXPECT_NE(inspect({}).output.find("\n  holder night; ly\n"), std::string::npos);

  Words acquire{"acquire", "job", "--wait", "0s"};
  acquire.insert(acquire.end(), to_nodes.begin(), to_nodes.end());
  const std::string refusal = run_tool(acquire).errors;
  EXPECT_NE(refusal.find("'job' is held by night; ly ("), std::string::npos) << refusal;

  Words breaking{"break", "job", "--yes", "--name", "on call"};
  breaking.insert(breaking.end(), to_nodes.begin(), to_nodes.end());
  const ProcessResult broken = run_tool(breaking);
  ASSERT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_NE(broken.output.find("  holder night; ly\n"), std::string::npos) << broken.output;
  const std::string after = inspect({}).output;
  EXPECT_NE(after.find("  by on call  token "), std::string::npos) << after;
  const Json audit = json_of(inspect({"--json"})).at("broken");
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit.at(0).at("by"), "on call");
}

TEST(CliNames, TheToolRefusesOddOnes) {
  for (const std::string& name : {std::string(), std::string(81, 'x'), std::string("a\nb")}) {
    const ProcessResult result =
        run_tool({"inspect", "job", "--name", name, "--nodes", "127.0.0.1:1"});
    EXPECT_EQ(result.exit_code, 64) << name;
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  }
}

}  // namespace
}  // namespace redlock::test
