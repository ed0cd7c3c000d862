#pragma once

#include <bitset>
#include <cstdint>
#include <optional>

#include "simulation/clock.hpp"

namespace redlock::simulation {

/// Faults outside the core that the checkers must find. One is planted at a time.
enum class Mutant : std::uint8_t {
  none,
  drop_release_behind_set,   ///< the driver drops a release that follows an unanswered SET
  validity_from_last_reply,  ///< the driver counts the validity from the last answer
  no_drift_margin,           ///< the driver adds to the validity the allowance for drift
  ignore_kill,               ///< nodes answer CLIENT KILL and do nothing
  fast_server_clocks,        ///< nodes' clocks run beyond the drift allowance
  forget_at_once,            ///< a crashed node is back at once without its data
  release_without_compare,   ///< nodes delete whatever key there is
  set_without_nx,            ///< nodes overwrite
  grant_a_refusal,           ///< the driver takes one refusal in a hundred for a grant
  answer_twice,              ///< the driver delivers answers twice
  sleepy_driver,             ///< the driver sleeps through its deadlines
  forget_answer,             ///< the driver drops an answer to the caller
  maximum_of_counters,       ///< fencing tokens are the maximum of an INCR on each node
  unconditional_write_back,  ///< nodes raise their number for any holder, and lower it too
  count_unseen_numbers,      ///< a node whose number is unknown counts in the round that raises
  trust_the_set,             ///< nodes do not check the holder when the number is raised
  no_floor,                  ///< a node that forgot its numbers begins at zero
  floor_unread,              ///< a floor that is read is taken for 1, and the vote counts
  unraised_counts,        ///< nodes acknowledge a number of the short form that is not above theirs
  no_quarantine,          ///< nodes mark that they restarted, and vote at once
  no_clock_guard,         ///< nobody reads the nodes' clocks, and they leap
  leaps_are_ours,         ///< the leap of one node's clock is attributed to all other clocks
  half_quorum,            ///< half of the nodes are enough
  no_release_on_failure,  ///< attempts that fail leave their keys
  release_before_set,     ///< a release overtakes the SET, on another connection
  reused_token,           ///< three attempts in ten reuse the token of the attempt before
  clock_stops_in_pauses,  ///< clients use CLOCK_MONOTONIC, and are suspended
  no_marker_behind_votes,      ///< nobody notices that a node forgot if its connections stay
  marker_ahead_of_votes,       ///< the marker is read when the request is sent, not after it
  no_tracking,                 ///< nodes do not say that they loaded another node's data
  connects_at_once,            ///< the driver retries a refused connection by itself
  tracks_once,                 ///< the driver has a key tracked once, and not again after a change
  readers_let_all_in,          ///< nodes do not check whose holds are there
  writer_ignores_readers,      ///< nodes let a writer in among readers
  count_permits,               ///< a semaphore counts to k on each node
  release_at_once,             ///< a release frees a resource before its interval is over
  cooldown_where_the_key_was,  ///< a release leaves no cooldown on nodes without the key
  memory_is_not_asked_for,     ///< a node that forgot an interval votes for the next one
  delay_is_ignored,            ///< nodes keep nobody out after an operator broke a lock
  delay_ends_with_the_holds,   ///< nodes pass on what the last holder releases during a delay
  delay_is_shortened,          ///< a second, shorter delay replaces the first one
  owner_is_spared,             ///< nodes let in an owner's new holds during a delay
  cooldown_untold,             ///< nodes do not notify when a release leaves a cooldown
  fenced_writer_lets_in,       ///< a waiting writer that wants a fencing token keeps no reader out
  plain_extend_shortens,       ///< a plain extend asks for the TTL of its round, however short
  plain_release_is_quiet,      ///< a plain release does not say that clients are queued
  reservations_are_kept,       ///< reservations of clients that no longer wait are kept
  readers_come_one_by_one,     ///< nodes let in one of the readers that are first in a queue
  any_permit_is_quiet,         ///< a permit for which nobody is queued notifies nobody
  wins_are_lost,               ///< reservations next to foreign locks end too soon
  readers_stay_queued,         ///< nodes let in no queued reader while readers hold a resource
  evictions_untold,            ///< nodes do not say that they have evicted anything
  half_the_rest,               ///< a client that closes reports half of the time that its keys stay
  one_more_reader_writes,      ///< one reader more than a script lets in is taken for a writer
  permits_are_not_exchanged,   ///< a reservation is only for the permit that a node passed on
  nothing_is_kept,             ///< no resource is kept for a caller that another resource refuses
  the_gone_are_too_many,       ///< nodes skip one client that has gone, and no more
  reserved_for_the_slowest,    ///< reservations last for as long as the farthest node takes
  swapped_in_as_new,           ///< a database that comes back names the admission of its successor
  forged_on_all,               ///< the intruder that adds a member adds it on every node
  queue_scripts_stay_away,  ///< a client never sends a queue script again that a node has flushed
  only_the_last_stands_by,  ///< nodes notify the last client in a queue, and checks find nothing
  the_late_stay_first,      ///< a client whose reservation ran out stays first in the queue
  downgrade_is_quiet,       ///< nodes let in no reader when a writer's lease is downgraded
  kept_while_it_waits,      ///< nodes keep what is free for a caller of several while it waits
  leaves_one_of_several,    ///< a caller of several that gives up leaves only what it waited for
  downgrade_leaves_a_gap,   ///< nodes have no hold of a downgraded lease
  falls_prove_nothing_evicted,  ///< a number of evictions below the last one counts as none
  falls_are_ignored,            ///< a number of evictions below the last one counts as that one
  resets_are_evictions,         ///< a number that an operator reset counts as evictions
  roles_are_copies,             ///< another replication id never counts as a change of the role
  copies_prove_nothing,         ///< another replication id always counts as a change of the role
  // Leases that are handed on:
  lost_is_handed_out,     ///< the token of a lost lease is handed out, and its client releases it
  released_after_detach,  ///< a client releases at the deadline what its holder has handed on
  renewals_repair,        ///< a renewal gives the key to every node that lacks it
  number_is_not_checked,  ///< the same, and an adopted lease keeps its fencing token in any case
  adopted_writers_stay,   ///< a writer's key stays one when its token is adopted as a reader's
  // Replicated nodes:
  nobody_waits,                ///< acknowledgements are not counted, only attachments
  primary_acknowledges,        ///< the primary is counted among those that acknowledge
  attachments_uncounted,       ///< replicas that attach are not counted
  attachments_tolerated,       ///< S − 1 − k attachments since the record take nothing away
  attachments_before_wait,     ///< INFO comes before WAIT
  new_reigns_vote_at_once,     ///< the primary of a new reign has no quarantine
  reigns_confirmed_at_once,    ///< a quarantine at first contact, and none at the confirmation
  records_follow_each_reading  ///< the record is written with the attachments of a vote's reading
};
/// Whether the fault is one of replicated nodes.
[[nodiscard]] constexpr bool is_of_reigns(Mutant mutant) noexcept {
  return mutant >= Mutant::nobody_waits;
}

/// Versions of servers, which understand different forms of a request.
enum class Servers : std::uint8_t {
  modern,      ///< a refused SET names the holder; fencing numbers by plain commands
  by_scripts,  ///< a refused SET names the holder; fencing numbers by scripts
  old,         ///< a refused SET names nobody; fencing numbers by scripts
  mixed,       ///< each node has a different version
};
inline constexpr std::size_t server_versions = 4;

/// The requests of a seed's callers.
enum class Wanted : std::uint8_t {
  exclusive,
  readers,   ///< readers, and writers
  owners,    ///< one of two owners, or nobody in particular
  several,   ///< one resource or both
  permits,   ///< one of two permits, or of many
  interval,  ///< taken for longer than it is held
};
inline constexpr std::size_t kinds = 6;

/// The behaviour of a node that is up and connects, but is of no use.
enum class Oddity : std::uint8_t {
  none,
  refuses_writes,  ///< the node says that it is a master, and answers READONLY
  is_replica,      ///< the node is a replica, and says so
  changes_marker,  ///< each reading finds another membership record
  hides_marker,    ///< each reading of the marker meets an error
  invalidates,     ///< the node says on each connection that its data was replaced
  breaks,          ///< the node ends each connection at the first request
  hangs,           ///< the node answers nothing after the handshake
  any,             ///< each connection meets a different oddity
};
inline constexpr std::size_t oddities = 9;

/// The parameters of one seed: drawn anew for each, so that every mix of faults occurs.
struct Scenario {
  std::size_t nodes = 5;
  std::size_t quorum = 3;
  std::size_t clients = 3;
  std::size_t slots = 1;  ///< threads of a client that lock
  std::size_t resources = 1;

