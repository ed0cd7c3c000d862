// The end of the command when `quorum-lock run` or the lease ends, in all ways.

#include <gtest/gtest.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/programs.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;

/// The numbers in a text.
std::vector<pid_t> pids_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<pid_t> pids;
  for (pid_t pid = 0; stream >> pid;) pids.push_back(pid);
  return pids;
}

/// The parent of a process. The parent of a command is its guard.
pid_t parent_of(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream stream(stat.substr(stat.rfind(')') + 1));
  char state = 0;
  pid_t parent = 0;
  stream >> state >> parent;
  return parent;
}

/// A shell, its background process, and an orphan that has left its process group: all ignore
/// SIGTERM, and the shell prints their numbers.
constexpr const char* family =
    "trap '' TERM; sleep 1000 & echo $$ $!;"
    "sh -c 'setsid sleep 1000 & echo $!'; echo .; while :; do sleep 0.02; done";

class CliRunEnds : public ::testing::Test {
 protected:
  static ChildProcess start(const Nodes& nodes, Words options, const Words& command) {
    options.insert(options.begin(), {"run", "r", "--nodes", nodes.joined_urls()});
    options.push_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return start_tool(options);
  }
};

TEST_F(CliRunEnds, KilledItTakesEverythingWithItThatTheCommandHasStarted) {
  const Nodes nodes(3);
  ChildProcess child = start(nodes, {"--ttl", "20s"}, {"sh", "-c", family});
  ASSERT_TRUE(child.wait_for_output("."));
  const std::vector<pid_t> pids = pids_in(child.output());
  ASSERT_EQ(pids.size(), 3U) << child.output();
  const pid_t guard = parent_of(pids[0]);
  EXPECT_EQ(parent_of(pids[2]), guard) << "orphans of the command come to its guard";
  child.signal(SIGKILL);
  EXPECT_EQ(child.wait(), (ExitStatus{-1, SIGKILL}));
  for (const pid_t pid : pids) {
    EXPECT_TRUE(eventually([pid] { return gone(pid); })) << pid;
  }
  EXPECT_TRUE(eventually([guard] { return gone(guard); })) << "and then the guard goes";
  EXPECT_TRUE(eventually([&] { return nodes.count_held("r") == 3; }))
      << "nobody released the lock: it ends with its TTL";
}

TEST_F(CliRunEnds, AStoppedCommandDiesWithItToo) {
  const Nodes nodes(1);
  ChildProcess child = start(nodes, {}, {"sh", "-c", "echo $$; kill -STOP $$; sleep 1000"});
  ASSERT_TRUE(child.wait_for_output("\n"));
  const pid_t command = pids_in(child.output()).at(0);
  ASSERT_TRUE(eventually([command] { return process_stopped(command); }));
  child.signal(SIGKILL);
  EXPECT_TRUE(eventually([command] { return gone(command); }));
}

TEST_F(CliRunEnds, TheCommandDiesWithItsGuard) {
  const Nodes nodes(3);
  ChildProcess child = start(nodes, {}, {"sh", "-c", "echo $$; exec sleep 1000"});
  ASSERT_TRUE(child.wait_for_output("\n"));
  const pid_t command = pids_in(child.output()).at(0);
  ASSERT_EQ(::kill(parent_of(command), SIGKILL), 0);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGKILL, 0})) << child.errors();
  EXPECT_NE(child.errors().find("guard of the command was killed"), std::string::npos);
  EXPECT_TRUE(gone(command));
  EXPECT_EQ(nodes.count_held("r"), 0U);
}

/// The command's first action may come before the guard's next one.
TEST_F(CliRunEnds, ACommandThatKillsItsGuardAtOnceWasStartedNevertheless) {
  const Nodes nodes(1);
  for (int i = 0; i < 30; ++i) {
    ChildProcess child = start(nodes, {}, {"sh", "-c", "kill -9 $PPID; exec sleep 1000"});
    ASSERT_EQ(child.wait(), (ExitStatus{128 + SIGKILL, 0})) << child.errors();
    EXPECT_NE(child.errors().find("guard of the command was killed"), std::string::npos);
  }
  EXPECT_TRUE(eventually([&nodes] { return nodes.count_held("r") == 0; }));
}

TEST_F(CliRunEnds, TheCommandDiesEvenIfBothAreKilled) {
  const Nodes nodes(1);
  ChildProcess child = start(nodes, {}, {"sh", "-c", "echo $$; exec sleep 1000"});
  ASSERT_TRUE(child.wait_for_output("\n"));
  const pid_t command = pids_in(child.output()).at(0);
  const pid_t guard = parent_of(command);
  // While stopped, neither process can react to the end of the other.
  ASSERT_EQ(::kill(guard, SIGSTOP), 0);
  child.signal(SIGSTOP);
  ASSERT_EQ(::kill(guard, SIGKILL), 0);
  child.signal(SIGKILL);
  EXPECT_TRUE(eventually([command] { return gone(command); }));
}

TEST_F(CliRunEnds, AGuardThatIsStoppedIsContinued) {
  const Nodes nodes(1);
  ChildProcess child = start(nodes, {}, {"sh", "-c", "echo $$; exec sleep 1000"});
  ASSERT_TRUE(child.wait_for_output("\n"));
  const pid_t command = pids_in(child.output()).at(0);
  ASSERT_EQ(::kill(parent_of(command), SIGSTOP), 0);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGTERM, 0})) << child.errors();
  EXPECT_TRUE(eventually([&nodes] { return nodes.count_held("r") == 0; }));
}

