#pragma once

#include <cstdint>
#include <string_view>

#include "core/activities/attempts.hpp"
#include "core/activities/contacts.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/enroller.hpp"
#include "core/duties/marker_proof.hpp"
#include "core/duties/reigns.hpp"
#include "core/duties/rounds.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// Hands answers to the claims that they concern. Votes, and the answers that follow a vote, are
/// held back until the node's marker has been read after them: they count only if it has not
/// changed.
class Answers {
 public:
  Answers(const Instant& now, Nodes& nodes, Claims& claims, Enroller& enroller, MarkerProof& proof,
          Reigns& reigns, Rounds& rounds, Attempts& attempts, Contacts& contacts)
      : now_(now),
        nodes_(nodes),
        claims_(claims),
        enroller_(enroller),
        proof_(proof),
        reigns_(reigns),
        rounds_(rounds),
        attempts_(attempts),
        contacts_(contacts) {}

  void take(const Answer& answer);
  void take(const PlainYeses& event);

 private:
  static constexpr By<Answers> me{};

  /// As Contacts::take_answer(), for a plain yes, as most answers are.
  void take_plain_yes(NodeIndex node, const PlainYes& plain_yes, Arrival arrival);
  /// A fenced SET in its short form was granted: the floor was read after it.
  void take_fenced_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                             const Arrival& arrival);
  /// Takes an answer that is no longer held back, or never had to be.
  void take_counted_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                              const Arrival& arrival);
  void take_marker_reading(const Answer& answer);
  /// As take_marker_reading(), of a replicated node: votes also need the primary's reign.
  void take_reign(const Answer& answer);
  /// `floor`: the fencing floor that was read with the marker; 0: none was read.
  void take_marker(NodeIndex node, const Stamp& stamp, std::string_view text, std::uint64_t floor);
  void count_held_back(NodeIndex node, std::uint64_t floor);
  void take_marker_written(const Answer& answer);

  const Instant& now_;
  Nodes& nodes_;
  Claims& claims_;
  Enroller& enroller_;
  MarkerProof& proof_;
  Reigns& reigns_;
  Rounds& rounds_;
  Attempts& attempts_;
  Contacts& contacts_;
};

}  // namespace redlock::core
