#pragma once

#include <cstdint>
#include <optional>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// Decides when a held lease is extended in the background, and when no longer. The first renewal
/// is due after a third of the TTL, the next one a third of the TTL after each success. Failed
/// renewals are repeated until the lease ends.
class Renewal {
 public:
  void begin(const std::optional<Acquire::Renewal>& limits, Instant acquired, Duration ttl);
  /// For one of many leases: if all leases that were granted together were renewed together, the
  /// nodes could not answer in time. `where` moves the first renewal forward, by up to half of its
  /// time. Renewals are gathered into common instants, because requests that leave together cost
  /// less. Later renewals keep their distance.
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

  /// When to warn the holder that the deadline is near: when a third of the TTL is left, because
  /// renewals have failed or have reached their limit. Once for each deadline.
  [[nodiscard]] std::optional<Instant> warn_at(Instant valid_until) const noexcept;
  void warned() noexcept { warned_ = true; }
  void deadline_moved() noexcept { warned_ = false; }

  void succeeded(Instant round_start) noexcept;
  /// An extend by hand counts as a renewal, and does the work of the next one as far as it raised
  /// the deadline.
  void extended_by_hand(Instant valid_until) noexcept;
  void failed(Instant now, Instant valid_until) noexcept;
  /// The deadline was lowered: the next renewal, which was planned for the old one, is due now.
  void be_due(Instant now) noexcept;

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
