#include "core/waiting/waited_keys.hpp"

#include "core/vocabulary/permits.hpp"

namespace redlock::core {
namespace {

/// Keys without waiters are forgotten only while there are more keys than this.
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

WaitedKeys::Entry& WaitedKeys::note_for(const Acquisition& acquisition) {
  const LockTerms& terms = acquisition.terms;
  return terms.traits().is_chosen ? note(any_permit_name(terms.resource))
                                  : note(terms.resource_at(acquisition.waiting->blocked_by));
}

WaitedKeys::Entry* WaitedKeys::find_for(const Acquisition& acquisition) {
  const LockTerms& terms = acquisition.terms;
  return terms.traits().is_chosen ? find(any_permit_name(terms.resource))
                                  : find(terms.resource_at(acquisition.waiting->blocked_by));
}

NodeSet WaitedKeys::being_taken(const Entry& entry) const {
  if (!entry.second.last_attempt) return {};
  const Acquisition& last = acquisitions_.at(*entry.second.last_attempt);
  const bool its = entry.second.permits > 0 ? any_permit_name(last.terms->resource) == entry.first
                                            : last.terms->resource == entry.first;
  const bool tries = last.state == Acquisition::State::in_round && last.waiting->has_ticket && its;
  return tries ? entry.second.taking : NodeSet();
}

void WaitedKeys::forget_left() {
  for (const std::uint32_t id : left_) forget(id);
  left_.clear();
}

void WaitedKeys::forget(std::uint32_t id) {
  const Entry* const entry = find(id);
  if (entry == nullptr || !entry->second.waiters.empty() || keys_.size() <= most_idle) return;
  by_id_.erase(id);
  keys_.erase(keys_.find(entry->first));
}

}  // namespace redlock::core
