// bench --peers: other Redlock clients, imitated by scripts.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

namespace fs = std::filesystem;

const std::string stub_result =
    R"({"version":"1.2.3","runtime":"Node.js 9","cycles":200,"failures":0,)"
    R"("elapsed_ns":100000000,"cpu_user_us":3000,"cpu_kernel_us":1000,)"
    R"("acquire":[[100000,200]],"cycle":[[250000,199],[900000,1]]})";

std::string path_of_tests() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

/// Programs named node and npm that a test writes, first in PATH, and a cache of their own.
class Stubs {
 public:
  Stubs(const std::string& node, const std::string& npm) {
    add("node", node);
    add("npm", npm);
  }

  [[nodiscard]] std::vector<std::string> environment() const {
    return {"PATH=" + folder_.path().string() + ":" + path_of_tests(),
            "XDG_CACHE_HOME=" + cache().string(), "FOLDER=" + folder_.path().string()};
  }
  [[nodiscard]] fs::path cache() const { return folder_.path() / "cache"; }
  [[nodiscard]] fs::path file(const std::string& name) const { return folder_.path() / name; }

 private:
  void add(const std::string& name, const std::string& script) const {
    const fs::path file = folder_.write(name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }

  TempDir folder_;
};

const std::string node_stub =
    "cat > \"$FOLDER/settings\"\necho measuring\necho '" + stub_result + "'";
const std::string npm_stub = "echo called >> \"$FOLDER/npm-calls\"";

std::vector<std::string> bench_with(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "bench", "--local", "1",      "--duration",  "50ms", "--nodes-count", "1", "--repetitions",
      "1",     "--peers", "--json", "--in-flight", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Empty: there are none.
Json peers_of(const ProcessResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return json_of(result).at("rows").at(0).value("peers", Json::object());
}

TEST(CliPeers, WithoutNodeOursIsMeasuredAlone) {
  const TempDir programs;
  const ProcessResult found = run_process({"sh", "-c", "command -v redis-server"});
  ASSERT_EQ(found.exit_code, 0);
  fs::create_symlink(found.output.substr(0, found.output.find('\n')),
                     programs.path() / "redis-server");
  const ProcessResult result =
      run_tool(bench_with({}), {.environment = {"PATH=" + programs.path().string()}});
  EXPECT_TRUE(peers_of(result).empty());
  EXPECT_EQ(count_lines(result.errors), 2U) << result.errors;
  EXPECT_NE(result.errors.find("redlock-universal is left out: Node.js is not installed"),
            std::string::npos)
      << result.errors;
}

TEST(CliPeers, TheirFiguresAreReadAndTheirPackagesInstalledOnce) {
  const Stubs stubs(node_stub, npm_stub);
  for (int run = 0; run < 2; ++run) {
    const Json peers = peers_of(run_tool(bench_with({}), {.environment = stubs.environment()}));
    ASSERT_EQ(peers.size(), 2U) << peers;
    for (const char* name : {"node-redlock", "redlock-universal"}) {
      EXPECT_EQ(peers.at(name).value("version", ""), "1.2.3");
      EXPECT_EQ(peers.at(name).value("cycles_per_s", 0.0), 2000);
      EXPECT_EQ(peers.at(name).value("client_cpu_us_per_cycle", 0.0), 20);
      EXPECT_EQ(peers.at(name).value("client_kernel_us_per_cycle", 0.0), 5);
      EXPECT_NEAR(peers.at(name).value("acquire_p50_us", 0.0), 100, 1);
      EXPECT_NEAR(peers.at(name).value("cycle_p999_us", 0.0), 900, 2);
    }
  }
  EXPECT_EQ(read_file(stubs.file("npm-calls")), "called\n");
  const Json settings = Json::parse(read_file(stubs.file("settings")), nullptr, false);
  EXPECT_EQ(settings.value("in_flight", 0), 2);
  EXPECT_EQ(settings.at("nodes").at(0).value("host", ""), "127.0.0.1");
  EXPECT_EQ(settings.at("nodes").at(0).value("password", "").size(), 32U);
}

TEST(CliPeers, WhoFailsIsLeftOutAndTheOthersGoOn) {
  const Stubs stubs(
      R"(case $(cat) in *universal*) echo '{"error":"it has had enough"}'; exit 1;; esac
echo ')" + stub_result +
          "'",
      npm_stub);
  const ProcessResult result = run_tool(bench_with({}), {.environment = stubs.environment()});
  const Json peers = peers_of(result);
  EXPECT_TRUE(peers.contains("node-redlock"));
  EXPECT_FALSE(peers.contains("redlock-universal"));
  EXPECT_NE(result.errors.find("redlock-universal is left out: it has had enough"),
            std::string::npos)
      << result.errors;
}

TEST(CliPeers, NonsenseAsAResultIsNoResult) {
  const Stubs stubs("cat > /dev/null; echo '{\"cycles\":\"many\"}'", npm_stub);
  const ProcessResult result = run_tool(bench_with({}), {.environment = stubs.environment()});
  EXPECT_TRUE(peers_of(result).empty());
  EXPECT_NE(result.errors.find("its result is not understood"), std::string::npos) << result.errors;
}

TEST(CliPeers, PackagesThatCannotBeInstalledLeaveNothingBehind) {
  const Stubs stubs(node_stub, "echo 'npm error code ENOTFOUND'; exit 1");
  const ProcessResult result = run_tool(bench_with({}), {.environment = stubs.environment()});
  EXPECT_TRUE(peers_of(result).empty());
  EXPECT_NE(result.errors.find("npm cannot install the packages: npm error code ENOTFOUND"),
            std::string::npos)
      << result.errors;
  EXPECT_TRUE(fs::is_empty(stubs.cache() / "quorum-lock"));
}

TEST(CliPeers, ASignalEndsThem) {
  const Stubs stubs(
      "echo $$ > \"$FOLDER/pid.new\"; mv \"$FOLDER/pid.new\" \"$FOLDER/pid\"\n"
      "exec sleep 1000",
      npm_stub);
  ChildProcess child = start_tool(bench_with({}), {.environment = stubs.environment()});
  ASSERT_TRUE(eventually([&] { return fs::exists(stubs.file("pid")); })) << child.errors();
  const pid_t pid = std::stoi(read_file(stubs.file("pid")));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0})) << child.errors();
  EXPECT_TRUE(eventually([pid] { return ::kill(pid, 0) != 0; }));
}

