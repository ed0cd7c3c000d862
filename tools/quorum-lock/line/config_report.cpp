#include "quorum-lock/line/config_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/bench_modes.hpp"
#include "chaos/schedule.hpp"
#include "common/servers/http_message.hpp"
#include "common/servers/loopback_ports.hpp"
#include "common/session/settings.hpp"
#include "common/session/table.hpp"
#include "common/text/json_line.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/config.hpp"
#include "quorum-lock/line/layers.hpp"
#include "quorum-lock/line/option_kind.hpp"

namespace redlock::cli {
namespace {

/// The defaults. Flags are false, and options that are not here are not set.
struct Preset {
  std::string_view verb;  ///< empty: the default of every verb
  std::string_view name;
  std::string_view value;
};

constexpr Preset presets[] = {
    {"", "name", "user@host:pid program"},
    {"", "cacert", "the system's"},
    {"", "timeout", "1s"},
    {"", "clock-bound", "1s"},
    {"", "server-name", "the URL's host"},
    {"run", "wait", "30s"},
    {"run", "conflict-exit-code", "75"},
    {"acquire", "wait", "0s"},
    {"acquire", "conflict-exit-code", "75"},
    {"elect", "wait", "forever"},
    {"wait", "wait", "forever"},
    {"doctor", "interval", "5s"},
    {"list", "limit", "10000"},
    {"top", "limit", "10000"},
    {"break", "limit", "10000"},
    {"bench", "mode", "cycle"},
    {"bench", "in-flight", "1,16,64"},
    {"bench", "nodes-count", "1,3,5"},
    {"bench", "duration", "2s"},
    {"bench", "repetitions", "5"},
    {"bench", "contenders", "2,8,32"},
    {"bench", "hold", "1ms"},
    {"bench", "hand-overs", "2000"},
    {"chaos", "clients", "4"},
    {"chaos", "duration", "15s"},
    {"chaos", "faults", "kill,pause,partition,clock,restart,slow,role,pieces,evict,name,load"},
    {"chaos", "seed", "any"},
};

constexpr std::string_view positive_durations[] = {"timeout",       "connect-timeout", "max-ttl",
                                                   "restart-guard", "clock-bound",     "max-hold",
                                                   "interval",      "duration"};

/// The duration as a file would spell it: in the largest unit that leaves a whole number.
std::string spelled(std::chrono::nanoseconds span) {
  using namespace std::chrono_literals;
  constexpr std::pair<std::chrono::nanoseconds, std::string_view> units[] = {
      {1h, "h"}, {1min, "m"}, {1s, "s"}, {1ms, "ms"}};
  for (const auto& [unit, name] : units) {
    if (span >= unit && span % unit == 0ns) return fmt::format("{}{}", span / unit, name);
  }
  return fmt::format("{}us", span / 1us);
}

/// Checks a number, except for the limits that other options decide.
void check_number(const Arguments& given, const OptionText& option) {
  const std::string name(option.name);
  if (kind_of(option) == OptionKind::list) {
    static_cast<void>(given.numbers(name));
  } else {
    static_cast<void>(given.number(name));
  }
}

void check_duration(const Arguments& given, const OptionText& option) {
  const std::string name(option.name);
  const std::string_view instead = word_instead(option);
  if (!instead.empty() && given.find(name)->text == instead) return;
  const bool positive = std::find(std::begin(positive_durations), std::end(positive_durations),
                                  option.name) != std::end(positive_durations);
  if (positive) {
    static_cast<void>(given.positive_duration(name));
  } else {
    static_cast<void>(given.duration(name));
  }
}

void check_listen_address(std::string_view option, const std::string& origin,
                          const std::string& text) {
  try {
    static_cast<void>(parse_listen_address(option, text));
  } catch (const UsageError& error) {
    const std::string line = error.what();
    throw UsageError(origin + line.substr(std::min(line.find(':'), line.size())));
  }
}

void check_text(const Arguments& given, const OptionText& option) {
  const std::string name(option.name);
  const std::string text = given.text(name).value_or(std::string());
  if (option.name == "name" || option.name == "owner") {
    static_cast<void>(name_of(given, name));
  } else if (option.name == "prefix") {
    static_cast<void>(prefix_of(given));
  } else if (option.name == "ports") {
    static_cast<void>(port_range_of(given));
  } else if (option.name == "metrics-listen" || option.name == "status-listen") {
    check_listen_address(option.name, given.find(name)->origin, text);
  } else if (option.name == "mode" && find_bench_mode(text) == nullptr) {
    throw UsageError(fmt::format("{}: '{}' is not known: allowed are {}", given.find(name)->origin,
                                 as_printable(text), bench_mode_names()));
  }
}

void check_faults(const Arguments& given) {
  for (const std::string& fault : split_list(given.text("faults").value_or(std::string()))) {
    if (chaos::fault_kind(fault)) continue;
    throw UsageError(fmt::format(
        "{}: '{}' is not known: allowed are {}", given.find("faults")->origin, as_printable(fault),
        chaos::list_of({std::begin(chaos::all_fault_kinds), std::end(chaos::all_fault_kinds)})));
  }
}

/// Throws UsageError.
void check_value(const Arguments& given, const OptionText& option) {
  switch (kind_of(option)) {
    case OptionKind::nodes:
    case OptionKind::flag:
      return;
    case OptionKind::text:
      return check_text(given, option);
    case OptionKind::duration:
      return check_duration(given, option);
    case OptionKind::number:
      return check_number(given, option);
    case OptionKind::list:
      return option.name == "faults" ? check_faults(given) : check_number(given, option);
  }
}

/// Collects lines, each once, in the order of the file if that is known.
class Mistakes {
 public:
  void add(const std::string& text, std::size_t line = SIZE_MAX) {
    const bool known =
        std::any_of(mistakes_.begin(), mistakes_.end(),
                    [&text](const ConfigFile::Mistake& each) { return each.text == text; });
    if (!known) mistakes_.push_back({line, text});
  }