  True fastest = 50'000;  ///< the shortest delay, one way
  True slowest = 500'000;
  True far = 0;                      ///< the additional delay to and from the last `far_nodes`
  std::size_t far_nodes = 0;         ///< a minority
  std::int64_t tail_per_mille = 10;  ///< messages that take up to `tail`
  True tail = 20 * ms;

  std::int64_t shortest_ttl_ms = 100;
  std::int64_t longest_ttl_ms = 1000;
  True shortest_limit = 100 * ms;
  True longest_limit = 1000 * ms;
  std::int64_t server_ppm = 0;  ///< the largest error of the clocks' rates, fast or slow
  std::int64_t client_ppm = 0;
  bool extreme_rates = false;  ///< every clock has the largest error

  // Mean time between faults; 0: none.
  True between_breaks = 0;
  True between_crashes = 0;
  True between_stops = 0;
  True between_partitions = 0;
  True between_pauses = 0;
  True between_client_ends = 0;
  True between_flushes = 0;       ///< nodes forget everything, and their connections stay
  True between_role_changes = 0;  ///< a flush with a new replication id and READONLY
  True between_failbacks = 0;     ///< saved data come back with their marker; connections stay
  True between_waiter_ends = 0;   ///< clients die that wait and have nothing; steady only
  True between_freezes = 0;       ///< waiting clients stop until all is healed; steady only
  /// The queue positions of the clients that stop at `freeze_at`, until everything is healed;
  /// steady only.
  std::bitset<256> frozen{};
  True freeze_at = 0;
  std::int64_t error_per_mille = 0;
  std::int64_t data_loss_per_mille = 0;  ///< crashes that lose the data
  std::int64_t snapshot_per_mille = 0;   ///< data losses that bring back the data last saved
  True between_saves = 0;
  True late = 0;  ///< how late the requests of a dropped connection can be executed

