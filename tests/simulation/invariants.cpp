#include "simulation/invariants.hpp"

#include <cstddef>

namespace redlock::simulation {

using core::Claim;
using core::NodeIndex;

void Invariants::holds(bool rule, std::string_view sentence, const Claim& claim) {
  if (rule || !broken_.empty()) return;
  broken_ = "the state of " + std::string(claim.token()) + " is impossible: it is not true that " +
            std::string(sentence);
}

void Invariants::check(const core::Engine& engine, core::Instant now) {
  if (!broken_.empty()) return;
  unanswered_.clear();
  const std::size_t nodes = engine.settings().nodes.size();
  for (std::size_t node = 0; node < nodes; ++node) {
    engine.link(static_cast<NodeIndex>(node)).in_flight->each([&](const core::Stamp& stamp) {
      if (!core::is_upkeep(stamp.verb)) ++unanswered_[stamp.claim().index];
    });
  }
  std::size_t held = 0;
  engine.each_claim([&](const Claim& claim) {
    held += claim.phase == Claim::Phase::held ? 1 : 0;
    check_state(engine, claim, now);
    check_keys(claim);
    check_change(claim);
    engine.votes(claim).each([&](NodeIndex node) {
      holds(engine.link(node).up(), "a node that holds a vote of it is up", claim);
    });
  });
  if (broken_.empty() && held != engine.held()) broken_ = "the number of leases was miscounted";
}

void Invariants::check_state(const core::Engine& engine, const Claim& claim, core::Instant now) {
  const bool acquires = claim.purpose == Claim::Purpose::acquire;
  const bool by_token = claim.phase == Claim::Phase::by_token;
  const bool over = claim.phase == Claim::Phase::cleaning_up;
  holds(over || acquires != by_token, "only an attempt is acquiring or held", claim);
  holds(!claim.touched, "what a step touched was judged in it", claim);
  holds(claim.unanswered == unanswered_[claim.index],
        "each request of it is in flight on exactly one connection", claim);
  if (claim.phase == Claim::Phase::held) {
    holds(claim.was_granted(), "a lease was granted", claim);
    // A node's clock that stepped may have put the deadline into the past.
    const auto next = engine.next_deadline();
    holds(now < *claim.valid_until || (next && *next <= now),
          "a lease that is held is valid, or its loss is due at once", claim);
  }
  if (claim.phase == Claim::Phase::acquiring) {
    bool wanted = false;
    engine.each_acquisition([&](const core::Acquisition& acquisition) {
      wanted = wanted || (acquisition.state == core::Acquisition::State::in_round &&
                          acquisition.claim == claim.id());
    });
    holds(wanted, "an attempt is that of an acquisition in its round", claim);
  }
  if (over) {
    const bool waits = claim.task != Claim::Task::none || claim.unanswered > 0 ||
                       !claim.keys->clean() || !claim.unasked->empty();
    holds(claim.finished != waits, "what is over waits for something or is finished", claim);
    const bool releases = claim.task == Claim::Task::none || claim.task == Claim::Task::release;
    holds(releases, "nothing is decided of what is over but its release", claim);
  }
}

void Invariants::check_keys(const Claim& claim) {
  const core::KeyLedger& keys = claim.keys;
  holds((keys.to_release() & keys.release_in_flight()).empty(),
        "a node is not owed a release that is in flight", claim);
  if (claim.has_holder()) {
    holds(keys.clean(), "nobody is owed the release of a lease that its holder has not ended",
          claim);
  }
  if (!keys.set_in_flight().empty() || !keys.release_in_flight().empty()) {
    holds(claim.unanswered > 0, "what is in flight is unanswered", claim);
  }
}

void Invariants::check_change(const Claim& claim) {
  Before& before = before_[claim.index];
  if (before.generation == claim.generation) {
    // A lease can be lost or released in the step that adopted it.
    const bool adopted = before.purpose == Claim::Purpose::extend &&
                         before.phase == Claim::Phase::by_token &&
                         claim.purpose == Claim::Purpose::acquire && claim.was_granted();
    holds(before.purpose == claim.purpose || adopted, "its purpose changes by adoption only",
          claim);
    holds(before.token == claim.token(), "a claim is one token", claim);
    holds(before.phase <= claim.phase || adopted, "its phases follow each other", claim);
    // Rounds are numbered modulo 2^16.
    const auto ahead = static_cast<std::uint16_t>(claim.round->number() - before.round);
    holds(ahead < 0x8000U, "its rounds follow each other", claim);
  }
  before = {claim.generation, claim.purpose, claim.phase, claim.round->number(),
            std::string(claim.token())};
}

}  // namespace redlock::simulation
