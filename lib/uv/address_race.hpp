#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "uv/address.hpp"

namespace redlock::uv {

/// The addresses with both families in turn, so that a family without a route costs one attempt.
/// The family of the first address stays first, and each family keeps its order (RFC 8305, 4).
[[nodiscard]] Addresses alternate_families(const Addresses& addresses);

/// When to try which of a host's addresses (RFC 8305, 5): one after another, and the next one
/// without waiting for an answer that may never come. The next address is due when the last one has
/// failed, or has been tried for a while. Addresses are named by their position.
class AddressRace {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// The longest time between two attempts, if both are under way.
  static constexpr Milliseconds longest_delay{250};
  /// The shortest one, which RFC 8305 demands.
  static constexpr Milliseconds shortest_delay{10};

  /// `limit`: how long connecting may take. Each address is tried in the first half of it, so that
  /// the last one can still be reached.
  AddressRace(std::size_t addresses, Milliseconds limit) noexcept;

  /// The next address, if it is due: it is tried from `now` on.
  [[nodiscard]] std::optional<std::size_t> next(Milliseconds now) noexcept;
  /// When next() returns the next address unless an attempt fails before; none: there is no next.
  [[nodiscard]] std::optional<Milliseconds> next_at() const noexcept;
  /// The attempt with this address has failed.
  void failed(std::size_t address) noexcept;
  /// Whether the attempts with all addresses have failed.
  [[nodiscard]] bool lost() const noexcept { return failed_ == addresses_; }

 private:
  std::size_t addresses_;
  Milliseconds delay_;
  std::size_t begun_ = 0;
  std::size_t failed_ = 0;
  Milliseconds due_ = Milliseconds::min();
};

}  // namespace redlock::uv
