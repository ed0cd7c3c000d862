#include "core/membership/node_memory.hpp"

#include <charconv>

namespace redlock::core {
namespace {

constexpr char before_evictions = '+';

}  // namespace

std::string_view replication_id(std::string_view history) noexcept {
  return history.substr(0, history.find(before_evictions));
}

std::uint64_t evictions_in(std::string_view history) noexcept {
  const std::size_t at = history.find(before_evictions);
  if (at == std::string_view::npos) return 0;
  history.remove_prefix(at + 1);
  std::uint64_t evictions = 0;
  std::from_chars(history.data(), history.data() + history.size(), evictions);
  return evictions;
}

Evictions evictions_between(std::uint64_t before, std::uint64_t now, bool keeps_keys) noexcept {
  if (now == before) return Evictions::none;
  return now == 0 && keeps_keys ? Evictions::unknown : Evictions::some;
}

MemoryChange change_of_memory(std::string_view marked, const NodeMemory& now) noexcept {
  // A server that creates or frees its replication backlog takes a new id, and clears the second
  // one. A server that was a replica has the id of its master as the second one.
  if (!now.own_data && replication_id(marked) != replication_id(now.history)) {
    return MemoryChange::role;
  }
  switch (evictions_between(evictions_in(marked), evictions_in(now.history), now.keeps_keys)) {
    case Evictions::none:
      break;
    case Evictions::some:
      return MemoryChange::evicted;
    case Evictions::unknown:
      return MemoryChange::counters_reset;
  }
  return MemoryChange::none;
}

}  // namespace redlock::core
