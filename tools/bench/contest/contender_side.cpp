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

namespace {

// A member of ClientOptions that both sides have to agree on, to and from JSON.
void put(nlohmann::ordered_json& json, const std::string& value) { json = value; }
void put(nlohmann::ordered_json& json, bool value) { json = value; }
void put(nlohmann::ordered_json& json, std::chrono::nanoseconds value) { json = value.count(); }
void put(nlohmann::ordered_json& json, std::size_t value) { json = value; }
template <typename Value>
void put(nlohmann::ordered_json& json, const std::optional<Value>& value) {
  if (value) put(json, *value);
}
void put(nlohmann::ordered_json& /*json*/, const CredentialsProvider& /*none*/) {}

void get(const nlohmann::json& json, std::string& value) { value = json.get<std::string>(); }
void get(const nlohmann::json& json, bool& value) { value = json.get<bool>(); }
void get(const nlohmann::json& json, std::chrono::nanoseconds& value) {
  value = std::chrono::nanoseconds(json.get<std::int64_t>());
}
void get(const nlohmann::json& json, std::size_t& value) { value = json.get<std::size_t>(); }
template <typename Value>
void get(const nlohmann::json& json, std::optional<Value>& value) {
  if (!json.is_null()) get(json, value.emplace());
}
void get(const nlohmann::json& /*json*/, CredentialsProvider& /*none*/) {}

}  // namespace

nlohmann::ordered_json settings_to_pass(const Settings& settings) {
  nlohmann::ordered_json json;
  json["nodes"] = settings.nodes;
#define CLIENT(kind, member, c_member, ...) put(json[#c_member], settings.client.member);
#include "redlock/face.def"
  return json;
}

Settings passed_settings(const nlohmann::json& json) {
  Settings settings;
  settings.nodes = json.at("nodes").get<std::vector<std::string>>();
#define CLIENT(kind, member, c_member, ...) get(json.at(#c_member), settings.client.member);
#include "redlock/face.def"
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
