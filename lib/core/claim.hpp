#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fencing.hpp"
#include "core/key_ledger.hpp"
#include "core/lock_terms.hpp"
#include "core/messages.hpp"
#include "core/node_set.hpp"
#include "core/renewal.hpp"
#include "core/round.hpp"
#include "core/time.hpp"
#include "core/validity_basis.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// One token and everything it may have left on the nodes, from the first SET until nothing of it
/// can be there any more. An attempt that fails, a lease, and a release that is still owed to a
/// node are the same thing at different ages.
struct Claim {
  enum class State : std::uint8_t {
    acquiring,    ///< the granting round is under way
    held,         ///< a lease
    by_token,     ///< a round about somebody else's token: extend or release by token, inspect
    cleaning_up,  ///< over; waits for answers and for releases that are owed
  };
  /// What the current round is to decide; none once it has.
  enum class Task : std::uint8_t {
    none,
    acquire,
    fence,  ///< the lock is ours, its fencing token is not decided
    extend,
    release,
    release_by_token,
    inspect,
  };

  // kept by Pool
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;

  // Every answer reads from here to the votes: next to each other, that is what is in the cache.
  State state = State::cleaning_up;
  Task task = Task::none;
  bool finished = false;
  Verb verb = Verb::set;  ///< what nodes that come up during the round are asked
  bool is_hold = false;   ///< a visit: a node said so
  std::uint32_t unanswered = 0;
  KeyLedger keys;   ///< what the token may have left on the nodes
  NodeSet unasked;  ///< first contact: asked as soon as they are up
  NodeSet in_full;  ///< the script was sent in full, the node did not know its digest
  Instant valid_until{};
  std::optional<Instant> granted_at;
  std::optional<Fencing> fencing;
  Round round;
  ValidityBasis basis;  ///< what the deadline rests on
  StepMarks steps{};    ///< the nodes' clocks when the round began

  LockTerms terms;
  Token token;
  std::string deployment;  ///< whose votes the round counts

  std::vector<RequestId> requests;  ///< who waits for the round
  struct QueuedExtend {
    RequestId request;
    Duration ttl;
  };
  std::vector<QueuedExtend> queued;  ///< extends asked for while one is under way

  Duration writer_reservation{};            ///< new readers, where readers are in the way
  std::optional<std::uint32_t> holds_left;  ///< the most that a node told of when ours was given up

  Renewal renewal;

  std::uint32_t acquisition = 0;  ///< acquiring: whose attempt this is
  Duration elapsed{};             ///< first byte of the call's first round to the decision

  [[nodiscard]] ClaimId id() const noexcept { return {index, generation}; }

  /// For how long a release is to keep everybody out yet: nobody was in where nothing was granted.
  [[nodiscard]] Duration cooldown(Instant now) const {
    if (!granted_at) return Duration::zero();
    return std::max(Duration::zero(), later(*granted_at, terms.hold_at_least) - now);
  }
  /// For how long the nodes are to keep the key: its crashed holder keeps everybody out as well.
  [[nodiscard]] Duration time_to_ask(Verb asked, Instant now) const {
    if (asked == Verb::expire_orphan) return *terms.orphan_ttl;
    return std::max(round.ttl(), granted_at ? cooldown(now) : terms.hold_at_least);
  }

  /// Makes a reused slot new, keeping what its members have allocated.
  void reset() {
    state = State::cleaning_up;
    task = Task::none;
    finished = false;
    requests.clear();
    queued.clear();
    keys = KeyLedger();
    unasked = in_full = NodeSet();
    unanswered = 0;
    deployment.clear();
    fencing.reset();
    writer_reservation = Duration::zero();
    is_hold = false;
    holds_left.reset();
    granted_at.reset();
    basis = ValidityBasis();
    renewal = Renewal();
    elapsed = Duration::zero();
  }
};

}  // namespace redlock::core
