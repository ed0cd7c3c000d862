// fenced-storage: what it stores and refuses, its demo, and wrong usage.

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "integration/cli/tool.hpp"
#include "redlock/deployment.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

ProcessResult run_storage(Words arguments, RunOptions options = {}) {
  arguments.insert(arguments.begin(), fenced_storage_program());
  return run_process(std::move(arguments), std::move(options));
}

ProcessResult write_to(const std::string& url, const std::string& key, const std::string& value,
                       std::uint64_t token) {
  return run_storage(
      {"--storage", url, "write", "--token", std::to_string(token), "--", key, value});
}

/// The storage's output for the key; its error message if there is none.
std::string read_from(const std::string& url, const std::string& key) {
  const ProcessResult result = run_storage({"--storage", url, "read", key});
  return result.exit_code == 0 ? result.output : result.errors;
}

/// The number after `text`; 0 if there is none.
std::uint64_t number_behind(const std::string& all, const std::string& text) {
  const std::size_t at = all.find(text);
  std::uint64_t number = 0;
  if (at != std::string::npos) {
    std::from_chars(all.data() + at + text.size(), all.data() + all.size(), number);
  }
  return number;
}

std::string last_line(const std::string& text) {
  if (text.size() < 2) return text;
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

/// Whether `all` contains the texts, in this order.
::testing::AssertionResult tells(const std::string& all, const std::vector<std::string>& texts) {
  std::size_t from = 0;
  for (const std::string& text : texts) {
    const std::size_t at = all.find(text, from);
    if (at == std::string::npos) {
      return ::testing::AssertionFailure() << "'" << text << "' does not follow in:\n" << all;
    }
    from = at + text.size();
  }
  return ::testing::AssertionSuccess();
}

TEST(FencedStorageDemo, APausedHoldersLateWriteIsRefused) {
  const TempDir directory;
  const ProcessResult result =
      run_storage({"demo"}, {.environment = {"TMPDIR=" + directory.path().string()}});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_TRUE(tells(result.output,
                    {"lock nodes: 3, of its own", "A        (process", "acquires the lock",
                     "checks its lease: valid", "is stopped by SIGSTOP", "B        acquires it",
                     "larger than A's", "\"newer, from B\": written", "goes on by SIGCONT",
                     "\"stale, from A\": refused: fencing token", "has \"newer, from B\""}));
  EXPECT_EQ(last_line(result.output),
            "verdict: the stale write was refused and the newer value is kept\n");

  const std::uint64_t stale =
      number_behind(result.output, "acquires the lock for 2.000 s: fencing token ");
  const std::uint64_t newer = number_behind(result.output, "being over: fencing token ");
  EXPECT_GT(stale, 0U);
  EXPECT_GT(newer, stale);
  EXPECT_EQ(number_behind(result.output, "refused: fencing token "), stale);
  EXPECT_EQ(number_behind(result.output, " is older than "), newer);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(FencedStorageDemo, WithoutTheCheckTheLateWriteDestroysTheNewerValue) {
  const ProcessResult result = run_storage({"demo", "--unfenced"});
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_TRUE(
      tells(result.output, {"IGNORES", "is stopped by SIGSTOP", "\"newer, from B\": written",
                            "\"stale, from A\": written", "has \"stale, from A\""}));
  EXPECT_EQ(last_line(result.output),
            "verdict: LOST UPDATE: the stale write was taken and destroyed the newer value\n");
}

TEST(FencedStorageDemo, WorksOnGivenNodes) {
  const Nodes nodes(3);
  const ProcessResult result = run_storage({"demo", "--nodes", nodes.joined_urls()});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_TRUE(tells(result.output, {"lock nodes: 3, as given", "verdict: the stale write was"}));

  const ProcessResult wrong = run_storage({"demo", "--nodes", "http://a"});
  EXPECT_EQ(wrong.exit_code, 64);
  EXPECT_NE(wrong.errors.find("http://a"), std::string::npos) << wrong.errors;
}

TEST(FencedStorageDemo, ASignalEndsItWithItsServersAndItsStoppedHolder) {
  const TempDir directory;
  ChildProcess child({fenced_storage_program(), "demo"},
                     {.environment = {"TMPDIR=" + directory.path().string()}});
  ASSERT_TRUE(child.wait_for_output("is stopped by SIGSTOP")) << child.errors();
  const auto holder = static_cast<pid_t>(number_behind(child.output(), "(process "));
  ASSERT_GT(holder, 0);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGTERM, 0})) << child.errors();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_TRUE(eventually([holder] {
    // The process that adopts the holder may reap it late or never.
    const auto state = process_state(holder);
    return !state || *state == 'Z';
  }));
}

