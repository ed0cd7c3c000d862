// quorum-lock break --delay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "integration/cli/on_nodes.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;

class CliBreakDelay : public CliOnNodes {
 protected:
  static ProcessResult break_it(Words more = {}) {
    Words words{"break", "job", "--yes", "--name", "on call"};
    words.insert(words.end(), more.begin(), more.end());
    return tool(std::move(words));
  }
  static void store(std::size_t node, const std::string& value) {
    nodes()[node].command({"SET", "job", value, "PX", "60000"});
  }
  static void store_everywhere() {
    for (std::size_t node = 0; node < nodes().size(); ++node) store(node, "theirs");
  }
};

TEST_F(CliBreakDelay, TellsEverybodyWhoBrokeItAndForHowLong) {
  store_everywhere();
  const ProcessResult broken = break_it({"--delay", "30s"});
  ASSERT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_THAT(broken.output,
              HasSubstr("broken job  token theirs\nnobody can acquire job for 30.000 s\n"));
  EXPECT_THAT(broken.errors, HasSubstr("longer than the delay of 30.000 s"));

  const ProcessResult refused = tool({"acquire", "job"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_THAT(refused.errors, HasSubstr("'job' is broken by on call, free in "));
  EXPECT_THAT(tool({"inspect", "job"}).output, HasSubstr("held by nobody, broken by on call, "));
  EXPECT_THAT(tool({"list"}).output, HasSubstr("broken by on call"));
  const Json seen = json_of(tool({"inspect", "job", "--json"}));
  EXPECT_EQ(seen.at("delay"), true);
  EXPECT_EQ(seen.at("holder_name"), "on call");
  EXPECT_EQ(json_of(tool({"list", "--json"})).at("locks").at(0).at("delay"), true);
}

TEST_F(CliBreakDelay, ThatIsTooShortIsSaidToAQuietProgramToo) {
  store_everywhere();
  const ProcessResult broken = break_it({"--delay", "30s", "--quiet"});
  ASSERT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_THAT(broken.errors, HasSubstr("longer than the delay of 30.000 s"));
}

TEST_F(CliBreakDelay, IsSaidToPrograms) {
  store_everywhere();
  const Json json = json_of(break_it({"--delay", "30s", "--json"}));
  EXPECT_EQ(json.at("outcome"), "released");
  EXPECT_EQ(json.at("delay_ms"), 30'000);
  const Json ended = json_of(break_it({"--json"}));
  EXPECT_EQ(ended.at("outcome"), "released");
  EXPECT_EQ(ended.at("delay_ms"), 0);
  EXPECT_EQ(tool({"acquire", "job"}).exit_code, 0) << "a second break ends the delay";
}

TEST_F(CliBreakDelay, OfAFreeResourceIsNotImposed) {
  const ProcessResult result = break_it({"--delay", "30s"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "job free, nothing to break, no delay imposed\n");
  EXPECT_EQ(nodes().count_held("job"), 0U);
}

TEST_F(CliBreakDelay, SaysWhereTooFewNodesKeepIt) {
  store(0, "theirs");
  const ProcessResult result = break_it({"--delay", "30s"});
  EXPECT_EQ(result.exit_code, 69) << result.output;
  EXPECT_THAT(result.errors,
              HasSubstr("'job' was broken, but the delay could not be imposed: it is on 1 of 3 "
                        "nodes, 2 needed; it can be acquired at once"));
}

TEST(CliBreakDelayOutage, NeedsAQuorumAndNotEveryNode) {
  Nodes nodes(3);
  for (RedisServer& node : nodes) node.command({"SET", "job", "theirs", "PX", "60000"});
  const auto tool = [&](Words words) {
    words.insert(words.end(), {"--nodes", nodes.joined_urls()});
    return run_tool(std::move(words));
  };
  nodes[2].kill();
  const ProcessResult broken = tool({"break", "job", "--yes", "--delay", "30s"});
  ASSERT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_EQ(tool({"acquire", "job"}).exit_code, 75);
  nodes[2].start(Data::wipe);
  EXPECT_EQ(tool({"acquire", "job"}).exit_code, 75) << "the others keep it";
  nodes[1].kill();
  nodes[2].kill();
  const ProcessResult unknown = tool({"break", "job", "--yes", "--delay", "30s"});
  EXPECT_EQ(unknown.exit_code, 69) << unknown.output;
}

TEST_F(CliBreakDelay, OfASplitIsOne) {
  store(0, "first");
  store(1, "second");
  store(2, "third");
  const ProcessResult result = break_it({"--delay", "30s"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("nobody can acquire job for 30.000 s\n"));
  EXPECT_EQ(tool({"acquire", "job"}).exit_code, 75);
}

TEST_F(CliBreakDelay, IsChecked) {
  for (const auto* wrong : {"0s", "31s", "5", "-1s"}) {
    const ProcessResult result = break_it({"--delay", wrong});
    EXPECT_EQ(result.exit_code, 64) << wrong;
    EXPECT_THAT(result.errors, HasSubstr("--delay")) << wrong;
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  }
}

}  // namespace
}  // namespace redlock::test
