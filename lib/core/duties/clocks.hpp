#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/nodes/link.hpp"
#include "core/nodes/node_clock.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/nodes/standstill.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// Reads the nodes' clocks, and how many keys each node has evicted: after a clock step or an
/// eviction, a node's votes are worth less. After a step, finds out whether the node's clock or
/// ours was at fault. Owns the record of the steps that are still unexplained.
class Clocks {
 public:
  Clocks(const Settings& settings, const Instant& now, Nodes& nodes, Outbox& outbox)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        outbox_(outbox),
        standstill_(settings.clock_bound) {}

  // --- asking -----------------------------------------------------------------------------------
  /// Reads the clocks of these nodes whose last readings are old. To be called before requests for
  /// locks leave.
  void read_before_votes(NodeSet nodes) {
    if (settings_.clock_guard) read_old(nodes);
  }
  /// When the next clock is due for a reading, even if no request for a lock leaves.
  [[nodiscard]] Instant next_reading() const;
  void read_again();
  void came_up(NodeIndex node);

  // --- answers ----------------------------------------------------------------------------------
  enum class Shown : std::uint8_t {
    as_before,
    first,  ///< the first reading of this clock: clocks may have become comparable, so any node may
            ///< vote now
    in_doubt,  ///< an earlier step is unexplained: judge() follows
    stepped,   ///< another step: the deadlines of leases are earlier, and judge() follows
    opened,    ///< the first step: the deadlines are earlier; ask_witnesses() and judge() follow
  };
  [[nodiscard]] Shown showed(NodeIndex node, Duration time, const Arrival& arrival);
  /// The node did not show its clock. Returns true if it has lost its vote for that.
  [[nodiscard]] bool refused(NodeIndex node, std::string_view why);
  /// Returns true if the node forgot keys: the deadlines of leases are earlier.
  [[nodiscard]] bool evicted(NodeIndex node, std::uint64_t keys);

  // --- whose clock stepped ----------------------------------------------------------------------
  /// Reads the witnesses' clocks again: earlier answers may be older than the step.
  void ask_witnesses();
  struct Verdict {
    bool ours = false;   ///< our clock stood still: the deadlines of leases are earlier
    NodeSet excluded{};  ///< nodes whose own clocks stepped
  };
  /// None if no clock stepped, or if it is unknown whose: the witnesses may have been asked again.
  /// A verdict is followed by end_doubt().
  [[nodiscard]] std::optional<Verdict> judge();
  /// Whether the doubt has lasted for a quarantine without a verdict.
  [[nodiscard]] bool doubt_has_lapsed() const;
  /// Ends the doubt: claims and acquisitions that waited for the verdict can go on.
  void end_doubt(NodeSet excluded);
  /// Whether a round that began then may have lost votes because it was unknown whose clock
  /// stepped.
  [[nodiscard]] bool was_in_doubt_since(Instant began) const noexcept {
    return standstill_.open() || doubt_ended_at_ >= began;
  }

 private:
  static constexpr By<Clocks> me{};

  void read(NodeSet nodes);
  void read_old(NodeSet nodes);
  void exclude(NodeSet nodes);
  /// Nodes whose clocks tell whether ours stood still.
  [[nodiscard]] NodeSet witnesses() const;
  [[nodiscard]] std::size_t witnesses_needed() const;

  const Settings& settings_;
  const Instant& now_;
  Nodes& nodes_;
  Outbox& outbox_;
  Standstill standstill_;
  Instant witnesses_asked_at_ = Instant::min();
  Instant doubt_ended_at_ = Instant::min();  ///< when the last doubt about a clock ended
};

}  // namespace redlock::core