TEST(CliPeers, RealOnesTakeRealLocks) {
  const char* folder = std::getenv("FOREIGN_MODULES");
  const fs::path modules =
      folder != nullptr ? fs::path(folder) : fs::path(pages_folder()) / "../../build/foreign";
  if (!fs::is_directory(modules / "node_modules/redlock-universal") ||
      run_process({"sh", "-c", "command -v node"}).exit_code != 0) {
    GTEST_SKIP() << "tests/foreign/run --install has not installed the packages";
  }
  const TempDir bin;
  const fs::path npm = bin.write(
      "npm", "#!/bin/sh\nln -s '" + fs::absolute(modules / "node_modules").string() + "' \"$3\"\n");
  fs::permissions(npm, fs::perms::owner_all);
  const ProcessResult result = run_tool(
      bench_with({}), {.environment = {"PATH=" + bin.path().string() + ":" + path_of_tests(),
                                       "XDG_CACHE_HOME=" + bin.path().string()}});
  const Json peers = peers_of(result);
  EXPECT_EQ(result.errors.find("left out"), std::string::npos) << result.errors;
  ASSERT_EQ(peers.size(), 2U) << peers;
  for (const auto& [name, peer] : peers.items()) {
    EXPECT_GT(peer.value("cycles_per_s", 0.0), 0) << name;
    EXPECT_EQ(peer.value("failures", -1), 0) << name;
  }
}

}  // namespace
}  // namespace redlock::test
