#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/membership/node_memory.hpp"
#include "core/vocabulary/capabilities.hpp"
#include "core/vocabulary/commands.hpp"
#include "simulation/clock.hpp"
#include "simulation/node/model_queue.hpp"
#include "simulation/scenario.hpp"

namespace redlock::simulation {

inline constexpr std::size_t most_resources = 64;
/// The index of the queue of clients that wait for any permit; it has no key.
inline constexpr std::size_t any_permit = most_resources;

/// The holder of a key that only keeps an interval: the resource is free when the interval ends.
inline constexpr std::uint64_t cooldown = ~std::uint64_t{0};

/// The holder of a key that is reserved for a client: nobody's vote.
inline constexpr std::uint64_t reservation = std::uint64_t{1} << 63;
[[nodiscard]] constexpr bool is_reservation(std::uint64_t holder) noexcept {
  return (holder & reservation) != 0 && holder != cooldown;
}

/// The bit of tokens that belong to another library.
inline constexpr std::uint64_t foreign = std::uint64_t{1} << 61;
[[nodiscard]] constexpr bool is_foreign(std::uint64_t holder) noexcept {
  return holder >> 61U == 1;
}

struct Request {
  core::Stamp stamp;
  core::ScriptForm form = core::ScriptForm::digest;
  std::uint8_t resource = 0;
  std::uint64_t token = 0;
  std::int64_t ttl_ms = 0;
  std::int64_t number = 0;  ///< kill_old: the connection; fenced: the requested number
  bool both = false;        ///< the other resource as well: all or none
  std::uint64_t group = 0;  ///< who can share the lock; 1: readers, others: an owner
  std::int64_t writer_reservation_ms = 0;
  std::int64_t cooldown_ms = 0;
  std::uint32_t permits = 0;  ///< the semaphore's number of permits
  bool last = false;          ///< a release after which no request for this token may come
  bool begun = false;         ///< numbered: the first half of its commands was executed
  core::MarkerWrite write{};  ///< write_marker
  std::optional<core::ReignWrite> reign{};  ///< write_reign
  std::uint64_t acknowledgements = 0;       ///< read_reign: how many replicas to wait for
  True within = 0;                          ///< read_reign: for how long
  std::uint64_t client = 0;  ///< the asking client; a release: the client to queue again
  std::optional<std::int64_t> ticket{};  ///< the client's ticket; none: it does not queue
  std::uint64_t waits_for = 0;           ///< which of both the client waits for, from 1 on; 0: none
  std::uint64_t kept = 0;                ///< a release of both: a bit for each that stays reserved
  std::int64_t keep_ms = 0;       ///< how long the other of both stays reserved for the client
  bool quiet = false;             ///< a release that notifies nobody and reserves for nobody
  std::uint64_t keeper = 0;       ///< break_lock: the token that keeps everybody out
  bool downgraded = false;        ///< a writer's key becomes a reader's hold
  bool by_token = false;          ///< an extend that does not know the kind of the lock
  std::int64_t reserved_ms = 20;  ///< how long a free lock is reserved for its successor
};

struct Response {
  core::Stamp stamp;
  core::Reply reply = core::Reply::error;
  std::uint64_t holder = 0;
  std::uint64_t group = 0;         ///< the group that has holds; 0: none
  bool writer = false;             ///< a writer waits
  std::int64_t remaining_ms = -1;  ///< negative: unknown
  std::int64_t number = 0;  ///< fenced: the node's number; numbered: its number before the raise
  std::int64_t time = 0;    ///< nanoseconds; write_marker: the rest of a quarantine
  std::optional<core::Holds> holds{};
  std::string free{};    ///< take_permit refused: the permits that the client can have
  std::string marker{};  ///< read_marker, write_marker
  std::string reign{};   ///< read_reign: the record, and what the primary says of its replicas
  std::uint64_t acknowledged = 0;
  std::uint64_t attachments = 0;
  std::uint64_t attached = 0;
  bool read_only = false;    ///< an error because the node is a replica
  std::int64_t counted = 0;  ///< for a planted fault: the answer of INCR
  bool had_it = false;       ///< an extend found the key there
  bool queued = false;       ///< release_plain: clients are queued for the resource
  std::int64_t ticket = 0;   ///< the client's present ticket
  bool is_first = false;
};

/// The restart guard's request on each connection.
struct GuardRequest {
  std::string run_id{};
  core::NodeMemory memory{};
  std::int64_t max_ttl_ms = 0;
  std::int64_t quarantine_ms = 0;
  bool trusted = false;  ///< a node that restarted with its data keeps its vote
  std::string name{};
  std::string incarnation{};
  bool marks = true;
};
struct GuardResponse {
  std::string marker{};
  std::int64_t quarantine_ms = 0;
  bool unmarked = false;
  bool outdated = false;
};

/// Models a Redis master: keys that expire by the master's own wall clock, a run_id, and the
/// library's scripts. The scripts of the guards and of fencing tokens are modelled line by line.
/// The simulated network carries out CLIENT KILL, because it owns the connections.
class ModelNode {
  struct Memory;

