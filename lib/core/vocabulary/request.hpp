#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// For how long at least a node reserves a free resource for the first client in its queue.
inline constexpr Duration shortest_reservation = std::chrono::milliseconds(20);

/// Replaces a node's marker, if it is still the expected one.
struct MarkerWrite {
  NodeIndex node = 0;
  std::string expected{};
  std::string text{};     ///< as format_marker() has it
  Duration quarantine{};  ///< begins with the writing; zero: it stays as it is
  Duration node_clock{};  ///< mark_plain: what the node's clock shows, since 1970, as far as known
  bool as_new = false;    ///< see opened_as_new
};

/// Replaces a replicated node's record of its reign, if marker and record are still these.
struct ReignWrite {
  std::string marker{};
  std::string expected{};
  std::string head{};       ///< the record's first words, up to the replication id
  std::string confirmed{};  ///< empty: it is confirmed by the writing, and the quarantine begins
  std::uint64_t attachments = 0;
  Duration quarantine{};
};

/// The content of a request. The core builds it once; the driver encodes it, and the simulator
/// executes it. Each request reads the fields it needs. Texts live until the next step.
struct Terms {
  // --- the lock ---
  /// The key. For a permit: the permit's own key. For a semaphore's queue: the prefix of the
  /// permits' names.
  std::string_view resource{};
  std::string_view token{};
  Duration ttl{};
  std::span<const std::string> more_resources{};  ///< more resources of the token: all or none
  std::string_view group{};                       ///< the group that may share the lock
  std::uint32_t permits = 0;         ///< size of the semaphore; 0: the resource is no permit
  std::uint64_t fencing_number = 0;  ///< proposed fencing number; 0: none
  Duration cooldown{};               ///< release: how long nobody may have the lock
  std::string_view keeper{};         ///< break_lock: the token that keeps everybody out
  std::string_view name{};           ///< write_name, write_audit: what people call this client
  bool downgraded = false;           ///< a writer's key with this token becomes a reader's hold
  bool by_token = false;             ///< the kind of the token's lock is unknown

  // --- waiting ---
  /// If other holders are in the way: for how long nodes refuse new holds.
  Duration writer_reservation{};
  /// The client that requests the lock, or that a release queues again.
  std::string_view client{};
  std::optional<std::int64_t> ticket{};  ///< the client's ticket in the queue; none: it is not
                                         ///< queued
  std::int64_t queue_mode = 0;           ///< join_queue, leave_queue: see the scripts
  std::uint64_t waits_for = 0;           ///< take: see QueuePosition
  std::uint64_t kept = 0;                ///< release: see QueuePosition
  Duration keep{};                       ///< take, release: see QueuePosition
  bool quiet = false;  ///< release: passes nothing on, because another client will
  /// For how long a node reserves a free resource for the first client in the queue.
  Duration reserved_for = shortest_reservation;

  // --- of no claim ---
  Tracked tracked = Tracked::resource;
  std::int64_t connection = 0;          ///< kill_old: the id that CLIENT ID returned
  const MarkerWrite* marker = nullptr;  ///< write_marker, mark_plain
  const ReignWrite* reign = nullptr;    ///< write_reign
  std::uint64_t acknowledgements = 0;   ///< read_reign: how many replicas to wait for
  Duration within{};                    ///< read_reign: for how long

  /// The driver may join the request with others into one call. False for a request by token: the
  /// token may be of a hold, which has a script of its own.
  bool may_share_call = false;

  /// Whether no special term is set. Two such requests with the same verb differ only in resource,
  /// token, fencing number, TTL and `reserved_for`: the encoder copies the bytes of the one before
  /// and overwrites these.
  [[nodiscard]] bool are_usual() const noexcept {
    return more_resources.empty() && group.empty() && cooldown == Duration::zero() &&
           writer_reservation == Duration::zero() && permits == 0 && client.empty() &&
           name.empty() && keeper.empty() && !downgraded && !by_token;
  }
};

/// A request to each of `nodes`, in the order of the commands; one Answer follows from each.
struct Request {
  NodeSet nodes{};
  Stamp stamp{};
  ScriptForm form = ScriptForm::digest;
  Terms terms{};
};

}  // namespace redlock::core
