#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::chaos {

// The kinds of faults, by the names that --faults has.
// clang-format off
#define CHAOS_FAULTS(KIND) \
  KIND(kill) KIND(pause) KIND(partition) KIND(clock) KIND(restart) KIND(slow) KIND(role) \
  KIND(pieces) KIND(evict) KIND(name) KIND(load)
// clang-format on

#define ENUMERATOR(name) name,
enum class FaultKind { CHAOS_FAULTS(ENUMERATOR) };
#undef ENUMERATOR
#define KIND(name) FaultKind::name,
inline constexpr FaultKind all_fault_kinds[] = {CHAOS_FAULTS(KIND)};
#undef KIND

[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;
[[nodiscard]] std::optional<FaultKind> fault_kind(std::string_view name) noexcept;
/// "kill,pause,…"
[[nodiscard]] std::string list_of(const std::set<FaultKind>& kinds);

/// The exact form of a fault: of a node, of a contender, of the links between a node and some
/// contenders, or of the machine.
enum class FaultForm {
  node_killed_empty,      ///< SIGKILL; comes back without data
  node_killed_with_data,  ///< SIGKILL; comes back with the data that it had written
  contender_killed,       ///< SIGKILL; another one takes its place
  node_stopped,           ///< SIGSTOP, then SIGCONT
  contender_stopped,
  contenders_frozen,  ///< as contender_stopped, several at once and for seconds, but not all
  clients_paused,     ///< CLIENT PAUSE
  link_held,          ///< nothing passes, all arrives in the end: half-open for a side that gave up
  replies_held,       ///< requests are executed, their replies arrive late
  replies_lost,       ///< requests are executed, their replies never arrive
  link_refused,       ///< connections are reset, and new ones too
  clients_killed,     ///< CLIENT KILL
  clock_leaps,        ///< forward, and back when no key from before the leap is left
  clock_set_back,     ///< a little, for good
  node_restarted,     ///< an orderly end; comes back with its data
  node_restarted_empty,
  scripts_flushed,  ///< SCRIPT FLUSH
  link_delayed,
  replies_trickle,
  replies_cut,   ///< the connection is reset in the middle of a reply
  requests_cut,  ///< the connection is reset in the middle of a request
  memory_full,   ///< maxmemory is reached: every SET is refused
  node_demoted,  ///< REPLICAOF another node, then NO ONE: its data are gone, its connections stay
  node_flushed,  ///< FLUSHALL: its data are gone at once, its connections stay
  replies_in_pieces,  ///< replies arrive in pieces of one to seven bytes
  replies_torn,       ///< as replies_in_pieces, and the connection is reset between two pieces
  node_evicts,        ///< the node's policy is changed and its memory full: no lock stays
  name_leads_away,    ///< the name leads some contenders to a blank server; others keep the old one
  machine_busy,       ///< other processes keep the processors busy
  // Of a replicated service.
  failover_ordered,    ///< SENTINEL FAILOVER or CLUSTER FAILOVER
  primary_cut_off,     ///< other servers do not reach the primary; some contenders do
  replicas_cut,        ///< CLIENT KILL TYPE replica: all replicas attach again
  replica_exchanged,   ///< a replica leaves its primary, and comes back for all of its data
  primary_taken_over,  ///< CLUSTER FAILOVER TAKEOVER, while the primary runs or is stopped
  slot_moved,          ///< to the other shard of a cluster, and back if the fault lasts
};

/// The part that a server of a replicated service has when a fault begins, in place of its number.
enum class Part { primary, replica };

/// What decides which server of a replicated service is the primary.
enum class Manager { sentinels, cluster };

[[nodiscard]] std::string_view to_string(FaultForm form) noexcept;
[[nodiscard]] FaultKind kind_of(FaultForm form) noexcept;

using Offset = std::chrono::milliseconds;  ///< the time since the start of the run

struct Fault {
  FaultForm form = FaultForm::link_held;
  std::optional<std::size_t> node{};
  std::uint64_t contenders = 0;  ///< the contenders that it affects, as a set of bits
  Offset begin{};
  Offset end{};     ///< healed then; the same as `begin` if the fault does not last
  Offset amount{};  ///< the length of a delay, or of a clock's step
  /// Of a replicated service: the fault is about the primary, or the replica that `node` counts.
  /// The arena puts the server's number in the place of `node`.
  std::optional<Part> part{};
  /// The fault is one of several that cost a majority its memory: only an operator can open the
  /// deployment again.
  bool needs_operator = false;
};

struct ScheduleRequest {
  std::uint64_t seed = 1;
  std::set<FaultKind> kinds{};
  std::size_t nodes = 5;
  Manager manager = Manager::sentinels;  ///< of a replicated service
  std::size_t contenders = 4;
  Offset length{};  ///< everything is healed by then
  /// Whether to draw faults that make a node forget keys or expire them early. All faults of the
  /// kinds clock, role, evict and name do.
  bool forgetting = true;
};

/// The faults of a run in the order of their beginnings. Equal requests give equal schedules. A
/// schedule only has faults that the library promises to survive, and leaves a quorum of nodes most
/// of the time, so that there is something to violate:
/// - A node has one fault of its own at a time, and none for a quarantine after it lost its data.
/// - Only a minority of the nodes has faults at a time, but now and then a majority forgets.
/// - One clock is moved at a time. A leap is so large that even a client that has just met the node
///   takes the clock for wrong, smaller than a quarantine (fencing tokens), and lasts until every
///   lease from before it is over.
/// - One node at a time evicts, or has a name that leads to another server.
///
/// Long runs have calm stretches, in which nothing is broken, so that waiting can be judged. If
/// possible, the schedule aims: around a fault that loses keys, contenders are cut off from so many
/// other nodes that leases rest on bare quorums.
[[nodiscard]] std::vector<Fault> make_schedule(const ScheduleRequest& request);

/// The kinds of faults that a replicated service can have.
[[nodiscard]] std::set<FaultKind> kinds_of_service();

/// As make_schedule, of a replicated service of `request.nodes` servers. Most faults cost it its
/// primary. After most of them there is time for a failover, a quarantine and some leases; the next
/// fault sometimes comes earlier.
[[nodiscard]] std::vector<Fault> make_service_schedule(const ScheduleRequest& request);

}  // namespace redlock::chaos
