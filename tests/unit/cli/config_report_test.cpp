#include "quorum-lock/line/config_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "quorum-lock/line/help.hpp"
#include "quorum-lock/line/option_kind.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

ConfigReport report_on(const std::string& text, Arguments given = {}) {
  ::setenv("QUORUM_LOCK_NODES", "", 1);
  ::setenv("QUORUM_LOCK_RESTART_GUARD", "", 1);
  const test::TempDir folder;
  given.set("config", {folder.write("q.toml", text).string(), "--config"});
  return check_config(given);
}

const ShownSetting& setting_of(const ConfigReport& report, const std::string& verb,
                               const std::string& name) {
  static const ShownSetting none;
  for (const ConfigReport::Scope& scope : report.scopes) {
    if (scope.verb != verb) continue;
    for (const ShownSetting& setting : scope.settings) {
      if (setting.name == name) return setting;
    }
  }
  ADD_FAILURE() << verb << " " << name;
  return none;
}

using Texts = std::vector<std::string>;
using Source = ShownSetting::Source;

TEST(CliConfigReport, SaysWhereEachValueComesFrom) {
  Arguments given;
  given.set("timeout", {"3s", "--timeout"});
  const ConfigReport report = report_on(
      "nodes = [\"a\", \"b\", \"c\"]\ntimeout = \"1s\"\nmax-ttl = \"20s\"\n[run]\nwait = "
      "\"5m\"\nmax-ttl = \"8s\"\n[bench]\nin-flight = [1, 2]\n",
      given);
  EXPECT_EQ(report.mistakes, Texts{});
  EXPECT_EQ(setting_of(report, "", "timeout").values, Texts{"3s"});
  EXPECT_EQ(setting_of(report, "", "timeout").source, Source::command_line);
  EXPECT_EQ(setting_of(report, "", "nodes").values, (Texts{"a", "b", "c"}));
  EXPECT_EQ(setting_of(report, "", "nodes").line, 1U);
  EXPECT_EQ(setting_of(report, "", "quorum").values, Texts{"2"});
  EXPECT_EQ(setting_of(report, "", "quorum").source, Source::preset);
  EXPECT_EQ(setting_of(report, "run", "wait").values, Texts{"5m"});
  EXPECT_EQ(setting_of(report, "run", "wait").line, 5U);
  EXPECT_EQ(setting_of(report, "run", "max-ttl").values, Texts{"8s"});
  EXPECT_EQ(setting_of(report, "run", "ttl").values, Texts{"8s"}) << "its default is not longer";
  EXPECT_EQ(setting_of(report, "acquire", "ttl").values, Texts{"10s"});
  EXPECT_EQ(setting_of(report, "acquire", "wait").values, Texts{"0s"});
  EXPECT_EQ(setting_of(report, "bench", "in-flight").values, (Texts{"1", "2"}));
}

TEST(CliConfigReport, NamesTheVariable) {
  const test::TempDir folder;
  ::setenv("QUORUM_LOCK_NODES", "redis://u:secret@h", 1);
  Arguments given;
  given.set("config", {folder.write("q.toml", "nodes = \"a\"\n").string(), "--config"});
  const ConfigReport report = check_config(given);
  ::setenv("QUORUM_LOCK_NODES", "", 1);
  EXPECT_EQ(setting_of(report, "", "nodes").values, Texts{"redis://u@h"});
  EXPECT_EQ(setting_of(report, "", "nodes").variable, "QUORUM_LOCK_NODES");
}

TEST(CliConfigReport, ShowsNoPassword) {
  for (const std::string text :
       {"nodes = [\"redis://u:secret@a\", \"b\"]\n", "nodes = \"redis://u:secret@a:99999\"\n",
        "nodes = \"http://u:secret@a\"\n", "nodes = \"redis://u:secret@a,redis://u:secret@a\"\n",
        "nodes = \"redis://u:secret@a\"\nlocal = 2\n", "nodes = \"redis://u:secret@a,\"\n"}) {
    const ConfigReport report = report_on(text);
    EXPECT_EQ(config_json(report).find("secret"), std::string::npos) << config_json(report);
    EXPECT_EQ(config_text(Style(false), report).find("secret"), std::string::npos);
  }
}

