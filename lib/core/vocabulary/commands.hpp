#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/request.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/error.hpp"

/// The engine's output: its commands. Each carries exactly what its driver needs; what a pointer
/// refers to lives until the next step.
namespace redlock::core {

class Round;

// --- connections ----------------------------------------------------------------------------

/// Begin to connect; NodeUp or NodeDown follows.
struct Connect {
  NodeIndex node = 0;
  bool marks = true;  ///< under the restart guard, a node that nobody has met is marked
};
/// Flush the connection, then drop it with a reset; nothing follows.
struct Disconnect {
  NodeIndex node = 0;
};
/// Subscribe to the notifications that nodes publish for Engine::client_id(); Subscribed or
/// Unsubscribed follows from each node.
struct Subscribe {
  NodeSet nodes{};
};
/// Ask whether notifications still arrive; Subscribed follows from each node from which they do.
struct ProbeSubscription {
  NodeSet nodes{};
};
/// End the subscription; nothing follows.
struct Unsubscribe {
  NodeIndex node = 0;
};

// --- outcomes -------------------------------------------------------------------------------

struct Acquired {
  CallId request{};
  ClaimId claim{};
  const Round* round = nullptr;  ///< the round that granted the lease
  Duration elapsed{};            ///< since the first round began
  Instant valid_until{};
};
/// The lease has another deadline. If there is no request, a renewal has raised the deadline, or a
/// step of a node's clock has lowered it.
struct Extended {
  CallId request{};
  ClaimId claim{};
  const Round* round = nullptr;
  Duration elapsed{};
  Instant valid_until{};
};
/// The token no longer has a majority of the nodes.
struct Released {
  CallId request{};
  ClaimId claim{};
  const Round* round = nullptr;
  Duration elapsed{};
};
/// Every node answered or failed.
struct Inspected {
  CallId request{};
  ClaimId claim{};
  const Round* round = nullptr;
};
/// The request failed, for the reason in `code`.
struct Failed {
  CallId request{};
  Errc code{};
  const Round* round = nullptr;  ///< the last round; null: nothing was sent
  Duration elapsed{};
  std::string_view in_the_way{};  ///< the resource of several that another client holds; empty:
                                  ///< there is one resource
  std::uint32_t permits = 0;      ///< size of the semaphore if a permit was requested; 0: none was
};
/// The lease ends soon, though it is to be renewed.
struct AtRisk {
  ClaimId claim{};
};
/// Whether other clients wait for the lease's resource: follows WatchQueue, and every change.
struct QueueWatched {
  ClaimId claim{};
  OtherClients others = OtherClients::unknown;
};
/// The lease reached its deadline. Its claim waits for one event that ends it: for Detach if the
/// holder handed the lease on before, otherwise for Release. Nothing is sent for it until then.
struct Lost {
  ClaimId claim{};
  const Round* round = nullptr;
};

// --- news -----------------------------------------------------------------------------------

/// A guard took the node's vote: Engine::exclusion() says why.
struct NodeExcluded {
  NodeIndex node = 0;
};
/// This machine stood still for at most `most`: the clocks of the nodes in `alike` stepped together
/// by that much.
struct StoodStill {
  NodeSet alike{};
  Duration most{};
};
/// An operator reset the node's counters: it said that it had evicted so many keys, and says 0 now.
struct CountersReset {
  NodeIndex node = 0;
  std::uint64_t evicted = 0;
};
/// The node is a member that the settings did not name. It is connected to like the others.
struct NodeLearned {
  NodeIndex node = 0;
};
/// Precedes Drained: releases that did not reach the node.
struct Undelivered {
  NodeIndex node = 0;
  std::int64_t releases = 0;
  Duration left{};              ///< the longest time that the keys stay there
  bool may_write_late = false;  ///< `left` counts from when the node executes what it has received
};
/// Nothing is left to wait for.
struct Drained {};

using Command =
    std::variant<Connect, Disconnect, Subscribe, ProbeSubscription, Unsubscribe, Request, Acquired,
                 Extended, Released, Inspected, Failed, AtRisk, QueueWatched, Lost, NodeExcluded,
                 StoodStill, CountersReset, NodeLearned, Undelivered, Drained>;

/// The request that the command sends; null: it sends none.
[[nodiscard]] inline const Request* request_in(const Command& command) noexcept {
  return std::get_if<Request>(&command);
}

/// The request that the command sends for a claim; null: it sends none, or one of upkeep.
[[nodiscard]] inline const Request* request_for_claim_in(const Command& command) noexcept {
  const Request* const request = request_in(command);
  return request != nullptr && !is_upkeep(request->stamp.verb) ? request : nullptr;
}

}  // namespace redlock::core