  bool restart_guard = false;  ///< without it, nodes that forgot stay away for the longest TTL
  bool durable = false;        ///< nodes forget nothing, and are trusted by the guard

  std::int64_t fencing_per_mille = 0;  ///< acquires that want a fencing token
  Servers servers = Servers::by_scripts;
  bool compares = false;               ///< modern nodes compare without a script
  bool runs_scripts = true;            ///< the clients' user may run scripts
  std::int64_t divided_per_mille = 0;  ///< numbered SETs that other requests interrupt
  True node_skew = 0;                  ///< wall clocks are up to this apart from true time
  True client_skew = 0;
  True wild_skew = 0;          ///< how wrong one node's wall clock is: days
  bool endless_floor = false;  ///< the floor of that node's fencing numbers is above all numbers

  bool clock_guard = false;
  True between_clock_steps = 0;
  True shortest_step = 0;  ///< steps go forward or back, and are set right later
  True longest_step = 0;
  /// Wall clocks leap by hours and days: neither exclusion nor a turn for everybody is promised,
  /// only the order of fencing tokens.
  bool any_clocks = false;

  /// Only clocks of a minority step, only forward, and no client is new: then a vote after a step
  /// does not count, so that even holders without a notification are alone.
  bool judged_by_votes = false;

  /// Whether no node's clock steps, so that no node may lose its vote because a client's clock
  /// stood still. A single node has no other to agree with. Too few members may be left if some
  /// are forged, swapped away, or met anew after an eviction. Then a standstill stays unexplained,
  /// and a node that is read after it counts as one that stepped.
  [[nodiscard]] bool only_stands_still() const noexcept {
    return between_standstills > 0 && between_clock_steps == 0 && nodes > 1 &&
           between_forgeries + between_swaps + between_evictions == 0;
  }

