#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.hpp"
#include "simulation/checker.hpp"
#include "simulation/clock.hpp"
#include "simulation/invariants.hpp"
#include "simulation/node/model_node.hpp"
#include "simulation/progress.hpp"
#include "simulation/random.hpp"
#include "simulation/replication.hpp"
#include "simulation/scenario.hpp"

namespace redlock::simulation {

/// The groups whose members may share a resource; the first is no group.
inline constexpr std::array<std::string_view, 4> groups{"", "shared", "owner a", "owner b"};

/// One seed's world: model nodes, a network, clients that each drive a real engine, and a checker.
/// One seed decides everything; nothing reads a clock or the kernel's randomness.
class Simulation {
 public:
  Simulation(const Scenario& scenario, std::uint64_t seed);

  struct Outcome {
    std::string violation;  ///< empty: every promise was kept
    std::uint64_t events = 0;
    std::uint64_t grants = 0;
    std::uint64_t losses = 0;
    std::uint64_t kept_out = 0;  ///< delays of broken locks
    std::uint64_t downgrades = 0;
    std::uint64_t adoptions = 0;
    std::array<std::uint64_t, 4> grants_by_group{};
    True longest_wait = 0;             ///< steady only
    std::uint32_t most_overtaken = 0;  ///< see Progress; steady only
    std::uint64_t requests = 0;        ///< requests to nodes, without those of guards
    std::uint64_t calls = 0;           ///< to acquire
    double used = 1.0;  ///< the share of the wanted permits that was used; see Progress
    std::map<std::uint32_t, std::uint64_t> grants_of_callers{};
    True longest_kept = 0;    ///< see Progress; steady only
    True longest_idle = 0;    ///< longest time that a wanted resource was free; steady only
    std::uint64_t print = 0;  ///< a fingerprint of everything that happened: equal for equal runs
    std::size_t tokens = 0;
    std::size_t remembered = 0;        ///< tokens and connections, at the end
    std::size_t most_connections = 0;  ///< the most connections of a client to a node in a minute
    std::uint64_t role_changes = 0;    ///< promotions and demotions of replicated nodes' servers
  };
  /// Writes the story line by line if `story` is given.
  Outcome run(std::string* story = nullptr);

