#include "runtime/event_log.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace redlock::runtime {
namespace {

/// The node number of events that are counted together; no node has it.
constexpr std::size_t several_nodes = SIZE_MAX;

[[nodiscard]] std::string in_the_last(core::Duration time) {
  if (time >= EventLog::period && time < 2 * EventLog::period) return " in the last minute";
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time);
  return " in the last " + std::to_string(std::max<std::int64_t>(seconds.count(), 1)) + " s";
}

[[nodiscard]] std::string summary(const NodeEvent& event, core::Duration time, bool of_several) {
  std::string how_often = std::to_string(event.times) + (event.times == 1 ? " time" : " times");
  if (of_several) how_often = std::to_string(event.times) + " events of this and other nodes";
  return event.message + " (" + how_often + in_the_last(time) + ")";
}

}  // namespace

EventLog::Key EventLog::key_of(const NodeEvent& event, core::Instant now) {
  const Key key{event.node, event.kind, event.level};
  if (entries_.contains(key)) return key;
  if (entries_.size() >= most_entries_) forget_quiet(now);
  if (entries_.size() < most_entries_) return key;
  return {several_nodes, NodeEvent::Kind::down, NodeEvent::Level::warning};
}

void EventLog::forget_quiet(core::Instant now) {
  std::erase_if(entries_, [now](const auto& entry) {
    return entry.second.last.times == 0 && now >= core::later(entry.second.reported_at, period);
  });
}

std::optional<NodeEvent> EventLog::add(NodeEvent event, core::Instant now) {
  const auto [found, is_new] = entries_.try_emplace(key_of(event, now));
  Entry& entry = found->second;
  const bool is_counted = !is_new && entry.last.times > 0;
  if (!is_counted && (is_new || now >= core::later(entry.reported_at, period))) {
    entry.reported_at = now;
    entry.last.times = 0;
    return event;
  }
  event.times = entry.last.times + 1;
  entry.last = std::move(event);
  entry.number = ++events_;
  next_ = core::earlier(next_, core::later(entry.reported_at, period));
  return std::nullopt;
}

std::vector<NodeEvent> EventLog::take_due(core::Instant now) {
  if (!next_ || now < *next_) return {};
  return take(now, false);
}

std::vector<NodeEvent> EventLog::finish(core::Instant now) { return take(now, true); }

std::vector<NodeEvent> EventLog::take(core::Instant now, bool all) {
  struct Line {
    std::uint64_t number;
    NodeEvent event;
  };
  std::vector<Line> lines;
  for (auto begin = entries_.begin(); begin != entries_.end();) {
    const std::size_t node = begin->first.node;
    auto end = begin;
    bool due = all;
    for (; end != entries_.end() && end->first.node == node; ++end) {
      const Entry& entry = end->second;
      due = due || (entry.last.times > 0 && now >= core::later(entry.reported_at, period));
    }
    for (; begin != end; ++begin) {
      Entry& entry = begin->second;
      if (!due || entry.last.times == 0) continue;
      entry.last.message = summary(entry.last, now - entry.reported_at, node == several_nodes);
      lines.push_back({entry.number, std::exchange(entry.last, {})});
      entry.last.times = 0;
      entry.reported_at = now;
    }
  }
  forget_quiet(now);
  find_next();
  std::sort(lines.begin(), lines.end(),
            [](const Line& a, const Line& b) { return a.number < b.number; });
  std::vector<NodeEvent> events;
  events.reserve(lines.size());
  for (Line& line : lines) events.push_back(std::move(line.event));
  return events;
}

void EventLog::find_next() noexcept {
  next_.reset();
  for (const auto& [key, entry] : entries_) {
    if (entry.last.times > 0) next_ = core::earlier(next_, core::later(entry.reported_at, period));
  }
}

}  // namespace redlock::runtime
