#include "core/hints.hpp"

#include <algorithm>

#include "redlock/inspection.hpp"

namespace redlock::core {
namespace {

constexpr std::size_t most_idle = 32;
constexpr std::size_t random_digits = 40;

bool is_hexadecimal(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
}

}  // namespace

bool tells_when_free(std::string_view holder) {
  if (holder == "shared" || holder == "writer" || holder.starts_with("owner ")) return true;
  if (holder == interval_token) return true;
  if (holder.size() < random_digits) return false;
  if (holder.size() > random_digits && holder[random_digits] != ':') return false;
  const std::string_view digits = holder.substr(0, random_digits);
  return std::all_of(digits.begin(), digits.end(), is_hexadecimal);
}

Hints::Keys::value_type& Hints::wait(std::string_view key, std::uint32_t waiter) {
  Keys::value_type* entry = find(key);
  if (entry == nullptr) {
    entry = &*keys_.try_emplace(std::string(key)).first;
  } else if (entry->second.waiters.empty()) {
    std::erase(idle_, entry);
  }
  entry->second.waiters.push_back(waiter);
  return *entry;
}

Hints::Keys::value_type* Hints::stop(std::string_view key, std::uint32_t waiter) {
  Keys::value_type* const entry = find(key);
  if (entry == nullptr) return nullptr;
  std::erase(entry->second.waiters, waiter);
  if (!entry->second.waiters.empty()) return nullptr;
  idle_.push_back(entry);
  if (idle_.size() <= most_idle) return nullptr;
  Keys::value_type* const oldest = idle_.front();
  idle_.erase(idle_.begin());
  return oldest;
}

Hints::Keys::value_type* Hints::find(std::string_view key) {
  const auto at = keys_.find(key);
  return at == keys_.end() ? nullptr : &*at;
}

void Hints::forget(std::string_view key) {
  const auto at = keys_.find(key);
  if (at == keys_.end() || !at->second.waiters.empty()) return;
  std::erase(idle_, &*at);
  keys_.erase(at);
}

bool Hints::lost(NodeIndex node) {
  bool asked = false;
  for (auto& [name, key] : keys_) {
    asked = asked || key.asked.has(node);
    key.asked.remove(node);
    key.telling.remove(node);
  }
  return asked;
}

}  // namespace redlock::core