TEST_F(CliRunEnds, ALossEndsWhatHasLeftTheProcessGroupToo) {
  const Nodes nodes(3);
  ChildProcess child = start(nodes, {"--ttl", "500ms", "--max-hold", "1s"}, {"sh", "-c", family});
  ASSERT_TRUE(child.wait_for_output("."));
  const std::vector<pid_t> pids = pids_in(child.output());
  ASSERT_EQ(pids.size(), 3U) << child.output();
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  for (const pid_t pid : pids) EXPECT_TRUE(gone(pid)) << pid;
  EXPECT_NE(child.errors().find("ended by SIGKILL"), std::string::npos) << child.errors();
}

TEST_F(CliRunEnds, OnlyWhatTheWaitStatusSaysIsClaimed) {
  const Nodes nodes(3);
  // SIGTERM after a second, and SIGKILL so much later that a stalled machine does not reach it.
  const Words terms = {"--ttl", "30s", "--max-hold", "16s", "--kill-after", "15s"};
  ChildProcess child =
      start(nodes, terms, {"sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.02; done"});
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  EXPECT_NE(child.errors().find("ended with exit code 5 after SIGTERM"), std::string::npos)
      << child.errors();

  ChildProcess obedient = start(nodes, terms, {"sleep", "1000"});
  EXPECT_EQ(obedient.wait(), (ExitStatus{74, 0})) << obedient.errors();
  EXPECT_NE(obedient.errors().find("ended by SIGTERM"), std::string::npos) << obedient.errors();
}

TEST_F(CliRunEnds, AClockStepThatTakesTheLeaseKillsTheCommandAtOnce) {
  Nodes nodes(3, RedisServerOptions{.clock = ServerClock::movable});
  ChildProcess child =
      start(nodes, {"--ttl", "20s", "--kill-after", "8s"},
            {"sh", "-c", "trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done"});
  ASSERT_TRUE(child.wait_for_output("ready"));
  // Two of three keys expire by the moved clocks: nothing is left of the lease.
  nodes[0].move_clock(1min);
  nodes[1].move_clock(1min);
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  EXPECT_EQ(child.output().find("asked"), std::string::npos) << "there was no time for manners";
  EXPECT_NE(child.errors().find("ended by SIGKILL"), std::string::npos) << child.errors();
  EXPECT_NE(child.errors().find("a clock set forward"), std::string::npos) << child.errors();
}

/// Only root can make a set-uid program that belongs to another user, and run others as nobody.
class CliRunOfAnotherUser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can run commands as another user";
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
    program_ = copy_of(other_user_program(), "command", std::filesystem::perms(04755));
    tool_ = copy_of(quorum_lock_program(), "quorum-lock", std::filesystem::perms(0755));
  }
  void TearDown() override {
    if (command_ > 0) ::kill(command_, SIGKILL);
  }

  /// quorum-lock as nobody, with a command that becomes root.
  [[nodiscard]] ChildProcess start(const Nodes& nodes, const Words& options) const {
    Words words = {other_user_program(), "as-nobody", tool_, "run", "r", "--nodes",
                   nodes.joined_urls()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", program_, "become-root"});
    return ChildProcess(words, {.environment = tool_environment()});
  }
  [[nodiscard]] bool wait_for_command(const ChildProcess& child) {
    if (!child.wait_for_output("\n")) return false;
    command_ = pids_in(child.output()).at(0);
    return true;
  }

  pid_t command_ = 0;

 private:
  std::string copy_of(const std::string& file, const char* name, std::filesystem::perms mode) {
    const auto copy = directory_.path() / name;
    std::filesystem::copy_file(file, copy);
    std::filesystem::permissions(copy, mode);
    return copy.string();
  }

  TempDir directory_;
  std::string program_;
  std::string tool_;
};

TEST_F(CliRunOfAnotherUser, WhatMayNotBeSignalledIsSaidAndNotClaimedToHaveEnded) {
  const Nodes nodes(3);
  ChildProcess child = start(nodes, {"--ttl", "1s", "--max-hold", "2s"});
  ASSERT_TRUE(wait_for_command(child)) << child.errors();
  ASSERT_TRUE(child.wait_for_errors("cannot be signalled")) << "at once";
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  EXPECT_NE(child.errors().find("the command still runs"), std::string::npos) << child.errors();
  EXPECT_EQ(child.errors().find("ended by"), std::string::npos) << child.errors();
  EXPECT_FALSE(gone(command_));
}

TEST_F(CliRunOfAnotherUser, ASignalThatCanNotBePassedOnIsSaid) {
  const Nodes nodes(3);
  ChildProcess child = start(nodes, {});
  ASSERT_TRUE(wait_for_command(child)) << child.errors();
  child.signal(SIGINT);
  ASSERT_TRUE(child.wait_for_errors("cannot be signalled"));
  ASSERT_EQ(::kill(command_, SIGTERM), 0);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGTERM, 0})) << child.errors();
}

}  // namespace
}  // namespace redlock::test