TEST(CliConfigReport, HasEveryMistakeOnALineOfItsOwn) {
  const ConfigReport report = report_on(
      "nodes = [\"http://a\"]\n"
      "tiemout = \"1s\"\n"
      "clock-bound = \"0s\"\n"
      "[run]\n"
      "wait = \"5\"\n"
      "permits = 1000\n"
      "metrics-listen = \"nowhere\"\n"
      "[acquire]\n"
      "ttl = \"31s\"\n"
      "[bench]\n"
      "mode = \"x\"\n"
      "[chaos]\n"
      "faults = [\"kill\", \"x\"]\n"
      "ports = \"7000\"\n"
      "[inspect]\n"
      "quiet = true\n"
      "verbose = true\n");
  const Texts expected = {
      ": nodes:",          ": unknown key 'tiemout'", ": clock-bound:",    ": [run] wait:",
      ": [run] permits:",  ": [run] metrics-listen:", ": [acquire] ttl:",  ": [bench] mode:",
      ": [chaos] faults:", ": [chaos] ports:",        ": [inspect] quiet:"};
  EXPECT_TRUE(report.scopes.empty());
  EXPECT_EQ(report.mistakes.size(), expected.size());
  for (const std::string& what : expected) {
    EXPECT_EQ(std::count_if(report.mistakes.begin(), report.mistakes.end(),
                            [&what](const std::string& line) {
                              return line.find("q.toml:") < line.find(what) &&
                                     line.find(what) != std::string::npos;
                            }),
              1)
        << what;
  }
  // A mistake that only the combined settings show.
  const Texts too_short = report_on("restart-guard = \"1ms\"\n").mistakes;
  ASSERT_EQ(too_short.size(), 1U);
  EXPECT_TRUE(too_short[0].find("q.toml:1: restart-guard: ") != std::string::npos) << too_short[0];
  EXPECT_EQ(report_on("[acquire]\nttl = \"31s\"\n").mistakes.size(), 1U);
  EXPECT_EQ(report_on("nodes = [\"http://a\"]\n").mistakes.size(), 1U);
  EXPECT_EQ(report_on("quiet = true\nverbose = true\n").mistakes.size(), 1U);
  EXPECT_EQ(report_on("quorum = 1\nnodes = [\"a\", \"b\", \"c\"]\n").mistakes.size(), 1U);
}

TEST(CliConfigReport, IsOneObject) {
  const auto json = nlohmann::json::parse(
      config_json(report_on("nodes = \"a\"\njson = true\n[run]\npermits = 4\n")));
  EXPECT_EQ(json["outcome"], "right");
  EXPECT_EQ(json["mistakes"].size(), 0U);
  EXPECT_EQ(json["settings"][0]["name"], "nodes");
  EXPECT_EQ(json["settings"][0]["value"], nlohmann::json::array({"a"}));
  EXPECT_EQ(json["settings"][0]["source"], "file");
  EXPECT_EQ(json["settings"][0]["line"], 1);
  bool found = false;
  for (const auto& setting : json["verbs"]["run"]) {
    if (setting["name"] != "permits") continue;
    found = true;
    EXPECT_EQ(setting["value"], 4);
    EXPECT_EQ(setting["line"], 4);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(nlohmann::json::parse(config_json(report_on("x = 1\n")))["outcome"], "wrong");
}

/// The values shown are "default 10s" and "default: forever" of the help.
TEST(CliConfigReport, ShowsTheDefaultsOfTheHelp) {
  const ConfigReport report = report_on("json = false\n");
  for (const VerbText& verb : verbs()) {
    if (!may_have_table(verb)) continue;
    for (const OptionText& option : own_defaults(verb)) {
      const ShownSetting& shown =
          setting_of(report, std::string(verb.name), std::string(option.name));
      const std::size_t at = option.help.find("default ");
      if (at == std::string_view::npos || shown.type == ShownSetting::Type::flag) continue;
      std::string value;
      for (const std::string& each : shown.values) value += (value.empty() ? "" : ",") + each;
      EXPECT_TRUE(option.help.substr(at + 8).starts_with(value) && !value.empty())
          << verb.name << " " << option.name << ": " << value;
    }
  }
}

}  // namespace
}  // namespace redlock::cli
