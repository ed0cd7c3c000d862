#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/vocabulary/time.hpp"
#include "redlock/options.hpp"

namespace redlock::runtime {

/// Keeps a log short. Reports the first event of each kind, node and level at once; counts those of
/// the following minute and reports them in one summary. A node that flaps costs a few lines per
/// minute, and no event is lost.
class EventLog {
 public:
  static constexpr core::Duration period = std::chrono::minutes(1);

  /// At most `most_entries` combinations of kind, node and level are counted separately, and all
  /// others together.
  explicit EventLog(std::size_t most_entries = 256) noexcept : most_entries_(most_entries) {}

  /// Returns the event if it is to be reported at once.
  [[nodiscard]] std::optional<NodeEvent> add(NodeEvent event, core::Instant now);

  /// The summaries that are due. All summaries of a node come together, in the order of their last
  /// events: the last line about a node is its present state.
  [[nodiscard]] std::vector<NodeEvent> take_due(core::Instant now);

  /// All summaries, due or not, at the end of the log.
  [[nodiscard]] std::vector<NodeEvent> finish(core::Instant now);

  /// When the next summary is due; none: nothing was counted.
  [[nodiscard]] std::optional<core::Instant> next() const noexcept { return next_; }

  [[nodiscard]] std::size_t entries() const noexcept { return entries_.size(); }

 private:
  struct Key {
    std::size_t node;
    NodeEvent::Kind kind;
    NodeEvent::Level level;
    friend bool operator<(const Key& a, const Key& b) noexcept {
      return std::tie(a.node, a.kind, a.level) < std::tie(b.node, b.kind, b.level);
    }
  };
  struct Entry {
    core::Instant reported_at{};
    NodeEvent last{};          ///< the last counted event; `times`: how many were counted
    std::uint64_t number = 0;  ///< position of the last event in the order of all events
  };

  [[nodiscard]] Key key_of(const NodeEvent& event, core::Instant now);
  void forget_quiet(core::Instant now);
  [[nodiscard]] std::vector<NodeEvent> take(core::Instant now, bool all);
  void find_next() noexcept;

  std::size_t most_entries_;
  std::map<Key, Entry> entries_;
  std::uint64_t events_ = 0;
  std::optional<core::Instant> next_{};
};

}  // namespace redlock::runtime
