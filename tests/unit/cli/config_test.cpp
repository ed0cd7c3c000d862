#include "quorum-lock/line/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/session/settings.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/layers.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

ConfigFile config_of(const std::string& text) {
  const test::TempDir folder;
  return read_config(folder.write("q.toml", text).string());
}

/// The mistakes, without the folder of the file.
std::vector<std::string> mistakes_in(const std::string& text) {
  std::vector<std::string> texts;
  for (const ConfigFile::Mistake& mistake : config_of(text).mistakes) {
    texts.push_back(mistake.text.substr(mistake.text.find("q.toml:")));
  }
  return texts;
}

/// Sets environment variables, and restores them at the end.
class Variables {
 public:
  Variables(const char* nodes, const char* guard) {
    set("QUORUM_LOCK_NODES", nodes);
    set("QUORUM_LOCK_RESTART_GUARD", guard);
  }
  using Values = std::vector<std::pair<const char*, const char*>>;
  explicit Variables(const Values& values) : Variables("", "") {
    for (const auto& [name, value] : values) set(name, value);
  }
  ~Variables() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name, value->c_str(), 1);
      } else {
        ::unsetenv(name);
      }
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  void set(const char* name, const char* value) {
    const char* old = std::getenv(name);
    before_.emplace_back(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    ::setenv(name, value, 1);
  }

  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

Arguments filled(Arguments given, const std::string& verb, const std::string& text) {
  fill_in(given, verb, config_of(text));
  return given;
}

std::string refusal_of_filling(Arguments given, const std::string& verb, const std::string& text) {
  try {
    static_cast<void>(filled(std::move(given), verb, text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(CliConfig, HasDefaultsOfTheProgramAndOfEachVerb) {
  const ConfigFile file = config_of(
      "nodes = [\"a\", \"b\"]\n"
      "quorum = 2\n"
      "[run]\n"
      "ttl = \"20s\"\n"
      "fencing = true\n"
      "permits = 4\n"
      "nodes = \"c\"\n"
      "[bench]\n"
      "in-flight = [1, 16]\n"
      "contenders = \"2,8\"\n"
      "nodes-count = 3\n"
      "[chaos]\n"
      "faults = [\"kill\", \"pause\"]\n");
  EXPECT_TRUE(file.mistakes.empty()) << file.mistakes.front().text;
  EXPECT_EQ(file.top_level.nodes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(file.top_level.number("quorum", 1, 9), 2U);
  const Arguments& run = file.tables.at("run");
  EXPECT_EQ(run.duration("ttl"), 20s);
  EXPECT_TRUE(run.flag("fencing"));
  EXPECT_EQ(run.number("permits", 1, 9), 4U);
  EXPECT_EQ(run.nodes, std::vector<std::string>{"c"});
  EXPECT_EQ(run.find("ttl")->line, 4U);
  const Arguments& bench = file.tables.at("bench");
  EXPECT_EQ(bench.text("in-flight"), "1,16");
  EXPECT_EQ(bench.text("contenders"), "2,8");
  EXPECT_EQ(bench.text("nodes-count"), "3");
  EXPECT_EQ(file.tables.at("chaos").text("faults"), "kill,pause");
}

TEST(CliConfig, MayBeEmpty) {
  EXPECT_TRUE(config_of("").mistakes.empty());
  EXPECT_TRUE(config_of("# nothing yet\n").mistakes.empty());
}

TEST(CliConfig, NamesEachMistakeWithItsLine) {
  EXPECT_EQ(mistakes_in("tiemout = \"1s\"\n\n[run]\nwiat = \"1s\"\n[rnu]\n"),
            (std::vector<std::string>{"q.toml:1: unknown key 'tiemout'; did you mean 'timeout'?",
                                      "q.toml:4: unknown key 'wiat' in [run]; did you mean 'wait'?",
                                      "q.toml:5: no verb is named 'rnu'; did you mean 'run'?"}));
  EXPECT_EQ(mistakes_in("timeout = 3\n[release]\ntoken = \"t\"\n"),
            (std::vector<std::string>{
                "q.toml:1: timeout must be a string such as \"10s\"",
                "q.toml:3: [release] token can have no default: it belongs on the command line"}));
  EXPECT_EQ(mistakes_in("max-hold = \"1s\"\nrun = 3\n"),
            (std::vector<std::string>{
                "q.toml:1: 'max-hold' is allowed only in the table of a verb: [run]",
                "q.toml:2: 'run' must be a table: [run]"}));
}

TEST(CliConfig, KnowsAnOptionThatIsNamedAsAVerbIs) {
  EXPECT_EQ(mistakes_in("wait = \"5m\"\n"),
            std::vector<std::string>{"q.toml:1: 'wait' is allowed only in the table of a verb: "
                                     "[run], [acquire], [wait], [elect]"});
}

TEST(CliConfig, RefusesWhatOnlyOneCommandCanSay) {
  for (const std::string text :
       {"config = \"x\"\n", "[break]\nyes = true\n", "[bootstrap]\nafter-loss = true\n",
        "[elect]\nobserve = true\n", "[chaos]\ncheck = \"x\"\n", "[help]\n", "[config]\n",
        "[run]\nconfig = \"x\"\n", "[[run]]\n"}) {
    EXPECT_EQ(mistakes_in(text).size(), 1U) << text;
  }
}

TEST(CliConfig, RefusesOtherTypes) {
  for (const std::string text :
       {"nodes = []\n", "nodes = [1]\n", "json = \"yes\"\n", "quorum = \"2\"\n", "local = 2.0\n",
        "name = 1\n", "restart-guard = false\n", "[run]\nttl = 10\n", "[run]\nfencing = 1\n",
        "[run.ttl]\n", "[bench]\nin-flight = []\n", "[bench]\nin-flight = [true]\n"}) {
    EXPECT_EQ(mistakes_in(text).size(), 1U) << text;
  }
}

TEST(CliLayers, TheStrongerOneWins) {
  const Variables variables("env", "off");
  const std::string text =
      "nodes = \"top\"\nrestart-guard = \"30s\"\ntimeout = \"1s\"\nname = \"top\"\njson = true\n"
      "[run]\nnodes = \"table\"\nrestart-guard = \"40s\"\ntimeout = \"2s\"\njson = false\n";
  Arguments given;
  given.set("timeout", {"3s", "--timeout"});
  const Arguments run = filled(given, "run", text);
  EXPECT_EQ(run.nodes, std::vector<std::string>{"env"});
  EXPECT_EQ(run.nodes_origin.layer, Arguments::Layer::environment);
  EXPECT_EQ(run.text("restart-guard"), "off");
  EXPECT_EQ(run.text("timeout"), "3s");
  EXPECT_EQ(run.text("name"), "top");
  EXPECT_FALSE(run.flag("json"));
  const Arguments acquire = filled({}, "acquire", text);
  EXPECT_EQ(acquire.text("timeout"), "1s");
  EXPECT_TRUE(acquire.flag("json"));
}

TEST(CliLayers, AnAnswerReplacesAllWeakerOnes) {
  const Variables variables("", "");
  Arguments owned;
  owned.set("owner", {"me", "--owner"});
  owned.set_flag("verbose", true, "--verbose");
  owned.set("local", {"3", "--local"});
  const Arguments run = filled(owned, "run", "quiet = true\nnodes = \"a\"\n[run]\nshared = true\n");
  EXPECT_FALSE(run.flag("shared"));
  EXPECT_FALSE(run.flag("quiet"));
  EXPECT_TRUE(run.nodes.empty());

  const Arguments table = filled({}, "run", "local = 3\n[run]\nnodes = \"a\"\n");
  EXPECT_EQ(table.find("local"), nullptr);

  Arguments back;
  back.set_flag("quiet", false, "--quiet");
  EXPECT_TRUE(filled(back, "run", "verbose = true\n").flag("verbose"));
}

TEST(CliLayers, WhatCannotBeCombinedIsRefusedByItsLine) {
  const Variables variables("", "");
  EXPECT_NE(refusal_of_filling({}, "run", "local = 3\nnodes = \"a\"\n")
                .find("q.toml:2: nodes: not together with "),
            std::string::npos);
  Arguments shared;
  shared.set_flag("shared", true, "--shared");
  EXPECT_TRUE(refusal_of_filling(shared, "run", "[run]\nfencing = true\n")
                  .ends_with("q.toml:2: [run] fencing"));
  shared.set_flag("fencing", false, "--fencing");
  EXPECT_EQ(refusal_of_filling(shared, "run", "[run]\nfencing = true\n"), "");
}

TEST(CliLayers, AWrongValueIsNamedByItsLine) {
  const Variables variables("", "");
  const Arguments given = filled({}, "run", "nodes = \"a\"\n[run]\nttl = \"31s\"\n");
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  try {
    static_cast<void>(ttl_of(given, settings));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("q.toml:3: [run] ttl: 31.000 s is not"),
              std::string::npos)
        << error.what();
  }
}

TEST(CliEnvironment, HasAVariableForEachOptionThatEveryVerbTakes) {
  EXPECT_EQ(variable_of("max-ttl"), "QUORUM_LOCK_MAX_TTL");
  const Variables variables(Variables::Values{{"QUORUM_LOCK_QUORUM", "4"},
                                              {"QUORUM_LOCK_NAME", "backup"},
                                              {"QUORUM_LOCK_USER", "locks"},
                                              {"QUORUM_LOCK_PASSWORD", "secret"},
                                              {"QUORUM_LOCK_TIMEOUT", "250ms"},
                                              {"QUORUM_LOCK_MAX_TTL", "1m"},
                                              {"QUORUM_LOCK_DURABLE", "true"},
                                              {"QUORUM_LOCK_JSON", "false"},
                                              {"QUORUM_LOCK_NODES", "a,b,c,d,e"}});
  const Settings settings =
      resolve_settings(filled({}, "run", "json = true\nname = \"other\"\n"), NodesNeeded::required);
  EXPECT_EQ(settings.client.quorum, 4U);
  EXPECT_EQ(settings.client.name, "backup");
  EXPECT_EQ(settings.client.user, "locks");
  EXPECT_EQ(settings.client.password, "secret");
  EXPECT_EQ(settings.client.node.longest_timeout, 250ms);
  EXPECT_EQ(settings.client.max_ttl, 1min);
  EXPECT_TRUE(settings.client.guards.trust_durable);
  EXPECT_EQ(settings.format, Settings::Format::people) << "false takes the file's flag back";
}

TEST(CliEnvironment, IsRefusedByTheNameOfTheVariable) {
  {
    const Variables variables(Variables::Values{{"QUORUM_LOCK_DURABLE", "1"}});
    EXPECT_EQ(refusal_of_filling({}, "run", ""),
              "QUORUM_LOCK_DURABLE: '1' is not allowed: true or false");
  }
  {
    const Variables variables(
        Variables::Values{{"QUORUM_LOCK_LOCAL", "3"}, {"QUORUM_LOCK_NODES", "a"}});
    EXPECT_EQ(refusal_of_filling({}, "run", ""),
              "QUORUM_LOCK_NODES: not together with QUORUM_LOCK_LOCAL");
  }
  const Variables variables(
      Variables::Values{{"QUORUM_LOCK_PASSWORD", "x"}, {"QUORUM_LOCK_PASSWORD_FILE", "/f"}});
  EXPECT_EQ(refusal_of_filling({}, "run", ""),
            "QUORUM_LOCK_PASSWORD_FILE: not together with QUORUM_LOCK_PASSWORD");
}

TEST(CliEnvironment, RefusesAMisspelledVariable) {
  const auto refusal = [](const char* name) {
    const Variables variables(Variables::Values{{name, "5s"}});
    return refusal_of_filling({}, "run", "");
  };
  EXPECT_EQ(refusal("QUORUM_LOCK_MAXTTL"),
            "QUORUM_LOCK_MAXTTL: not a variable of quorum-lock; did you mean "
            "QUORUM_LOCK_MAX_TTL?");
  EXPECT_EQ(refusal("QUORUM_LOCK_PASWORD"),
            "QUORUM_LOCK_PASWORD: not a variable of quorum-lock; did you mean "
            "QUORUM_LOCK_PASSWORD?");
  EXPECT_EQ(
      refusal("QUORUM_LOCK_WAIT"),
      "QUORUM_LOCK_WAIT: --wait has no variable: only options that every verb takes have one");
  EXPECT_EQ(refusal("QUORUM_LOCK_max_ttl"),
            "QUORUM_LOCK_max_ttl: not a variable of quorum-lock; did you mean "
            "QUORUM_LOCK_MAX_TTL?");
}

TEST(CliEnvironment, IgnoresVariablesThatResembleNoneAndSaysSo) {
  const Variables variables(Variables::Values{{"QUORUM_LOCK_SERVICE_HOST", "10.96.0.9"},
                                              {"QUORUM_LOCK_PORT", "tcp://10.96.0.9:6379"},
                                              {"QUORUM_LOCK_TOKEN", "t"},
                                              {"QUORUM_LOCK_RESOURCE", "r"},
                                              {"QUORUM_LOCK_FENCING_TOKEN", "7"},
                                              {"QUORUM_LOCK_PERMIT", "r#1"},
                                              {"QUORUM_LOCK_CHAOS_SEED", "1"},
                                              {"QUORUM_LOCK_MAXTTL", ""}});
  EXPECT_EQ(refusal_of_filling({}, "run", ""), "");
  std::vector<std::string> lines = ignored_variables();
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "QUORUM_LOCK_PORT: not a variable of quorum-lock, and ignored",
                       "QUORUM_LOCK_SERVICE_HOST: not a variable of quorum-lock, and ignored"}));
}

TEST(CliEnvironment, NamesTheConfigurationFile) {
  const test::TempDir folder;
  const std::string file = folder.write("q.toml", "name = \"from the file\"\n").string();
  const Variables variables(Variables::Values{{"QUORUM_LOCK_CONFIG", file.c_str()}});
  Arguments given;
  fill_in(given, "run");
  EXPECT_EQ(given.text("name"), "from the file");
}

}  // namespace
}  // namespace redlock::cli