 public:
  /// What the node has in memory, at one instant.
  using Copy = std::shared_ptr<const Memory>;

  ModelNode(Clock wall_clock, Mutant mutant) : clock(wall_clock), mutant_(mutant) {
    // The floor that the opening of a deployment leaves.
    memory_.floor = clock.local(0) / 1000;
  }

  [[nodiscard]] Response execute(const Request& request, True now);

  /// Other clients' commands may run between the two halves of a numbered SET: SET and ZMSCORE,
  /// then ZADD and GET; in the short form SET, then ZADD. `end_numbered` completes the `response`
  /// of the first half.
  [[nodiscard]] Response begin_numbered(const Request& request, True now);
  void end_numbered(const Request& request, True now, Response& response);

  /// Locks as node-redlock does: an existing key refuses, even the caller's own.
  [[nodiscard]] bool lock_foreign(std::size_t resource, std::uint64_t token, std::int64_t ttl_ms,
                                  True now);
  void unlock_foreign(std::size_t resource, std::uint64_t token, True now);

  /// How the node publishes; at first, nobody listens.
  Publish publish = [](std::uint64_t, std::size_t, std::uint32_t) { return false; };

  std::size_t resources = 2;   ///< resources that are ever locked
  bool has_permits = false;    ///< the resources are permits of one semaphore
  int let_in_at_once = 64;     ///< readers that one script lets in; each of them lets in more
  bool keeps_no_lock = false;  ///< the node grants, and loses the key of an exclusive lock at once

  bool running = true;
  True stopped_until = 0;
  std::uint64_t run = 1;
  std::uint64_t role = 1;    ///< the number of the replication id, new for each role and backlog
  bool was_replica = false;  ///< by its second replication id and the bytes of its masters
  True read_only_until = 0;
  bool says_replica = false;  ///< the handshake sees a replica until `read_only_until`
  std::int64_t connections = 0;

  void start_again() {
    ++run;
    ++role;
    was_replica = false;
    evicted = evicted_before_reset = 0;
    read_only_until = 0;
    says_replica = false;
    connections = 0;
    knows_ = {};
  }

  /// Loads the scripts that each new connection loads: see redis::loaded_scripts.
  void load_scripts() {
    for (const Script script : {Script::release, Script::queue, Script::leave}) {
      knows_[static_cast<std::size_t>(script)] = true;
    }
  }
  /// SCRIPT FLUSH.
  void flush_scripts() { knows_ = {}; }

  /// guard.lua: the marker, and how much is left of the node's quarantine.
  [[nodiscard]] GuardResponse guard(const GuardRequest& request, True now);
  [[nodiscard]] std::string& marker() noexcept { return memory_.marker; }
  [[nodiscard]] const std::string& marker() const noexcept { return memory_.marker; }
  /// The record of a replicated node's reign.
  [[nodiscard]] std::string& reign() noexcept { return memory_.reign; }
  /// Forbids votes for at least `milliseconds`, and fencing numbers below the node's clock at the
  /// end.
  void quarantine(std::int64_t milliseconds, True now);
  /// Whether anything is locked on the node.
  [[nodiscard]] bool has_keys(True now) const;

