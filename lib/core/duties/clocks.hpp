#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/link.hpp"
#include "core/nodes/node_clock.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/standstill.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// Reads the nodes' clocks, and how many keys each node has evicted: a clock that steps, or a node
/// that evicts, makes votes worth less. When a clock stepped, finds out whose it was.
class Clocks {
 public:
  Clocks(const Settings& settings, const Instant& now, Nodes& nodes, Outbox& outbox)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        outbox_(outbox),
        standstill_(settings.clock_bound) {}

  // --- asking -----------------------------------------------------------------------------------
  /// Requests for locks are about to leave for these nodes.
  void read_before_votes(NodeSet nodes) {
    if (settings_.clock_guard) read_old(nodes);
  }
  /// When clocks are to be read while nothing else is sent.
  [[nodiscard]] Instant next_reading() const;
  void read_again();
  void came_up(NodeIndex node);

  // --- answers ----------------------------------------------------------------------------------
  enum class Shown : std::uint8_t {
    as_before,
    first,     ///< the clocks of others may be comparable for the first time: all may vote now
    in_doubt,  ///< a clock has stepped before: judge()
    stepped,   ///< again: the deadlines of leases are earlier, and judge()
    opened,    ///< the first step: the deadlines are earlier, ask_witnesses(), and judge()
  };
  [[nodiscard]] Shown showed(NodeIndex node, Duration time, const Arrival& arrival);
  /// It did not show its clock. True: it has no vote any more.
  [[nodiscard]] bool refused(NodeIndex node, std::string_view why);
  /// True: the node forgot keys, the deadlines of leases are earlier.
  [[nodiscard]] bool evicted(NodeIndex node, std::uint64_t keys);

  // --- whose clock stepped ----------------------------------------------------------------------
  /// Reads the witnesses' clocks again: earlier answers may be older than the step.
  void ask_witnesses();
  struct Verdict {
    bool ours = false;  ///< our clock stood still: the deadlines are earlier
    NodeSet excluded{};
  };
  /// None: not known yet, or no clock stepped. A verdict ends the doubt: end_doubt().
  [[nodiscard]] std::optional<Verdict> judge();
  /// It lasted for a quarantine without a verdict.
  [[nodiscard]] bool doubt_has_lapsed() const;
  /// All claims and acquisitions that waited for the verdict may go on.
  void end_doubt(NodeSet excluded);
  /// A round that began then may have lost votes because it was not known whose clock stepped.
  [[nodiscard]] bool was_in_doubt_since(Instant began) const noexcept {
    return standstill_.open() || doubt_ended_at_ >= began;
  }

 private:
  void read(NodeSet nodes);
  void read_old(NodeSet nodes);
  void exclude(NodeSet nodes);
  /// Those whose clocks tell whether ours stood still.
  [[nodiscard]] NodeSet witnesses() const;
  [[nodiscard]] std::size_t witnesses_needed() const;

  const Settings& settings_;
  const Instant& now_;
  Nodes& nodes_;
  Outbox& outbox_;
  Standstill standstill_;
  Instant doubt_ended_at_ = Instant::min();  ///< last verdict on whose clock stepped
};

}  // namespace redlock::core
