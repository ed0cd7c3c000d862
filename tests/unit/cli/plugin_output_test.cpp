#include "quorum-lock/verbs/plugin_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <regex>
#include <set>
#include <string>

#include "quorum-lock/verbs/finding_levels.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using FindingKind = admin::Finding::Kind;

/// `count` healthy members: r0, r1, …
admin::DeploymentCheck healthy(std::size_t count) {
  admin::DeploymentCheck check;
  check.granted_in = 0ns;
  for (std::size_t i = 0; i < count; ++i) {
    admin::NodeCheck& node = check.nodes.emplace_back();
    node.url = "redis://r" + std::to_string(i);
    node.reachable = true;
    node.run_id = "id" + std::to_string(i);
    node.round_trip = 100us * (i + 1);
    node.votes = true;
  }
  check.members = count;
  check.quorum = count / 2 + 1;
  return check;
}

void find(admin::DeploymentCheck& check, FindingKind kind, const std::string& node) {
  check.findings.push_back({node, kind, "What | is wrong.", "Why.", "Remedy."});
}

void kill_node(admin::DeploymentCheck& check, std::size_t node) {
  check.nodes[node].reachable = false;
  check.nodes[node].run_id.clear();
  check.nodes[node].votes = false;
  find(check, FindingKind::unreachable, check.nodes[node].url);
}

TEST(PluginOutput, IsOkWhereNothingIsWrong) {
  const PluginOutput output = plugin_output(healthy(5), true);
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.line,
            "REDLOCK OK - 5 of 5 nodes have a vote, 3 are needed|nodes=5;;;0; voters=5;5:;3:;0;5 "
            "reachable=5;;;0;5 problems=0;;;0; rtt=500us;;;0;\n");
}

TEST(PluginOutput, SpeaksOfOneNodeAsOne) {
  admin::DeploymentCheck check = healthy(1);
  EXPECT_THAT(plugin_output(check, true).line, StartsWith("REDLOCK OK - the node has a vote|"));
  check.nodes[0].votes = false;
  EXPECT_THAT(plugin_output(check, true).line,
              StartsWith("REDLOCK CRITICAL - the node has no vote|"));
}

TEST(PluginOutput, WarnsWhileAQuorumHasAVote) {
  auto check = healthy(5);
  kill_node(check, 1);
  kill_node(check, 2);
  const PluginOutput output = plugin_output(check, true);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.line,
              StartsWith("REDLOCK WARNING - 3 of 5 nodes have a vote, 3 are needed; unreachable "
                         "redis://r1: What / is wrong.; unreachable redis://r2: "));
  EXPECT_THAT(output.line, HasSubstr("voters=3;5:;3:;0;5 reachable=3;"));
}

TEST(PluginOutput, IsCriticalWhereFewerThanAQuorumHaveAVote) {
  auto check = healthy(3);
  kill_node(check, 0);
  find(check, FindingKind::quarantined, "redis://r2");
  check.nodes[2].votes = false;
  check.granted_in = 12s;
  const PluginOutput output = plugin_output(check, true);
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_THAT(output.line, StartsWith("REDLOCK CRITICAL - 1 of 3 nodes has a vote, 2 are needed; "
                                      "locks are granted in 12"));
}

TEST(PluginOutput, IsCriticalWhereThePromiseIsInDanger) {
  auto check = healthy(3);
  find(check, FindingKind::stale_client, "redis://r0, redis://r1");
  EXPECT_EQ(plugin_output(check, true).exit_code, 1);
  find(check, FindingKind::not_durable, "redis://r0");
  EXPECT_EQ(plugin_output(check, true).exit_code, 2);
}

TEST(PluginOutput, IsCriticalWhereVotesDoNotCountTogether) {
  auto check = healthy(3);
  check.granted_in = std::nullopt;
  const PluginOutput output = plugin_output(check, true);
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_THAT(output.line, HasSubstr("do not count together"));
  EXPECT_EQ(plugin_output(check, false).exit_code, 0) << "without the guard, nobody has markers";
}

TEST(PluginOutput, IsUnknownWhereNoNodeCanBeReached) {
  auto check = healthy(2);
  kill_node(check, 0);
  kill_node(check, 1);
  const PluginOutput output = plugin_output(check, true);
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_THAT(output.line, StartsWith("REDLOCK UNKNOWN - no node can be reached; unreachable "));
  EXPECT_EQ(plugin_unknown("--nodes: none\ngiven").line,
            "REDLOCK UNKNOWN - --nodes: none\\x0agiven\n");
}

TEST(PluginOutput, IsShortHoweverMuchIsWrong) {
  auto check = healthy(5);
  for (int i = 0; i < 5; ++i) find(check, FindingKind::replicas, "redis://r" + std::to_string(i));
  const std::string line = plugin_output(check, true).line;
  EXPECT_THAT(line, HasSubstr("redis://r2"));
  EXPECT_THAT(line, Not(HasSubstr("redis://r3")));
  EXPECT_THAT(line, HasSubstr("; and 2 more|"));
}

TEST(FindingLevels, HaveARowForEachKind) {
  std::set<FindingKind> kinds;
  for (const FindingRow& row : finding_rows()) EXPECT_TRUE(kinds.insert(row.kind).second);
  for (int kind = 0; to_string(static_cast<FindingKind>(kind)) != "unknown"; ++kind) {
    EXPECT_TRUE(kinds.contains(static_cast<FindingKind>(kind)))
        << to_string(static_cast<FindingKind>(kind));
  }
}

TEST(FindingLevels, AreThoseOfTheReference) {
  const std::string page = test::read_file(test::pages_folder() + "/REFERENCE.md");
  std::set<std::string> documented;
  const std::regex row(R"(\| `([a-z-]+)` \| (warning|critical) \|)");
  for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i) {
    documented.insert((*i)[1].str() + ' ' + (*i)[2].str());
  }
  std::set<std::string> expected;
  for (const FindingRow& each : finding_rows()) {
    expected.insert(std::string(to_string(each.kind)) + ' ' + std::string(to_string(each.level)));
  }
  EXPECT_EQ(documented, expected);
}

}  // namespace
}  // namespace redlock::cli
