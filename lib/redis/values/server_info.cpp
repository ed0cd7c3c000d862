#include "redis/values/server_info.hpp"

#include <array>
#include <charconv>
#include <cstddef>

#include "redis/values/visible.hpp"

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

namespace {

/// 0: it does not begin with a number.
std::uint64_t leading_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// 0: INFO does not say.
std::uint64_t count_in(std::string_view info, std::string_view field) noexcept {
  return leading_number(info_field(info, field));
}

/// The value in "ip=10.0.0.8,port=6379"; empty: it is not there.
std::string_view value_in(std::string_view line, std::string_view name) noexcept {
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view word = line.substr(at, line.find(',', at) - at);
    if (word.starts_with(name)) return word.substr(name.size());
    at += word.size() + 1;
  }
  return {};
}

}  // namespace

std::uint64_t evicted_keys(std::string_view info) noexcept {
  return count_in(info, "evicted_keys");
}

std::optional<std::uint64_t> attachments(std::string_view info) noexcept {
  if (info_field(info, "sync_full").empty() || info_field(info, "sync_partial_ok").empty()) {
    return std::nullopt;
  }
  return count_in(info, "sync_full") + count_in(info, "sync_partial_ok");
}

std::uint64_t replicas_in_step(std::string_view info) noexcept {
  constexpr std::string_view state = "state=online";
  std::uint64_t count = 0;
  for (std::size_t at = info.find(state); at != std::string_view::npos;
       at = info.find(state, at + state.size())) {
    ++count;
  }
  return count;
}

std::vector<AttachedReplica> attached_replicas(std::string_view info) {
  constexpr std::size_t longest_word = 64;
  constexpr std::size_t most = 64;
  std::vector<AttachedReplica> replicas;
  while (true) {
    const auto line = info_field(info, "slave" + std::to_string(replicas.size()));
    if (line.empty() || replicas.size() == most) return replicas;
    AttachedReplica& replica = replicas.emplace_back();
    const std::string host = visible(value_in(line, "ip="), longest_word);
    const bool is_v6 = host.find(':') != std::string::npos;
    replica.address =
        (is_v6 ? '[' + host + ']' : host) + ':' + visible(value_in(line, "port="), longest_word);
    replica.state = visible(value_in(line, "state="), longest_word);
    replica.offset = leading_number(value_in(line, "offset="));
    const std::string_view lag = value_in(line, "lag=");
    if (!lag.empty() && lag.front() != '-') replica.lag = leading_number(lag);
  }
}

std::uint64_t replication_offset(std::string_view info) noexcept {
  return count_in(info, "master_repl_offset");
}

core::NodeMemory memory_in(std::string_view info) {
  constexpr std::size_t longest_id = 64;
  core::NodeMemory memory;
  memory.history = visible(info_field(info, "master_replid"), longest_id);
  if (memory.history.empty()) memory.history = visible(info_field(info, "run_id"), longest_id);
  if (const std::uint64_t evicted = evicted_keys(info); !memory.history.empty() && evicted > 0) {
    memory.history += '+' + std::to_string(evicted);
  }
  // The second id alone proves little: a server that was a replica clears it when it frees its
  // replication backlog (repl-backlog-ttl). The number of bytes is there since Redis 7.0.
  const std::string_view second_id = info_field(info, "master_replid2");
  memory.own_data = info_field(info, "role") == "master" && !second_id.empty() &&
                    second_id.find_first_not_of('0') == std::string_view::npos &&
                    info_field(info, "second_repl_offset") == "-1" &&
                    info_field(info, "total_net_repl_input_bytes") == "0";
  memory.keeps_keys = info_field(info, "maxmemory_policy") == "noeviction";
  return memory;
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