TEST(FencedStorageDemo, AMissingServerProgramIsReportedClearly) {
  const ProcessResult result = run_storage({"demo"}, {.environment = {"PATH=/nowhere"}});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_NE(result.errors.find("redis-server is not installed"), std::string::npos);
}

TEST(FencedStorage, RefusesWhatIsOlderThanWhatItHasSeen) {
  const RedisServer server;
  const std::string url = server.url();
  const ProcessResult first = write_to(url, "k", "of 5", 5);
  EXPECT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_EQ(first.output, "written with fencing token 5\n");

  const ProcessResult stale = write_to(url, "k", "of 3", 3);
  EXPECT_EQ(stale.exit_code, 76);
  EXPECT_EQ(stale.output, "");
  EXPECT_EQ(stale.errors, "refused: fencing token 3 is older than 5\n");
  EXPECT_EQ(read_from(url, "k"), "of 5\n");

  EXPECT_EQ(write_to(url, "k", "of 5 again", 5).exit_code, 0) << "one holder writes twice";
  EXPECT_EQ(read_from(url, "k"), "of 5 again\n");
  EXPECT_EQ(write_to(url, "k", "of 9", 9).exit_code, 0);
  EXPECT_EQ(write_to(url, "k", "of 5, late", 5).exit_code, 76);
  EXPECT_EQ(read_from(url, "k"), "of 9\n");
  EXPECT_EQ(write_to(url, "another", "of 1", 1).exit_code, 0) << "each key has its own tokens";
}

TEST(FencedStorage, TellsNeighboursApartUpToTheLargestToken) {
  const RedisServer server;
  constexpr std::uint64_t largest = (std::uint64_t{1} << 53) - 1;
  EXPECT_EQ(write_to(server.url(), "k", "newer", largest).exit_code, 0);
  const ProcessResult stale = write_to(server.url(), "k", "stale", largest - 1);
  EXPECT_EQ(stale.exit_code, 76);
  EXPECT_EQ(stale.errors,
            "refused: fencing token 9007199254740990 is older than 9007199254740991\n");
}

TEST(FencedStorage, OfConcurrentWritesTheOneWithTheLargestTokenStands) {
  const RedisServer server;
  std::vector<ChildProcess> writers;
  for (const int token : {4, 8, 1, 7, 3, 6, 2, 5}) {
    writers.emplace_back(Words{fenced_storage_program(), "--storage", server.url(), "write", "k",
                               "of " + std::to_string(token), "--token", std::to_string(token)});
  }
  for (ChildProcess& writer : writers) {
    const auto status = writer.wait();
    ASSERT_TRUE(status.has_value());
    EXPECT_TRUE(status->code == 0 || status->code == 76) << writer.errors();
  }
  EXPECT_EQ(read_from(server.url(), "k"), "of 8\n");
}

TEST(FencedStorage, TakesAnyUrlOfARedisAndAnyValue) {
  RedisServerOptions options;
  options.password = "p@ss/w:rd%";
  const RedisServer server(options);
  const std::string tcp = "redis://:p%40ss%2Fw%3Ard%25@127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(write_to(tcp + "/1", "read", "", 1).exit_code, 0);
  EXPECT_EQ(read_from(tcp + "/1", "read"), "\n");
  EXPECT_EQ(write_to(tcp, "--token", "two\nlines", 1).exit_code, 0);
  EXPECT_EQ(server.command({"HGET", "--token", "value"}).string, "two\nlines");

  const RedisServer open;
  EXPECT_EQ(write_to(open.unix_url(), "k", "v", 1).exit_code, 0);
  EXPECT_EQ(read_from("127.0.0.1:" + std::to_string(open.port()), "k"), "v\n");
}

