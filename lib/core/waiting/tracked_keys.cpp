#include "core/waiting/tracked_keys.hpp"

#include "support/assert.hpp"

namespace redlock::core {

NodeSet TrackedKeys::able() const { return nodes_.able().to(Capability::track); }

TrackedKeys::Entry& TrackedKeys::use(std::string_view key) {
  Entry* entry = find(key);
  if (entry == nullptr) {
    entry = &*keys_.try_emplace(std::string(key)).first;
    entry->second.id = ++last_id_;
    by_id_.emplace(last_id_, entry);
  }
  ++entry->second.uses;
  ask(*entry);
  return *entry;
}

void TrackedKeys::stop(std::string_view key) {
  Entry* const entry = find(key);
  REDLOCK_ASSERT(entry != nullptr && entry->second.uses > 0);
  if (--entry->second.uses == 0) unused_.push_back(entry->first);
}

void TrackedKeys::forget_unused() {
  for (const std::string& key : unused_) {
    const auto at = keys_.find(key);
    if (at == keys_.end() || at->second.uses > 0) continue;
    by_id_.erase(at->second.id);
    keys_.erase(at);
  }
  unused_.clear();
}

TrackedKeys::Entry* TrackedKeys::find(std::string_view key) {
  const auto at = keys_.find(key);
  return at == keys_.end() ? nullptr : &*at;
}

void TrackedKeys::ask(Entry& entry) {
  NodeSet nodes;
  (able() - entry.second.asked).each([&](NodeIndex node) {
    if (!nodes_[node].in_flight->congested()) nodes.add(node);
  });
  if (nodes.empty()) return;
  entry.second.asked = entry.second.asked | nodes;
  entry.second.answered = entry.second.answered - nodes;
  entry.second.may_be_news = entry.second.may_be_news | nodes;
  Terms& terms = outbox_.send(nodes, Stamp::of_tracked(entry.second.id, kind_));
  terms.resource = entry.first;
  terms.tracked = kind_;
}

void TrackedKeys::ask_again(Entry& entry, NodeSet nodes) {
  entry.second.asked = entry.second.asked - nodes;
  const bool is_watched = kind_ == Tracked::queue || entry.second.observation.has_value();
  if (is_watched) to_ask_.push_back(entry.second.id);
}

void TrackedKeys::ask_what_is_due() {
  for (const std::uint32_t id : to_ask_) {
    const auto at = by_id_.find(id);
    if (at != by_id_.end() && at->second->second.uses > 0) ask(*at->second);
  }
  to_ask_.clear();
}

void TrackedKeys::seen(std::string_view key, NodeIndex node, bool is_there) {
  Entry* const entry = find(key);
  if (entry == nullptr) return;
  Key& known = entry->second;
  const bool is_answered = known.asked.has(node) && known.answered.has(node);
  if (!is_answered || known.present.has(node) == is_there) return;
  known.present.remove(node);
  if (is_there) known.present.add(node);
  ask_again(*entry, NodeSet::of(node));
}

TrackedKeys::Answered TrackedKeys::answered(const Answer& answer) {
  const bool tracks = answer.reply == Reply::taken || answer.reply == Reply::gone;
  const auto at = by_id_.find(answer.stamp.key());
  if (at == by_id_.end()) return {};
  Key& key = at->second->second;
  if (!tracks) {
    // The node refuses to track the key: nothing is known of the key there.
    key.tracking.remove(answer.node);
    return {};
  }
  const bool is_there = answer.reply == Reply::taken;
  const bool is_news = key.may_be_news.has(answer.node) && key.present.has(answer.node) != is_there;
  key.tracking.add(answer.node);
  key.answered.add(answer.node);
  key.present.remove(answer.node);
  if (is_there) key.present.add(answer.node);
  return key.uses > 0 ? Answered{at->second, is_news} : Answered{};
}

TrackedKeys::Entry* TrackedKeys::changed(const Changed& change) {
  Entry* const entry = find(change.key);
  if (entry == nullptr) return nullptr;
  entry->second.asked.remove(change.node);
  return entry->second.uses > 0 ? entry : nullptr;
}

void TrackedKeys::came_up(NodeIndex node) {
  if (!nodes_[node].mandate->can(Capability::track)) return;
  for (Entry& entry : keys_) {
    if (entry.second.uses == 0) continue;
    ask(entry);
    // The answer is not news: nothing was known of the key there before.
    entry.second.may_be_news.remove(node);
  }
}

void TrackedKeys::dropped(NodeIndex node) {
  for (Entry& entry : keys_) {
    entry.second.asked.remove(node);
    entry.second.may_be_news.remove(node);
    entry.second.tracking.remove(node);
    entry.second.present.remove(node);
  }
}

}  // namespace redlock::core
