#include "bench/contest/contender_side.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <vector>

namespace redlock::cli {

// Standard input is not buffered: it is a pipe of ours.
std::optional<char> next_order() {
  for (;;) {
    char byte = 0;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count == 1) return byte;
    if (count == 0 || errno != EINTR) return std::nullopt;
  }
}

void say_to_parent(std::string_view words) {
  while (!words.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, words.data(), words.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    words.remove_prefix(static_cast<std::size_t>(count));
  }
}

nlohmann::ordered_json settings_to_pass(const Settings& settings) {
  nlohmann::ordered_json json;
  json["nodes"] = settings.nodes;
  json["max_ttl"] = settings.max_ttl.count();
  if (settings.timeout) json["timeout"] = settings.timeout->count();
  if (settings.connect_timeout) json["connect_timeout"] = settings.connect_timeout->count();
  json["restart_guard"] = settings.guards.restart;
  json["durable"] = settings.guards.trust_durable;
  json["clock_guard"] = settings.guards.clock;
  json["clock_bound"] = settings.guards.clock_bound.count();
  if (!settings.prefix.empty()) json["prefix"] = settings.prefix;
  if (settings.guards.quarantine) json["quarantine"] = settings.guards.quarantine->count();
  return json;
}

Settings passed_settings(const nlohmann::json& json) {
  Settings settings;
  settings.nodes = json.at("nodes").get<std::vector<std::string>>();
  settings.max_ttl = std::chrono::nanoseconds{json.at("max_ttl").get<std::int64_t>()};
  if (json.contains("timeout")) {
    settings.timeout = std::chrono::nanoseconds{json.at("timeout").get<std::int64_t>()};
  }
  if (json.contains("connect_timeout")) {
    settings.connect_timeout =
        std::chrono::nanoseconds{json.at("connect_timeout").get<std::int64_t>()};
  }
  settings.guards.restart = json.at("restart_guard");
  settings.guards.trust_durable = json.at("durable");
  settings.guards.clock = json.at("clock_guard");
  settings.guards.clock_bound =
      std::chrono::nanoseconds{json.at("clock_bound").get<std::int64_t>()};
  settings.prefix = json.value("prefix", std::string());
  if (json.contains("quarantine")) {
    settings.guards.quarantine =
        std::chrono::nanoseconds{json.at("quarantine").get<std::int64_t>()};
  }
  return settings;
}

int run_contender_side(void (*contend)(const nlohmann::json& request)) {
  try {
    std::string line;
    for (auto byte = next_order(); byte && *byte != '\n'; byte = next_order()) line += *byte;
    contend(nlohmann::json::parse(line));
    return 0;
  } catch (const std::exception& error) {
    say_to_parent(contender_word::failed + std::string(error.what()));
    return 1;
  }
}

}  // namespace redlock::cli