TEST(FencedStorage, TakesItsPasswordFromAFileAndItsUrlFromTheEnvironment) {
  RedisServerOptions options;
  options.password = "very-secret";
  const RedisServer server(options);
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  const TempDir directory;
  const std::string file = directory.write("password", "very-secret\n").string();
  const ProcessResult written = run_storage(
      {"--storage", address, "--password-file", file, "write", "k", "v", "--token", "1"});
  EXPECT_EQ(written.exit_code, 0) << written.errors;
  const ProcessResult read = run_storage(
      {"read", "k"}, {.environment = {"FENCED_STORAGE_URL=redis://:very-secret@" + address}});
  EXPECT_EQ(read.output, "v\n") << read.errors;

  const ProcessResult both = run_storage(
      {"--storage", "redis://:very-secret@" + address, "--password-file", file, "read", "k"});
  EXPECT_EQ(both.exit_code, 64);
  EXPECT_EQ(both.errors.find("very-secret"), std::string::npos) << both.errors;
}

TEST(FencedStorage, TellsWhatIsWrongWithTheStorage) {
  const RedisServer server;
  EXPECT_EQ(run_storage({"--storage", server.url(), "read", "k"}).exit_code, 1);
  EXPECT_EQ(read_from(server.url(), "k"), "fenced-storage: there is no such key\n");

  static_cast<void>(server.command({"SET", "k", "a string"}));
  const ProcessResult foreign = write_to(server.url(), "k", "v", 1);
  EXPECT_EQ(foreign.exit_code, 69);
  EXPECT_NE(foreign.errors.find("WRONGTYPE"), std::string::npos) << foreign.errors;
  EXPECT_EQ(server.get("k"), "a string");

  const ProcessResult nobody = write_to("127.0.0.1:1", "k", "v", 1);
  EXPECT_EQ(nobody.exit_code, 69);
  EXPECT_EQ(count_lines(nobody.errors), 1U) << nobody.errors;
}

TEST(FencedStorage, IsGuardedByTheTokenThatQuorumLockHandsOn) {
  const RedisServer server;
  const std::string script =
      "\"$0\" --storage \"$1\" write report \"$2\" --token \"$QUORUM_LOCK_FENCING_TOKEN\"";
  const auto run_with_lock = [&](const std::string& value) {
    return run_tool({"run", "report", "--local", "3", "--restart-guard", "off", "--fencing", "--",
                     "sh", "-c", script, fenced_storage_program(), server.url(), value});
  };
  const ProcessResult result = run_with_lock("v1");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const std::uint64_t token = number_behind(result.output, "written with fencing token ");
  EXPECT_GT(token, 1U) << result.output;
  EXPECT_EQ(write_to(server.url(), "report", "late", token - 1).exit_code, 76);
  EXPECT_EQ(read_from(server.url(), "report"), "v1\n");

  // A storage that has seen a later lease refuses this one, and `run` passes the code on.
  EXPECT_EQ(write_to(server.url(), "report", "v2", (std::uint64_t{1} << 53) - 1).exit_code, 0);
  const ProcessResult refused = run_with_lock("v3");
  EXPECT_EQ(refused.exit_code, 76);
  EXPECT_NE(refused.errors.find("refused: fencing token "), std::string::npos) << refused.errors;
  EXPECT_EQ(read_from(server.url(), "report"), "v2\n");
}

struct WrongStorageUsage {
  std::string name;
  Words arguments;
  std::string named;  ///< the word that the message must have
};

class FencedStorageWrongUsage : public ::testing::TestWithParam<WrongStorageUsage> {};

TEST_P(FencedStorageWrongUsage, IsReportedInOneLineAndEndsWith64) {
  const ProcessResult result = run_storage(GetParam().arguments);
  EXPECT_TRUE(refused_in_one_line(result, GetParam().named));
  EXPECT_TRUE(result.errors.starts_with("fenced-storage: ")) << result.errors;
}

