#include "quorum-lock/line/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/system/child_process.hpp"
#include "common/text/nearest.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {
namespace {

using Layer = Arguments::Layer;

/// Options that answer one question. An answer replaces every answer of a weaker layer.
struct Alternatives {
  std::string_view names[3];
  bool together = false;  ///< whether one layer may name several
};

constexpr Alternatives alternatives[] = {
    {{"nodes", "local", "local-sentinel"}}, {{"quiet", "verbose"}},  {{"quiet", "log-level"}},
    {{"shared", "owner", "permits"}},       {{"async", "blocking"}}, {{"reentry", "drain"}, true},
    {{"password-file", "password"}},
};

/// Options that are refused together in every layer.
constexpr std::pair<std::string_view, std::string_view> incompatible[] = {
    {"shared", "interval"}, {"owner", "interval"},  {"shared", "fencing"},
    {"owner", "fencing"},   {"permits", "fencing"},
};

/// Null: the option is not set, or is a flag that was taken back.
const Arguments::Value* chosen(const Arguments& given, std::string_view name) {
  if (name.empty()) return nullptr;
  const Arguments::Value* value = given.find_any(std::string(name));
  return value != nullptr && value->text == "false" ? nullptr : value;
}

void fill_from_weaker(Arguments& given, Arguments layer) {
  for (const Alternatives& each : alternatives) {
    bool answered = false;
    for (const std::string_view name : each.names) {
      answered = answered || chosen(given, name) != nullptr;
    }
    if (!answered) continue;
    for (const std::string_view name : each.names) layer.forget(std::string(name));
  }
  if (chosen(given, "adopt") != nullptr) {
    for (const NotForAdopted& each : not_for_adopted) layer.forget(each.name);
  }
  given.fill_from(layer);
}

/// Whether the value comes from the environment or a file.
bool is_default(const Arguments::Value& value) { return value.layer != Layer::command_line; }

/// Refuses two options together, unless both are from the command line: the verbs refuse those.
void refuse_together(const Arguments& given, std::string_view first, std::string_view second) {
  const Arguments::Value* one = chosen(given, first);
  const Arguments::Value* other = chosen(given, second);
  if (one == nullptr || other == nullptr || (!is_default(*one) && !is_default(*other))) return;
  throw UsageError(fmt::format("{}: not together with {}", one->origin, other->origin));
}

/// An empty variable counts as none.
std::optional<Arguments::Value> value_of(const std::string& variable) {
  const char* text = std::getenv(variable.c_str());
  if (text == nullptr || *text == '\0') return std::nullopt;
  return Arguments::Value{text, variable, Layer::environment};
}

constexpr std::string_view variable_prefix = "QUORUM_LOCK_";

/// The variables of which `chaos` gives some to a client of another library.
constexpr std::string_view chaos_prefix = "QUORUM_LOCK_CHAOS_";

/// The option's name as it is spelled in a variable.
std::string in_capitals(std::string_view name) {
  std::string capitals;
  for (const char letter : name) {
    capitals +=
        letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return capitals;
}

/// The names after the prefix of all variables that have an effect, or that `run` sets.
std::vector<std::string> known_variables() {
  std::vector<std::string> known;
  for (const OptionText& option : global_options()) {
    known.push_back(variable_of(option.name).substr(variable_prefix.size()));
  }
  for (const VariableText& each : variables()) {
    for (std::string_view rest = each.names; rest.starts_with(variable_prefix);) {
      rest.remove_prefix(variable_prefix.size());
      known.emplace_back(rest.substr(0, rest.find(',')));
      rest.remove_prefix(std::min(rest.find(variable_prefix), rest.size()));
    }
  }
  return known;
}

/// The option of a verb for which there would be this variable, or nothing.
std::string_view verb_option_of(std::string_view variable) {
  for (const VerbText& verb : verbs()) {
    for (const OptionText& option : verb.options) {
      if (variable_of(option.name) == variable) return option.name;
    }
  }
  return {};
}

/// The global options from the environment, and the password, which is not an option because `ps`
/// would show it.
Arguments environment() {
  static_cast<void>(ignored_variables());
  Arguments layer;
  for (const OptionText& option : global_options()) {
    const std::string name(option.name);
    auto value = value_of(variable_of(name));
    if (!value) continue;
    if (name == "nodes") {
      layer.nodes = {std::exchange(value->text, {})};
      layer.nodes_origin = *std::move(value);
    } else if (!option.value.empty()) {
      layer.set(name, *std::move(value));
    } else if (value->text == "true" || value->text == "false") {
      layer.set_flag(name, *std::move(value));
    } else {
      throw UsageError(fmt::format("{}: '{}' is not allowed: true or false", value->origin,
                                   as_printable(value->text)));
    }
  }
  if (auto password = value_of(variable_of("password"))) {
    layer.set("password", *std::move(password));
  }
  return layer;
}

}  // namespace

std::string variable_of(std::string_view option) {
  return fmt::format("{}{}", variable_prefix, in_capitals(option));
}

std::vector<std::string> ignored_variables() {
  const std::vector<std::string> known = known_variables();
  std::vector<std::string> lines;
  for (const std::string_view variable : environment_with({}, {})) {
    const std::size_t equals = std::min(variable.find('='), variable.size());
    const std::string_view name = variable.substr(0, equals);
    const bool is_empty = variable.size() <= equals + 1;
    if (!name.starts_with(variable_prefix) || name.starts_with(chaos_prefix) || is_empty) continue;
    const std::string_view own = name.substr(variable_prefix.size());
    if (std::find(known.begin(), known.end(), own) != known.end()) continue;
    if (const std::string_view option = verb_option_of(name); !option.empty()) {
      throw UsageError(
          fmt::format("{}: --{} has no variable: only options that every verb takes have one",
                      as_printable(name), option));
    }
    if (const auto meant = nearest(in_capitals(own), known)) {
      throw UsageError(fmt::format("{}: not a variable of quorum-lock; did you mean {}{}?",
                                   as_printable(name), variable_prefix, *meant));
    }
    lines.push_back(
        fmt::format("{}: not a variable of quorum-lock, and ignored", as_printable(name)));
  }
  return lines;
}

std::optional<Arguments::Value> config_of(const Arguments& given) {
  if (const Arguments::Value* path = given.find("config")) return *path;
  return value_of(variable_of("config"));
}

void fill_in(Arguments& given, const std::string& verb, const ConfigFile& file) {
  fill_from_weaker(given, environment());
  const auto table = file.tables.find(verb);
  if (table != file.tables.end()) fill_from_weaker(given, table->second);
  fill_from_weaker(given, file.top_level);
  for (const Alternatives& each : alternatives) {
    if (each.together) continue;
    refuse_together(given, each.names[0], each.names[1]);
    refuse_together(given, each.names[0], each.names[2]);
    refuse_together(given, each.names[1], each.names[2]);
  }
  for (const auto& [first, second] : incompatible) refuse_together(given, first, second);
}

void fill_in(Arguments& given, const std::string& verb) {
  ConfigFile file;
  if (const auto path = config_of(given)) {
    file = read_config(path->text, path->origin);
    if (!file.mistakes.empty()) {
      throw UsageError(file.mistakes.front().text);
    }
  }
  fill_in(given, verb, file);
}

}  // namespace redlock::cli
