// run: the command under a lock, its streams, signals and exit codes.

#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "integration/cli/on_nodes.hpp"
#include "redlock/clock.hpp"
#include "support/eventually.hpp"
#include "support/programs.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

pid_t pid_of(const std::string& text) {
  pid_t pid = 0;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  return pid;
}

class CliRun : public CliOnNodes {
 protected:
  static Words words(Words options, const Words& command) {
    options.insert(options.begin(), {"run", "r", "--nodes", nodes().joined_urls()});
    options.push_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return options;
  }
  static ProcessResult run(const Words& options, const Words& command) {
    return run_tool(words(options, command));
  }
  static ProcessResult run_shell(const Words& options, const std::string& script) {
    return run(options, {"sh", "-c", script});
  }
  static ChildProcess start_shell(const Words& options, const std::string& script) {
    return start_tool(words(options, {"sh", "-c", script}));
  }
  static void occupy(const std::string& token) {
    for (std::size_t node = 0; node < nodes().size(); ++node) {
      ASSERT_TRUE(nodes()[node].command({"SET", "r", token, "PX", "60000"}).is_ok());
    }
  }
};

TEST_F(CliRun, TheCommandSeesResourceAndTokenWhileTheNodesHoldIt) {
  ChildProcess child = start_shell({}, "echo $QUORUM_LOCK_RESOURCE $QUORUM_LOCK_TOKEN; read line");
  ASSERT_TRUE(child.wait_for_output("\n"));
  const std::string output = child.output();
  ASSERT_EQ(output.size(), 2 + 40 + 1) << output;
  EXPECT_TRUE(output.starts_with("r "));
  EXPECT_GE(nodes().count_held_by("r", output.substr(2, 40)), 2U);
  child.write_input("\n");
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0}));
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliRun, ExitsAsTheCommandDid) {
  EXPECT_EQ(run_shell({}, "exit 0").exit_code, 0);
  EXPECT_EQ(run_shell({}, "exit 7").exit_code, 7);
  EXPECT_EQ(run_shell({}, "kill -KILL $$").exit_code, 128 + SIGKILL);
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliRun, StandardStreamsBelongToTheCommand) {
  const ProcessResult result = run_tool(words({}, {"cat"}), {.input = "what goes in comes out"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "what goes in comes out");
  EXPECT_EQ(result.errors, "");
}

TEST_F(CliRun, ACommandThatIsNotThereIs127AndTouchesNoLock) {
  const ProcessResult result = run({}, {"no-such-command-anywhere"});
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_EQ(nodes().count_held("r"), 0U);
  const ProcessResult two = run_tool({"run", "r", "r2", "true", "--nodes", nodes().joined_urls()});
  EXPECT_EQ(two.exit_code, 64) << "the options are the command's";
  const ProcessResult second =
      run_tool({"run", "--nodes", nodes().joined_urls(), "r", "r2", "true"});
  EXPECT_EQ(second.exit_code, 127);
  EXPECT_NE(second.errors.find("; several resources need --: run r r2 -- COMMAND"),
            std::string::npos)
      << second.errors;
}

TEST_F(CliRun, ACommandThatCanNotBeExecutedIs126) {
  const TempDir directory;
  const std::string file = directory.write("data", "no program").string();
  EXPECT_EQ(run({}, {file}).exit_code, 126);
  EXPECT_EQ(run({}, {directory.path().string()}).exit_code, 126);

  // The file passes the check and fails in exec: the lock must be released.
  const std::filesystem::path bad = directory.write("bad", "#!/no/such/interpreter\n");
  std::filesystem::permissions(bad, std::filesystem::perms::owner_all);
  EXPECT_EQ(run({}, {bad.string()}).exit_code, 127);
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliRun, AScriptWithoutInterpreterLineRunsInTheShell) {
  const TempDir directory;
  const std::filesystem::path script = directory.write("script", "echo \"$1\"; exit 3\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const ProcessResult result = run({}, {script.string(), "argument"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "argument\n");
}

TEST_F(CliRun, AResourceHeldByAnotherIs75AndTheCommandDoesNotRun) {
  occupy("somebody");
  // Long enough for the answers of the nodes.
  const ProcessResult result = run_shell({"--wait", "1s", "--json"}, "echo ran");
  EXPECT_EQ(result.exit_code, 75);
  EXPECT_EQ(json_of(result).value("outcome", ""), "held");
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("r", "somebody") == 3; }));
}

TEST_F(CliRun, WaitsForTheLock) {
  for (std::size_t node = 0; node < nodes().size(); ++node) {
    ASSERT_TRUE(nodes()[node].command({"SET", "r", "somebody", "PX", "300"}).is_ok());
  }
  EXPECT_EQ(run_shell({}, "echo ran").output, "ran\n");
}

