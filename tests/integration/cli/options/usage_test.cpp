// Wrong command lines, the configuration file, and help.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/fake_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

/// One wrong command line, and the word that its message must have.
struct WrongUsage {
  std::string name;
  Words words;
  std::string named;
};

std::ostream& operator<<(std::ostream& out, const WrongUsage& usage) { return out << usage.name; }

std::string name_of(const ::testing::TestParamInfo<WrongUsage>& usage) { return usage.param.name; }

class CliWrongUsage : public ::testing::TestWithParam<WrongUsage> {};

TEST_P(CliWrongUsage, IsOneLineThatNamesTheArgumentAnd64) {
  const ProcessResult result = run_tool(GetParam().words);
  EXPECT_TRUE(refused_in_one_line(result, GetParam().named));
  EXPECT_TRUE(result.errors.starts_with("quorum-lock: ")) << result.errors;
}

// No server listens on port 1, so a command line that is accepted ends with 69.
const std::string closed_port = "127.0.0.1:1";

WrongUsage acquire(std::string name, const Words& more, std::string named) {
  Words words = {"acquire", "r", "--nodes", closed_port};
  words.insert(words.end(), more.begin(), more.end());
  return {std::move(name), words, std::move(named)};
}

INSTANTIATE_TEST_SUITE_P(
    Program, CliWrongUsage,
    ::testing::Values(
        WrongUsage{"unknown_verb", {"lock", "r"}, "'lock'"},
        WrongUsage{"mistyped_verb", {"acquier", "r"}, "did you mean acquire?"},
        WrongUsage{"unknown_global_option", {"--colour", "acquire"}, "--colour"},
        WrongUsage{"verb_option_before_the_verb", {"--ttl", "1s", "acquire"}, "--ttl"},
        WrongUsage{"doctor_without_nodes", {"doctor"}, "--nodes"},
        WrongUsage{"doctor_of_a_resource", {"doctor", "r", "--nodes", closed_port}, "'r'"},
        WrongUsage{"bootstrap_without_nodes", {"bootstrap"}, "--nodes"},
        WrongUsage{"bootstrap_of_a_resource", {"bootstrap", "r", "--nodes", closed_port}, "'r'"},
        WrongUsage{"members_without_nodes", {"members"}, "--nodes"},
        WrongUsage{"members_of_a_resource", {"members", "r", "--nodes", closed_port}, "'r'"},
        WrongUsage{
            "members_replace_one", {"members", "replace", "r", "--nodes", closed_port}, "OLD NEW"},
        WrongUsage{"members_add_two", {"members", "add", "a", "b", "--nodes", closed_port}, "URL"},
        WrongUsage{
            "members_add_nonsense", {"members", "add", "http://x", "--nodes", closed_port}, "http"},
        WrongUsage{"elect", {"elect", "--nodes", closed_port}, "RESOURCE"},
        WrongUsage{"list_without_nodes", {"list"}, "--nodes"},
        WrongUsage{"top_without_nodes", {"top"}, "--nodes"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Nodes, CliWrongUsage,
    ::testing::Values(
        WrongUsage{"none", {"acquire", "r"}, "--nodes"},
        WrongUsage{"empty", {"acquire", "r", "--nodes="}, "--nodes"},
        WrongUsage{"empty_entry", {"acquire", "r", "--nodes", "a,,b"}, "--nodes"},
        WrongUsage{"unknown_scheme", {"acquire", "r", "--nodes", "http://a"}, "http://a"},
        WrongUsage{"bad_port", {"acquire", "r", "--nodes", "a:70000"}, "70000"},
        WrongUsage{"no_number_as_port", {"acquire", "r", "--nodes", "a:b"}, "port"},
        WrongUsage{"bad_database", {"acquire", "r", "--nodes", "redis://a:1/x"}, "redis://a:1/x"},
        WrongUsage{"same_twice", {"acquire", "r", "--nodes", "a:1,b:1,a:1"}, "a:1"},
        WrongUsage{
            "too_many", {"acquire", "r", "--nodes", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p"}, "--nodes"},
        WrongUsage{
            "local_and_given", {"acquire", "r", "--nodes", closed_port, "--local", "3"}, "--local"},
        WrongUsage{"local_none", {"acquire", "r", "--local", "0"}, "--local"},
        WrongUsage{"local_too_many", {"acquire", "r", "--local", "16"}, "--local"},
        WrongUsage{"local_no_number", {"acquire", "r", "--local", "three"}, "--local"},
        acquire("quorum_of_a_minority", {"--nodes", "b,c", "--quorum", "1"}, "--quorum"),
        acquire("quorum_too_large", {"--quorum", "2"}, "--quorum")),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Values, CliWrongUsage,
    ::testing::Values(
        acquire("bare_number", {"--ttl", "10"}, "--ttl"),
        acquire("zero_ttl", {"--ttl", "0s"}, "--ttl"),
        acquire("negative_ttl", {"--ttl", "-5s"}, "--ttl"),
        acquire("overflowing_ttl", {"--ttl", "99999999999999999999s"}, "--ttl"),
        acquire("ttl_overflowing_by_its_unit", {"--ttl", "9223372036854775807h"}, "--ttl"),
        acquire("ttl_below_a_millisecond", {"--ttl", "999us"}, "--ttl"),
        acquire("ttl_over_max_ttl", {"--ttl", "31s"}, "--ttl"),
        acquire("ttl_over_a_given_max_ttl", {"--ttl", "6s", "--max-ttl", "5s"}, "--ttl"),
        acquire("ttl_without_value", {"--ttl"}, "--ttl"), acquire("ttl_empty", {"--ttl="}, "--ttl"),
        acquire("ttl_twice", {"--ttl", "1s", "--ttl", "2s"}, "--ttl"),
        acquire("wait_bare", {"--wait", "0"}, "--wait"),
        acquire("wait_word", {"--wait", "soon"}, "--wait"),
        acquire("timeout_zero", {"--timeout", "0s"}, "--timeout"),
        acquire("max_ttl_zero", {"--max-ttl", "0s"}, "--max-ttl"),
        acquire("max_ttl_too_long", {"--max-ttl", "9000h"}, "--max-ttl"),
        acquire("restart_guard_bare", {"--restart-guard", "30"}, "--restart-guard"),
        acquire("restart_guard_word", {"--restart-guard", "on"}, "--restart-guard"),
        acquire("password_file_absent", {"--password-file", "/nowhere"}, "--password-file"),
        acquire("cacert_absent", {"--cacert", "/nowhere"}, "--cacert"),
        acquire("key_without_cert", {"--key", "/dev/null"}, "--key"),
        acquire("cert_without_key", {"--cert", "/dev/null"}, "--cert"),
        acquire("config_absent", {"--config", "/nowhere"}, "--config"),
        acquire("quiet_and_verbose", {"--quiet", "--verbose"}, "--quiet"),
        WrongUsage{"doctor_interval_alone",
                   {"doctor", "--interval", "1s", "--nodes", "a"},
                   "--interval: only with --watch"},
        WrongUsage{"doctor_interval_too_short",
                   {"doctor", "--watch", "--interval", "1ms", "--nodes", "a"},
                   "100ms to 24h"},
        acquire("quiet_and_log_level", {"--quiet", "--log-level", "info"},
                "--quiet: not together with --log-level"),
        acquire("log_level", {"--log-level", "loud"},
                "--log-level: 'loud' is not allowed: debug, info or warning"),
        acquire("ttl_without_validity", {"--ttl", "2ms"},
                "--ttl: 2.0 ms is not allowed: 3.0 ms to"),
        acquire("orphan_ttl", {"--orphan-ttl", "31s"}, "--orphan-ttl: 31.000 s is not allowed"),
        acquire("restart_guard", {"--restart-guard", "29s", "--max-ttl", "30s"},
                "--restart-guard: 29.000 s is not allowed"),
        acquire("wait_for_ever", {"--wait", "for ever"}, ", or forever"),
        acquire("shared_and_permits", {"--shared", "--permits", "2"},
                "--permits: not together with --shared"),
        acquire("two_of_an_owner", {"s", "--owner", "me"}, "--owner: not with several resources"),
        acquire("unknown_option", {"--frobnicate"}, "--frobnicate")),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Verbs, CliWrongUsage,
    ::testing::Values(
        WrongUsage{"no_resource", {"acquire", "--nodes", closed_port}, "RESOURCE"},
        WrongUsage{"empty_resource", {"acquire", "", "--nodes", closed_port}, "RESOURCE"},
        WrongUsage{"long_resource",
                   {"acquire", std::string(8193, 'x'), "--nodes", closed_port},
                   "RESOURCE"},
        WrongUsage{"extend_without_token",
                   {"extend", "r", "--ttl", "1s", "--nodes", closed_port},
                   "--token"},
        WrongUsage{
            "extend_without_ttl", {"extend", "r", "--token", "t", "--nodes", closed_port}, "--ttl"},
        WrongUsage{
            "downgrade_without_token", {"downgrade", "r", "--nodes", closed_port}, "--token"},
        WrongUsage{"release_without_token", {"release", "r", "--nodes", closed_port}, "--token"},
        WrongUsage{"release_empty_token",
                   {"release", "r", "--token", "", "--nodes", closed_port},
                   "--token"},
        WrongUsage{"release_long_token",
                   {"release", "r", "--token", std::string(129, 't'), "--nodes", closed_port},
                   "--token"},
        WrongUsage{"release_blank_in_token",
                   {"release", "r", "--token", "t t", "--nodes", closed_port},
                   "--token: has a blank"},
        WrongUsage{"extend_tab_in_token",
                   {"extend", "r", "--token", "t\t", "--ttl", "1s", "--nodes", closed_port},
                   "--token: has a control character"},
        WrongUsage{"release_permits_of_several",
                   {"release", "r", "s", "--token", "t", "--permits", "2", "--nodes", closed_port},
                   "--permits: not with several resources"},
        WrongUsage{"extend_permits",
                   {"extend", "r", "--token", "t", "--ttl", "1s", "--permits", "0", "--nodes",
                    closed_port},
                   "--permits"},
        WrongUsage{"inspect_two", {"inspect", "r", "s", "--nodes", closed_port}, "'s'"},
        WrongUsage{"run_without_command", {"run", "r", "--nodes", closed_port}, "COMMAND"},
        WrongUsage{"run_with_nothing_behind_the_dashes",
                   {"run", "r", "--nodes", closed_port, "--"},
                   "COMMAND"},
        WrongUsage{"run_an_unknown_option",
                   {"run", "--frobnicate", "r", "true", "--nodes", closed_port},
                   "--frobnicate: not an option of run"},
        WrongUsage{"run_a_mistyped_option",
                   {"run", "r", "--tll", "1s", "true"},
                   "--tll: not an option of run; did you mean --ttl?"},
        WrongUsage{"elect_without_name", {"elect", "--nodes", closed_port, "--", "x"}, "RESOURCE"},
        WrongUsage{"config_alone", {"config"}, "config check"},
        WrongUsage{"config_of_something", {"config", "chekc"}, "'chekc'"},
        WrongUsage{"config_without_file", {"config", "check"}, "--config"},
        WrongUsage{"help_about_nonsense", {"help", "nonsense"}, "'nonsense'"},
        WrongUsage{"flag_with_a_value", {"list", "--json=yes"}, "--json: 'yes'"},
        WrongUsage{"run_several_shared",
                   {"run", "r", "s", "--shared", "--nodes", closed_port, "--", "true"},
                   "--shared: not with several resources"},
        WrongUsage{"run_permits",
                   {"run", "r", "--permits", "257", "--nodes", closed_port, "--", "true"},
                   "--permits"},
        WrongUsage{"run_at_least",
                   {"run", "r", "--interval", "9000h", "--nodes", closed_port, "--", "true"},
                   "--interval"},
        WrongUsage{
            "run_owner",
            {"run", "r", "--owner", std::string(81, 'x'), "--nodes", closed_port, "--", "true"},
            "--owner: has 81 bytes"},
        WrongUsage{"run_shared_and_owner",
                   {"run", "r", "--shared", "--owner", "me", "--nodes", closed_port, "--", "true"},
                   "--owner: not together with --shared"},
        WrongUsage{"run_max_hold_zero",
                   {"run", "r", "--max-hold", "0s", "--nodes", closed_port, "--", "true"},
                   "--max-hold"},
        WrongUsage{"run_max_renewals_word",
                   {"run", "r", "--max-renewals", "x", "--nodes", closed_port, "--", "true"},
                   "--max-renewals"},
        WrongUsage{"run_kill_after_bare",
                   {"run", "r", "--kill-after", "5", "--nodes", closed_port, "--", "true"},
                   "--kill-after"},
        WrongUsage{"bench_handoff", {"bench", "--mode", "handoff", "--blocking"}, "--blocking"},
        WrongUsage{"bench_handoff_one",
                   {"bench", "--mode", "handoff", "--contenders", "1"},
                   "--contenders"},
        WrongUsage{"bench_handoff_hold", {"bench", "--mode", "handoff", "--hold", "1h"}, "--hold"},
        WrongUsage{"bench_handoff_tls",
                   {"bench", "--mode", "handoff", "--nodes", "rediss://localhost"},
                   "without TLS"},
        WrongUsage{"bench_handoff_nodes",
                   {"bench", "--mode", "handoff", "--nodes", closed_port, "--nodes-count", "3"},
                   "more than the 1 node given"},
        WrongUsage{"bench_cycle_contenders", {"bench", "--contenders", "2"}, "--contenders"},
        WrongUsage{"bench_crowd_too_large",
                   {"bench", "--mode", "crowd", "--contenders", "8,2001"},
                   "--contenders"},
        WrongUsage{"bench_crowd_hold", {"bench", "--mode", "crowd", "--hold", "2s"}, "--hold"},
        WrongUsage{"bench_crowd_long",
                   {"bench", "--mode", "crowd", "--duration", "2h"},
                   "--duration: at most 1h"},
        WrongUsage{"bench_crowd_tls",
                   {"bench", "--mode", "crowd", "--nodes", "rediss://localhost"},
                   "--mode crowd: cannot measure"},
        WrongUsage{"bench_unknown_mode", {"bench", "--mode", "x"}, "cycle, handoff and crowd"},
        WrongUsage{"bench_mode_of_before",
                   {"bench", "--mode", "market"},
                   "'market' is not known: allowed are cycle, handoff and crowd"},
        WrongUsage{"bench_floor", {"bench", "--floor"}, "--floor"},
        WrongUsage{"bench_crowd_peers", {"bench", "--mode", "crowd", "--peers"}, "--peers"},
        WrongUsage{"bench_peers_tls", {"bench", "--peers", "--nodes", "rediss://localhost"}, "TLS"},
        WrongUsage{"bench_peers_in_flight", {"bench", "--peers", "--in-flight", "513"}, "513"},
        WrongUsage{"bench_zero_in_flight", {"bench", "--in-flight", "1,0"}, "--in-flight"},
        WrongUsage{"bench_empty_entry", {"bench", "--in-flight", "1,"}, "--in-flight"},
        WrongUsage{"bench_too_many_nodes", {"bench", "--nodes-count", "16"}, "--nodes-count"},
        WrongUsage{"bench_more_nodes_than_given",
                   {"bench", "--nodes", closed_port, "--nodes-count", "3"},
                   "--nodes-count"},
        WrongUsage{"bench_both", {"bench", "--async", "--blocking"}, "--async"},
        WrongUsage{"bench_resource", {"bench", "r"}, "'r'"}),
    name_of);

TEST(CliUsage, SendsNothingWhenTheUsageIsWrong) {
  FakeServer server;
  const ProcessResult result = run_tool({"acquire", "r", "--nodes", server.url(), "--ttl", "31s"});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_EQ(server.connections_accepted(), 0U);
}

TEST(CliUsage, AWrongUrlIsReportedWithoutItsPassword) {
  const ProcessResult result =
      run_tool({"acquire", "r", "--nodes", "redis://me:very-secret@host:70000"});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_EQ(result.errors.find("very-secret"), std::string::npos) << result.errors;
}

TEST(CliUsage, AnUnknownVariableIsAWarningUnlessQuiet) {
  const auto acquire = [](Words more) {
    Words words{"acquire", "r", "--nodes", closed_port};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(std::move(words), {.environment = {"QUORUM_LOCK_PORT=tcp://10.96.0.9:6379"}});
  };
  const ProcessResult warned = acquire({});
  EXPECT_EQ(warned.exit_code, 69) << warned.errors;
  EXPECT_NE(warned.errors.find("QUORUM_LOCK_PORT: not a variable"), std::string::npos);
  EXPECT_EQ(acquire({"--quiet"}).errors.find("QUORUM_LOCK_PORT"), std::string::npos);
  const ProcessResult logged = acquire({"--json", "--verbose"});
  EXPECT_EQ(Json::parse(logged.errors.substr(0, logged.errors.find('\n')))["level"], "warning");
}

TEST(CliUsage, TheConfigurationRefusesWhatItDoesNotKnow) {
  const TempDir directory;
  struct Case {
    std::string text;
    std::string named;
  };
  for (const Case& each : {Case{"node = [\"a\"]\n", "'node'"}, Case{"nodes = 3\n", "nodes"},
                           Case{"timeout = 3\n", "timeout"}, Case{"nodes = [\n", "config.toml:1: "},
                           Case{"timeout = \"3\"\nnodes = \"a\"\n", "timeout"},
                           Case{"[tls]\ncacert = \"x\"\n", "'tls'"}}) {
    const std::string file = directory.write("config.toml", each.text).string();
    const ProcessResult result = run_tool({"acquire", "r", "--config", file});
    EXPECT_EQ(result.exit_code, 64) << each.text;
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
    EXPECT_NE(result.errors.find(each.named), std::string::npos) << result.errors;
  }
}

TEST(CliUsage, TheConfigurationHasDefaultsForEachVerb) {
  const TempDir directory;
  const std::string file = directory
                               .write("config.toml",
                                      "local = 1\njson = true\n"
                                      "[acquire]\nttl = \"7s\"\n"
                                      "[run]\njson = false\nfencing = true\n")
                               .string();
  const ProcessResult acquired = run_tool({"acquire", "r", "--config", file});
  EXPECT_EQ(acquired.exit_code, 0) << acquired.errors;
  EXPECT_EQ(json_of(acquired)["ttl_ms"], 7000);
  const ProcessResult longer = run_tool({"acquire", "r", "--config", file, "--ttl", "8s"});
  EXPECT_EQ(json_of(longer)["ttl_ms"], 8000);
  const ProcessResult command = run_tool(
      {"run", "--config", file, "r", "sh", "-c", "echo ${QUORUM_LOCK_FENCING_TOKEN:+fenced}"});
  EXPECT_EQ(command.output, "fenced\n") << command.errors;
}

TEST(CliUsage, TheConfigurationIsExplained) {
  const TempDir directory;
  const std::string right =
      directory.write("right.toml", "nodes = \"redis://u:secret@h\"\n[run]\nwait = \"5m\"\n")
          .string();
  const ProcessResult text = run_tool({"config", "check", "--config", right});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_NE(text.output.find(right + ":3\n"), std::string::npos) << text.output;
  EXPECT_EQ(text.output.find("secret"), std::string::npos);
  const ProcessResult json = run_tool({"config", "check", "--config", right, "--json"});
  EXPECT_EQ(json_of(json)["outcome"], "right");
  EXPECT_TRUE(json_of(json)["verbs"].contains("run"));

  const std::string wrong =
      directory.write("wrong.toml", "tiemout = \"1s\"\n[run]\nwait = \"5\"\n[rnu]\n").string();
  const ProcessResult mistakes = run_tool({"config", "check", "--config", wrong});
  EXPECT_EQ(mistakes.exit_code, 64);
  EXPECT_EQ(mistakes.output, "");
  EXPECT_EQ(count_lines(mistakes.errors), 3U) << mistakes.errors;
  const ProcessResult wrong_json = run_tool({"config", "check", "--config", wrong, "--json"});
  EXPECT_EQ(wrong_json.exit_code, 64);
  EXPECT_EQ(json_of(wrong_json)["mistakes"].size(), 3U);
}

TEST(CliUsage, TheRestartGuardIsCheckedAndAccepted) {
  for (const std::string value : {"off", "30s"}) {
    // 69: the command line was accepted, and no server is there.
    EXPECT_EQ(
        run_tool({"acquire", "r", "--nodes", closed_port, "--restart-guard", value}).exit_code, 69);
  }
}

TEST(CliHelp, EveryVerbHasExamples) {
  for (const std::string verb :
       {"run", "acquire", "extend", "downgrade", "release", "inspect", "break", "bench", "elect"}) {
    const ProcessResult result = run_tool({verb, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "");
    EXPECT_NE(result.output.find("Usage: quorum-lock " + verb), std::string::npos);
    EXPECT_NE(result.output.find("Examples:"), std::string::npos) << verb;
    EXPECT_NE(result.output.find("quorum-lock help options"), std::string::npos) << verb;
    EXPECT_EQ(run_tool({"help", verb}).output, result.output);
  }
}

TEST(CliHelp, TheOptionsOfEveryVerbHaveAPage) {
  const ProcessResult result = run_tool({"help", "options"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  for (const std::string option : {"--nodes", "--config", "--restart-guard", "--json", "--help"}) {
    EXPECT_NE(result.output.find("\n  " + option), std::string::npos) << option;
  }
  EXPECT_EQ(run_tool({"help"}).output, run_tool({"--help"}).output);
}

TEST(CliHelp, TheProgramListsItsVerbsAndHasExamples) {
  const ProcessResult result = run_tool({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("Examples:"), std::string::npos);
  for (const std::string verb :
       {"run", "acquire", "extend", "release", "inspect", "break", "bench"}) {
    EXPECT_NE(result.output.find(verb), std::string::npos) << verb;
  }
}

TEST(CliHelp, TheVersionIsOneLine) {
  const ProcessResult result = run_tool({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.output.starts_with("quorum-lock ")) << result.output;
  EXPECT_EQ(count_lines(result.output), 1U);
}

TEST(CliHelp, TheCommandsOwnOptionsAreNotOurs) {
  const ProcessResult result =
      run_tool({"run", "r", "--local", "1", "--", "sh", "-c", "echo \"$@\"", "sh", "--help"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "--help\n");
}

TEST(CliHelp, WithoutDashesTheCommandBeginsAtTheSecondWord) {
  const ProcessResult result =
      run_tool({"run", "--local", "1", "r", "--ttl", "2s", "sh", "-c",
                "echo \"$QUORUM_LOCK_RESOURCE $@\"", "sh", "-x", "--ttl", "5", "--help"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "r -x --ttl 5 --help\n");
}

TEST(CliHelp, AMissingCommandIsNotFound) {
  for (const Words& words : {Words{"run", "--nodes", closed_port, "a", "no-such-program"},
                             Words{"elect", "--nodes", closed_port, "a", "no-such-program"}}) {
    const ProcessResult result = run_tool(words);
    EXPECT_EQ(result.exit_code, 127);
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
    EXPECT_NE(result.errors.find("COMMAND: 'no-such-program'"), std::string::npos) << result.errors;
  }
}

}  // namespace
}  // namespace redlock::test
