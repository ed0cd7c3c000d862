// chaos: its runs, its check of kept histories, and wrong usage.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

std::vector<std::string> every_kind() {
  return {"kill", "pause",  "partition", "restart", "slow", "clock",
          "role", "pieces", "evict",     "name",    "load"};
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The number of processes whose command line names this folder or that run in it: a run, and its
/// contenders and servers, which replace their command lines by titles.
std::size_t processes_of(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code gone;
    const std::string work = std::filesystem::read_symlink(entry.path() / "cwd", gone);
    const bool ours =
        work.find(folder.string()) != std::string::npos ||
        content_of(entry.path() / "cmdline").find(folder.string()) != std::string::npos;
    if (ours) ++count;
  }
  return count;
}

TEST(CliChaos, FindsNothingWrongAmongAllFaults) {
  const TempDir directory;
  const auto page = directory.path() / "report.html";
  const auto histories = directory.path() / "histories";
  const ProcessResult result = run_tool({"chaos", "--duration", "8s", "--clients", "3", "--seed",
                                         "20", "--html", page, "--keep", histories, "--json"},
                                        {.environment = {"TMPDIR=" + directory.path().string()}});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("verdict", ""), "ok");
  EXPECT_GT(json.value("leases", 0), 0);
  EXPECT_TRUE(json.at("violations").empty());
  EXPECT_EQ(json.value("lost_updates", -1), 0);
  EXPECT_EQ(json.value("seed", 0), 20);
  EXPECT_EQ(json.value("duration_ms", 0), 8'000);
  for (const std::string& kind : every_kind()) EXPECT_GT(json.at("faults").value(kind, 0), 0);
  int others = 0;
  for (const char* kind : {"readers", "owners", "several", "permits"}) {
    others += json.at("locks").at(kind).get<int>();
  }
  EXPECT_GT(json.at("locks").value("exclusive", 0), 0);
  EXPECT_GT(others, 0);

  EXPECT_TRUE(content_of(page).ends_with("</html>\n"));
  // Only the requested files are left.
  const auto entries = std::filesystem::directory_iterator(directory.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2);

  const ProcessResult again = run_tool({"chaos", "--check", histories, "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(json_of(again), json);

  // A lease that was never granted, over the whole run.
  std::ofstream(histories / "contender-2.99.history")
      << "granted 1 chaos-a 0 1 " << INT64_MAX << " " << INT64_MAX << " 1\n";
  const ProcessResult broken = run_tool({"chaos", "--check", histories});
  EXPECT_EQ(broken.exit_code, 1) << broken.output;
  EXPECT_NE(broken.output.find("violated: overlap of chaos-a"), std::string::npos) << broken.output;

  // A reader among leases that are not readers'.
  std::ofstream(histories / "contender-2.99.history")
      << "granted 1 chaos-b 0 1 " << INT64_MAX << " " << INT64_MAX << " 0 readers\n";
  const ProcessResult read = run_tool({"chaos", "--check", histories});
  EXPECT_EQ(read.exit_code, 1) << read.output;
  EXPECT_NE(read.output.find("violated: overlap of chaos-b"), std::string::npos) << read.output;
}

TEST(CliChaos, SparesWhatItWasNotAskedToBreak) {
  const ProcessResult result = run_tool({"chaos", "--local", "3", "--clients", "2", "--duration",
                                         "2s", "--faults", "pause,slow", "--seed", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_NE(result.output.find("2 contenders, 3 nodes"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("--local 3 --clients 2 --duration 2s --faults pause,slow --seed 4"),
            std::string::npos)
      << result.output;
  EXPECT_EQ(result.output.find("kill"), std::string::npos) << result.output;
}

/// An executable script of this test.
std::filesystem::path script_in(const TempDir& directory, const std::string& text) {
  auto path = directory.path() / "contender";
  std::ofstream(path) << "#!/bin/sh\n" << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(CliChaos, AForeignContenderContendsForTheSameLocks) {
  const TempDir directory;
  const auto histories = directory.path() / "histories";
  const std::string tools = std::filesystem::path(quorum_lock_program()).parent_path();
  const ProcessResult result =
      run_tool({"chaos", "--local", "3", "--clients", "2", "--duration", "4s", "--keep", histories,
                "--contender-command", foreign_contender_script(), "--json"},
               {.environment = {"PATH=" + tools + ":" + std::getenv("PATH"),
                                "TMPDIR=" + directory.path().string()}});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_EQ(result.errors, "");
  const Json json = json_of(result);
  EXPECT_EQ(json.value("verdict", ""), "ok");
  EXPECT_EQ(json.value("clients", 0), 2);
  EXPECT_EQ(json.at("foreign").value("contender", 0), 2);
  // At least one lease on each resource after everything was healed.
  EXPECT_GE(json.at("foreign").value("leases", 0), 3);
  // The foreign contender has no guard against nodes that forget.
  for (const char* kind : {"clock", "role", "evict", "name"}) {
    EXPECT_EQ(json.at("faults").value(kind, -1), 0) << kind;
  }
  EXPECT_EQ(content_of(histories / "run.history").find("empty"), std::string::npos);
  EXPECT_EQ(processes_of(directory.path()), 0U);
}

TEST(CliChaos, AForeignContenderThatCheatsIsFound) {
  const TempDir directory;
  // This contender claims an hour's lease of the first resource without asking for the lock, and
  // ends.
  const auto cheat = script_in(directory, R"(read -r up rest </proc/uptime
now="${up%.*}${up#*.}"
resource=${QUORUM_LOCK_CHAOS_RESOURCES%%,*}
echo "granted 1 $resource ${now}0000000 ${now}0000000 $((now + 3600000))0000000 36000000000000 0" \
  >>"$QUORUM_LOCK_CHAOS_HISTORY"
)");
  const ProcessResult result =
      run_tool({"chaos", "--local", "3", "--clients", "2", "--duration", "2s", "--faults", "slow",
                "--keep", directory.path() / "histories", "--contender-command", cheat, "--json"},
               {.environment = {"TMPDIR=" + directory.path().string()}});
  EXPECT_EQ(result.exit_code, 1) << result.output << result.errors;
  const Json json = json_of(result);
  std::set<std::string> found;
  for (const Json& violation : json.at("violations")) {
    found.insert(violation.value("kind", "") + " of " + violation.value("resource", ""));
  }
  EXPECT_TRUE(found.contains("overlap of chaos-a")) << result.output;
  EXPECT_TRUE(found.contains("no-progress of chaos-b")) << result.output;
}

TEST(CliChaos, AForeignContenderThatFailsIsFound) {
  const TempDir directory;
  const auto histories = directory.path() / "histories";
  const auto failing = script_in(directory, "echo 'module not found' >&2; exit 3\n");
  ChildProcess child = start_tool({"chaos", "--local", "1", "--clients", "1", "--duration", "1m",
                                   "--keep", histories, "--contender-command", failing},
                                  {.environment = {"TMPDIR=" + directory.path().string()}});
  ASSERT_TRUE(eventually([&] {
    return content_of(histories / "run.history").find("died 1 ") != std::string::npos;
  })) << child.errors();
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0})) << child.errors();
  EXPECT_NE(child.output().find("contender 1 ended by itself: exit-3"), std::string::npos)
      << child.output();
  EXPECT_EQ(content_of(histories / "contender-1.0.log"), "module not found\n");
}

TEST(CliChaosOfAService, FindsNothingWrongInACluster) {
  if (!RedisServer().is_since(7)) GTEST_SKIP() << "needs Redis 7.0";
  const TempDir directory;
  const auto histories = directory.path() / "histories";
  const ProcessResult result =
      run_tool({"chaos", "--cluster", "--duration", "20s", "--clients", "3", "--seed", "8",
                "--faults", "role,partition,pieces", "--keep", histories, "--json"},
               {.environment = {"TMPDIR=" + directory.path().string()}});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("verdict", ""), "ok");
  EXPECT_EQ(json.at("service").value("kind", ""), "cluster");
  EXPECT_EQ(json.at("service").value("servers", 0), 3);
  // The first shard has servers 0 to 2, the other one 3 to 5.
  const std::string record = content_of(histories / "run.history");
  EXPECT_TRUE(std::regex_search(record, std::regex("failover [0-2] [3-5] "))) << record;
  EXPECT_TRUE(std::regex_search(record, std::regex("failover ([0-2] [0-2]|[3-5] [3-5]) ")))
      << record;
  EXPECT_EQ(processes_of(directory.path()), 0U);
}

TEST(CliChaosOfAService, FindsNothingWrongThroughFailovers) {
  const TempDir directory;
  const auto histories = directory.path() / "histories";
  const ProcessResult result =
      run_tool({"chaos", "--sentinel", "3", "--duration", "20s", "--clients", "3", "--seed", "7",
                "--keep", histories, "--html", directory.path() / "page.html", "--json"},
               {.environment = {"TMPDIR=" + directory.path().string()}});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("verdict", ""), "ok");
  EXPECT_EQ(json.value("nodes_count", 0), 1);
  EXPECT_EQ(json.at("service").value("servers", 0), 3);
  EXPECT_GT(json.at("service").value("failovers", 0), 0);
  EXPECT_GT(json.at("service").value("granted_again_max_us", 0), 0);
  for (const char* kind : {"clock", "evict", "name"}) EXPECT_EQ(json.at("faults").at(kind), 0);
  EXPECT_EQ(json_of(run_tool({"chaos", "--check", histories, "--json"})), json);
  EXPECT_EQ(processes_of(directory.path()), 0U);
}

TEST(CliChaosOfAService, PlaysOtherLocksToo) {
  const TempDir directory;  // after a violation the histories stay
  const bool has_cluster = RedisServer().is_since(7);
  for (const auto& [service, lock] :
       {std::pair{"--sentinel", "set"}, {"--sentinel", "set-wait"}, {"--cluster", "set"}}) {
    if (service == std::string("--cluster") && !has_cluster) continue;
    const ProcessResult result = run_tool({"chaos", service, "--unsafe", lock, "--duration", "4s",
                                           "--faults", "role", "--clients", "2", "--json"},
                                          {.environment = {"TMPDIR=" + directory.path().string()}});
    const Json json = json_of(result);
    EXPECT_GT(json.value("leases", 0), 0) << result.errors;
    EXPECT_EQ(json.at("locks").at("exclusive"), json.at("leases"));
    EXPECT_EQ(json.value("unsafe", ""), lock);
    // Whether two hold one is a matter of luck in so short a time.
    EXPECT_EQ(result.exit_code, json.at("violations").empty() ? 0 : 1);
  }
}

TEST(CliChaos, AnInterruptEndsEverythingAndTellsWhatWasSeen) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const TempDir directory;
    const auto histories = directory.path() / "histories";
    ChildProcess child = start_tool({"chaos", "--duration", "1h", "--keep", histories, "--json"},
                                    {.environment = {"TMPDIR=" + directory.path().string()}});
    ASSERT_TRUE(eventually([&] {
      return content_of(histories / "contender-0.0.history").find("granted") != std::string::npos;
    })) << child.errors();
    // Five servers and four contenders, some of which may be dead at this moment.
    EXPECT_GT(processes_of(directory.path()), 6U);
    child.signal(signal);
    const auto status = child.wait();
    EXPECT_TRUE(eventually([&] { return processes_of(directory.path()) == 0; }));
    if (signal == SIGKILL) continue;
    EXPECT_EQ(status, (ExitStatus{128 + SIGINT, 0})) << child.errors();
    EXPECT_EQ(Json::parse(child.output()).value("verdict", ""), "interrupted") << child.output();
  }
}

