#include "quorum-lock/line/layers.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

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

/// The global options from the environment, and the password, which is not an option because `ps`
/// would show it.
Arguments environment() {
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
  std::string name = "QUORUM_LOCK_";
  for (const char letter : option) {
    name +=
        letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return name;
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
