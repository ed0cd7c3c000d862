#pragma once

#include <cstdint>
#include <optional>

#include "core/engine/messages.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// When a held lease is extended in the background, and when it is no longer extended: first when a
/// third of the TTL has passed, again a third after each success, and after a failure for as long
/// as the lease lives.
class Renewal {
 public:
  void begin(const std::optional<Acquire::Renewal>& limits, Instant acquired, Duration ttl);
  /// For one of many leases: leases that were granted together must not be renewed together, which
  /// would be more than the nodes can answer at once. The first renewal comes earlier by up to half
  /// of its time, as `where` says, and at the same instant as some others, because requests that
  /// leave together cost less. Later renewals keep their distance.
  void spread(std::uint16_t where) noexcept;
  void end() noexcept {
    due_ = never;
    warns_ = false;
  }

  /// When to ask next; none while an extend is under way, and after a limit was reached.
  [[nodiscard]] std::optional<Instant> due() const noexcept {
    return due_ != never ? std::optional(due_) : std::nullopt;
  }
  [[nodiscard]] bool is_due(Instant now) const noexcept { return due_ != never && now >= due_; }

  /// The TTL to ask for now: shorter near the maximum hold, none if an extend would not raise the
  /// deadline.
  [[nodiscard]] std::optional<Duration> ask(Instant now, Instant valid_until) noexcept;

  /// When to warn the holder that the deadline comes near: when a third of the TTL is left, because
  /// a renewal has failed for so long or no more renewals are to come. Once for each deadline.
  [[nodiscard]] std::optional<Instant> warn_at(Instant valid_until) const noexcept;
  void warned() noexcept { warned_ = true; }
  void deadline_moved() noexcept { warned_ = false; }

  void succeeded(Instant round_start) noexcept;
  /// An extend by hand counts as a renewal, and does the work of the next one as far as it raised
  /// the deadline.
  void extended_by_hand(Instant valid_until) noexcept;
  void failed(Instant now, Instant valid_until) noexcept;
  /// The deadline was lowered: the next renewal was planned for a deadline that is no longer true.
  void hurry(Instant now) noexcept;

  /// The TTL that an extend by hand can ask for now, within the same limits; none after one of them
  /// was reached.
  [[nodiscard]] std::optional<Duration> allow(Instant now, Duration ttl) const noexcept;

 private:
  void count() noexcept;
  void follow(Instant valid_until) noexcept;

  // One word, because there can be a million leases.
  static constexpr std::uint64_t most_renewals = (std::uint64_t{1} << 60U) - 1;
  std::uint64_t left_ : 60 = 0;
  bool wanted_ : 1 = false;
  bool warns_ : 1 = false;
  bool limited_ : 1 = false;
  bool warned_ : 1 = false;  // the holder was warned of this deadline
  Duration ttl_{};
  Instant hold_until_{};
  Instant due_ = never;
};

}  // namespace redlock::core
