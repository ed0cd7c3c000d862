#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/duties/closing.hpp"
#include "core/duties/enroller.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/reign_reading.hpp"
#include "core/vocabulary/request.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// Confirms the reigns of replicated nodes' primaries, and writes a record anew when replicas have
/// attached since, so that more may. Before a lock is requested, it writes nothing. The rules are
/// in tools/docs/design/reigns.md.
class Reigns {
 public:
  Reigns(const Settings& settings, const Instant& now, const Closing& closing,
         const Enroller& enroller, const Nodes& nodes, Outbox& outbox)
      : settings_(settings),
        now_(now),
        closing_(closing),
        enroller_(enroller),
        nodes_(nodes),
        outbox_(outbox) {}

  /// The step has made all its changes. Begins the readings that are due.
  void end_step() {
    if (nodes_.has_replicated()) read_due();
  }
  [[nodiscard]] Instant deadline() const noexcept;

  /// The node's primary said this after a write, and Link::reign has taken it. Returns whether
  /// another server may be the primary now: too few have followed this one for a while.
  [[nodiscard]] bool read(NodeIndex node, const ReignReading& reading);
  /// The primary has written a record, or has refused to. Returns whether its quarantine may have
  /// begun, so that another handshake is due.
  [[nodiscard]] bool written(NodeIndex node, Reply reply);
  void dropped(NodeIndex node) noexcept {
    if (node < works_.size()) works_[node] = {};
  }

 private:
  /// What is under way at one node.
  struct Work {
    bool asked = false;
    std::optional<ReignWrite> write{};
    Instant next = Instant::min();  ///< when it is next asked
    /// The attachments of the reading before, which the record is to have if they do not move.
    std::optional<std::uint64_t> first_reading{};
    std::optional<Instant> broken_since{};  ///< enough followers, but not without a break
    std::optional<Instant> alone_since{};   ///< too few followers
  };

  void grow();
  void read_due();
  [[nodiscard]] bool may_be_asked(NodeIndex node) const;
  /// The reign stands: its record follows the replicas that came back.
  void refresh(NodeIndex node, const ReignReading& reading);
  void write(NodeIndex node, const ReignReading& reading, bool confirms);

  const Settings& settings_;
  const Instant& now_;
  const Closing& closing_;
  const Enroller& enroller_;
  const Nodes& nodes_;
  Outbox& outbox_;
  std::vector<Work> works_;  ///< by node
};

}  // namespace redlock::core
