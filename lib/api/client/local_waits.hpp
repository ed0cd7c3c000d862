#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "api/client/completions.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/callback.hpp"

namespace redlock::api {

/// The time limits of calls that wait for another call of their process, and for no node. For the
/// loop's thread only.
class LocalWaits {
 public:
  enum class End : std::uint8_t { time, closed };
  using Over = Callback<void(End)>;
  using Id = std::pair<core::Instant, std::uint64_t>;

  [[nodiscard]] Id add(core::Instant until, Over over) {
    const Id id{until, ++last_};
    waits_.emplace(id, std::move(over));
    return id;
  }
  /// Does nothing if the wait is over.
  void remove(const Id& id) noexcept { waits_.erase(id); }

  /// When the next wait is over. None: never.
  [[nodiscard]] std::optional<core::Instant> next() const noexcept {
    if (waits_.empty() || waits_.begin()->first.first == core::Instant::max()) return std::nullopt;
    return waits_.begin()->first.first;
  }
  /// Removes the waits that are over at `by`, and posts the call of each.
  void end(core::Instant by, End end, Completions& completions) {
    while (!waits_.empty() && waits_.begin()->first.first <= by) {
      completions.post([over = std::move(waits_.begin()->second), end]() mutable { over(end); });
      waits_.erase(waits_.begin());
    }
  }

 private:
  std::map<Id, Over> waits_;
  std::uint64_t last_ = 0;
};

}  // namespace redlock::api
