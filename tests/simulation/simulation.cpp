#include "simulation/simulation.hpp"

#include <algorithm>

#include "core/membership/marker.hpp"
#include "core/votes/validity.hpp"

namespace redlock::simulation {
namespace {

/// How often an operator checks whether the clients need help.
constexpr True operator_looks = 50 * ms;

constexpr std::size_t fault_kinds = 24;

std::uint64_t mixed(std::uint64_t print, std::uint64_t with) {
  print ^= with + 0x9e3779b97f4a7c15U + (print << 6U) + (print >> 2U);
  return print * 0xff51afd7ed558ccdU;
}

}  // namespace

Simulation::Simulation(const Scenario& scenario, std::uint64_t seed)
    : scenario_(scenario),
      random_(seed),
      checker_(scenario.nodes, scenario.quorum),
      progress_(scenario.kind == Wanted::permits ? scenario.resources : 1) {
  const auto rate = [&](std::int64_t most) {
    if (most == 0) return std::int64_t{0};
    if (!scenario_.extreme_rates) return random_.between(-most, most);
    return random_.per_mille(500) ? most : -most;
  };
  const std::size_t replicas = scenario_.replicated * (scenario_.servers_of_each - 1);
  for (std::size_t i = 0; i < scenario_.nodes + replicas; ++i) {
    std::int64_t ppm = rate(scenario_.server_ppm);
    if (scenario_.mutant == Mutant::fast_server_clocks) ppm = scenario_.server_ppm;
    const std::int64_t base =
        wall_epoch + random_.between(-scenario_.node_skew, scenario_.node_skew);
    const True wild = i == 0 ? scenario_.wild_skew : 0;
    servers_.emplace_back(Clock(base + wild, ppm), scenario_.mutant);
    servers_.back().version = scenario_.servers == Servers::mixed
                                  ? static_cast<Servers>(random_.below(server_versions - 1))
                                  : scenario_.servers;
    servers_.back().compares = scenario_.compares && servers_.back().version == Servers::modern;
    servers_.back().runs_scripts = scenario_.runs_scripts;
    servers_.back().resources = scenario_.resources;
    servers_.back().let_in_at_once = scenario_.let_in_at_once;
    servers_.back().keeps_no_lock = scenario_.one_keeps_no_lock && i + 1 == scenario_.nodes;
    servers_.back().has_permits = scenario_.kind == Wanted::permits;
    servers_.back().publish = [this, i](std::uint64_t client, std::size_t resource,
                                        std::uint32_t before) {
      return publish(static_cast<std::uint32_t>(i), client, resource, before);
    };
  }
  // Everybody knows these evictions: they were before the deployment was opened.
  if (scenario_.between_counter_resets > 0) {
    for (ModelNode& node : servers_) node.evicted = 5;
  }
  for (std::uint32_t i = 0; i < scenario_.nodes; ++i) leaders_.push_back(i);
  for (std::size_t i = 0; i < scenario_.clients; ++i) {
    led_to_.insert(led_to_.end(), leaders_.begin(), leaders_.end());
  }
  open_deployment();
  begin_replication();
  if (scenario_.endless_floor) servers_[0].floor() = (std::int64_t{1} << 53U) - 1;
  const bool wiped = scenario_.between_flushes + scenario_.between_role_changes +
                         scenario_.between_failbacks + scenario_.between_demotions +
                         scenario_.between_evictions + scenario_.between_swaps +
                         static_cast<True>(scenario_.replicated) >
                     0;
  const bool forgets =
      wiped || (scenario_.between_crashes > 0 && scenario_.data_loss_per_mille > 0);
  const bool kept = !forgets || scenario_.restart_guard || scenario_.one_forgets;
  const bool clocks_go_on =
      scenario_.between_clock_steps == 0 && scenario_.between_standstills == 0;
  if (kept && clocks_go_on) {
    checker_.expect_intervals(std::max(scenario_.server_ppm, scenario_.client_ppm));
  }
  stepped_.resize(scenario_.nodes);
  if (scenario_.any_clocks) {
    checker_.expect_any_clocks();
  } else if (scenario_.judged_by_votes) {
    checker_.allow_votes_after_steps(scenario_.unnoticed_by_votes());
  } else if (scenario_.between_clock_steps + scenario_.between_evictions +
                 scenario_.between_standstills >
             0) {
    checker_.allow_overlap_after_steps(scenario_.unnoticed());
  }
  greets_until_.resize(scenario_.nodes);
  evicted_at_.resize(scenario_.nodes);
  reset_at_.resize(scenario_.nodes);
  cut_until_.resize(servers_.size() * scenario_.clients);
  subscriptions_.resize(scenario_.nodes * scenario_.clients);
  tracks_.resize(scenario_.nodes * scenario_.clients * most_resources);
  seen_.resize(scenario_.nodes);
  clients_.resize(scenario_.clients);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    clients_[i].clock = Clock(random_.below(1'000 * ms), rate(scenario_.client_ppm));
    const std::int64_t skew = random_.between(-scenario_.client_skew, scenario_.client_skew);
    clients_[i].wall_clock = core::Duration(wall_epoch + skew - clients_[i].clock.local(0));
    begin_client(i);
  }
  begin_foreign();
  if (scenario_.watches) plan(1, Kind::check_watchers, 0);
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
    const True mean = between_faults(kind);
    if (mean > 0) plan(random_.below(2 * mean), Kind::fault, kind);
  }
  const bool becomes_blank = forgets || scenario_.between_crashes > 0;
  if (scenario_.restart_guard && becomes_blank) plan(operator_looks, Kind::operate, 0);
  plan(scenario_.chaos, Kind::heal, 0);
  if (scenario_.freeze_at > 0) plan(scenario_.freeze_at, Kind::freeze, 0);
}

Simulation::Outcome Simulation::run(std::string* story) {
  story_ = story;
  while (!queue_.empty() && !stop_ && checker_.violation().empty()) {
    const Event event = queue_.top();
    queue_.pop();
    now_ = event.at;
    ++events_;
    print_ = mixed(
        print_, static_cast<std::uint64_t>(event.at) * 16 + static_cast<std::uint64_t>(event.kind));
    print_ = mixed(print_, (std::uint64_t{event.a} << 32U) | event.b);
    happen(event);
    if (!names_a_connection(event.kind)) continue;
    --connections_[event.a].planned;
    forget_if_over(event.a);
  }
  if (!stop_) checker_.violated("nothing was left to happen");
  Outcome outcome;
  outcome.violation = checker_.violation();
  outcome.events = events_;
  outcome.grants = checker_.grants();
  outcome.losses = checker_.losses();
  outcome.kept_out = checker_.delays();
  outcome.downgrades = checker_.downgrades();
  outcome.adoptions = checker_.adoptions();
  outcome.grants_by_group = checker_.grants_by_group();
  outcome.print = print_;
  outcome.tokens = checker_.tokens_heard_of();
  if (scenario_.steady) {
    outcome.longest_wait = progress_.longest_wait();
    outcome.longest_kept = progress_.longest_kept();
    outcome.longest_idle = progress_.longest_idle();
    outcome.most_overtaken = progress_.most_overtaken();
    outcome.used = progress_.used();
    outcome.grants_of_callers = progress_.grants();
    outcome.requests = requests_;
    outcome.calls = calls_;
  }
  outcome.most_connections = most_connections_;
  outcome.role_changes = role_changes_;
  outcome.remembered = checker_.tokens_remembered() + connections_.size();
  return outcome;
}

void Simulation::plan(True at, Kind kind, std::size_t a, std::size_t b) {
  if (names_a_connection(kind)) ++connections_[a].planned;
  queue_.push(
      Event{at, ++planned_, kind, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
}

void Simulation::happen(const Event& event) {
  switch (event.kind) {
    case Kind::arrive:
      return arrive(event.a);
    case Kind::reply:
    case Kind::ended:
    case Kind::up:
    case Kind::refused:
    case Kind::connect:
      return reach(event.kind == Kind::reply || event.kind == Kind::ended || event.kind == Kind::up
                       ? connections_[event.a].client
                       : event.a / static_cast<std::uint32_t>(scenario_.nodes),
                   event);
    case Kind::timer: {
      Client& client = clients_[event.a];
      if (!client.alive || event.b != client.life) return;
      if (client.paused_until > now_)
        return plan(client.paused_until, Kind::timer, event.a, event.b);
      if (client.timer_at <= event.at) client.timer_at = never;
      return step(event.a, core::TimePassed{});
    }
    case Kind::turn: {
      Client& client = clients_[event.a];
      if (!client.alive || event.b != client.life) return;
      if (client.paused_until > now_) {
        return plan(client.paused_until, Kind::turn, event.a, event.b);
      }
      client.turn_ends = false;
      return step(event.a, core::TurnEnd{});
    }
    case Kind::act:
      return act(event.a, event.b);
    case Kind::restart:
      if (servers_[event.a].running) return;
      servers_[event.a].running = true;
      servers_[event.a].start_again();
      tell("node ", event.a, " starts again");
      return server_began(event.a);
    case Kind::reborn:
      if (is_newcomer(event.a)) return take_over(event.a);
      clients_[event.a].alive = true;
      return begin_client(event.a);
    case Kind::fault:
      if (healed_) return;
      fault(event.a);
      return plan(now_ + 1 + random_.below(2 * between_faults(event.a)), Kind::fault, event.a);
    case Kind::heal:
      return heal();
    case Kind::operate:
      operate();
      return plan(now_ + operator_looks, Kind::operate, 0);
    case Kind::set_right:
      return move_clock(event.a, -stepped_[event.a].by);
    case Kind::subscribe:
    case Kind::subscribed:
    case Kind::notified:
    case Kind::changed:
    case Kind::unsubscribed:
      return note_notified(event);
    case Kind::timeout:
      return check_the_end();
    case Kind::check_watchers:
      return check_watchers();
    case Kind::foreign_acts:
      return act_foreign(event.a, event.b);
    case Kind::foreign_arrives:
      return arrive_foreign(event);
    case Kind::foreign_answered:
      return answer_foreign(event);
    case Kind::swap_back:
      return swap_back(event.a);
    case Kind::job: {
      const Client& client = clients_[event.a];
      if (!client.alive || event.b != client.life) return;
      if (client.paused_until > now_) return plan(client.paused_until, Kind::job, event.a, event.b);
      return do_job(event.a);
    }
    case Kind::freeze:
      return freeze_queued();
    case Kind::left:
      return check_that_it_left(event.a, event.b);
    case Kind::greets:
    case Kind::wait_ends:
    case Kind::attaches:
    case Kind::sends:
    case Kind::copied:
    case Kind::acknowledged:
    case Kind::detaches:
    case Kind::reconnects:
    case Kind::returns:
      return note_replication(event);
  }
}

core::Duration Simulation::quarantine() const {
  const core::Duration longest = std::chrono::milliseconds(scenario_.longest_ttl_ms);
  return longest + core::drift(longest);
}

void Simulation::begin_client(std::uint32_t index) {
  Client& client = clients_[index];
  ++client.life;
  client.began = now_;
  client.closing = false;
  client.timer_at = never;
  client.turn_ends = false;
  client.randomness = std::make_unique<SeededRandomness>(random_.next());
  client.randomness->repeat_tokens(scenario_.mutant == Mutant::reused_token);
  client.tokens.clear();
  client.jobs.clear();
  client.lost.clear();
  client.undelivered = {};
  core::Settings settings;
  for (std::uint32_t i = 0; i < scenario_.nodes; ++i) settings.nodes.push_back(member_name(i));
  settings.quorum =
      scenario_.mutant == Mutant::half_quorum ? scenario_.nodes / 2 : scenario_.quorum;
  settings.shortest_limit = core::Duration(scenario_.shortest_limit);
  settings.longest_limit = core::Duration(scenario_.longest_limit);
  if (scenario_.connect_limit > 0) {
    settings.connect_timeout = core::Duration(scenario_.connect_limit);
  }
  settings.max_ttl = std::chrono::milliseconds(scenario_.longest_ttl_ms);
  settings.quarantine = quarantine();
  settings.most_idle = 0;  // idle leases are archived as early as possible
  settings.restart_guard = scenario_.restart_guard;
  settings.clock_guard = scenario_.clock_guard && scenario_.mutant != Mutant::no_clock_guard;
  client.engine = std::make_unique<core::Engine>(std::move(settings), *client.randomness);
  client.invariants.reset();
  client.slots.assign(scenario_.slots, Slot{});
  client.attempt.resize(scenario_.nodes);
  client.marks.resize(scenario_.nodes);
  client.connects.assign(scenario_.nodes, {});
  client.connection.assign(scenario_.nodes, -1);
  client.asked.clear();
  if (is_newcomer(index)) client.slots[0].served = true;
  for (std::uint32_t slot = 0; slot < client.slots.size(); ++slot) {
    plan_act(index, slot, random_.below(scenario_.think));
  }
  step(index, core::TimePassed{});
  begin_watch(index);
}

void Simulation::end_client(std::uint32_t index, True away) {
  Client& client = clients_[index];
  tell("client ", index, " dies");
  client.alive = false;
  for (std::uint32_t slot = 0; slot < client.slots.size(); ++slot) {
    if (client.slots[slot].token != 0) checker_.abandoned(client.slots[slot].token, now_);
    progress_.gives_up(caller(index, slot), now_);
  }
  for (const std::uint64_t token : client.tokens) checker_.left(token);
  for (std::int64_t& connection : client.connection) {
    if (connection >= 0) drop_client_side(static_cast<std::uint32_t>(connection));
    connection = -1;
  }
  for (std::uint32_t node = 0; node < scenario_.nodes; ++node) unsubscribe(index, node);
  for (std::uint32_t& attempt : client.attempt) ++attempt;
  plan(now_ + random_.below(away), Kind::reborn, index);
}

True Simulation::between_faults(std::size_t kind) const {
  const std::array<True, fault_kinds> means{
      scenario_.between_breaks,         scenario_.between_crashes,
      scenario_.between_stops,          scenario_.between_partitions,
      scenario_.between_pauses,         scenario_.between_client_ends,
      scenario_.between_saves,          scenario_.between_clock_steps,
      scenario_.between_flushes,        scenario_.between_role_changes,
      scenario_.between_failbacks,      scenario_.between_demotions,
      scenario_.between_silences,       scenario_.between_waiter_ends,
      scenario_.between_script_flushes, scenario_.between_evictions,
      scenario_.between_deaths,         scenario_.between_forgeries,
      scenario_.between_swaps,          scenario_.between_standstills,
      scenario_.between_counter_resets, scenario_.between_copies,
      scenario_.between_freezes,        scenario_.between_changes_of_roles};
  return means[kind];
}

void Simulation::fault(std::size_t kind) {
  const auto node = static_cast<std::uint32_t>(random_.below(static_cast<True>(scenario_.nodes)));
  const auto index = static_cast<std::uint32_t>(random_.below(static_cast<True>(clients_.size())));
  Client& client = clients_[index];
  switch (kind) {
    case 0:
      if (client.alive && client.connection[node] >= 0) {
        break_connection(static_cast<std::uint32_t>(client.connection[node]));
      }
      return;
    case 1:
      return crash(some_server(node));
    case 2:
      return stop_server(some_server(node), random_.below(2 * scenario_.longest_limit));
    case 3:
      cut_until_[index * servers_.size() + some_server(node)] =
          now_ + random_.below(2 * scenario_.longest_limit);
      return tell("client ", index, " and node ", node, " are cut apart");
    case 4:
      if (client.paused_until > now_) return;
      client.paused_until = now_ + random_.below(2 * scenario_.longest_ttl_ms * ms);
      tell("client ", index, " pauses until ", client.paused_until / 1000);
      if (scenario_.mutant == Mutant::clock_stops_in_pauses) stop_clock(client);
      return;
    case 5:
      return fault_of_client(index);
    case 6:
      tell("node ", node, " saves");
      return servers_[some_server(node)].save();
    case 7:
      return step_clock(node);
    case 8:
      if (!servers_[node].running) return;
      tell("node ", node, " is flushed");
      return servers_[node].forget();
    case 9:
      if (!servers_[node].running) return;
      tell("node ", node, " changes its role");
      // Often the node is back before anybody has sent it a request.
      return servers_[node].change_role(now_ +
                                        (random_.per_mille(500) ? 0 : random_.below(20 * ms)));
    case 10:
      return fail_back(node);
    case 12:
      subscription(index, node).silent = true;
      return tell("client ", index, " hears nothing more of node ", node);
    case 13:
      return end_waiters();
    case 14:
      tell("node ", node, " forgets its scripts");
      return servers_[node].flush_scripts();
    case 15:
      evict(node);
      // Somebody sets another policy on several nodes at once.
      return evict((node + 1) % static_cast<std::uint32_t>(scenario_.nodes));
    case 16:
      if (client.alive && client.connection[node] >= 0) {
        die_silently(static_cast<std::uint32_t>(client.connection[node]));
      }
      return;
    case 17:
      return forge_markers();
    case 18:
      return swap_away(static_cast<std::uint32_t>(scenario_.nodes - 1));
    case 19:
      // In its first contact a client cannot notice a standstill, because it has not read all
      // clocks.
      if (!client.alive || client.paused_until > now_ || now_ < client.began + 1'000 * ms) return;
      client.paused_until = now_ + random_.between(100 * ms, 2 * scenario_.longest_ttl_ms * ms);
      tell("the machine of client ", index, " stands still until ", client.paused_until / 1000);
      checker_.stood_still(now_, client.paused_until);
      return stop_clock(client);
    case 20:
      // A script of an operator goes over all servers.
      for (std::uint32_t i = 0; i < scenario_.nodes; ++i) reset_counters(i);
      return;
    case 21:
      if (!servers_[node].running) return;
      tell("a replica attaches to node ", node, ", or is long gone");
      return servers_[node].change_backlog();
    case 22:
      return freeze_waiters();
    case 23:
      return change_roles(node);
    default:
      if (!servers_[node].running) return;
      tell("node ", node, " is a replica from now on");
      return servers_[node].demote(now_ + random_.below(8'000 * ms));
  }
}

void Simulation::evict(std::uint32_t node) {
  if (!servers_[node].running) return;
  tell("node ", node, " evicts all locks");
  checker_.clock_stepped_forward(now_);
  evicted_at_[node] = now_;
  const bool policy_stays = scenario_.between_counter_resets > 0 && random_.per_mille(500);
  servers_[node].evict(policy_stays ? now_ + random_.between(1'500, 2'500) * ms : now_);
}

void Simulation::reset_counters(std::uint32_t node) {
  ModelNode& server = servers_[node];
  if (!server.running) return;
  // By design, nobody notices keys that were evicted between two readings if by the second one
  // their number was reset, and is the same as at the first, or the policy was set right.
  const True noticed = 2 * (scenario_.unnoticed() + 4 * scenario_.slowest);
  const bool evicted_lately = evicted_at_[node] > 0 && now_ < evicted_at_[node] + noticed;
  const bool falls = server.evicted > 1 && now_ >= reset_at_[node] + noticed;
  const bool is_told = falls && now_ + noticed / 2 < server.evicts_until;
  if (evicted_lately && !is_told) return;
  reset_at_[node] = now_;
  tell("an operator resets the counters of node ", node);
  server.reset_counters();
}

void Simulation::end_waiters() {
  // Half of the waiting clients at once, so that a live client is queued after several dead ones.
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (random_.per_mille(500) && only_waits(i)) end_client(i, 1'000 * ms);
  }
}

void Simulation::freeze(std::uint32_t index) {
  tell("client ", index, " hangs");
  clients_[index].paused_until = scenario_.chaos;
  for (std::uint32_t slot = 0; slot < clients_[index].slots.size(); ++slot) {
    progress_.freezes(caller(index, slot), now_);
  }
}

void Simulation::freeze_waiters() {
  // Half of the waiting clients at once, but never the first, for which resources may be free.
  for (std::uint32_t i = 1; i < clients_.size(); ++i) {
    const bool goes_on = clients_[i].paused_until <= now_;
    if (random_.per_mille(500) && goes_on && only_waits(i)) freeze(i);
  }
}

void Simulation::freeze_queued() {
  const bool has_permits = scenario_.kind == Wanted::permits;
  const ModelQueue& queue = servers_[0].queue(has_permits ? any_permit : 0);
  for (std::size_t place = 0; place < queue.size(); ++place) {
    if (!scenario_.frozen[place]) continue;
    freeze(static_cast<std::uint32_t>(client_of(queue.at(place)) % clients_.size()));
  }
}

bool Simulation::only_waits(std::uint32_t index) const {
  const Client& client = clients_[index];
  if (!client.alive || client.engine->claims() > 0) return false;
  const bool calls = std::all_of(client.slots.begin(), client.slots.end(), [](const Slot& slot) {
    return slot.phase == Phase::idle || slot.phase == Phase::acquiring;
  });
  // The client must have no reservation either: a reservation lasts for a moment.
  return calls && std::none_of(servers_.begin(), servers_.end(), [&](const ModelNode& node) {
           for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
             if (node.has_turn(resource, waiter(index))) return true;
           }
           return false;
         });
}

void Simulation::stop_clock(Client& client) {
  client.clock.move(client.clock.local(now_) - client.clock.local(client.paused_until));
  for (Slot& slot : client.slots) {
    if (slot.phase != Phase::holding) continue;
    checker_.extended(slot.token, now_, client.clock.when(slot.valid_until));
  }
}

True Simulation::may_step_again(std::uint32_t node) const {
  // Two steps between two readings hide each other: then nothing bounds the time without proof.
  return stepped_[node].at + scenario_.unnoticed() + 50 * ms;
}

void Simulation::move_clock(std::uint32_t node, True by) {
  tell("the clock of node ", node, " steps by ", by / 1000, " us");
  servers_[node].clock.move(by);
  stepped_[node].by += by;
  stepped_[node].at = now_;
  if (by > 0) checker_.clock_stepped_forward(now_);
}

void Simulation::step_clock(std::uint32_t node) {
  const bool forward = random_.per_mille(600);
  if (scenario_.any_clocks) {
    constexpr std::array<True, 5> sizes{10 * ms, 1'000 * ms, hour, 5 * hour, 72 * hour};
    const True by = random_.below(sizes[static_cast<std::size_t>(random_.below(5))]);
    return move_clock(node, forward ? by : -by);
  }
  if (now_ < may_step_again(node)) return;
  if (scenario_.judged_by_votes) {
    // If the clocks of a quorum leap by the same amount before they are read again, a client takes
    // that for a standstill of its own clock. Leaps one after the other are not mistaken.
    const bool one_at_a_time = scenario_.mutant == Mutant::leaps_are_ours;
    if (!one_at_a_time && node >= scenario_.nodes - scenario_.quorum) return;
    // Before the first reading nobody can notice a step; beyond the bound the node never votes
    // again.
    if (now_ < 200 * ms || stepped_[node].by > scenario_.longest_step) return;
    return move_clock(node, random_.between(scenario_.shortest_step, scenario_.longest_step));
  }
  if (stepped_[node].by != 0) return move_clock(node, -stepped_[node].by);
  const True by = random_.between(scenario_.shortest_step, scenario_.longest_step);
  move_clock(node, forward ? by : -by);
}

void Simulation::fault_of_client(std::uint32_t index) {
  Client& client = clients_[index];
  if (!client.alive || client.closing || client.paused_until > now_) return;
  if (random_.per_mille(700)) return end_client(index);
  tell("client ", index, " closes");
  client.closing = true;
  // Closing releases what is left, so calls that hand a lease on must reach the engine before.
  while (!client.jobs.empty()) do_job(index);
  const True patience = random_.per_mille(500) ? scenario_.longest_limit : random_.below(20 * ms);
  step(index, core::Shutdown{core::Duration(patience)});
  for (Slot& slot : client.slots) {
    if (slot.phase != Phase::holding) continue;
    checker_.ended(slot.token, now_);
    slot.phase = Phase::over;
  }
}

void Simulation::heal() {
  if (scenario_.any_clocks) {
    // A key can live longer by as much as a clock was set back: the run ends here.
    stop_ = true;
    return;
  }
  progress_.end(now_);
  check_progress();
  tell("everything is healed");
  healed_ = true;
  scenario_.tail_per_mille = 0;
  scenario_.error_per_mille = 0;
  scenario_.divided_per_mille = 0;
  for (ModelNode& node : servers_) {
    node.stopped_until = 0;
    if (node.says_replica && node.read_only_until != never) node.read_only_until = now_;
  }
  scenario_.odd = Oddity::none;
  std::fill(cut_until_.begin(), cut_until_.end(), 0);
  for (std::uint32_t i = 0; i < scenario_.nodes; ++i) {
    if (is_replicated(i)) end_faults_of_replication(i);
  }
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    for (std::uint32_t slot = 0; slot < clients_[i].slots.size(); ++slot) plan_act(i, slot, 0);
  }
  for (std::uint32_t i = 0; i < scenario_.nodes; ++i) {
    if (scenario_.judged_by_votes || stepped_[i].by == 0) continue;
    plan(std::max(now_, may_step_again(i)), Kind::set_right, i);
  }
  // The time in which every key of a dead client expires, every client reconnects, and everybody
  // has a turn.
  const True patience = 3 * scenario_.longest_ttl_ms * ms + 10'000 * ms + 4 * scenario_.late +
                        4 * scenario_.longest_step +
                        static_cast<True>(scenario_.clients * scenario_.slots + 1) *
                            scenario_.longest_interval_ms * ms;
  patience_ends_ = now_ + patience;
  plan(now_, Kind::timeout, 0);
}

void Simulation::check_progress() {
  if (!scenario_.steady) return;
  if (progress_.longest_idle() > scenario_.longest_idle()) {
    checker_.violated("invariant 5: a resource was free for " +
                      in_round_trips(progress_.longest_idle()) +
                      " while a caller waited for it, without faults");
  }
  if (progress_.longest_kept() > scenario_.longest_kept()) {
    checker_.violated("invariant 5: a resource was kept for " +
                      in_round_trips(progress_.longest_kept()) +
                      " for callers of several while a caller of it alone waited, without faults");
  }
  if (progress_.longest_wait() > scenario_.longest_wait()) {
    checker_.violated("invariant 5: a caller waited for " +
                      in_round_trips(progress_.longest_wait()) + ", without faults");
  }
  if (healed_ && progress_.used() < scenario_.least_used()) {
    checker_.violated("invariant 5: callers had " + std::to_string(progress_.used()) +
                      " of the permits that they wanted, which they hold for " +
                      in_round_trips(scenario_.longest_hold / 2) + ", without faults");
  }
  if (progress_.most_turns() > scenario_.most_turns()) {
    checker_.violated("invariant 5: a caller waited for " + std::to_string(progress_.most_turns()) +
                      " turns of others on one resource, without faults");
  }
  if (progress_.most_overtaken() > scenario_.most_overtaken()) {
    checker_.violated("invariant 5: a waiting caller was overtaken " +
                      std::to_string(progress_.most_overtaken()) +
                      " times by the same one that asked later, without faults");
  }
}

std::string Simulation::in_round_trips(True duration) const {
  return std::to_string(duration / 1000) + " us (" +
         std::to_string(duration / scenario_.round_trip()) + " round trips)";
}

bool Simulation::all_served() const {
  for (const Client& client : clients_) {
    if (!client.alive || client.closing || client.engine->claims() > 0) return false;
    for (const Slot& slot : client.slots) {
      if (!slot.served || slot.acquire != 0 || slot.release != 0 || slot.extend != 0) return false;
    }
  }
  return true;
}

void Simulation::check_requests() {
  // A lock of another library may have to be polled.
  if (!scenario_.steady || scenario_.foreign > 0) return;
  // In addition to the calls, each client reads the nodes' clocks and renews its queues.
  const std::uint64_t upkeep = 100 * clients_.size();
  const std::uint64_t most = scenario_.nodes * (scenario_.most_requests() * calls_ + upkeep);
  if (requests_ <= most) return;
  checker_.violated("invariant 5: " + std::to_string(requests_) + " requests for " +
                    std::to_string(calls_) + " calls: somebody polls");
}

void Simulation::check_the_end() {
  // The next step gives back finished requests.
  for (std::uint32_t i = 0; i < clients_.size(); ++i) step(i, core::TimePassed{});
  stop_ = all_served() || now_ >= patience_ends_;
  if (!stop_) return plan(now_ + 20 * ms, Kind::timeout, 0);
  progress_.end(now_);
  check_progress();
  check_requests();
  checker_.check_overlaps();
  // If an interval is longer than max TTL, a node that was away keeps the key instead of the
  // cooldown. The key keeps others out for as long, and nobody waits for its release.
  const bool may_stay = scenario_.longest_interval_ms > scenario_.longest_ttl_ms;
  for (std::uint32_t node = 0; node < scenario_.nodes; ++node) {
    if (!all_served() || may_stay) break;
    for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
      for (const std::uint64_t token : leader(node).holders(resource, now_)) {
        if (is_delay(token)) continue;
        checker_.found_at_the_end(token);
      }
    }
  }
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    const Client& client = clients_[i];
    if (!client.alive || client.closing) checker_.violated("a client did not come back");
    for (const Slot& slot : client.slots) {
      const bool waits = slot.phase == Phase::acquiring && client.engine->claims() > 0;
      if (!waits && slot.acquire + slot.release + slot.extend != 0) {
        checker_.violated("invariant 7: a request was never answered");
      }
      if (!slot.served) {
        checker_.violated("invariant 5: a waiter of client " + std::to_string(i) +
                          " did not get the lock");
      }
    }
    if (client.engine->claims() > 0) checker_.violated("invariant 4: a claim was never cleaned up");
  }
}

}  // namespace redlock::simulation
