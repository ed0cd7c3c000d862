// bench --mode handoff: its rows, its table and its end.

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

TEST(CliHandoff, HasARowForEachPattern) {
  const ProcessResult result =
      run_tool({"bench", "--mode", "handoff", "--local", "3", "--contenders", "2,3", "--hand-overs",
                "30", "--repetitions", "1", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("mode", ""), "handoff");
  ASSERT_EQ(json.at("rows").size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Json& row = json.at("rows").at(i);
    const bool reentry = i % 2 == 0;
    EXPECT_EQ(row.value("nodes_count", 0), 3);
    EXPECT_EQ(row.value("contenders", 0), i < 2 ? 2 : 3);
    EXPECT_EQ(row.value("reentry", !reentry), reentry);
    EXPECT_EQ(row.value("overlaps", -1), 0);
    // All thirty grants may go to one contender that re-enters.
    if (reentry) continue;
    for (const char* name :
         {"acquisitions_per_s", "handover_p50_us", "handover_p99_us", "handover_max_us",
          "wait_p50_us", "wait_p99_us", "wait_max_us", "commands_per_handover", "connect_us"}) {
      EXPECT_GT(row.value(name, 0.0), 0.0) << name;
    }
    EXPECT_EQ(row.value("handovers", 0), 30);
    EXPECT_EQ(row.value("share_ratio", 0.0), 1);
  }
}

TEST(CliHandoff, ATableIsForPeople) {
  const ProcessResult result =
      run_tool({"bench", "--mode", "handoff", "--local", "1", "--contenders", "2", "--hand-overs",
                "4", "--hold", "0s", "--repetitions", "1", "--drain"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("drain"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("re-entry"), std::string::npos) << result.output;
  EXPECT_EQ(result.errors, "");
}

TEST(CliHandoff, ASignalEndsContendersAndNodes) {
  const TempDir directory;
  ChildProcess child = start_tool(
      {"bench", "--mode", "handoff", "--local", "1", "--contenders", "2", "--hand-overs", "100000"},
      {.environment = {"TMPDIR=" + directory.path().string()}});
  const auto measures = [&] {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
      if (entry.path().filename().string().starts_with("board-")) return true;
    }
    return false;
  };
  ASSERT_TRUE(eventually(measures));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0})) << child.errors();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliHandoff, WithoutNodesItFailsInOneLine) {
  const ProcessResult result = run_tool({"bench", "--mode", "handoff", "--nodes", "127.0.0.1:1"});
  EXPECT_EQ(result.exit_code, 69) << result.output;
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
}

}  // namespace
}  // namespace redlock::test