 private:
  enum class Kind : std::uint8_t {
    arrive,   // a request reaches a node
    reply,    // an answer reaches a client
    ended,    // a client learns that its connection ended
    connect,  // a connection attempt reaches a node
    up,       // a connection is ready
    refused,  // a connection attempt failed
    timer,    // a client's deadline
    act,      // a caller does something
    restart,  // a node starts again
    reborn,   // a client process starts again
    fault,    // the next fault of a kind
    heal,
    turn,            // a client's turn ends, and the engine asks for the proof of its votes
    set_right,       // a node's clock that had stepped is set right
    operate,         // an operator checks whether the deployment is closed
    subscribe,       // a subscription reaches a node
    subscribed,      // a subscription is confirmed
    notified,        // a node's notification of a release arrives
    changed,         // a key changed that a node tracks for a client
    unsubscribed,    // a client learns that its subscription ended
    timeout,         // checks whether everybody is served, or the patience ends
    check_watchers,  // checks whether watchers see the holder
    foreign_acts,    // a contender of another library does something
    foreign_arrives,
    foreign_answered,
    swap_back,  // a node's own database comes back
    job,        // a holder's call reaches the thread of its client's loop
    freeze,     // the clients at some queue positions hang
    left,       // checks whether a client that gave up has left the queues
    greets,     // the restart guard's request of a connection reaches a replicated node's server
    wait_ends,  // WAIT returns, or the commands after it are executed
    attaches,   // a replica reaches the server that it follows
    sends,      // a server sends its replica what has changed
    copied,     // what a server has sent arrives
    acknowledged,
    detaches,    // a server notices that a replica has gone
    reconnects,  // a replica tries to follow again
    returns,     // the adversary has a server follow another one, as before
  };
  struct Event {
    True at;
    std::uint64_t number;  // orders the events of one instant as they were planned
    Kind kind;
    std::uint32_t a;
    std::uint32_t b;
    bool operator>(const Event& other) const noexcept {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  struct Connection {
    std::uint32_t planned = 0;  // the number of planned events that name the connection
    std::uint32_t client = 0;
    std::uint32_t node = 0;
    std::uint32_t server = 0;  // of the node
    std::uint32_t life = 0;    // the client process it belongs to
    std::uint64_t run = 0;     // the server process it belongs to
    std::int64_t number = 0;
    bool client_side = true;
    bool server_side = true;
    bool dead = false;    // nothing arrives, and neither end notices
    bool broken = false;  // no further request goes in, and requests on their way get no answer
    bool invalidated = false;  // the client will be notified that the node loaded other data
    True last_request = 0;
    True last_reply = 0;
    std::string marker_ahead;  // the node's marker when the last vote was sent
    std::string marker;        // the marker that the handshake saw
    std::string reign;         // the record that the handshake saw
    bool unmarked = false;
    bool outdated = false;
    bool evicts = false;        // the policy, when the node was greeted
    std::uint64_t evicted = 0;  // the evictions that the node told then
    core::NodeMemory memory;
    std::int64_t quarantine_ms = 0;  // the quarantine that the restart guard answered
    bool replica = false;            // the node said that it is a replica
    bool after_healing = false;
    Oddity odd = Oddity::none;
    True not_before = 0;  // no request that a dropped connection carries is executed earlier
    Response half_done;   // the response to the first request, if its first half was executed
    enum class Reading : std::uint8_t { none, waits, counts };
    Reading reading = Reading::none;     // of a reign: WAIT, and what is executed after it
    std::uint32_t readings = 0;          // names the event that ends the present step
    std::uint64_t offset = 0;            // of the write that replicas are to acknowledge
    std::uint64_t acknowledgements = 0;  // that WAIT waits for
    std::uint32_t held = 0;              // requests that have arrived since
    std::deque<Request> requests;
    std::deque<Response> replies;
  };

  /// The connection on which a client listens to a node.
  struct Subscription {
    enum class State : std::uint8_t { closed, opening, open } state = State::closed;
    std::uint32_t generation = 0;
    bool silent = false;  // no notification arrives, and neither end notices
    std::uint32_t server = 0;
  };

  enum class Phase : std::uint8_t { idle, acquiring, holding, handed_on, over };
  struct Slot {
    Phase phase = Phase::idle;
    std::uint64_t acquire = 0;  // the call without an answer; 0: none
    std::uint64_t extend = 0;
    std::uint64_t release = 0;
    core::ClaimId lease{};
    std::uint64_t token = 0;
    std::size_t resource = 0;
    std::uint64_t resources = 0;  // one bit per resource
    std::uint64_t group = 0;
    core::Duration at_least{};
    core::Duration delay{};  // of an operator: the delay of the break that is under way
    True broken_at = 0;
    True granted_at = 0;
    core::Instant valid_until{};
    core::Duration ttl{};
    True lowered_at = 0;
    bool fenced = false;
    std::uint64_t number = 0;  // the fencing token
    bool served = false;       // a lease of it ended after everything was healed
  };
  /// A contender of another library: one call after the other.
  struct Foreign {
    enum class Phase : std::uint8_t { idle, asking, holding, releasing, undoing };
    Phase phase = Phase::idle;
    std::uint64_t token = 0;
    std::uint32_t round = 0;  // number of the current requests or pause; earlier events are void
    unsigned attempts = 0;    // the attempts of the call
    std::size_t granted = 0;
    std::size_t refused = 0;
    True began = 0;
  };
  struct Asked {  // the last round sent for a claim, to check its deadline
    core::Instant at{};
    core::Duration ttl{};
    std::uint16_t round = 0;
    True began = 0;
    std::int64_t counted = 0;  // for a planted fault: the highest counter so far
    core::NodeSet had_it;      // nodes that had the key when an extend came
  };
  struct Client {
    Clock clock;
    core::Duration wall_clock{};  // the wall clock minus `clock`
    std::uint32_t life = 0;
    bool alive = true;
    bool closing = false;
    True paused_until = 0;
    True began = 0;  // when this life began
    True timer_at = never;
    bool turn_ends = false;  // the end of the turn is planned
    std::unique_ptr<SeededRandomness> randomness;
    std::unique_ptr<core::Engine> engine;
    Invariants invariants;  // of the client's engine
    std::vector<Slot> slots;
    std::vector<core::ClaimId> lost;  // lost leases whose keys are to be released after the step
    /// A call of a holder that ends a lease, on its way to the engine.
    struct Job {
      core::ClaimId claim{};
      std::uint64_t release = 0;  // the call; 0: hands the lease on
    };
    std::deque<Job> jobs;
    [[nodiscard]] bool has_lost(core::ClaimId claim) const {
      return std::find(lost.begin(), lost.end(), claim) != lost.end();
    }
    [[nodiscard]] bool has_job_for(core::ClaimId claim) const {
      return std::any_of(jobs.begin(), jobs.end(),
                         [&](const Job& job) { return job.claim == claim; });
    }
    std::set<std::uint64_t> tokens;  // tokens of the SETs that this process sent
    core::NodeSet undelivered;       // nodes on which the closing client reported keys
    std::array<core::Duration, limits::nodes> left{};  // by node: the longest time that keys stay
    std::vector<bool> marks;                 // by node: the current connection attempt may mark it
    std::vector<std::uint32_t> attempt;      // by node: names the current connection attempt
    std::vector<std::int64_t> connection;    // by node: the connection's index, or -1
    std::vector<std::deque<True>> connects;  // by node: when it connected in the last minute
    std::vector<std::pair<core::ClaimId, Asked>> asked;  // by claim index
    std::uint64_t requests = 0;
    std::uint32_t ended = 0;  ///< calls that were granted or failed
    bool watches = false;     // the process watches the first resource
    std::optional<bool> sees_it_held;
  };

  // simulation.cpp: events and faults
  [[nodiscard]] static bool names_a_connection(Kind kind) {
    return kind == Kind::arrive || kind == Kind::reply || kind == Kind::ended || kind == Kind::up ||
           kind == Kind::greets || kind == Kind::wait_ends;
  }
  void plan(True at, Kind kind, std::size_t a, std::size_t b = 0);
  void happen(const Event& event);
  [[nodiscard]] core::Duration quarantine() const;
  void open_deployment();
  // simulation_operator.cpp: opens a deployment when the clients cannot, and breaks locks
  void write_markers(std::string_view deployment, std::string_view incarnation);
  [[nodiscard]] bool is_of_process(const core::Marker& marker, std::uint32_t server) const;
  [[nodiscard]] bool closed_for_clients() const;
  void operate();
  [[nodiscard]] bool is_operator(std::uint32_t client) const {
    return scenario_.between_operations > 0 && client + 1 == clients_.size();
  }
  struct ChosenLock {
    std::uint64_t token;
    std::size_t resource;
  };
  [[nodiscard]] std::optional<ChosenLock> choose_lock();
  void break_some_lock(std::uint32_t client, std::uint32_t slot);
  [[nodiscard]] static True kept_until(const Slot& slot);
  void note_broken(std::uint32_t client, std::uint32_t slot, bool success);
  void begin_client(std::uint32_t index);
  void end_client(std::uint32_t index, True away = 50 * ms);
  void fault(std::size_t kind);
  void fault_of_client(std::uint32_t client);
  void evict(std::uint32_t node);
  void reset_counters(std::uint32_t node);
  // simulation_intruders.cpp: changes of nodes and connections that no client makes
  void die_silently(std::uint32_t connection);
  void forge_markers();
  void forge_marker(std::uint32_t node, const std::string& member);
  void swap_away(std::uint32_t node);
  void swap_back(std::uint32_t node);
  void end_waiters();
  void freeze(std::uint32_t client);
  void freeze_waiters();
  void freeze_queued();
  /// Whether the client has no claim, sends no request at the moment, and has no reservation.
  [[nodiscard]] bool only_waits(std::uint32_t client) const;
  void step_clock(std::uint32_t node);
  void stop_clock(Client& client);
  /// For a planted fault: the steps of other nodes' clocks, wrongly attributed to this node's
  /// clock.
  [[nodiscard]] True leapt_elsewhere(std::uint32_t node) const;
  void move_clock(std::uint32_t node, True by);
  [[nodiscard]] True may_step_again(std::uint32_t node) const;
  void heal();
  [[nodiscard]] bool all_served() const;
  void check_progress();
  [[nodiscard]] std::string in_round_trips(True duration) const;
  void check_requests();
  void check_the_end();
  [[nodiscard]] True between_faults(std::size_t kind) const;

  // simulation_network.cpp: connections, and what nodes do with requests
  [[nodiscard]] True delay();
  [[nodiscard]] True delay_to(std::uint32_t server);
  [[nodiscard]] True transit(std::uint32_t client, std::uint32_t server);
  [[nodiscard]] True greeted_at(std::uint32_t node);
  void connect(std::uint32_t client, std::uint32_t node);
  void count_connection(std::uint32_t client, std::uint32_t node);
  void reach(std::uint32_t client, const Event& event);
  void come_up(const Event& event);
  void send(std::uint32_t client, std::uint32_t node, const Request& request);
  [[nodiscard]] static bool is_beside_a_lower_number(const Request& request);
  /// Whether only half of the request that arrived was executed; the rest waits.
  [[nodiscard]] bool divides(Connection& connection);
  void arrive(std::uint32_t connection);
  void reply(std::uint32_t connection, const Response& response);
  [[nodiscard]] Oddity oddity(std::uint32_t node);
  [[nodiscard]] bool is_odd(std::uint32_t connection, const Request& request, Response& response);
  struct Texts {
    Digits digits{};
    std::string other;
  };
  [[nodiscard]] static core::Answer answer_of(const Connection& connection,
                                              const Response& response, Texts& texts);
  void note_reply(const Connection& connection, const Response& response);
  void deliver(std::uint32_t connection);
  [[nodiscard]] static bool reads_at_once(const Connection& connection);
  [[nodiscard]] bool says_nothing_or_ours(std::uint32_t client, const core::Answer& answer) const;
  [[nodiscard]] bool is_plain_yes(std::uint32_t client, const core::Answer& answer) const;
  void observe(const Connection& connection, const Request& request, const Response& response);
  void note_written(const Connection& connection, std::uint64_t token);
  void note_opening(const Request& request, const Response& response);
  void drop_client_side(std::uint32_t connection);
  /// Makes room for another connection if no event names this one.
  void forget_if_over(std::uint32_t connection);
  void break_connection(std::uint32_t connection);
  void restored(std::uint32_t server);
  void fail_back(std::uint32_t node);
  /// The server has loaded other data, and says so to the clients.
  void invalidate(std::uint32_t server);
  void kill(const Connection& by, std::int64_t number);
  /// Whether the node may forget: no other node forgot within the interval.
  [[nodiscard]] bool may_forget(std::uint32_t node);
  void crash(std::uint32_t server);
  void greet(Connection& connection);
  [[nodiscard]] std::string run_id_of(std::uint32_t server) const;
  [[nodiscard]] core::NodeMemory memory_of(std::uint32_t server) const;
  [[nodiscard]] Response as_planted(const Connection& connection, Response response);

  // simulation_replicas.cpp: nodes of several servers
  void begin_replication();
  [[nodiscard]] bool is_replicated(std::uint32_t node) const {
    return node + scenario_.replicated >= scenario_.nodes;
  }
  [[nodiscard]] std::string member_name(std::uint32_t node) const;
  [[nodiscard]] std::uint32_t node_of(std::uint32_t server) const;
  [[nodiscard]] std::vector<std::uint32_t> servers_of(std::uint32_t node) const;
  /// One of the node's servers, at random.
  [[nodiscard]] std::uint32_t some_server(std::uint32_t node);
  /// The server to which the name of the node leads at present; not every client is told at once.
  [[nodiscard]] const ModelNode& leader(std::uint32_t node) const {
    return servers_[leaders_[node]];
  }
  [[nodiscard]] bool is_primary(std::uint32_t server) {
    return servers_[server].running && !replication_.server(server).follows;
  }
  void lead_to(std::uint32_t node, std::uint32_t server);
  [[nodiscard]] std::uint32_t look_up(std::uint32_t client, std::uint32_t node);
  void finish_greeting(const Event& event);
  // … replication
  void promote(std::uint32_t server);
  void follow(std::uint32_t server, std::uint32_t source);
  void stop_following(std::uint32_t server);
  void drop_replicas(std::uint32_t server);
  void connect_replica(std::uint32_t server);
  void replicate(std::uint32_t server);
  void note_replication(const Event& event);
  void attach(std::uint32_t link);
  void send_copy(std::uint32_t link, bool full);
  void take_copy(std::uint32_t link);
  void server_ended(std::uint32_t server);
  void server_began(std::uint32_t server);
  // … the reading of a reign
  void begin_reading(std::uint32_t connection, const Request& request);
  void note_acknowledged(std::uint32_t server);
  void go_on_reading(std::uint32_t connection);
  void note_attachments(Connection& connection);
  void end_reading(std::uint32_t connection);
  void answer_reading(std::uint32_t connection);
  void end_readings_of(std::uint32_t server);
  /// The change that each planted fault of replicated nodes makes to a reading.
  void plant_in_reading(Connection& connection);
  // … the adversary
  void change_roles(std::uint32_t node);
  void undo_failover(std::uint32_t node, const std::vector<std::uint32_t>& servers);
  void stop_server(std::uint32_t server, True length);
  void hold_up_replicas(std::uint32_t server);
  void settle(std::uint32_t node);
  void end_faults_of_replication(std::uint32_t node);

  // simulation_watchers.cpp: clients that observe a resource
  void begin_watch(std::uint32_t client);
  [[nodiscard]] bool is_of_watch(core::CallId request) const;
  void sees(std::uint32_t client, const core::Round& round);
  [[nodiscard]] std::optional<std::uint64_t> watched_holder();
  void note_watched();
  void check_watchers();

  // simulation_foreign.cpp: contenders of another library
  void begin_foreign();
  void plan_foreign(std::uint32_t index, True in);
  void act_foreign(std::uint32_t index, std::uint32_t round);
  void ask_foreign(std::uint32_t index, std::uint32_t what);
  void arrive_foreign(const Event& event);
  void answer_foreign(const Event& event);

  // simulation_notifications.cpp: the nodes' notifications
  [[nodiscard]] Subscription& subscription(std::uint32_t client, std::uint32_t node);
  void plan_notification(True at, Kind kind, std::uint32_t client, std::uint32_t node,
                         std::uint32_t what);
  void subscribe(std::uint32_t client, std::uint32_t node);
  void unsubscribe(std::uint32_t client, std::uint32_t node);
  void break_subscription(std::uint32_t client, std::uint32_t node);
  void note_notified(const Event& event);
  /// The name under which a client process is queued.
  [[nodiscard]] std::uint64_t waiter(std::uint32_t client) const;
  [[nodiscard]] std::int64_t reserved_ms(std::uint32_t client) const;
  /// Publishes to the client; returns whether the client is subscribed at the node.
  [[nodiscard]] bool publish(std::uint32_t server, std::uint64_t id, std::size_t resource,
                             std::uint32_t before);
  /// A request may have changed keys: notifies the clients for which the node tracks them, except
  /// the client `by`.
  void note_changes(std::uint32_t node, std::optional<std::uint32_t> by);
  [[nodiscard]] bool& tracks(std::uint32_t client, std::uint32_t node, std::size_t resource) {
    return tracks_[(client * scenario_.nodes + node) * most_resources + resource];
  }

  // simulation_client.cpp: drivers
  void step(std::uint32_t client, const core::Event& event);
  void end_turn(std::uint32_t client);
  void carry_out(std::uint32_t client, const core::Connect& command);
  void carry_out(std::uint32_t client, const core::Disconnect& command);
  void carry_out(std::uint32_t client, const core::Subscribe& command);
  void carry_out(std::uint32_t client, const core::ProbeSubscription& command);
  void carry_out(std::uint32_t client, const core::Unsubscribe& command);
  void carry_out(std::uint32_t client, const core::Request& command);
  void carry_out(std::uint32_t client, const core::Acquired& command);
  void carry_out(std::uint32_t client, const core::Extended& command);
  void carry_out(std::uint32_t client, const core::Released& command);
  void carry_out(std::uint32_t client, const core::Inspected& command);
  void carry_out(std::uint32_t client, const core::Failed& command);
  void carry_out(std::uint32_t client, const core::Lost& command);
  void carry_out(std::uint32_t client, const core::Undelivered& command);
  void carry_out(std::uint32_t client, const core::Drained& command);
  void carry_out(std::uint32_t, const core::AtRisk&) {}
  void carry_out(std::uint32_t, const core::QueueWatched&) {}
  void carry_out(std::uint32_t client, const core::NodeExcluded& command);
  void carry_out(std::uint32_t client, const core::StoodStill& command);
  void carry_out(std::uint32_t client, const core::CountersReset& command);
  void carry_out(std::uint32_t client, const core::NodeLearned& command);
  void end_closed(std::uint32_t client);
  [[nodiscard]] static std::uint8_t resource_of(std::string_view key);
  [[nodiscard]] static std::uint64_t group_of(std::string_view group);
  [[nodiscard]] Request request_for(std::uint32_t client, const core::Request& command) const;
  void plant_in(std::uint32_t client, const core::Request& command, Request& request) const;
  void track(std::uint32_t client, const core::Request& command, const Request& request);
  void note_asked(std::uint32_t client, const core::Request& command, Request& request);
  void send_all(std::uint32_t client, const core::Request& command, const Request& request);
  [[nodiscard]] Request as_planted(std::uint32_t client, core::NodeIndex node, Request request);
  void adopted(std::uint32_t index, Slot& slot, const core::Acquired& command);
  void fenced(const Client& client, Slot& slot, const core::Claim& claim);
  void answered(std::uint32_t client, core::CallId request, Errc code = {}, bool released = false);

  // simulation_callers.cpp: the callers that want locks
  void act(std::uint32_t client, std::uint32_t slot);
  void act_idle(std::uint32_t client, std::uint32_t slot);
  [[nodiscard]] Wanted wanted_by(std::uint32_t client) const;
  void draw_terms(Wanted kind, Slot& slot, core::Acquire& event);
  [[nodiscard]] std::string name_of(std::size_t resource) const;
  void act_holding(std::uint32_t client, std::uint32_t slot);
  void adopt(std::uint32_t client, const Slot& slot, const Token& token, core::Duration ttl);
  void act_handed_on(std::uint32_t client, std::uint32_t slot);
  [[nodiscard]] bool wants_to_downgrade(const Slot& slot);
  void downgrade(std::uint32_t client, std::uint32_t slot);
  void hand_on(std::uint32_t client, std::uint32_t slot);
  // simulation_handing_on.cpp: leases that another client takes over
  [[nodiscard]] bool wants_to_give(std::uint32_t client, std::uint32_t slot);
  /// An idle caller of the client; null: none.
  [[nodiscard]] Slot* idle_slot(std::uint32_t client);
  bool give(std::uint32_t client, std::uint32_t slot);
  void give(std::uint32_t client, std::uint32_t slot, std::uint32_t to, Slot& theirs);
  void end_lease(std::uint32_t client, std::uint32_t slot, std::uint64_t release);
  void do_job(std::uint32_t client);
  [[nodiscard]] bool is_newcomer(std::uint32_t client) const {
    return scenario_.newcomer && client + 1 == clients_.size();
  }
  void hand_to_newcomer(std::uint32_t client, const Slot& slot);
  void take_over(std::uint32_t client);
  /// Without faults, a client that wanted several resources and gave up has soon left all queues,
  /// and nothing stays reserved for it. A client that was granted one resource may still be queued,
  /// if a notification crossed the request that queued it.
  void expect_it_left(std::uint32_t client);
  void check_that_it_left(std::uint32_t client, std::uint32_t calls);
  /// Which calls of the client have begun or ended until now.
  [[nodiscard]] std::uint32_t calls_of(std::uint32_t client) const;
  void release(std::uint32_t client, std::uint32_t slot);
  void plan_act(std::uint32_t client, std::uint32_t slot, True in);
  void plan_hold(std::uint32_t client, std::uint32_t slot);
  void draw_steady(const Slot& slot, core::Acquire& event);
  /// The caller's name in `progress_`, and the resources that count there.
  [[nodiscard]] static std::uint32_t caller(std::uint32_t client, std::uint32_t slot);
  [[nodiscard]] std::uint64_t counted(const Slot& slot) const;
  void freed(const Slot& slot);
  [[nodiscard]] core::Duration enough() const;
  /// Whether a planted fault gives holders another deadline than the engine's.
  [[nodiscard]] bool deceived() const;
  [[nodiscard]] std::uint64_t request(std::uint32_t client, std::uint32_t slot);
  [[nodiscard]] Slot* slot_of(std::uint32_t client, core::CallId request);

  template <typename... Parts>
  void tell(const Parts&... parts);

  Scenario scenario_;
  Random random_;
  Checker checker_;
  Progress progress_;
  True now_ = 0;
  bool healed_ = false;
  bool stop_ = false;
  True patience_ends_ = never;
  std::uint32_t opened_ = 0;  // how often an operator opened the deployment
  True forgot_until_ = 0;     // the interval in which a node forgot
  std::uint64_t events_ = 0;
  std::uint64_t planned_ = 0;
  std::size_t most_connections_ = 0;
  std::uint64_t requests_ = 0;  // requests to nodes, without those of guards
  std::uint64_t calls_ = 0;     // calls to acquire
  std::uint64_t print_ = 0;
  std::optional<std::uint64_t> watched_;  // the token that holds the watched resource; 0: nobody
  True watched_since_ = 0;
  std::set<std::size_t> tracked_once_;  // for a planted fault: by client × node × resource
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::vector<ModelNode> servers_;  // the first of each node, then those of replicated nodes
  Replication replication_;
  std::vector<std::uint32_t> leaders_;  // by node
  std::vector<std::uint32_t> led_to_;  // by client × node: the server, as the client was last told
  std::vector<True> roles_rest_until_;  // by node
  std::uint64_t role_changes_ = 0;
  struct Stepped {
    True by = 0;
    True at = -100'000 * ms;
  };
  std::vector<Stepped> stepped_;  // by node
  std::vector<Client> clients_;
  std::vector<Foreign> foreign_;
  std::deque<Connection> connections_;
  std::vector<std::uint32_t> forgotten_;     // indexes of connections that can be reused
  std::vector<Subscription> subscriptions_;  // by client × node
  std::deque<bool> tracks_;                  // by client × node × resource
  std::vector<std::array<std::uint64_t, most_resources>> seen_;  // by node: the holders of its keys
  std::vector<True> evicted_at_;                                 // by node; 0: never
  std::vector<True> reset_at_;                                   // by node: its counters
  std::vector<True> greets_until_;                               // by node
  std::vector<True> cut_until_;                                  // partitions, by client × server
  std::vector<core::Command> commands_;
  std::string resource_;
  std::vector<std::string> more_resources_;
  std::string* story_ = nullptr;
};

template <typename... Parts>
void Simulation::tell(const Parts&... parts) {
  if (story_ == nullptr) return;
  const auto text = [](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>) {
      return std::to_string(part);
    } else {
      return std::string(part);
    }
  };
  *story_ += std::to_string(now_ / 1000) + " us: ";
  ((*story_ += text(parts)), ...);
  *story_ += '\n';
  // Only the end matters: the beginning is dropped.
  constexpr std::size_t longest = 256'000'000;
  if (story_->size() > longest) story_->erase(0, longest / 2);
}

}  // namespace redlock::simulation
