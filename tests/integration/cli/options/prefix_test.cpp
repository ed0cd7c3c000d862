// --prefix: operators type and see names without it, nodes store keys with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "integration/cli/on_nodes.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CliPrefix : public CliOnNodes {
 protected:
  /// Runs the tool with the team's prefix.
  static ProcessResult team(Words words) {
    return tool(std::move(words), {.environment = {"QUORUM_LOCK_PREFIX=billing:"}});
  }
  [[nodiscard]] static bool is_held(const std::string& key) {
    return eventually([&] { return nodes().count_held(key) == nodes().size(); });
  }
};

TEST_F(CliPrefix, StandsOnTheNodesAndNowhereElse) {
  const ProcessResult acquired = team({"acquire", "job", "--json"});
  ASSERT_EQ(acquired.exit_code, 0) << acquired.errors;
  EXPECT_EQ(json_of(acquired)["resource"], "job");
  EXPECT_TRUE(is_held("billing:job"));
  const ProcessResult refused = team({"acquire", "job"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_THAT(refused.errors, HasSubstr("'job'"));
  for (const Words& words :
       {Words{"inspect", "job"}, Words{"list"}, Words{"list", "j*", "--json"},
        Words{"inspect", "job", "--json"}, Words{"acquire", "job", "--json"}}) {
    const ProcessResult shown = team(words);
    EXPECT_THAT(shown.output, HasSubstr("job")) << words.front();
    EXPECT_THAT(shown.output + shown.errors, Not(HasSubstr("billing:"))) << words.front();
  }
  EXPECT_EQ(tool({"acquire", "job"}).exit_code, 0) << "of nobody's prefix";
  EXPECT_EQ(json_of(team({"list", "--json"}))["locks"].size(), 1U);
  const ProcessResult broken = team({"break", "job", "--yes"});
  EXPECT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_THAT(broken.output + broken.errors, Not(HasSubstr("billing:")));
  EXPECT_TRUE(eventually([] { return nodes().count_held("billing:job") == 0; }));
  EXPECT_TRUE(is_held("job")) << "of nobody's prefix";
}

TEST_F(CliPrefix, ACommandIsGivenTheName) {
  const ProcessResult run = team({"run", "job", "--", "sh", "-c", "echo $QUORUM_LOCK_RESOURCE"});
  EXPECT_EQ(run.output, "job\n") << run.errors;
  const ProcessResult permit =
      team({"run", "jobs", "--permits", "2", "--", "sh", "-c", "echo $QUORUM_LOCK_PERMIT"});
  EXPECT_THAT(permit.output, testing::MatchesRegex("jobs#[01]\n")) << permit.errors;
  const ProcessResult leader = team({"elect", "leader", "--", "sh", "-c", "echo led"});
  EXPECT_EQ(leader.output, "led\n") << leader.errors;
}

TEST_F(CliPrefix, ComesFromTheCommandLineBeforeTheVariableBeforeTheFileOrFromTheUrls) {
  const TempDir directory;
  const std::string file = directory.write("locks.toml", "prefix = \"filed:\"\n").native();
  const Words acquire{"acquire", "job", "--config", file};
  EXPECT_EQ(tool(acquire).exit_code, 0);
  EXPECT_TRUE(is_held("filed:job"));
  EXPECT_EQ(team(acquire).exit_code, 0);
  EXPECT_TRUE(is_held("billing:job"));
  EXPECT_EQ(team({"acquire", "job", "--config", file, "--prefix", "typed:"}).exit_code, 0);
  EXPECT_TRUE(is_held("typed:job"));
  std::string urls;
  for (const RedisServer& node : nodes()) {
    urls += (urls.empty() ? "" : ",") + node.url() + "?prefix=linked:";
  }
  const ProcessResult linked = run_tool({"acquire", "job", "--nodes", urls});
  EXPECT_EQ(linked.exit_code, 0) << linked.errors;
  EXPECT_TRUE(is_held("linked:job"));
}

TEST_F(CliPrefix, ThatIsNotAllowedIsOneLineAndChangesNothing) {
  const ProcessResult bare = tool({"acquire", "job", "--prefix", "billing"});
  EXPECT_EQ(bare.exit_code, 64);
  EXPECT_EQ(count_lines(bare.errors), 1U) << bare.errors;
  EXPECT_THAT(bare.errors, HasSubstr("--prefix: 'billing' does not end with ':'"));
  // As from a script whose variable is not set: these would be the locks of all teams.
  const ProcessResult empty = tool({"break", "job", "--yes", "--prefix", ""});
  EXPECT_EQ(empty.exit_code, 64);
  EXPECT_THAT(empty.errors, HasSubstr("--prefix: must not be empty"));
  const ProcessResult twice =
      run_tool({"acquire", "job", "--nodes", nodes()[0].url() + "?prefix=a:", "--prefix", "b:"});
  EXPECT_EQ(twice.exit_code, 64);
  EXPECT_EQ(count_lines(twice.errors), 1U) << twice.errors;
  EXPECT_THAT(twice.errors, HasSubstr("'b:', and the nodes' URLs have 'a:'"));
  EXPECT_EQ(json_of(tool({"list", "--json"}))["locks"].size(), 0U);
  const TempDir directory;
  const std::string file = directory.write("locks.toml", "\nprefix = \"te*m:\"\n").native();
  const ProcessResult checked = run_tool({"config", "check", "--config", file});
  EXPECT_EQ(checked.exit_code, 64);
  EXPECT_THAT(checked.errors, HasSubstr("locks.toml:2: prefix: 'te*m:'; letters, digits and"));
}

}  // namespace
}  // namespace redlock::test