// No server listens on port 1, so a command line that is accepted ends with 69.
const std::string nowhere = "127.0.0.1:1";

WrongStorageUsage wrong_token(std::string name, const std::string& token) {
  return {std::move(name), {"--storage", nowhere, "write", "k", "v", "--token", token}, "--token"};
}

WrongStorageUsage wrong_url(std::string name, const std::string& url) {
  return {std::move(name), {"--storage", url, "read", "k"}, "--storage"};
}

INSTANTIATE_TEST_SUITE_P(
    Program, FencedStorageWrongUsage,
    ::testing::Values(
        WrongStorageUsage{"no_verb", {}, "VERB"},
        WrongStorageUsage{"unknown_verb", {"--storage", nowhere, "delete", "k"}, "delete"},
        WrongStorageUsage{"no_storage", {"read", "k"}, "--storage"},
        WrongStorageUsage{"no_key", {"--storage", nowhere, "read"}, "KEY"},
        WrongStorageUsage{
            "no_value", {"--storage", nowhere, "write", "k", "--token", "1"}, "VALUE"},
        WrongStorageUsage{"too_many_words", {"--storage", nowhere, "read", "k", "l"}, "l"},
        WrongStorageUsage{"no_token", {"--storage", nowhere, "write", "k", "v"}, "--token"},
        WrongStorageUsage{
            "token_without_value", {"--storage", nowhere, "write", "k", "v", "--token"}, "--token"},
        WrongStorageUsage{
            "token_of_a_read", {"--storage", nowhere, "read", "k", "--token", "1"}, "--token"},
        WrongStorageUsage{"empty_token_with_equals",
                          {"--storage", nowhere, "write", "k", "v", "--token="},
                          "--token"},
        wrong_token("empty_token", ""), wrong_token("word_as_token", "x"),
        wrong_token("token_with_a_unit", "7s"), wrong_token("negative_token", "-1"),
        wrong_token("token_zero", "0"), wrong_token("token_beyond_all", "9007199254740992"),
        wrong_token("token_beyond_64_bits", "99999999999999999999"), wrong_url("empty_url", ""),
        wrong_url("unknown_scheme", "http://a"), wrong_url("tls", "rediss://a"),
        wrong_url("bad_port", "redis://a:70000"), wrong_url("port_zero", "redis://a:0"),
        wrong_url("word_as_port", "redis://a:b"), wrong_url("no_host", "redis://:6379"),
        wrong_url("bad_database", "redis://a:1/x"), wrong_url("relative_socket", "unix://run"),
        wrong_url("bad_escape", "redis://:%zz@a"),
        WrongStorageUsage{"no_password_file",
                          {"--storage", nowhere, "--password-file", "/nowhere", "read", "k"},
                          "--password-file"},
        WrongStorageUsage{
            "demo_with_a_password", {"--password-file", "/dev/null", "demo"}, "--password-file"},
        WrongStorageUsage{"demo_on_a_storage", {"--storage", nowhere, "demo"}, "--storage"},
        WrongStorageUsage{"demo_with_a_word", {"demo", "now"}, "now"}),
    [](const auto& tested) { return tested.param.name; });

TEST(FencedStorageUsage, AWrongUrlIsReportedWithoutItsPassword) {
  const ProcessResult result =
      run_storage({"--storage", "redis://me:very-secret@a:70000", "read", "k"});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_EQ(result.errors.find("very-secret"), std::string::npos) << result.errors;
}

TEST(FencedStorageUsage, TheHelpSaysWhyTheStorageMustCheck) {
  for (const Words& words : {Words{"--help"}, Words{"demo", "--help"}}) {
    const ProcessResult result = run_storage(words);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_NE(result.output.find("Why the storage must check"), std::string::npos);
    EXPECT_NE(result.output.find("QUORUM_LOCK_FENCING_TOKEN"), std::string::npos);
  }
}

}  // namespace
}  // namespace redlock::test