TEST_F(CliRun, SignalsArePassedOn) {
  ChildProcess child =
      start_shell({},
                  "trap 'echo one' USR1; trap 'echo two' USR2; trap 'echo hangup' HUP;"
                  "trap 'echo end; exit 9' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(child.wait_for_output("ready"));
  child.signal(SIGUSR1);
  ASSERT_TRUE(child.wait_for_output("one"));
  child.signal(SIGUSR2);
  ASSERT_TRUE(child.wait_for_output("two"));
  child.signal(SIGHUP);
  ASSERT_TRUE(child.wait_for_output("hangup"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{9, 0}));
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliRun, ACommandEndedByAPassedOnSignalIs128AndItsNumber) {
  ChildProcess child = start_shell({}, "echo ready; exec sleep 1000");
  ASSERT_TRUE(child.wait_for_output("ready"));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0}));
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliRun, TheCommandIsStoppedAndContinuedWithUs) {
  ChildProcess child = start_shell({}, "echo $$; exec sleep 1000");
  ASSERT_TRUE(child.wait_for_output("\n"));
  const pid_t command = pid_of(child.output());
  child.signal(SIGTSTP);
  EXPECT_TRUE(eventually([&] { return process_stopped(command); }));
  child.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return !process_stopped(command); }));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGTERM, 0}));
}

TEST_F(CliRun, CtrlCWhileWaitingGivesUpAndLeavesNothing) {
  occupy("somebody");
  ChildProcess child = start_shell({"--wait", "10m", "--verbose"}, "echo ran");
  ASSERT_TRUE(child.wait_for_errors(" up"));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0}));
  EXPECT_EQ(child.output(), "");
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("r", "somebody") == 3; }));
}

TEST_F(CliRun, TheLockIsRenewedForAsLongAsTheCommandRuns) {
  ChildProcess child = start_shell({"--ttl", "600ms"}, "echo $QUORUM_LOCK_TOKEN; read line");
  ASSERT_TRUE(child.wait_for_output("\n"));
  const std::string token = child.output().substr(0, 40);
  // A TTL that rises shows a renewal; without renewals the key would be gone before the third time.
  for (int renewals = 0; renewals < 3; ++renewals) {
    ASSERT_TRUE(eventually([&] { return nodes()[0].pttl("r") < 450; }));
    ASSERT_TRUE(eventually([&] { return nodes()[0].pttl("r") > 500; }));
  }
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("r", token) == 3; }));
  child.write_input("\n");
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
}

TEST_F(CliRun, TheLockEndsWithTheCommandWhateverItLeavesBehind) {
  const ProcessResult result = run_shell({}, "sleep 1000 > /dev/null 2>&1 < /dev/null & echo $!");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(nodes().count_held("r"), 0U);
  const pid_t left = pid_of(result.output);
  ASSERT_GT(left, 0);
  EXPECT_FALSE(gone(left));
  EXPECT_EQ(::kill(left, SIGKILL), 0);
}

TEST_F(CliRun, TheCommandDiesWithUs) {
  ChildProcess child = start_shell({}, "echo $$; exec sleep 1000");
  ASSERT_TRUE(child.wait_for_output("\n"));
  const pid_t command = pid_of(child.output());
  child.signal(SIGKILL);
  EXPECT_EQ(child.wait(), (ExitStatus{-1, SIGKILL}));
  EXPECT_TRUE(eventually([command] { return gone(command); }));
}

TEST_F(CliRun, SystemdsVariablesNameTheCommand) {
  const std::string command = "export LISTEN_PID=$$ WATCHDOG_PID=$$ LISTEN_FDS=1; exec " +
                              quorum_lock_program() + " run r --nodes " + nodes().joined_urls() +
                              " -- sh -c 'echo $(($LISTEN_PID - $$)) $(($WATCHDOG_PID - $$))'";
  const ProcessResult result = run_process({"sh", "-c", command});
  EXPECT_EQ(result.output, "0 0\n") << result.errors;
}

TEST_F(CliRun, AWatcherWhoseReaderHasGoneEnds) {
  for (const std::string verb :
       {"watch r", "list --watch", "doctor --watch", "elect r --observe"}) {
    const std::string command = "(" + quorum_lock_program() + " " + verb + " --nodes " +
                                nodes().joined_urls() + "; echo $? >&2) | head -n 1";
    const ProcessResult result = run_process({"sh", "-c", command});
    EXPECT_EQ(count_lines(result.output), 1U) << verb;
    EXPECT_EQ(result.errors, "141\n") << verb;
  }
}

