#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "core/messages.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "redlock/error.hpp"

/// What comes out of the engine: the commands. Each carries exactly what its driver needs; what a
/// pointer refers to lives until the next step.
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
/// To the notifications that nodes publish for Engine::client_id(); Subscribed or Unsubscribed
/// follows for each.
struct Subscribe {
  NodeSet nodes{};
};
/// Whether notifications still arrive; Subscribed follows from each node from which they do.
struct ProbeSubscription {
  NodeSet nodes{};
};
/// Nothing follows.
struct Unsubscribe {
  NodeIndex node = 0;
};

// --- requests -------------------------------------------------------------------------------

/// A request to each of `nodes`, in the order of the commands; one Answer follows from each.
struct Request {
  NodeSet nodes{};
  Stamp stamp{};
};
/// For a claim, which has the rest.
struct Send : Request {
  ScriptForm form = ScriptForm::digest;
};
/// For no claim: read_clock, read_marker, prune_fencing_numbers, write_name.
struct SendUpkeep : Request {
  ScriptForm form = ScriptForm::digest;
};
/// join_queue or leave_queue; `mode` and `ticket` are the script's arguments.
struct SendToQueue : Request {
  const std::string* key = nullptr;
  std::int64_t mode = 0;
  std::int64_t ticket = 0;    ///< 0: a new one
  std::uint32_t permits = 0;  ///< of the semaphore that `key` is the queue of
  ScriptForm form = ScriptForm::digest;
};
/// To track the key of a resource, or its queue.
struct SendTrack : Request {
  const std::string* key = nullptr;
  Tracked kind = Tracked::resource;
};
/// CLIENT KILL ID.
struct KillOld : Request {
  std::int64_t connection = 0;
};
/// Replaces a node's marker, if it is still the expected one.
struct MarkerWrite {
  NodeIndex node = 0;
  std::string expected{};
  std::string text{};     ///< as format_marker() has it
  Duration quarantine{};  ///< begins with the writing; zero: it stays as it is
  Duration node_clock{};  ///< mark_plain: what the node's clock shows, since 1970, as far as known
  bool as_new = false;    ///< see opened_as_new
};
struct SendMarker : Request {
  const MarkerWrite* write = nullptr;
};

// --- outcomes -------------------------------------------------------------------------------

struct Acquired {
  CallId request{};
  ClaimId claim{};
  const Round* round = nullptr;  ///< the granting one
  Duration elapsed{};            ///< since the first round
  Instant valid_until{};
};
/// The lease has another deadline. Without a request: a renewal, or a node's clock that stepped,
/// and then the deadline is earlier.
struct Extended {
  CallId request{};
  ClaimId claim{};
  const Round* round = nullptr;
  Duration elapsed{};
  Instant valid_until{};
};
/// No majority holds the token any more.
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
/// The request did not get what it asked for.
struct Failed {
  CallId request{};
  Errc code{};
  const Round* round = nullptr;  ///< the last one; none where nothing was sent
  Duration elapsed{};
  std::string_view in_the_way{};  ///< of several resources; empty: the only one
  std::uint32_t permits = 0;      ///< of the semaphore that was asked for one
};
/// The lease ends soon, though it is to be renewed.
struct AtRisk {
  ClaimId claim{};
};
/// What is known of other clients that wait for the lease's resource has changed.
struct QueueWatched {
  ClaimId claim{};
  OtherClients others = OtherClients::unknown;
};
/// The lease reached its deadline.
struct Lost {
  ClaimId claim{};
  const Round* round = nullptr;
};

// --- news -----------------------------------------------------------------------------------

/// A guard took the node's vote: Engine::exclusion() says why.
struct NodeExcluded {
  NodeIndex node = 0;
};
/// Our own clock stood still for at most `most`: by that much the clocks of the nodes in `alike`
/// stepped together.
struct StoodStill {
  NodeSet alike{};
  Duration most{};
};
/// The node is a member that the settings did not name; connected like the others.
struct NodeLearned {
  NodeIndex node = 0;
};
/// Before Drained: so many releases did not reach the node.
struct Undelivered {
  NodeIndex node = 0;
  std::int64_t releases = 0;
  Duration left{};              ///< for how long at most the keys stay there
  bool may_write_late = false;  ///< counted from when the node executes what it has received
};
/// Nothing is left to wait for.
struct Drained {};

using Command = std::variant<Connect, Disconnect, Subscribe, ProbeSubscription, Unsubscribe, Send,
                             SendUpkeep, SendToQueue, SendTrack, KillOld, SendMarker, Acquired,
                             Extended, Released, Inspected, Failed, AtRisk, QueueWatched, Lost,
                             NodeExcluded, StoodStill, NodeLearned, Undelivered, Drained>;

/// The request in a command; none in any other.
[[nodiscard]] inline const Request* request_in(const Command& command) noexcept {
  return std::visit(
      [](const auto& alternative) -> const Request* {
        if constexpr (std::is_base_of_v<Request, std::remove_cvref_t<decltype(alternative)>>) {
          return &alternative;
        } else {
          return nullptr;
        }
      },
      command);
}

}  // namespace redlock::core
