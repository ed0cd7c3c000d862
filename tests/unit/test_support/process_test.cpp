#include "support/process.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>

#include "support/certificates.hpp"
#include "support/eventually.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

TEST(ProcessTest, ReportsExitCodeOutputAndErrors) {
  const auto result = run_process({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(ProcessTest, PassesInputEnvironmentAndDirectoryOn) {
  const TempDir directory;
  const std::string input(500000, 'i');
  const auto result =
      run_process({"sh", "-c", "echo $MARK; pwd -P; wc -c"},
                  {.environment = {"MARK=here"}, .directory = directory.path(), .input = input});
  EXPECT_EQ(result.output,
            "here\n" + std::filesystem::canonical(directory.path()).native() + "\n500000\n");
}

TEST(ProcessTest, SurvivesAProgramThatDoesNotReadItsInput) {
  const auto result = run_process({"true"}, {.input = std::string(500000, 'i')});
  EXPECT_EQ(result.exit_code, 0);
}

TEST(ProcessTest, CollectsMoreThanAPipeHolds) {
  const auto result = run_process({"sh", "-c", "head -c 1000000 /dev/zero"});
  EXPECT_EQ(result.output.size(), 1000000U);
}

TEST(ProcessTest, KillsAProgramAtTheLimit) {
  const auto result = run_process({"sleep", "600"}, {.limit = std::chrono::milliseconds(50)});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST(ProcessTest, ThrowsForAProgramThatDoesNotExist) {
  EXPECT_THROW(static_cast<void>(run_process({"redlock-no-such-program"})), std::system_error);
}

TEST(ProcessTest, DoesNotWaitForAGrandchildThatKeepsThePipes) {
  const auto result = run_process({"sh", "-c", "sleep 600 & echo done"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "done\n");
}

TEST(ChildProcessTest, TalksToARunningProgram) {
  ChildProcess child({"cat"});
  child.write_input("one\n");
  EXPECT_TRUE(child.wait_for_output("one\n"));
  EXPECT_TRUE(child.running());
  child.write_input("two\n");
  EXPECT_TRUE(child.wait_for_output("two\n"));
  child.close_input();
  EXPECT_EQ(child.wait(), (ExitStatus{.code = 0, .signal = 0}));
  EXPECT_FALSE(child.running());
  EXPECT_EQ(child.output(), "one\ntwo\n");
}

TEST(ChildProcessTest, DeliversSignals) {
  ChildProcess child(
      {"sh", "-c", "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.01; done"});
  ASSERT_TRUE(child.wait_for_output("ready"));
  EXPECT_EQ(child.wait(std::chrono::milliseconds(1)), std::nullopt);
  child.signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return process_stopped(child.pid()); }));
  child.signal(SIGCONT);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{.code = 3, .signal = 0}));
  EXPECT_EQ(child.output(), "ready\ngot\n");
}

TEST(ChildProcessTest, TakesItsGroupWithItWhenTheObjectGoes) {
  pid_t grandchild = -1;
  {
    ChildProcess child({"sh", "-c", "sleep 600 & echo $!; wait"});
    ASSERT_TRUE(child.wait_for_output("\n"));
    grandchild = std::stoi(child.output());
    EXPECT_TRUE(process_state(grandchild).has_value());
  }
  EXPECT_TRUE(eventually([&] { return process_state(grandchild).value_or('Z') == 'Z'; }));
}

TEST(CertificatesTest, AreSignedByTheirAuthorityAlone) {
  const auto& files = certificates();
  const auto verify = [](const std::filesystem::path& ca, const KeyPair& pair,
                         const std::string& host) {
    return run_process(
               {"openssl", "verify", "-CAfile", ca, "-verify_hostname", host, pair.certificate})
               .exit_code == 0;
  };
  EXPECT_TRUE(verify(files.ca, files.server, "localhost"));
  EXPECT_TRUE(verify(files.ca, files.other_host_server, "elsewhere.invalid"));
  EXPECT_FALSE(verify(files.ca, files.other_host_server, "localhost"));
  EXPECT_FALSE(verify(files.other_ca, files.server, "localhost"));
  EXPECT_TRUE(verify(files.other_ca, files.other_ca_server, "localhost"));
  EXPECT_EQ(&certificates(), &files);
}

TEST(TempDirTest, DisappearsWithItsContent) {
  std::filesystem::path path;
  {
    TempDir first;
    path = first.path();
    first.write("file", "content");
    EXPECT_EQ(read_file(path / "file"), "content");
    const TempDir second = std::move(first);
    EXPECT_EQ(second.path(), path);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ReadFileTest, IsEmptyWhereTheFileOpensAndCannotBeRead) {
  const TempDir directory;
  EXPECT_EQ(read_file(directory.path()), "");
  EXPECT_EQ(read_file(directory.path() / "nothing"), "");
  EXPECT_EQ(read_file(directory.write("some", "a\nb")), "a\nb");
}

TEST(EventuallyTest, TellsWhetherTheConditionCameTrue) {
  int calls = 0;
  EXPECT_TRUE(eventually([&] { return ++calls == 3; }));
  EXPECT_FALSE(eventually([] { return false; }, std::chrono::milliseconds(5)));
}

}  // namespace
}  // namespace redlock::test