  /// Notes the UsageError that `check` throws. Returns whether it threw none.
  template <typename Check>
  bool catch_from(const Check& check, std::size_t line = SIZE_MAX) {
    try {
      check();
      return true;
    } catch (const UsageError& error) {
      add(error.what(), line);
      return false;
    }
  }

  [[nodiscard]] std::vector<std::string> lines() {
    std::stable_sort(
        mistakes_.begin(), mistakes_.end(),
        [](const ConfigFile::Mistake& a, const ConfigFile::Mistake& b) { return a.line < b.line; });
    std::vector<std::string> lines;
    for (const ConfigFile::Mistake& mistake : mistakes_) lines.push_back(mistake.text);
    return lines;
  }

 private:
  std::vector<ConfigFile::Mistake> mistakes_;
};

/// Checks each value of one part of the file. Wrong values are dropped, because they would hide
/// mistakes in the combination of the others.
void check_values(Arguments& part, const std::vector<OptionText>& options, Mistakes& mistakes) {
  for (const OptionText& option : options) {
    const std::string name(option.name);
    const Arguments::Value* value = part.find_any(name);
    if (value == nullptr) continue;
    if (!mistakes.catch_from([&] { check_value(part, option); }, value->line)) part.forget(name);
  }
}

bool has_own_globals(const Arguments& given) {
  const std::vector<OptionText> options = global_defaults();
  return std::any_of(options.begin(), options.end(), [&given](const OptionText& option) {
    const auto* value = given.find_any(std::string(option.name));
    return value != nullptr && value->layer == Arguments::Layer::verb_table;
  });
}

/// Makes the checks that the verb makes before it sends anything, over all layers. A check of the
/// nodes also reads the system's certificates, which takes a while.
std::optional<Settings> resolve(const Arguments& given, bool checks_nodes, Mistakes& mistakes) {
  std::optional<Settings> settings;
  mistakes.catch_from([&] { settings = resolve_settings(given, NodesNeeded::optional); });
  if (!settings) return settings;
  mistakes.catch_from([&] { static_cast<void>(ttl_of(given, *settings)); });
  mistakes.catch_from([&] { static_cast<void>(orphan_ttl_of(given, *settings)); });
  if (settings->nodes.empty() || !checks_nodes) return settings;
  if (const auto mistake = find_mistake(client_options(*settings, settings->nodes))) {
    mistakes.add(fmt::format("{}: {}", given.nodes_origin.origin, mistake->message));
  }
  return settings;
}

ShownSetting::Type type_of(const OptionText& option) {
  switch (kind_of(option)) {
    case OptionKind::nodes:
    case OptionKind::list:
      return ShownSetting::Type::list;
    case OptionKind::flag:
      return ShownSetting::Type::flag;
    case OptionKind::number:
      return ShownSetting::Type::number;
    case OptionKind::text:
    case OptionKind::duration:
      return ShownSetting::Type::text;
  }
  return ShownSetting::Type::text;
}

std::string preset_of(std::string_view verb, const OptionText& option, const Settings& settings) {
  if (option.name == "max-ttl" || option.name == "restart-guard")
    return spelled(settings.client.max_ttl);
  if (option.name == "ttl" && verb != "extend") return spelled(default_ttl(settings));
  if (option.value.empty()) return "false";
  if (option.name == "quorum") {
    const std::size_t nodes = settings.local.value_or(settings.nodes.size());
    return nodes == 0 ? "a majority" : std::to_string(nodes / 2 + 1);
  }
  for (const Preset& preset : presets) {
    if (preset.verb == verb && preset.name == option.name) return std::string(preset.value);
  }
  return {};
}

/// The setting, with `preset` if no layer has a value.
ShownSetting show(const Arguments& given, const OptionText& option, const std::string& preset,
                  const Settings& settings) {
  ShownSetting shown;
  shown.name = option.name;
  shown.type = type_of(option);
  const Arguments::Value* value = given.find_any(shown.name);
  const std::string text = value == nullptr ? preset : value->text;
  if (option.name == "nodes") {
    for (const std::string& node : settings.nodes) shown.values.push_back(without_password(node));
  } else if (shown.type == ShownSetting::Type::list) {
    if (!text.empty()) shown.values = split_list(text);
  } else if (!text.empty()) {
    shown.values = {text};
  }
  if (value == nullptr) return shown;
  switch (value->layer) {
    case Arguments::Layer::command_line:
      shown.source = ShownSetting::Source::command_line;
      break;
    case Arguments::Layer::environment:
      shown.source = ShownSetting::Source::environment;
      shown.variable = value->origin;
      break;
    case Arguments::Layer::verb_table:
    case Arguments::Layer::top_level:
      shown.source = ShownSetting::Source::file;
      shown.line = value->line;
      break;
  }
  return shown;
}

/// The options of one scope. The scope of all verbs has every global option; that of one verb has
/// the options to which the verb gives a value of its own.
ConfigReport::Scope show_scope(const std::string& verb, const Arguments& given,
                               const Settings& settings) {
  ConfigReport::Scope scope{verb, {}};
  if (!verb.empty()) {
    for (const OptionText& option : own_defaults(*find_verb_text(verb))) {
      scope.settings.push_back(show(given, option, preset_of(verb, option, settings), settings));
    }
  }
  for (const OptionText& option : global_defaults()) {
    const auto* value = given.find_any(std::string(option.name));
    const bool own = value != nullptr && value->layer == Arguments::Layer::verb_table;
    if (!verb.empty() && !own) continue;
    scope.settings.push_back(show(given, option, preset_of("", option, settings), settings));
  }
  return scope;
}

std::vector<std::string> scopes_of_file() {
  std::vector<std::string> names = {""};
  for (const VerbText& verb : verbs()) {
    if (may_have_table(verb)) names.emplace_back(verb.name);
  }
  return names;
}

std::string source_text(const ConfigReport& report, const ShownSetting& setting) {
  switch (setting.source) {
    case ShownSetting::Source::command_line:
      return "command line";
    case ShownSetting::Source::environment:
      return setting.variable;
    case ShownSetting::Source::file:
      return fmt::format("{}:{}", as_printable(report.file), setting.line);
    case ShownSetting::Source::preset:
      return "default";
  }
  return {};
}

nlohmann::ordered_json value_json(const ShownSetting& setting) {
  if (setting.values.empty()) return nullptr;
  const std::string& text = setting.values.front();
  switch (setting.type) {
    case ShownSetting::Type::list: {
      auto list = nlohmann::ordered_json::array();
      for (const std::string& value : setting.values) list.push_back(as_utf8(value));
      return list;
    }
    case ShownSetting::Type::flag:
      return text == "true";
    case ShownSetting::Type::number: {
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      // A default may be words, for people.
      if (error == std::errc{} && end == text.data() + text.size()) return number;
      return nullptr;
    }
    case ShownSetting::Type::text:
      break;
  }
  return as_utf8(text);
}

nlohmann::ordered_json setting_json(const ShownSetting& setting) {
  nlohmann::ordered_json json{{"name", setting.name}, {"value", value_json(setting)}};
  switch (setting.source) {
    case ShownSetting::Source::command_line:
      json["source"] = "command_line";
      break;
    case ShownSetting::Source::environment:
      json["source"] = "environment";
      json["variable"] = setting.variable;
      break;
    case ShownSetting::Source::file:
      json["source"] = "file";
      json["line"] = setting.line;
      break;
    case ShownSetting::Source::preset:
      json["source"] = "default";
      break;
  }
  return json;
}

}  // namespace

ConfigReport check_config(const Arguments& given) {
  ConfigReport report;
  const Arguments::Value path = config_of(given).value_or(Arguments::Value{});
  report.file = path.text;
  ConfigFile file = read_config(path.text, path.origin);
  Mistakes mistakes;
  for (const ConfigFile::Mistake& mistake : file.mistakes) mistakes.add(mistake.text, mistake.line);
  check_values(file.top_level, global_defaults(), mistakes);
  for (auto& [verb, table] : file.tables) {
    check_values(table, own_defaults(*find_verb_text(verb)), mistakes);
    check_values(table, global_defaults(), mistakes);
  }
  for (const std::string& verb : scopes_of_file()) {
    Arguments filled = given;
    if (!mistakes.catch_from([&] { fill_in(filled, verb, file); })) continue;
    const bool checks_nodes = verb.empty() || has_own_globals(filled);
    if (const auto settings = resolve(filled, checks_nodes, mistakes)) {
      report.scopes.push_back(show_scope(verb, filled, *settings));
    }
  }
  report.mistakes = mistakes.lines();
  if (!report.mistakes.empty()) report.scopes.clear();
  return report;
}

std::string config_text(const Style& style, const ConfigReport& report) {
  static constexpr Column columns[] = {{"VERB"}, {"SETTING"}, {"VALUE"}, {"FROM"}};
  std::vector<std::vector<Cell>> rows;
  for (const ConfigReport::Scope& scope : report.scopes) {
    for (const ShownSetting& setting : scope.settings) {
      const bool preset = setting.source == ShownSetting::Source::preset;
      const auto colour = preset ? Style::Colour::faint : Style::Colour::plain;
      const std::string value =
          setting.values.empty() ? "-"
                                 : as_printable(fmt::format("{}", fmt::join(setting.values, ",")));
      rows.push_back({{scope.verb.empty() ? "(every)" : scope.verb, colour},
                      {setting.name, colour},
                      {value, colour},
                      {source_text(report, setting), colour}});
    }
  }
  return joined_lines(table_lines(style, columns, rows));
}

std::string config_json(const ConfigReport& report) {
  nlohmann::ordered_json json{{"outcome", report.mistakes.empty() ? "right" : "wrong"},
                              {"file", as_utf8(report.file)}};
  json["mistakes"] = nlohmann::ordered_json::array();
  for (const std::string& mistake : report.mistakes) json["mistakes"].push_back(as_utf8(mistake));
  json["settings"] = nlohmann::ordered_json::array();
  json["verbs"] = nlohmann::ordered_json::object();
  for (const ConfigReport::Scope& scope : report.scopes) {
    auto& list = scope.verb.empty() ? json["settings"] : json["verbs"][scope.verb];
    list = nlohmann::ordered_json::array();
    for (const ShownSetting& setting : scope.settings) list.push_back(setting_json(setting));
  }
  return json_line(json);
}

}  // namespace redlock::cli
