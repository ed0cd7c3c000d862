#include "quorum-lock/config.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"

namespace redlock::cli {
namespace {

enum class Kind { strings, text, number, flag };

struct Key {
  std::string_view name;
  Kind kind;
  std::string_view allowed;
};

constexpr Key keys[] = {
    {"nodes", Kind::strings, "a string or an array of strings"},
    {"name", Kind::text, "a string"},
    {"password-file", Kind::text, "a string"},
    {"cacert", Kind::text, "a string"},
    {"cert", Kind::text, "a string"},
    {"key", Kind::text, "a string"},
    {"timeout", Kind::text, R"(a string such as "250ms")"},
    {"restart-guard", Kind::text, R"(a string such as "30s", or "off")"},
    {"durable", Kind::flag, "true or false"},
    {"clock-bound", Kind::text, R"(a string such as "1s")"},
    {"max-ttl", Kind::text, R"(a string such as "30s")"},
    {"quorum", Kind::number, "a whole number"},
    {"local", Kind::number, "a whole number"},
    {"json", Kind::flag, "true or false"},
    {"quiet", Kind::flag, "true or false"},
    {"verbose", Kind::flag, "true or false"},
};

const Key* find_key(std::string_view name) {
  for (const Key& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

/// False: the node has another type than the key wants.
bool take_strings(const toml::node& node, Arguments& into) {
  if (const auto single = node.value_exact<std::string>()) {
    into.nodes.push_back(*single);
    return true;
  }
  const toml::array* array = node.as_array();
  if (array == nullptr || array->empty()) return false;
  for (const toml::node& element : *array) {
    const auto text = element.value_exact<std::string>();
    if (!text) return false;
    into.nodes.push_back(*text);
  }
  return true;
}

bool take(const Key& key, const toml::node& node, const std::string& origin, Arguments& into) {
  const std::string name(key.name);
  switch (key.kind) {
    case Kind::strings:
      return take_strings(node, into);
    case Kind::text: {
      const auto text = node.value_exact<std::string>();
      if (text) into.set(name, {*text, origin});
      return text.has_value();
    }
    case Kind::number: {
      const auto number = node.value_exact<std::int64_t>();
      if (number) into.set(name, {std::to_string(*number), origin});
      return number.has_value();
    }
    case Kind::flag: {
      const auto flag = node.value_exact<bool>();
      if (flag) into.set_flag(name, *flag, origin);
      return flag.has_value();
    }
  }
  return false;
}

std::string read_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf()).good()) {
    throw UsageError(fmt::format("--config: '{}' cannot be read: {}", as_printable(path),
                                 errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  return content.str();
}

toml::table parse(const std::string& path) {
  const std::string text = read_text(path);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("--config: '{}', line {}: {}", as_printable(path),
                                 error.source().begin.line, as_printable(error.description())));
  }
}

}  // namespace

Arguments read_config(const std::string& path) {
  Arguments result;
  for (const auto& [name, node] : parse(path)) {
    const Key* key = find_key(name.str());
    if (key == nullptr) {
      std::string known;
      for (const Key& each : keys)
        known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
      throw UsageError(fmt::format("--config: '{}' has the unknown key '{}': allowed are {}",
                                   as_printable(path), as_printable(name.str()), known));
    }
    if (!take(*key, node, fmt::format("{} in '{}'", key->name, as_printable(path)), result)) {
      throw UsageError(fmt::format("--config: {} in '{}' must be {}", key->name, as_printable(path),
                                   key->allowed));
    }
  }
  return result;
}

}  // namespace redlock::cli
