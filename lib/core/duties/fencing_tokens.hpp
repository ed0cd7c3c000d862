#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/claim/claim.hpp"
#include "core/duties/meter.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/fencing.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// Obtains the fencing tokens of attempts: see Fencing. Takes only claims that requested one.
class FencingTokens {
 public:
  FencingTokens(const Settings& settings, const Nodes& nodes, Meter& meter, Outbox& outbox)
      : settings_(settings), nodes_(nodes), meter_(meter), outbox_(outbox) {}

  /// Proposes the first number of an attempt. `wall_clock`: the time since 1970.
  void propose(Claim& claim, Duration wall_clock);
  /// Takes over the number of a lease that was handed on. It is kept if no node that has the key
  /// has a larger one, otherwise raised.
  static void hand_on(Claim& claim, std::uint64_t number);
  /// The short form of `verb` if it can be used; otherwise `verb`.
  [[nodiscard]] Verb short_form(const Claim& claim, Verb verb) const;

  // --- answers ----------------------------------------------------------------------------------
  /// Completes an answer to the short form with `floor`, which was read after it.
  static void complete(const Claim& claim, Answer& answer, std::uint64_t floor);
  /// A node granted, raised its number to ours, and has this floor. Records the acknowledgement, or
  /// returns false if the answer has to go through complete() and answered().
  [[nodiscard]] static bool acknowledge_at_once(Claim& claim, NodeIndex node, std::uint64_t floor);
  /// Returns true if the node granted after the other nodes were sent a higher number, which has to
  /// be sent to this node, too.
  [[nodiscard]] bool answered(Claim& claim, const Answer& answer);
  /// The node refused the number because it is too far ahead of the node's clock.
  void refused(const Claim& claim);
  [[nodiscard]] static std::string why_left_out(const Claim& claim, std::uint64_t number);

  // --- rounds -----------------------------------------------------------------------------------
  enum class Verdict : std::uint8_t {
    acknowledged,  ///< a quorum has acknowledged the number: it is the token
    exhausted,     ///< there is no higher number
    first_round,   ///< the lock is ours, but its first number is not acknowledged: raise it
    later_round,   ///< a raised number is not acknowledged: see prospect()
  };
  [[nodiscard]] static Verdict judge(const Claim& claim);
  enum class Prospect : std::uint8_t { open, raise, none };
  /// Whether to wait for, to raise, or to give up a number that a quorum has not acknowledged.
  [[nodiscard]] Prospect prospect(const Claim& claim) const;
  /// Proposes a number above all that nodes have reported.
  void raise(Claim& claim);
  /// The raised number was sent to these nodes.
  void asked(Claim& claim, NodeSet nodes);

  // --- what nodes keep --------------------------------------------------------------------------
  void came_up(NodeIndex node) noexcept { asked_of_[node] = 0; }
  /// Numbers were requested from these nodes. Prunes with the first request of a connection, and
  /// with every thousandth.
  void prune(NodeSet nodes);

 private:
  static constexpr By<FencingTokens> me{};

  void remember(const Claim& claim, std::uint64_t number);
  [[nodiscard]] static bool acknowledges(const Claim& claim, const Answer& answer);
  [[nodiscard]] bool is_left_out(Claim& claim, const Answer& answer);

  const Settings& settings_;
  const Nodes& nodes_;
  Meter& meter_;
  Outbox& outbox_;
  FencingNumbers numbers_;
  /// For each node: requests for numbers on its current connection.
  std::array<std::uint64_t, limits::nodes> asked_of_{};
};

}  // namespace redlock::core
