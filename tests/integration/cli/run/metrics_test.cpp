// --metrics-file and --metrics-listen.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "integration/cli/on_nodes.hpp"
#include "support/eventually.hpp"
#include "support/http.hpp"
#include "support/redis_server.hpp"
#include "support/sockets.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

class CliMetrics : public CliOnNodes {
 protected:
  static std::string joined_urls() { return nodes().joined_urls(); }
  static Words under_lock(Words options, const Words& command) {
    options.insert(options.begin(), {"run", "r", "--nodes", nodes().joined_urls()});
    options.push_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return options;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Of "metrics: http://127.0.0.1:PORT/metrics" on standard error; 0: it is not there.
std::uint16_t announced_port(const ChildProcess& tool) {
  const std::string before = "metrics: http://127.0.0.1:";
  if (!tool.wait_for_errors("/metrics")) return 0;
  const std::string errors = tool.errors();
  const std::size_t at = errors.find(before);
  if (at == std::string::npos) return 0;
  std::uint16_t port = 0;
  const char* const digits = errors.data() + at + before.size();
  std::from_chars(digits, errors.data() + errors.size(), port);
  return port;
}

TEST_F(CliMetrics, AFileHasTheLastNumbersWhenTheCommandHasEnded) {
  const TempDir folder;
  const auto file = folder.path() / "redlock.prom";
  const ProcessResult result =
      run_tool(under_lock({"--metrics-file", file.string()}, {"sh", "-c", "exit 3"}));
  EXPECT_EQ(result.exit_code, 3) << result.errors;
  EXPECT_EQ(result.errors, "");
  const std::string text = read_file(file);
  EXPECT_TRUE(has(text, "redlock_acquires_total{resource=\"r\",outcome=\"granted\"} 1\n")) << text;
  EXPECT_TRUE(has(text, "redlock_leases_held{resource=\"r\"} 0\n"));
  EXPECT_TRUE(has(text, "redlock_lease_hold_seconds_count{resource=\"r\"} 1\n"));
  const auto files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing else is left";
}

TEST_F(CliMetrics, AFileIsThereWhileTheCommandRuns) {
  const TempDir folder;
  const auto file = folder.path() / "redlock.prom";
  ChildProcess tool = start_tool(under_lock({"--metrics-file", file.string()}, {"cat"}));
  EXPECT_TRUE(
      eventually([&] { return has(read_file(file), "redlock_quorum{resource=\"r\"} 2\n"); }));
  EXPECT_TRUE(
      eventually([&] { return has(read_file(file), "redlock_leases_held{resource=\"r\"} 1\n"); },
                 std::chrono::seconds(30)));
  tool.close_input();
  EXPECT_EQ(tool.wait(), (ExitStatus{0, 0}));
}

TEST_F(CliMetrics, AScrapeIsAnsweredWhileTheCommandRuns) {
  ChildProcess tool =
      start_tool(under_lock({"--metrics-listen", "127.0.0.1:0"}, {"sh", "-c", "echo ready; cat"}));
  ASSERT_TRUE(tool.wait_for_output("ready")) << tool.errors();
  const std::uint16_t port = announced_port(tool);
  const std::string answer = http_get(port, "/metrics");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(has(answer, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_TRUE(has(answer, "\nredlock_leases_held{resource=\"r\"} 1\n")) << answer;
  EXPECT_TRUE(http_get(port, "/").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(exchange_bytes(port, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
  {
    const Fd silent = connect_tcp("127.0.0.1", port, std::chrono::seconds(10));
    EXPECT_TRUE(http_get(port, "/metrics").starts_with("HTTP/1.1 200 OK\r\n")) << "it is dropped";
  }
  const Fd silent = connect_tcp("127.0.0.1", port, std::chrono::seconds(10));
  tool.close_input();
  EXPECT_EQ(tool.wait(), (ExitStatus{0, 0})) << "whoever is connected";
}

/// The CPU time that a process has used.
std::chrono::nanoseconds cpu_time_of(pid_t pid) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

TEST_F(CliMetrics, WithoutDescriptorsNobodyIsLetInAndNothingSpins) {
  ChildProcess tool =
      start_tool(under_lock({"--metrics-listen", "127.0.0.1:0"}, {"sh", "-c", "echo ready; cat"}));
  ASSERT_TRUE(tool.wait_for_output("ready")) << tool.errors();
  const std::uint16_t port = announced_port(tool);
  rlimit before{};
  ASSERT_EQ(::prlimit(tool.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  // All descriptors below 6 are in use. poll() allows no more of them than the limit either.
  const rlimit none{6, before.rlim_max};
  ASSERT_EQ(::prlimit(tool.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  const Fd waiting = connect_tcp("127.0.0.1", port, std::chrono::seconds(10));
  EXPECT_TRUE(eventually([&] {
    const auto used = cpu_time_of(tool.pid());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return cpu_time_of(tool.pid()) - used < std::chrono::milliseconds(20);
  }));
  ASSERT_EQ(::prlimit(tool.pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_TRUE(http_get(port, "/metrics").starts_with("HTTP/1.1 200 OK\r\n"));
  tool.close_input();
  EXPECT_EQ(tool.wait(), (ExitStatus{0, 0}));
}

TEST_F(CliMetrics, ALeaderWithoutACommandHasThemToo) {
  const TempDir folder;
  const auto file = folder.path() / "leader.prom";
  Words words{"elect", "scheduler", "--nodes", joined_urls(), "--metrics-file", file.string()};
  ChildProcess tool = start_tool(std::move(words));
  ASSERT_TRUE(tool.wait_for_output("elected")) << tool.errors();
  tool.signal(SIGTERM);
  ASSERT_TRUE(tool.wait());
  EXPECT_TRUE(has(read_file(file),
                  "redlock_acquires_total{resource=\"scheduler\",outcome=\"granted\"} 1\n"));
}

TEST_F(CliMetrics, APortInUseIsAWarningUnlessMetricsAreRequired) {
  const PortReservation taken = reserve_port();
  const Fd listener = listen_on("127.0.0.1", taken.port());
  for (const std::string& address :
       {"127.0.0.1:" + std::to_string(taken.port()), std::string("no.such.host.invalid:9464")}) {
    const Words options{"--metrics-listen", address};
    ProcessResult result = run_tool(under_lock(options, {"echo", "ran"}));
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, "ran\n");
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
    EXPECT_TRUE(has(result.errors, "--metrics-listen: cannot listen on '" + address + "'"));

    result =
        run_tool(under_lock({"--metrics-listen", address, "--metrics-required"}, {"echo", "ran"}));
    EXPECT_TRUE(
        refused_in_one_line(result, "--metrics-listen: cannot listen on '" + address + "'"));
  }
}

TEST_F(CliMetrics, ValuesThatCannotBeUsedAreRefusedAndNothingIsRun) {
  const TempDir folder;
  const std::vector<std::pair<std::string, std::string>> bad{
      {"--metrics-listen", "9464"},
      {"--metrics-listen", ":9464"},
      {"--metrics-listen", "127.0.0.1:99999"},
      {"--metrics-file", (folder.path() / "missing" / "x.prom").string()},
      {"--metrics-file", folder.path().string()},
  };
  for (const auto& [option, value] : bad) {
    const ProcessResult result = run_tool(under_lock({option, value}, {"echo", "ran"}));
    EXPECT_TRUE(refused_in_one_line(result, option)) << value;
  }
}

TEST_F(CliMetrics, AreScrapedByPrometheus) {
  if (run_process({"sh", "-c", "command -v prometheus"}).exit_code != 0) {
    GTEST_SKIP() << "prometheus is not installed: tools/install-packages full";
  }
  ChildProcess tool =
      start_tool(under_lock({"--metrics-listen", "127.0.0.1:0"}, {"sh", "-c", "echo ready; cat"}));
  ASSERT_TRUE(tool.wait_for_output("ready")) << tool.errors();
  const TempDir folder;
  const std::string target = "127.0.0.1:" + std::to_string(announced_port(tool));
  const auto config = folder.write("prometheus.yml",
                                   "global: {scrape_interval: 1s}\n"
                                   "scrape_configs:\n"
                                   "  - job_name: redlock\n"
                                   "    static_configs: [{targets: ['" +
                                       target + "']}]\n");
  const PortReservation web = reserve_port();
  const ChildProcess prometheus({"prometheus", "--config.file=" + config.string(),
                                 "--storage.tsdb.path=" + (folder.path() / "data").string(),
                                 "--web.listen-address=127.0.0.1:" + std::to_string(web.port())});
  EXPECT_TRUE(eventually(
      [&] {
        const std::string answer = http_get(web.port(), "/api/v1/query?query=redlock_leases_held");
        return has(answer, R"("status":"success")") && has(answer, R"("1"])");
      },
      std::chrono::seconds(60)))
      << prometheus.errors();
  tool.close_input();
  EXPECT_EQ(tool.wait(), (ExitStatus{0, 0}));
}

}  // namespace
}  // namespace redlock::test
