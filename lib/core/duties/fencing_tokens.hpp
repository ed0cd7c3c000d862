#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/claim/claim.hpp"
#include "core/claim/fencing.hpp"
#include "core/duties/meter.hpp"
#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// How an attempt comes to its fencing token: see Fencing. Takes only claims that asked for one.
class FencingTokens {
 public:
  FencingTokens(const Settings& settings, const Nodes& nodes, Meter& meter, Outbox& outbox)
      : settings_(settings), nodes_(nodes), meter_(meter), outbox_(outbox) {}

  /// A token is asked for. `wall_clock`: the time since 1970.
  void propose(Claim& claim, Duration wall_clock);
  /// The short form of `verb` if it may be used; else `verb`.
  [[nodiscard]] Verb short_form(const Claim& claim, Verb verb) const;

  // --- answers ----------------------------------------------------------------------------------
  /// Completes an answer to the short form with `floor`, which was read after it.
  static void complete(const Claim& claim, Answer& answer, std::uint64_t floor);
  /// A node granted, raised its number to ours, and has this floor. False: there is more to it.
  [[nodiscard]] static bool acknowledge_at_once(Claim& claim, NodeIndex node, std::uint64_t floor);
  /// True: the node granted when the others had been asked for more already. It is to be asked,
  /// too.
  [[nodiscard]] bool answered(Claim& claim, const Answer& answer);
  /// The node refused the number for being too far ahead of its clock.
  void refused(const Claim& claim);
  [[nodiscard]] static std::string why_left_out(const Claim& claim, std::uint64_t number);

  // --- rounds -----------------------------------------------------------------------------------
  enum class Verdict : std::uint8_t {
    acknowledged,  ///< by a quorum: the number is the token
    exhausted,     ///< there is no higher number
    first_round,   ///< not acknowledged when the lock is ours: the number is to be raised
    later_round,
  };
  [[nodiscard]] static Verdict judge(const Claim& claim);
  enum class Prospect : std::uint8_t { open, raise, none };
  /// Of a number that a quorum has not acknowledged.
  [[nodiscard]] Prospect prospect(const Claim& claim) const;
  /// To a number above all that nodes have.
  void raise(Claim& claim);
  /// These nodes were asked for it.
  void asked(Claim& claim, NodeSet nodes);

  // --- what nodes keep --------------------------------------------------------------------------
  void came_up(NodeIndex node) noexcept { asked_of_[node] = 0; }
  /// Numbers were asked for on these nodes. Prunes with the first request of a connection, and with
  /// every thousandth.
  void prune(NodeSet nodes);

 private:
  void remember(const Claim& claim, std::uint64_t number);
  [[nodiscard]] static bool acknowledges(const Claim& claim, const Answer& answer);
  [[nodiscard]] bool is_left_out(Claim& claim, const Answer& answer);

  const Settings& settings_;
  const Nodes& nodes_;
  Meter& meter_;
  Outbox& outbox_;
  FencingNumbers numbers_;
  std::array<std::uint64_t, limits::nodes> asked_of_{};  ///< on this connection
};

}  // namespace redlock::core