TEST_F(CliRun, ATokenThatNobodyCanReadIsNotKept) {
  const std::string command =
      "exec " + quorum_lock_program() + " acquire closed --nodes " + nodes().joined_urls() + " >&-";
  const ProcessResult result = run_process({"sh", "-c", command});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("standard output: "), std::string::npos) << result.errors;
  EXPECT_EQ(nodes().count_held("closed"), 0U);
}

TEST_F(CliRun, MaxHoldEndsTheCommandWith74AndSaysSo) {
  const ProcessResult result =
      run_shell({"--ttl", "500ms", "--max-hold", "1s"}, "echo ran; sleep 1000");
  EXPECT_EQ(result.exit_code, 74);
  EXPECT_EQ(result.output, "ran\n");
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_NE(result.errors.find("--max-hold"), std::string::npos) << result.errors;
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliRun, MaxRenewalsEndsTheCommandWith74AndSaysSo) {
  const ProcessResult result =
      run_shell({"--ttl", "600ms", "--max-renewals", "1"}, "echo ran; sleep 1000");
  EXPECT_EQ(result.exit_code, 74);
  EXPECT_NE(result.errors.find("--max-renewals"), std::string::npos) << result.errors;
}

TEST_F(CliRun, ALockThatWentToSomebodyElseEndsTheCommandWith74) {
  ChildProcess child = start_shell({"--ttl", "900ms"}, "echo ready; sleep 1000");
  ASSERT_TRUE(child.wait_for_output("ready"));
  const ProcessResult broken = run_tool({"break", "r", "--yes", "--nodes", nodes().joined_urls()});
  EXPECT_EQ(broken.exit_code, 0) << broken.errors;
  occupy("somebody");
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0}));
  EXPECT_NE(child.errors().find("lost 'r'"), std::string::npos) << child.errors();
}

TEST_F(CliRun, ALockThatWasBrokenBeforeTheCommandEndedIs74) {
  const ProcessResult result = run_shell(
      {}, quorum_lock_program() + " break r --yes --quiet --nodes " + nodes().joined_urls());
  EXPECT_EQ(result.exit_code, 74) << result.errors;
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
}

TEST_F(CliRun, AStoppedCommandIsEndedToo) {
  // The time between SIGTERM and SIGKILL suffices for an answer on a busy machine.
  ChildProcess child = start_shell(
      {"--ttl", "30s", "--max-hold", "16s", "--kill-after", "15s"},
      "trap 'echo asked; exit' TERM; echo ready; kill -STOP $$; while :; do sleep 0.02; done");
  ASSERT_TRUE(child.wait_for_output("ready"));
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0}));
  EXPECT_NE(child.output().find("asked"), std::string::npos) << child.output();
}

/// A group of two processes that ignore SIGTERM: the shell prints both numbers, then both record
/// when they are alive, on the clock of leases.
constexpr const char* stubborn_group =
    "trap 'echo asked' TERM; "
    "(trap '' TERM; while :; do cut -d' ' -f1 /proc/uptime >> $0; done) & "
    "echo $$ $!; while :; do sleep 0.02; done";

BootClock::time_point last_sign_of_life(const std::filesystem::path& file) {
  const std::vector<std::string> lines = lines_of(read_file(file));
  double last = 0;
  for (const std::string& line : lines) last = std::max(last, std::strtod(line.c_str(), nullptr));
  return BootClock::time_point(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(last)));
}

TEST(CliRunOutage, ALostMajorityIs74AndTheWholeGroupIsGoneBeforeValidityEnds) {
  Nodes nodes(5);
  const TempDir directory;
  const std::filesystem::path life = directory.write("life", "");
  ChildProcess child =
      start_tool({"run", "r", "--ttl", "6s", "--timeout", "200ms", "--nodes", nodes.joined_urls(),
                  "--", "sh", "-c", stubborn_group, life.string()});
  ASSERT_TRUE(child.wait_for_output("\n"));
  std::istringstream pids(child.output());
  pid_t shell = 0;
  pid_t other = 0;
  pids >> shell >> other;

  // The lease was renewed just now, so no further renewal comes between this check and the end of
  // the nodes.
  ASSERT_TRUE(eventually([&] {
    for (const std::size_t node : {0U, 1U, 2U}) {
      if (nodes[node].pttl("r") < 5500) return false;
    }
    return true;
  }));
  auto latest_end = BootClock::time_point::min();
  for (const std::size_t node : {0U, 1U, 2U}) {
    const auto left = std::chrono::milliseconds(nodes[node].pttl("r") + 1);
    latest_end = std::max(latest_end, BootClock::now() + left);
  }
  for (const std::size_t node : {0U, 1U, 2U}) nodes[node].kill();

  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  EXPECT_TRUE(gone(shell));
  EXPECT_TRUE(gone(other));
  EXPECT_LT(last_sign_of_life(life), latest_end);
  EXPECT_NE(child.output().find("asked"), std::string::npos) << "SIGTERM comes first";
  // The shell may also print a message about the processes that it lost.
  EXPECT_NE(child.errors().find("quorum-lock: lost 'r' after "), std::string::npos);
  EXPECT_NE(child.errors().find("3 nodes are down"), std::string::npos) << child.errors();
}

