#pragma once

#include <cstdint>

#include "core/vocabulary/verbs.hpp"

namespace redlock::core {

/// Names a claim: one token and everything it may have left on the nodes. A stale one is
/// recognised by its generation.
struct ClaimId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: names none
  friend bool operator==(ClaimId, ClaimId) = default;
};

/// Kinds of tracked keys.
enum class Tracked : std::uint8_t {
  resource,  ///< the key of a resource
  queue,     ///< the queue of clients that wait for it
};

/// How a script is sent: by its digest, or in full if the node said that it does not know it.
enum class ScriptForm : std::uint8_t { digest, text };

/// Names one request on one connection. The answer comes back with the same stamp, so that a
/// duplicate, stale or late answer cannot be counted for another round. Requests of a claim and
/// requests of upkeep use different accessors.
class Stamp {
 public:
  Verb verb = Verb::set;

  constexpr Stamp() = default;
  /// A request of a claim, in one of its rounds.
  constexpr Stamp(Verb of, ClaimId claim, std::uint16_t round) noexcept
      : verb(of), subject_(claim.index), generation_(claim.generation), detail_(round) {}
  /// Upkeep of a node.
  constexpr explicit Stamp(Verb of) noexcept : verb(of) {}
  /// Upkeep of a key, which its owner knows by this number. `mode`: as the queue's scripts have it.
  [[nodiscard]] static constexpr Stamp of_queue(Verb verb, std::uint32_t key, std::uint8_t mode,
                                                ScriptForm form) noexcept {
    const auto in_full = static_cast<unsigned>(form) << in_full_shift;
    return {verb, {key, 0}, static_cast<std::uint16_t>(mode | in_full)};
  }
  [[nodiscard]] static constexpr Stamp of_tracked(std::uint32_t key, Tracked kind) noexcept {
    return {Verb::track, {key, 0}, static_cast<std::uint16_t>(kind)};
  }
  /// A reading of the marker for one pass of enrolment, from 1 on.
  [[nodiscard]] static constexpr Stamp of_pass(std::uint16_t pass) noexcept {
    return {Verb::read_marker, {}, pass};
  }
  /// The same stamp, of another request.
  [[nodiscard]] constexpr Stamp with(Verb other) const noexcept {
    Stamp stamp = *this;
    stamp.verb = other;
    return stamp;
  }

  [[nodiscard]] constexpr ClaimId claim() const noexcept { return {subject_, generation_}; }
  [[nodiscard]] constexpr std::uint16_t round() const noexcept { return detail_; }

  /// join_queue, leave_queue, track
  [[nodiscard]] constexpr std::uint32_t key() const noexcept { return subject_; }
  /// join_queue, leave_queue
  [[nodiscard]] constexpr std::uint8_t mode() const noexcept {
    return static_cast<std::uint8_t>(detail_);
  }
  [[nodiscard]] constexpr bool was_in_full() const noexcept {
    return (detail_ >> in_full_shift) != 0;
  }
  /// track
  [[nodiscard]] constexpr Tracked tracked() const noexcept { return static_cast<Tracked>(detail_); }
  /// read_marker; 0: for no pass
  [[nodiscard]] constexpr std::uint16_t pass() const noexcept { return detail_; }

  friend bool operator==(const Stamp&, const Stamp&) = default;

 private:
  static constexpr unsigned in_full_shift = 8;

  std::uint32_t subject_ = 0;     ///< the claim's index, or the key
  std::uint32_t generation_ = 0;  ///< the claim's
  std::uint16_t detail_ = 0;      ///< the claim's round; of upkeep: its mode, kind or pass
};

}  // namespace redlock::core