  /// REPLICAOF an empty node, and NO ONE at once: the process and its connections stay. The node
  /// takes no writes until `until`.
  void change_role(True until) {
    forget();
    ++role;
    was_replica = true;
    read_only_until = until;
    says_replica = false;
  }
  /// change_role(), and until `until` the node is a replica to which clients can connect.
  void demote(True until) {
    change_role(until);
    says_replica = true;
  }
  [[nodiscard]] bool is_replica(True now) const { return says_replica && now < read_only_until; }

  /// REPLICAOF a promoted replica, then NO ONE: the node has what the replica had when it was cut
  /// off, including the marker.
  void take_role_back(True until) {
    restore();
    ++role;
    was_replica = true;
    read_only_until = until;
    says_replica = false;
  }

  /// REPLICAOF: takes no writes from now on, and has another server's data as soon as they come.
  void follow() {
    was_replica = true;
    read_only_until = never;
    says_replica = true;
  }
  /// REPLICAOF NO ONE, with a new replication id.
  void lead(std::uint64_t id) {
    role = id;
    read_only_until = 0;
    says_replica = false;
  }
  [[nodiscard]] Copy copy() const { return std::make_shared<const Memory>(memory_); }
  void load(const Copy& copy) { memory_ = *copy; }

  /// A restart without data; see restore() for one with the data last saved.
  void forget() { memory_ = aside_ = {}; }
  /// SWAPDB with a database that is empty at first.
  void swap_databases() {
    std::swap(memory_, aside_);
    is_swapped_ = !is_swapped_;
  }
  [[nodiscard]] bool is_swapped() const noexcept { return is_swapped_; }
  /// A replica attaches, or the backlog of the last one is freed. A server that was a replica has a
  /// backlog already, and its time to live is longer than a scenario.
  void change_backlog() {
    if (!was_replica) ++role;
  }
  /// Evicts the keys that expire; the marker stays. The policy is the wrong one until `until`.
  void evict(True until) {
    memory_.keys = {};
    ++evicted;
    // By design, nobody notices a number that was reset and then rises to what it was.
    if (evicted == evicted_before_reset) ++evicted;
    evicts_until = until;
  }
  [[nodiscard]] bool evicts(True now) const noexcept { return now < evicts_until; }
  /// The number of evictions in INFO.
  [[nodiscard]] std::uint64_t evictions_told() const noexcept;
  /// CONFIG RESETSTAT.
  void reset_counters() {
    evicted_before_reset = std::max(evicted_before_reset, evicted);
    evicted = 0;
  }
  void save() { saved_ = memory_; }
  void restore() { memory_ = saved_; }

  std::uint64_t evicted = 0;  ///< evicted keys, by this process
  std::uint64_t evicted_before_reset = 0;
  True evicts_until = 0;  ///< its policy is one that evicts until then
  Clock clock;
  Servers version = Servers::by_scripts;
  bool compares = false;     ///< compares without a script, and sets several keys at once
  bool runs_scripts = true;  ///< the clients' user may run scripts
  /// The capabilities that the handshake finds.
  [[nodiscard]] core::Capabilities capabilities() const noexcept;

  /// Numbers below the floor are not acknowledged; microseconds.
  [[nodiscard]] std::optional<std::int64_t>& floor() noexcept { return memory_.floor; }
  [[nodiscard]] std::int64_t number(std::size_t resource) const {
    return memory_.numbers[resource];
  }

  [[nodiscard]] const ModelQueue& queue(std::size_t resource) const {
    return memory_.queues[resource];
  }

