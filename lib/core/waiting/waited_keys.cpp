#include "core/waiting/waited_keys.hpp"

namespace redlock::core {
namespace {

constexpr std::size_t most_idle = 32;

}  // namespace

WaitedKeys::Entry& WaitedKeys::note(std::string_view key) {
  Entry* entry = find(key);
  if (entry == nullptr) {
    entry = &*keys_.try_emplace(std::string(key)).first;
    entry->second.id = ++last_id_;
    by_id_.emplace(last_id_, entry);
  }
  return *entry;
}

WaitedKeys::Entry* WaitedKeys::find(std::string_view key) {
  const auto at = keys_.find(key);
  return at == keys_.end() ? nullptr : &*at;
}

WaitedKeys::Entry* WaitedKeys::find(std::uint32_t id) {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : at->second;
}

void WaitedKeys::forget(std::uint32_t id) {
  const Entry* const entry = find(id);
  if (entry == nullptr || !entry->second.waiters.empty() || keys_.size() <= most_idle) return;
  by_id_.erase(id);
  keys_.erase(keys_.find(entry->first));
}

}  // namespace redlock::core
