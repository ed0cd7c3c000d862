#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/time.hpp"
#include "redlock/options.hpp"

namespace redlock::runtime {

/// Keeps a log short. The first event of each kind, node and level is told at once; those of the
/// minute after that are counted and told in one summary. So a node that flaps costs a few lines a
/// minute, and nothing that happened is lost.
class EventLog {
 public:
  static constexpr core::Duration period = std::chrono::minutes(1);

  /// At most so many kinds, nodes and levels are counted apart, and all others together.
  explicit EventLog(std::size_t most_entries = 256) noexcept : most_entries_(most_entries) {}

  /// The event, if it is to be told at once.
  [[nodiscard]] std::optional<NodeEvent> add(NodeEvent event, core::Instant now);

  /// The summaries that are due. All of a node come together, in the order in which their last
  /// events happened: the last line of a node says what it is now.
  [[nodiscard]] std::vector<NodeEvent> take_due(core::Instant now);

  /// All summaries, due or not: nobody asks again.
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
    NodeEvent last{};          ///< of those that were counted; `times`: how many
    std::uint64_t number = 0;  ///< of the last event, in the order of all
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
