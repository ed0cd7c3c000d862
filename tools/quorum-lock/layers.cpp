#include "quorum-lock/layers.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "quorum-lock/usage_error.hpp"

namespace redlock::cli {
namespace {

using Layer = Arguments::Layer;

/// One question: an answer replaces every answer of a weaker layer.
struct Alternatives {
  std::string_view names[3];
  bool together = false;  ///< whether one layer may name several
};

constexpr Alternatives alternatives[] = {
    {{"nodes", "local"}},    {{"quiet", "verbose"}},       {{"shared", "owner", "permits"}},
    {{"async", "blocking"}}, {{"reentry", "drain"}, true},
};

/// Refused together in every layer.
constexpr std::pair<std::string_view, std::string_view> incompatible[] = {
    {"shared", "at-least"}, {"owner", "at-least"},  {"shared", "fencing"},
    {"owner", "fencing"},   {"permits", "fencing"},
};

/// Null where the option is not set, or is a flag that was taken back.
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

bool from_file(const Arguments::Value& value) {
  return value.layer == Layer::verb_table || value.layer == Layer::top_level;
}

/// Verbs refuse by themselves what the command line combines.
void refuse_together(const Arguments& given, std::string_view first, std::string_view second) {
  const Arguments::Value* one = chosen(given, first);
  const Arguments::Value* other = chosen(given, second);
  if (one == nullptr || other == nullptr || (!from_file(*one) && !from_file(*other))) return;
  throw UsageError(fmt::format("{}: not together with {}", one->origin, other->origin));
}

Arguments environment() {
  Arguments layer;
  const char* nodes = std::getenv("QUORUM_LOCK_NODES");
  if (nodes != nullptr && *nodes != '\0') {
    layer.nodes = {nodes};
    layer.nodes_origin = {{}, "QUORUM_LOCK_NODES", Layer::environment};
  }
  const char* guard = std::getenv("QUORUM_LOCK_RESTART_GUARD");
  if (guard != nullptr && *guard != '\0') {
    layer.set("restart-guard", {guard, "QUORUM_LOCK_RESTART_GUARD", Layer::environment});
  }
  return layer;
}

}  // namespace

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
  if (const auto path = given.text("config")) file = read_config(*path);
  if (!file.mistakes.empty()) throw UsageError("--config: " + file.mistakes.front().text);
  fill_in(given, verb, file);
}

}  // namespace redlock::cli