  /// The holder of the key; 0: none, or several.
  [[nodiscard]] std::uint64_t holder(std::size_t resource, True now) const {
    const Key& key = memory_.keys[resource];
    return key.token != 0 && clock.milliseconds(now) < key.expires ? key.token : 0;
  }
  /// All tokens that hold the resource now.
  [[nodiscard]] std::vector<std::uint64_t> holders(std::size_t resource, True now) const;
  /// Whether a key, hold, writer reservation or queue of the resource ends after `from` and by
  /// `until`.
  [[nodiscard]] bool ends_within(std::size_t resource, True from, True until) const;
  [[nodiscard]] bool has(std::size_t resource, std::uint64_t token, True now) const;
  /// Whether the token has a hold of the resource.
  [[nodiscard]] bool has_hold(std::size_t resource, std::uint64_t token) const {
    return memory_.keys[resource].holds.count(token) != 0;
  }
  /// Whether the client has a queue position, the duty of the standby, or a turn.
  [[nodiscard]] bool has_waiter(std::size_t resource, std::uint64_t client) const;
  [[nodiscard]] bool has_turn(std::size_t resource, std::uint64_t client) const;

 private:
  // Instants are milliseconds of the node's clock; an entry has ended when its instant is reached.
  struct Key {
    std::uint64_t token = 0;
    std::int64_t expires = 0;
    std::uint64_t group = 0;                      // who may share the key; 0: nobody
    std::map<std::uint64_t, std::int64_t> holds;  // the group's holders, and until when they hold
    std::int64_t writer = 0;   // until when a waiting writer has new holds refused
    std::int64_t next = 0;     // until when the key is reserved for readers
    std::uint64_t keeper = 0;  // the hold that is a delay; 0: none
    [[nodiscard]] std::int64_t last() const;
    [[nodiscard]] std::uint32_t leases() const {
      return static_cast<std::uint32_t>(holds.size() - (keeper != 0 ? 1 : 0));
    }
  };
  struct Memory {
    std::array<Key, most_resources + 1> keys{};
    std::array<std::int64_t, most_resources> numbers{};  // microseconds; 0: none
    std::optional<std::int64_t> floor;
    std::string marker;  // the marker's text; empty: none
    std::string reign;   // the record of the primary's reign; empty: none
    std::int64_t quarantine_until = 0;
    std::int64_t awaited_until = 0;                       // until when somebody waits for anything
    std::array<ModelQueue, most_resources + 1> queues{};  // the waiting clients
    struct Standby {
      std::uint64_t client = 0;
      std::int64_t ends = 0;
      bool notified = false;
    };
    std::array<Standby, most_resources + 1> standbys{};
    std::array<std::set<std::uint64_t>, most_resources + 1> admitted{};  // admitted readers
    struct Before {
      std::set<std::uint64_t> holds;
      std::int64_t ends = 0;
    };
    std::array<Before, most_resources + 1> before{};  // holds that are older than somebody's wait
  };
  /// An expired key is deleted when it is read: a clock set back does not revive it.
  void expire(std::size_t resource, True now);
  enum class Script : std::uint8_t {
    fence,
    extend,
    release,
    inspect,
    prune,
    take,
    permit,
    enter,
    break_lock,
    queue,
    leave,
    check,
    mark,
    reign
  };
  static constexpr std::size_t scripts = static_cast<std::size_t>(Script::reign) + 1;
  [[nodiscard]] bool knows(Script script, core::ScriptForm form);