  /// How long the errors of a stepping clock can last, by design: the step is noticed at the next
  /// reading, which comes a second, by a client's clock, and a round trip after the last one.
  [[nodiscard]] True unnoticed() const noexcept { return 1'010 * ms + 4 * slowest; }
  /// How long a step can mislead a vote, which relies on a reading of the last half millisecond.
  [[nodiscard]] True unnoticed_by_votes() const noexcept { return 1 * ms + 4 * slowest; }

  Wanted kind = Wanted::exclusive;
  /// The kind that clients after the first `first_clients` want; never permits, which are not
  /// resources.
  std::optional<Wanted> beside{};
  std::size_t first_clients = 1;
  std::int64_t several_per_mille = 500;  ///< acquires of several resources, if some need several
  bool own_resource = false;             ///< each client always wants the same resource, or both
  std::int64_t longest_interval_ms = 0;
  /// Whether intervals are longer than the absence of nodes that forgot: then all callers request
  /// the same interval, which nodes have to remember.
  [[nodiscard]] bool one_interval() const noexcept {
    return restart_guard && longest_interval_ms > longest_ttl_ms;
  }
  std::int64_t readers_per_mille = 600;  ///< acquires by readers, if there are readers
  int let_in_at_once = 64;               ///< readers that one script of a node lets in
  bool one_keeps_no_lock = false;        ///< the last node loses exclusive locks' keys at once

  /// The last client is an operator, who breaks locks, with a delay or without, and never locks
  /// anything; 0: there is none.
  True between_operations = 0;
  void add_operator(True between) {
    between_operations = between;
    ++clients;
  }
  /// Whether the checkers can judge what an operator does. A delay ends with its keys: earlier if
  /// clocks step forward. A permit, and a lock with an interval, are broken by other rules.
  [[nodiscard]] bool suits_operators() const noexcept {
    const bool clocks_go_on = between_clock_steps + between_standstills + between_evictions == 0 &&
                              !any_clocks && !judged_by_votes;
    return clocks_go_on && !steady && !watches && !newcomer && !beside && kind != Wanted::permits &&
           kind != Wanted::interval;
  }

  /// Writers that become readers, if there are readers. Zero unless a test or a planted fault sets
  /// it.
  std::int64_t downgrades_per_mille = 0;

  /// Leases that are handed on to another client, at any instant, while their holders' requests are
  /// under way.
  std::int64_t gives_per_mille = 0;
  /// Whether nodes keep what they have, and their clocks go on.
  [[nodiscard]] bool keeps_data() const noexcept {
    return between_crashes + between_flushes + between_role_changes + between_failbacks +
               between_demotions + between_evictions + between_swaps + between_clock_steps +
               static_cast<True>(replicated) ==
           0;
  }

  /// The last client is a newcomer: it takes over leases that are handed on, each in a process that
  /// has just begun, like a command of the shell. Without faults, it can extend and release all.
  bool newcomer = false;

  /// Nothing fails, and clients lock again and again: then waits are bounded, and no resource is
  /// free for long while a caller waits for it.
  bool steady = false;
  True longest_hold = 1 * ms;  ///< steady only
  bool all_wait = false;       ///< steady only: nobody gives up
  bool all_give_up = false;    ///< steady only: nobody waits for longer than 60 ms
  True long_hold = 0;     ///< how long callers of the second resource alone hold it; 0: as others
  True longest_read = 0;  ///< the longest hold of readers, if others hold for less
  [[nodiscard]] True round_trip() const noexcept { return 2 * slowest; }
  [[nodiscard]] True longest_idle() const noexcept;
  /// How long a resource may be free if `hanging` clients hang, one after the other in its queue.
  [[nodiscard]] True longest_idle_beside(std::size_t hanging) const noexcept;
  [[nodiscard]] True longest_wait() const noexcept;
  /// The longest time that callers of several resources may keep one from a caller of it alone.
  [[nodiscard]] True longest_kept() const noexcept;
  /// The least share of permits in use, among those that callers have or wait for: see Progress.
  [[nodiscard]] double least_used() const noexcept;
  /// How often the same later caller may overtake a waiting caller; see Progress.
  [[nodiscard]] std::uint32_t most_overtaken() const noexcept;
  /// How many turns of others a waiting caller may have to wait for; see Progress.
  [[nodiscard]] std::uint32_t most_turns() const noexcept;
  /// The most requests to a node per call to acquire, including its release: nobody polls.
  [[nodiscard]] std::uint64_t most_requests() const noexcept;
  /// The most connections of one client to one node in a minute and in any second, whatever the
  /// node does.
  static constexpr std::size_t most_connections = 130;
  static constexpr std::size_t most_connections_in_a_second = 12;

  /// Contenders of another library for the first resource. `foreign_keeps`: between retries they
  /// keep what they were granted. Steady only.
  std::size_t foreign = 0;
  bool foreign_keeps = false;
  bool tracks = false;  ///< nodes notify of changes
  /// Each client observes the first resource, of which many leases expire. Without faults it sees
  /// each state that lasts for `longest_unseen`.
  bool watches = false;
  [[nodiscard]] True longest_unseen() const noexcept {
    // If a resource changes all the time, 160 ms pass between two inspections.
    return 20 * ms + 160 * ms + 20 * round_trip();
  }

  /// Nodes miss requests, and a node forgets within an interval after its holder has released it
  /// everywhere: that breaks no interval.
  bool one_forgets = false;

  /// The oddity of the first node until everything is healed.
  Oddity odd = Oddity::none;
  /// Nodes evict keys that have an expiry, and keep their marker: noticed like a step of a clock.
  True between_evictions = 0;
  True between_standstills = 0;     ///< a client's whole machine stops, with its clock
  True between_script_flushes = 0;  ///< nodes forget their scripts, and the connections stay
  True between_silences = 0;        ///< a subscription on which nothing arrives any longer
  True between_deaths = 0;          ///< connections on which nothing arrives; neither end notices
  /// An operator resets the counters of all nodes, which had evicted keys before the scenario
  /// begins.
  True between_counter_resets = 0;
  True between_copies = 0;  ///< replicas attach to nodes, or go
  /// An intruder who may write to the first node adds a member to its marker.
  True between_forgeries = 0;
  /// Another database takes the place of the last node's for a while: SWAPDB there and back. Its
  /// process, its role and its connections stay.
  True between_swaps = 0;
  True between_demotions = 0;  ///< a node becomes a replica, and stays one for seconds

  /// The last nodes are replicated ones, of so many servers each. An adversary promotes, demotes,
  /// stops and kills their servers, leads clients to any of them, and holds up their replication.
  std::size_t replicated = 0;
  std::size_t servers_of_each = 3;
  True between_changes_of_roles = 0;
  /// Failovers of a healthy node that are undone soon, among all that the adversary does.
  std::int64_t undone_failovers_per_mille = 0;
  std::int64_t torn_readings_per_mille = 0;  ///< other commands run between WAIT and INFO

  /// Whether no node has a reason for a quarantine.
  [[nodiscard]] bool forgets_nothing() const noexcept {
    return between_crashes + between_flushes + between_role_changes + between_failbacks +
               between_demotions + between_evictions + between_swaps + between_forgeries +
               static_cast<True>(replicated) ==
           0;
  }

  /// How long a node works on each first contact, one after the other; 0: no time. `connect_limit`:
  /// how long a client waits for its first connection.
  True greeting = 0;
  True connect_limit = 0;

  bool last_millisecond = false;  ///< holders and contenders act around the deadline
  True think = 2 * ms;            ///< the longest pause between a caller's locks
  True chaos = 2'000 * ms;        ///< after this time everything is healed

  Mutant mutant = Mutant::none;

  [[nodiscard]] static Scenario draw(std::uint64_t seed, Mutant mutant = Mutant::none);
  [[nodiscard]] static Scenario draw_steady(std::uint64_t seed);
  /// The same with 2 to 64 clients that all want the same lock, again and again.
  [[nodiscard]] static Scenario draw_crowd(std::uint64_t seed);
  /// Minutes of every fault but clocks that step, under the restart guard; seeds take turns at the
  /// kinds.
  [[nodiscard]] static Scenario draw_long(std::uint64_t seed);
  /// A single replicated node, or some among others, under an adversary that changes the roles of
  /// their servers.
  [[nodiscard]] static Scenario draw_replicated(std::uint64_t seed, Mutant mutant = Mutant::none);

 private:
  /// Draws all parameters that depend neither on `mutant` nor on `steady` alone.
  void draw_rest(std::uint64_t seed);
};

}  // namespace redlock::simulation