TEST(CliRunOutage, ANodeThatVotesAgainIsNotNamed) {
  Nodes nodes(3, {}, std::chrono::milliseconds(1500));
  nodes[0].restart(Data::wipe);
  ChildProcess child = start_tool({"run", "r", "--ttl", "1500ms", "--max-ttl", "1500ms", "--nodes",
                                   nodes.joined_urls(), "--", "sh", "-c", "echo $$; sleep 1000"});
  ASSERT_TRUE(child.wait_for_output("\n"));
  // The node has been in quarantine, and is a member again.
  ASSERT_TRUE(eventually([&] {
    const ProcessResult check =
        run_tool({"doctor", "--quiet", "--max-ttl", "1500ms", "--nodes", nodes.joined_urls()});
    return check.exit_code == 0;
  }));
  for (const std::size_t node : {1U, 2U}) nodes[node].kill();
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  EXPECT_NE(child.errors().find("2 nodes are down"), std::string::npos) << child.errors();
  EXPECT_EQ(child.errors().find("quarantine"), std::string::npos) << child.errors();
}

TEST(CliRunOutage, AStoppedProcessBlamesNoNode) {
  Nodes nodes(3);
  ChildProcess child = start_tool({"run", "r", "--ttl", "2s", "--nodes", nodes.joined_urls(), "--",
                                   "sh", "-c", "echo $$; sleep 1000"});
  ASSERT_TRUE(child.wait_for_output("\n"));
  child.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return nodes.count_held("r") == 0; }));
  child.signal(SIGCONT);
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  EXPECT_NE(child.errors().find("this process was stopped for "), std::string::npos)
      << child.errors();
}

TEST(CliRunOutage, AGraceThatWasAskedForIsGiven) {
  Nodes nodes(3);
  ChildProcess child = start_tool(
      {"run", "r", "--ttl", "3s", "--timeout", "200ms", "--kill-after", "1s", "--nodes",
       nodes.joined_urls(), "--", "sh", "-c",
       "trap 'sleep 0.3; echo tidied up; exit 0' TERM; echo ready; while :; do sleep 0.02; done"});
  ASSERT_TRUE(child.wait_for_output("ready"));
  nodes[0].kill();
  nodes[1].kill();
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
  EXPECT_NE(child.output().find("tidied up"), std::string::npos);
  EXPECT_NE(child.errors().find("SIGTERM"), std::string::npos) << child.errors();
}

TEST(CliRunOutage, ANodeThatHangsIsNamedAtTheEndAndForHowLongItKeepsTheLock) {
  Nodes nodes(3);
  ChildProcess tool = start_tool({"run", "r", "--nodes", nodes.joined_urls(), "--ttl", "20s", "--",
                                  "sh", "-c", "echo ready; cat"});
  ASSERT_TRUE(tool.wait_for_output("ready")) << tool.errors();
  ASSERT_TRUE(eventually([&] { return nodes.count_held("r") == 3; }));
  nodes[0].stop();
  tool.close_input();
  EXPECT_EQ(tool.wait(), (ExitStatus{0, 0}));
  EXPECT_NE(tool.errors().find(nodes[0].url()), std::string::npos) << tool.errors();
  EXPECT_NE(tool.errors().find("1 release was not delivered before the client closed: what is "
                               "locked there stays so for at most "),
            std::string::npos)
      << tool.errors();
}

TEST(CliRunOutage, AMinorityThatDiesIsNoMatter) {
  Nodes nodes(3);
  ChildProcess child = start_tool({"run", "r", "--ttl", "900ms", "--timeout", "200ms", "--nodes",
                                   nodes.joined_urls(), "--", "sh", "-c", "echo ready; read line"});
  ASSERT_TRUE(child.wait_for_output("ready"));
  nodes[0].kill();
  for (int renewals = 0; renewals < 2; ++renewals) {
    ASSERT_TRUE(eventually([&] { return nodes[1].pttl("r") < 700; }));
    ASSERT_TRUE(eventually([&] { return nodes[1].pttl("r") > 750; }));
  }
  child.write_input("\n");
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
}

}  // namespace
}  // namespace redlock::test