TEST(CliChaos, RefusesWhatItCanNotDo) {
  const TempDir directory;
  const std::string folder = directory.path();
  const std::vector<std::pair<Words, std::string>> refused = {
      {{"r"}, "'r'"},
      {{"--nodes", "127.0.0.1:1"}, "--nodes"},
      {{"--clients", "0"}, "--clients"},
      {{"--clients", "33"}, "--clients"},
      {{"--duration", "15"}, "--duration"},
      {{"--duration", "1s"}, "--duration"},
      {{"--duration", "2h"}, "--duration"},
      {{"--faults", "fire"}, "'fire'"},
      {{"--faults", "kill,"}, "--faults"},
      {{"--seed", "x"}, "--seed"},
      {{"--html", "/nowhere/page.html"}, "--html"},
      {{"--keep", "/proc/nowhere"}, "--keep"},
      {{"--check", folder}, "--check"},
      {{"--check", folder, "--keep", folder}, "--keep"},
      {{"--storm"}, "--storm"},
      {{"--contender-command", "nowhere --x"}, "'nowhere' is not found"},
      {{"--contender-command", "/etc/passwd"}, "'/etc/passwd' cannot be executed"},
      {{"--contender-command", " "}, "--contender-command"},
      {{"--contender-command", "true", "--faults", "kill,role"}, "role is not allowed"},
      {{"--contender-command", "true", "--faults", "clock"}, "clock is not allowed"},
      {{"--contender-command", "true", "--check", folder}, "--contender-command"},
      {{"--sentinel", "2"}, "--sentinel"},
      {{"--sentinel", "x"}, "--sentinel"},
      {{"--sentinel", "--local", "3"}, "--sentinel"},
      {{"--sentinel", "--nodes", "127.0.0.1:1"}, "--nodes"},
      {{"--sentinel", "--faults", "kill,clock"}, "clock is not allowed with --sentinel"},
      {{"--sentinel", "--contender-command", "true"}, "--sentinel"},
      {{"--sentinel", "--check", folder}, "--sentinel"},
      {{"--sentinel", "--unsafe", "get"}, "'get'"},
      {{"--cluster", "2"}, "--cluster"},
      {{"--cluster", "6"}, "--cluster"},
      {{"--cluster", "--sentinel"}, "--sentinel"},
      {{"--cluster", "--nodes", "127.0.0.1:1"}, "--nodes"},
      {{"--cluster", "--faults", "evict"}, "evict is not allowed with --cluster"},
      {{"--cluster", "--unsafe", "get"}, "'get'"},
      {{"--cluster", "--ports", "7000-7010"}, "--ports"},
      {{"--unsafe", "set"}, "--unsafe"},
      {{"--local-sentinel"}, "--local-sentinel"},
  };
  for (const auto& [words, named] : refused) {
    Words all = {"chaos"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_TRUE(refused_in_one_line(run_tool(all), named));
  }
}

TEST(CliChaos, ServersThatFollowNoMovedClockAreReportedAndNotTakenForMoved) {
  const TempDir directory;
  const TempDir tools;
  const auto stubborn =
      script_in(tools, "unset LD_PRELOAD; PATH=${PATH#*:} exec redis-server \"$@\"\n");
  std::filesystem::rename(stubborn, tools.path() / "redis-server");
  const std::string path = "PATH=" + tools.path().string() + ":" + std::getenv("PATH");
  const std::vector<std::string> environment = {path, "TMPDIR=" + directory.path().string()};
  const ProcessResult result =
      run_tool({"chaos", "--duration", "2s", "--faults", "clock"}, {.environment = environment});
  EXPECT_EQ(result.exit_code, 69) << result.output;
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_NE(result.errors.find("follows no clock that is moved"), std::string::npos)
      << result.errors;
  EXPECT_EQ(processes_of(directory.path()), 0U);
}

TEST(CliChaos, AMissingServerProgramIsReportedClearly) {
  const ProcessResult result = run_tool({"chaos", "--duration", "2s", "--faults", "slow"},
                                        {.environment = {"PATH=/nowhere"}});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_NE(result.errors.find("redis-server is not installed"), std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace redlock::test