  /// Removes the holds that have ended, as every script that reads them does.
  void remove_ended(Key& key, True now);
  [[nodiscard]] std::int64_t held_for(const Key& key, True now) const;
  /// Names those who have the holds in an answer that refuses.
  static void name_holders(const Key& key, Response& response);
  /// is_for_readers() of parts/holder.lua.
  [[nodiscard]] bool is_for_readers(std::size_t resource, True now);
  static void delay_new_holds(Key& key, std::uint64_t keeper, std::int64_t ends);
  void set(const Request& request, True now, Response& response);
  void enter(const Request& request, True now, Response& response);
  void take_permit(const Request& request, True now, Response& response);
  [[nodiscard]] bool is_taken(std::size_t resource, const Request& request, True now,
                              Response& response);
  void take(const Request& request, True now, Response& response);
  [[nodiscard]] bool repairs(const Request& request) const;
  void extend_hold(const Request& request, True now, Response& response);
  void share_with_readers(const Request& request, True now);
  void leave(const Request& request, True now, Response& response);
  /// Whether the resource has a holder, whose release will notify the waiters.
  [[nodiscard]] bool has_holder(std::size_t resource, True now);
  /// Whether nobody holds the resource and it is reserved for nobody; new holds can be refused.
  [[nodiscard]] bool is_open(std::size_t resource, True now);
  /// notify() of parts/waiters.lua.
  void notify(std::size_t resource);
  /// Publishes about `resource` to the client at that position of the queue `queued`; removes
  /// clients that do not listen. Returns the notified client; 0: nobody.
  enum class From : std::uint8_t { front, back };
  std::uint64_t tell(std::size_t queued, From end, std::size_t position, std::uint32_t before,
                     std::size_t resource);
  /// Whether waiters for the resource can also be in the queue for any permit of the semaphore.
  [[nodiscard]] bool is_permit(std::size_t resource) const;
  void refuse_new_holds(std::size_t resource, std::int64_t wait_ms, True now);
  [[nodiscard]] bool has_older_hold(std::size_t resource, True now) const;
  [[nodiscard]] bool admit(std::size_t resource, std::uint64_t client);
  void let_in_readers(std::size_t resource, const Request& request, True now);
  void let_in_more(std::size_t resource, const Request& request, True now);
  void pass_on_to_readers(std::size_t resource, std::uint64_t reader, const Request& request,
                          True now);
  /// pass_on() of parts/waiters.lua.
  void pass_on(std::size_t resource, const Request& request, True now);
  /// stand_by() of parts/waiters.lua.
  void stand_by(std::size_t resource, std::uint64_t client, std::int64_t millis);
  void keep_watch(std::size_t resource, const Request& request, std::int64_t millis);
  [[nodiscard]] bool is_free(std::size_t resource) const {
    return memory_.keys[resource].last() == 0;
  }
  /// Whether the key is reserved for the client of the request.
  [[nodiscard]] static bool is_reserved_for(const Key& key, const Request& request) {
    return request.client != 0 && key.token == (reservation | request.client);
  }
  std::int64_t enqueue(std::size_t resource, std::uint64_t client, std::int64_t ticket, True now);
  void queue_refused(const Request& request, True now, Response& response);
  void join_queue(const Request& request, True now, Response& response);
  void check_queue(const Request& request, True now, Response& response);
  /// Whether nobody has the resource, although clients wait for it.
  [[nodiscard]] bool finds_free(const Request& request, True now);
  [[nodiscard]] bool is_first_alone(const Request& request);
  void leave_queue(const Request& request, True now, Response& response);
  void give_permits_back(const Request& request, True now);
  void raise(const Request& request, std::int64_t last, Response& response);
  void fence(const Request& request, True now, Response& response);
  void prune(True now);
  [[nodiscard]] bool write_back_as_planted(const Request& request, True now, Response& response);
  void extend(const Request& request, True now, Response& response);
  void release_plain(const Request& request, True now, Response& response);
  void extend_plain(const Request& request, True now, Response& response);
  void set_all(const Request& request, True now, Response& response);
  void release(const Request& request, True now, Response& response);
  void break_lock(const Request& request, True now, Response& response);
  void inspect(const Request& request, True now, Response& response) const;
  void pretend_to_remember();
  void write_marker(const core::MarkerWrite& write, True now, Response& response);
  void write_reign(const core::ReignWrite& write, True now, Response& response);

  Mutant mutant_;
  Memory memory_;
  Memory saved_;
  Memory aside_;  ///< the memory of the other database
  bool is_swapped_ = false;
  std::array<bool, scripts> knows_{};
};

}  // namespace redlock::simulation
