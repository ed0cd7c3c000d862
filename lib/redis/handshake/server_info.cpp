#include "redis/handshake/server_info.hpp"

#include <array>
#include <charconv>
#include <cstddef>

#include "redis/visible.hpp"

namespace redlock::redis {

std::string_view info_field(std::string_view info, std::string_view field) noexcept {
  while (!info.empty()) {
    const std::size_t end = info.find('\n');
    std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(field) && line.substr(field.size()).starts_with(':')) {
      return line.substr(field.size() + 1);
    }
  }
  return {};
}

std::uint64_t evicted_keys(std::string_view info) noexcept {
  const std::string_view text = info_field(info, "evicted_keys");
  std::uint64_t evicted = 0;
  std::from_chars(text.data(), text.data() + text.size(), evicted);
  return evicted;
}

std::string memory_id(std::string_view info) {
  std::string id(info_field(info, "master_replid"));
  if (const std::uint64_t evicted = evicted_keys(info); !id.empty() && evicted > 0) {
    id += '+' + std::to_string(evicted);
  }
  return id;
}

std::string_view server_mode(std::string_view info) noexcept {
  for (const std::string_view field : {"redis_mode", "server_mode", "redict_mode"}) {
    const std::string_view mode = info_field(info, field);
    if (!mode.empty()) return mode;
  }
  return {};
}

Product product_in(std::string_view info) noexcept {
  struct Fork {
    std::string_view name;
    std::string_view field;
  };
  constexpr std::array<Fork, 2> forks{{{"Valkey", "valkey_version"}, {"Redict", "redict_version"}}};
  for (const Fork& fork : forks) {
    const std::string_view version = info_field(info, fork.field);
    if (!version.empty()) return {fork.name, version};
  }
  return {"Redis", info_field(info, "redis_version")};
}

std::string product_text(std::string_view info) {
  constexpr std::size_t longest_version = 64;
  const Product product = product_in(info);
  std::string text(product.name);
  if (product.version.empty()) return text;
  text += ' ';
  append_visible(text, product.version, longest_version);
  return text;
}

}  // namespace redlock::redis
