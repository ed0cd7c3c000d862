#include <algorithm>
#include <utility>

#include "core/membership/marker.hpp"
#include "core/vocabulary/holder_words.hpp"
#include "redlock/inspection.hpp"
#include "simulation/simulation.hpp"

namespace redlock::simulation {

using core::Reply;
using core::Verb;

True Simulation::delay() {
  if (random_.per_mille(scenario_.tail_per_mille)) return random_.below(scenario_.tail);
  return random_.between(scenario_.fastest, scenario_.slowest);
}

True Simulation::delay_to(std::uint32_t server) {
  const bool is_far = server + scenario_.far_nodes >= scenario_.nodes;
  return delay() + (is_far ? scenario_.far : 0);
}

True Simulation::transit(std::uint32_t client, std::uint32_t server) {
  // TCP sends again what a partition has dropped.
  return std::max(now_, cut_until_[client * servers_.size() + server]) + delay_to(server);
}

/// When the node has handled this first contact. Contacts of clients that no longer wait count too:
/// their requests have arrived.
True Simulation::greeted_at(std::uint32_t node) {
  if (scenario_.greeting == 0) return now_;
  greets_until_[node] = std::max(greets_until_[node], now_) + scenario_.greeting;
  return greets_until_[node];
}

// --- connections come -------------------------------------------------------------------------

void Simulation::count_connection(std::uint32_t client, std::uint32_t node) {
  constexpr True second = 1'000 * ms;
  std::deque<True>& times = clients_[client].connects[node];
  times.push_back(now_);
  while (times.front() + 60 * second <= now_) times.pop_front();
  most_connections_ = std::max(most_connections_, times.size());
  const std::size_t most = Scenario::most_connections_in_a_second;
  const bool hurries = times.size() > most && times[times.size() - 1 - most] + second > now_;
  if (!hurries && times.size() <= Scenario::most_connections) return;
  checker_.violated("invariant 17: client " + std::to_string(client) + " connects to node " +
                    std::to_string(node) + " again and again");
}

Oddity Simulation::oddity(std::uint32_t node) {
  if (node != 0 || scenario_.odd != Oddity::any) return node == 0 ? scenario_.odd : Oddity::none;
  return static_cast<Oddity>(1 + random_.below(static_cast<True>(Oddity::any) - 1));
}

/// Whether the node handles the request as no healthy node would; `response` is its answer.
bool Simulation::is_odd(std::uint32_t index, const Request& request, Response& response) {
  Connection& connection = connections_[index];
  if (healed_ || connection.odd == Oddity::none) return false;
  const bool reads_marker = core::is_marker_reading(request.stamp.verb);
  const bool only_reads = reads_marker || request.stamp.verb == Verb::read_clock ||
                          request.stamp.verb == Verb::kill_old;
  response.stamp = request.stamp;
  response.reply = Reply::error;
  switch (connection.odd) {
    case Oddity::refuses_writes:
      response.read_only = true;
      return !only_reads;
    case Oddity::changes_marker:
      response.reply = Reply::marker;
      response.marker = std::to_string(random_.next());
      return reads_marker;
    case Oddity::hides_marker:
      return reads_marker;
    default:
      return false;
  }
}

void Simulation::connect(std::uint32_t client, std::uint32_t node) {
  count_connection(client, node);
  const std::uint32_t attempt = ++clients_[client].attempt[node];
  plan(transit(client, look_up(client, node)), Kind::connect, client * scenario_.nodes + node,
       attempt);
}

void Simulation::reach(std::uint32_t client, const Event& event) {
  Client& target = clients_[client];
  if (target.alive && target.paused_until > now_ && event.kind != Kind::connect) {
    return plan(target.paused_until, event.kind, event.a, event.b);
  }
  if (event.kind == Kind::reply) return deliver(event.a);
  if (event.kind == Kind::up) return come_up(event);
  if (event.kind == Kind::ended) {
    Connection& connection = connections_[event.a];
    if (!connection.client_side) return;
    if (connection.invalidated) drop_client_side(event.a);
    connection.client_side = false;
    target.connection[connection.node] = -1;
    tell("client ", client, " sees its connection to node ", connection.node, " end");
    return step(client, core::NodeDown{static_cast<core::NodeIndex>(connection.node),
                                       core::NodeDown::Cause::unreachable, "reset"});
  }
  const std::uint32_t node = event.a % static_cast<std::uint32_t>(scenario_.nodes);
  const True greeted = event.kind == Kind::connect ? greeted_at(node) : now_;
  if (!target.alive || target.attempt[node] != event.b) return;
  if (event.kind == Kind::refused && scenario_.mutant == Mutant::connects_at_once) {
    return connect(client, node);
  }
  if (event.kind == Kind::refused) {
    ++target.attempt[node];
    return step(client, core::NodeDown{static_cast<core::NodeIndex>(node),
                                       core::NodeDown::Cause::unreachable, "refused"});
  }
  const std::uint32_t led_to = led_to_[event.a];
  ModelNode& server = servers_[led_to];
  if (server.stopped_until > now_)
    return plan(server.stopped_until, Kind::connect, event.a, event.b);
  const bool serves = server.running && (server.read_only_until <= now_ || server.is_replica(now_));
  if (!serves) return plan(now_ + delay_to(led_to), Kind::refused, event.a, event.b);
  if (forgotten_.empty()) {
    forgotten_.push_back(static_cast<std::uint32_t>(connections_.size()));
    connections_.emplace_back();
  }
  const std::uint32_t index = forgotten_.back();
  forgotten_.pop_back();
  Connection& connection = connections_[index];
  connection = {};
  connection.client = client;
  connection.node = node;
  connection.server = led_to;
  connection.after_healing = healed_;
  connection.life = target.life;
  connection.run = server.run;
  connection.number = ++server.connections;
  connection.odd = oddity(node);
  connection.replica = server.is_replica(now_) || connection.odd == Oddity::is_replica;
  connection.evicts = server.evicts(now_);
  connection.evicted = server.evictions_told();
  connection.memory = memory_of(led_to);
  // A replicated node's primary can become a replica between INFO and the guard's script.
  if (is_replicated(node) && !connection.replica) {
    return plan(greeted + 2 * delay_to(led_to), Kind::greets, index, event.b);
  }
  if (!connection.replica) greet(connection);
  plan(greeted + 3 * delay_to(node), Kind::up, index, event.b);
}

std::string Simulation::run_id_of(std::uint32_t server) const {
  return std::to_string(server) + "/" + std::to_string(servers_[server].run);
}

core::NodeMemory Simulation::memory_of(std::uint32_t index) const {
  const ModelNode& server = servers_[index];
  const std::uint64_t evicted = server.evictions_told();
  core::NodeMemory memory;
  memory.history =
      "role" + std::to_string(server.role) + (evicted > 0 ? "+" + std::to_string(evicted) : "");
  memory.own_data = scenario_.mutant == Mutant::copies_prove_nothing ? false
                    : scenario_.mutant == Mutant::roles_are_copies   ? true
                                                                     : !server.was_replica;
  memory.keeps_keys = scenario_.mutant != Mutant::resets_are_evictions && !server.evicts(now_);
  return memory;
}

void Simulation::greet(Connection& connection) {
  servers_[connection.server].load_scripts();
  if (!scenario_.restart_guard || connection.evicts) return;
  GuardRequest request;
  request.run_id = run_id_of(connection.server);
  request.memory = connection.memory;
  request.max_ttl_ms = scenario_.longest_ttl_ms;
  request.name = member_name(connection.node);
  request.incarnation = clients_[connection.client].randomness->token().str();
  request.quarantine_ms = std::chrono::ceil<std::chrono::milliseconds>(quarantine()).count();
  const bool votes_at_once = scenario_.mutant == Mutant::no_quarantine ||
                             scenario_.mutant == Mutant::new_reigns_vote_at_once;
  if (votes_at_once) request.quarantine_ms = 0;
  request.trusted = scenario_.durable;
  request.marks = clients_[connection.client].marks[connection.node];
  connection.reign = servers_[connection.server].reign();
  GuardResponse guarded = servers_[connection.server].guard(request, now_);
  connection.quarantine_ms = guarded.quarantine_ms;
  connection.marker = std::move(guarded.marker);
  connection.unmarked = guarded.unmarked;
  connection.outdated = guarded.outdated;
  if (connection.quarantine_ms == 0) return;
  tell("node ", connection.node, " notifies client ", connection.client, " of ",
       connection.quarantine_ms, " ms of quarantine");
  if (scenario_.forgets_nothing()) {
    checker_.violated("invariant 5: a node is in quarantine that has forgotten nothing");
  }
}

void Simulation::come_up(const Event& event) {
  Connection& connection = connections_[event.a];
  Client& client = clients_[connection.client];
  const std::uint32_t node = connection.node;
  const bool wanted = client.alive && client.life == connection.life &&
                      client.attempt[node] == event.b && client.connection[node] < 0;
  if (!wanted) {
    connection.client_side = false;
    return;
  }
  const ModelNode& server = servers_[connection.server];
  if (!server.running || server.run != connection.run || connection.invalidated) {
    connection.client_side = false;
    return plan(now_, Kind::refused, connection.client * scenario_.nodes + node, event.b);
  }
  client.connection[node] = event.a;
  core::Capabilities capabilities = server.capabilities();
  if (scenario_.tracks && !connection.replica) {
    capabilities = capabilities.with({core::Capability::track});
  }
  std::string able_to;
  capabilities.each([&](core::Capability capability) {
    able_to += able_to.empty() ? "" : ", ";
    able_to += core::capability_names.at(index_of(capability));
  });
  tell("client ", connection.client, " is connected to node ", node, " as ", connection.number,
       ", which can ", able_to);
  const std::string process =
      std::to_string(connection.server) + "/" + std::to_string(connection.run);
  const std::string marker = connection.marker;
  const std::string reign = connection.reign;
  core::NodeUp up;
  up.node = static_cast<core::NodeIndex>(node);
  up.server = process;
  up.connection = connection.number;
  up.quarantine = std::chrono::milliseconds(connection.quarantine_ms);
  up.quarantine_why = "it restarted";
  up.marker = marker;
  up.reign = reign;
  up.unmarked = connection.unmarked;
  up.outdated = connection.outdated;
  up.evicted = connection.evicted;
  up.keeps_keys = connection.memory.keeps_keys;
  if (connection.evicts) up.ineligible = "it may evict locks";
  up.capabilities = capabilities;
  up.replica = connection.replica;
  if (connection.replica) up.ineligible = "it is a replica";
  const bool ends = connection.odd == Oddity::invalidates && !healed_;
  const std::uint32_t index = event.a;
  if (ends) {
    connection.invalidated = true;
    connection.last_reply = now_ + random_.below(20 * ms);
    plan(connection.last_reply, Kind::ended, index);
  }
  step(connection.client, up);
}

// --- requests and answers ---------------------------------------------------------------------

void Simulation::send(std::uint32_t client, std::uint32_t node, const Request& request) {
  const std::int64_t index = clients_[client].connection[node];
  if (index < 0) return checker_.violated("a request was sent to a node that is not up");
  Connection& connection = connections_[static_cast<std::size_t>(index)];
  if (connection.broken || connection.dead) return;
  // Requests that guards add to each vote do not count.
  const core::Verb verb = request.stamp.verb;
  const bool of_guards = verb == core::Verb::read_clock || verb == core::Verb::read_evictions ||
                         core::is_marker_reading(verb);
  requests_ += of_guards ? 0U : 1U;
  if (core::is_vote(request.stamp.verb)) {
    connection.marker_ahead = servers_[connection.server].marker();
  }
  connection.requests.push_back(request);
  connection.last_request = std::max(connection.last_request, transit(client, connection.server));
  plan(connection.last_request, Kind::arrive, static_cast<std::size_t>(index));
}

void Simulation::arrive(std::uint32_t index) {
  Connection& connection = connections_[index];
  if (connection.requests.empty()) return;
  ModelNode& node = servers_[connection.server];
  if (!connection.server_side || !node.running || node.run != connection.run) {
    connection.requests.clear();
    return;
  }
  if (connection.reading != Connection::Reading::none) {
    ++connection.held;  // WAIT blocks the connection
    return;
  }
  if (connection.not_before > now_) return plan(connection.not_before, Kind::arrive, index);
  if (node.stopped_until > now_) {
    // After the stop, connections are served in random order.
    return plan(node.stopped_until + random_.below(1000), Kind::arrive, index);
  }
  if (divides(connection)) return plan(connection.not_before, Kind::arrive, index);
  const Request request = connection.requests.front();
  if (!healed_ && connection.odd == Oddity::hangs) return;
  if (!healed_ && connection.odd == Oddity::breaks) return break_connection(index);
  connection.requests.pop_front();
  Response response;
  // A node that refuses TIME has no vote while the connection lasts: that is not a passing fault.
  const bool may_fail = !core::is_upkeep(request.stamp.verb) && !request.begun;
  if (is_odd(index, request, response)) {
    tell("node ", connection.node, " answers as it likes to verb ",
         static_cast<int>(request.stamp.verb));
  } else if (may_fail && random_.per_mille(scenario_.error_per_mille)) {
    response.stamp = request.stamp;
    response.reply = Reply::error;
  } else {
    if (request.stamp.verb == Verb::kill_old) kill(connection, request.number);
    if (request.begun) {
      response = connection.half_done;
      node.end_numbered(request, now_, response);
    } else {
      response = node.execute(request, now_);
      if (request.stamp.verb == Verb::read_clock) response.time += leapt_elsewhere(connection.node);
    }
    if (is_beside_a_lower_number(request) && response.reply == Reply::granted) {
      response.reply = Reply::behind;
      response.holder = 0;
    }
    observe(connection, request, response);
  }
  replicate(connection.server);
  if (request.stamp.verb == Verb::read_reign && response.reply == Reply::marker) {
    connection.half_done = response;
    return begin_reading(index, request);
  }
  note_changes(connection.node, connection.client);
  if (request.stamp.verb == Verb::track && request.number == 0) {
    tracks(connection.client, connection.node, request.resource) = true;
  }
  reply(index, response);
}

void Simulation::reply(std::uint32_t index, const Response& response) {
  Connection& connection = connections_[index];
  if (!connection.client_side || connection.broken || connection.dead) return;
  connection.replies.push_back(response);
  connection.last_reply =
      std::max(connection.last_reply, transit(connection.client, connection.server));
  plan(connection.last_reply, Kind::reply, index);
}

/// Fenced SETs of one call have one answer about their numbers: if one of the numbers was not
/// raised, none is acknowledged.
bool Simulation::is_beside_a_lower_number(const Request& request) {
  return request.stamp.verb == Verb::set_fenced_short && request.number % 16 == 0;
}

bool Simulation::divides(Connection& connection) {
  Request& request = connection.requests.front();
  const bool can = core::is_fenced(request.stamp.verb) && !request.begun;
  if (!can || !random_.per_mille(scenario_.divided_per_mille)) return false;
  connection.half_done = servers_[connection.server].begin_numbered(request, now_);
  request.begun = true;
  if (connection.half_done.reply == Reply::granted || connection.half_done.reply == Reply::behind) {
    note_written(connection, request.token);
  }
  connection.not_before = now_ + 1 + random_.below(scenario_.longest_ttl_ms * ms);
  tell("node ", connection.node, " executes the first half of a numbered SET of ",
       request.token % 10'000, " from client ", connection.client, "/", connection.number);
  return true;
}

void Simulation::observe(const Connection& connection, const Request& request,
                         const Response& response) {
  const bool fenced = request.stamp.verb == Verb::take || core::is_fenced(request.stamp.verb);
  note_opening(request, response);
  const bool wrote = (response.reply == Reply::granted && is_set(request.stamp.verb)) ||
                     response.reply == Reply::repaired ||
                     (fenced && response.reply == Reply::behind);
  if (wrote && !request.begun) note_written(connection, request.token);
  // A client that gives a permit back may wait for any permit again.
  const bool is_permit = scenario_.kind == Wanted::permits && request.resource != any_permit;
  if (request.stamp.verb == Verb::leave_queue && response.reply == Reply::done && !is_permit &&
      servers_[connection.server].has_waiter(request.resource, request.token)) {
    checker_.violated("invariant 5: a node keeps a turn or a place of a client that left");
  }
  const bool told = response.reply == Reply::released || response.reply == Reply::gone ||
                    response.reply == Reply::taken;
  // If another attempt's key is in the way, the rest of the interval is written later; until then
  // one more node can be free.
  const bool counts = !scenario_.one_forgets || response.reply != Reply::taken;
  // A holder that is alive may restore what an operator broke.
  if (request.last && told && counts && !is_operator(connection.client)) {
    checker_.release_executed(request.token, connection.node);
  }
  tell("node ", connection.node, " executes verb ", static_cast<int>(request.stamp.verb), " of ",
       request.token % 10'000, " from client ", connection.client, "/", connection.number,
       ": reply ", static_cast<int>(response.reply), fenced ? " at " : " ", response.number,
       " client ", request.client, " ticket ", request.ticket.value_or(-1), " -> ", response.ticket,
       response.is_first ? " first" : "", request.quiet ? " quiet" : "", " on r",
       int{request.resource}, ", holder ", response.holder & 0xffff);
  if (request.stamp.verb == Verb::write_marker || request.stamp.verb == Verb::mark_plain) {
    tell("node ", connection.node, " keeps ", servers_[connection.server].marker());
  }
  if (request.stamp.verb == Verb::write_reign) {
    tell("server ", connection.server, " keeps ", servers_[connection.server].reign());
  }
}

void Simulation::note_written(const Connection& connection, std::uint64_t token) {
  // While roles change, any server may lose a release, and its replicas keep the key.
  if (is_replicated(connection.node) && !connection.after_healing) checker_.restored(token);
  checker_.key_written(token, connection.node);
}

/// A deployment of which no node has a marker is a new one to clients that did not know it.
void Simulation::note_opening(const Request& request, const Response& response) {
  if (!core::is_marker_write(request.stamp.verb)) return;
  const auto before = core::parse_marker(request.write.expected);
  const auto now = core::parse_marker(response.marker);
  const bool opened = before && before->state == core::Marker::State::opening && now &&
                      now->state == core::Marker::State::active;
  if (opened && response.marker.starts_with(request.write.text + ' ')) checker_.opened_as_new();
}

True Simulation::leapt_elsewhere(std::uint32_t node) const {
  True all = 0;
  if (scenario_.mutant != Mutant::leaps_are_ours) return all;
  for (std::uint32_t other = 0; other < stepped_.size(); ++other) {
    if (other != node) all += stepped_[other].by;
  }
  return all;
}

Response Simulation::as_planted(const Connection& connection, Response response) {
  const Mutant mutant = scenario_.mutant;
  if (core::is_marker_reading(response.stamp.verb)) {
    if (mutant == Mutant::floor_unread && response.number > 0) response.number = 1;
    // Two planted faults: the marker is the handshake's, or that of the instant when the request
    // was sent.
    if (mutant == Mutant::no_marker_behind_votes) response.marker = connection.marker;
    if (mutant == Mutant::marker_ahead_of_votes) response.marker = connection.marker_ahead;
  }
  if (mutant == Mutant::count_unseen_numbers && response.reply == Reply::behind) {
    response.number = 0;
  }
  const bool refused = response.reply == Reply::taken && is_set(response.stamp.verb);
  if (mutant == Mutant::grant_a_refusal && refused && random_.per_mille(10)) {
    response.reply = Reply::granted;
  }
  return response;
}

/// The answer to a response; its texts live in `response` and `texts`.
core::Answer Simulation::answer_of(const Connection& connection, const Response& response,
                                   Texts& texts) {
  core::Answer answer;
  answer.node = static_cast<core::NodeIndex>(connection.node);
  answer.stamp = response.stamp;
  answer.reply = response.reply;
  if (is_reservation(response.holder)) {
    texts.other = std::string(reservation_prefix) + std::to_string(response.holder & ~reservation);
    answer.text = texts.other;
  } else if (response.holder == cooldown) {
    answer.text = interval_token;
  } else if (is_foreign(response.holder)) {
    texts.other = std::to_string(response.holder);
    answer.text = texts.other;
  } else if (response.holder != 0) {
    texts.digits = digits_of(response.holder);
    answer.text = {texts.digits.data(), texts.digits.size()};
  } else if (response.reply == Reply::marker) {
    answer.text = response.marker;
  } else if (response.read_only) {
    answer.text = "READONLY You can't write against a read only replica.";
  } else if (response.reply == Reply::taken && response.writer) {
    answer.text = "writer";
  } else if (response.reply == Reply::taken) {
    answer.text = groups[response.group];
  }
  if (response.remaining_ms >= 0)
    answer.remaining = std::chrono::milliseconds(response.remaining_ms);
  if (response.stamp.verb == Verb::take_permit && response.reply == Reply::taken) {
    answer.text = {response.free.data(), response.free.size()};
  }
  answer.holds = response.holds;
  answer.queued = response.queued;
  answer.ticket = response.ticket;
  answer.is_first = response.is_first;
  answer.reign = {response.reign, response.acknowledged, response.attachments, response.attached};
  answer.number = static_cast<std::uint64_t>(response.number);
  answer.time = core::Duration(response.time);
  return answer;
}

void Simulation::note_reply(const Connection& connection, const Response& response) {
  if (response.counted == 0 && !response.had_it) return;
  auto& [id, asked] = clients_[connection.client].asked[response.stamp.claim().index];
  if (id != response.stamp.claim()) return;
  asked.counted = std::max(asked.counted, response.counted);
  if (response.had_it && asked.round == response.stamp.round()) {
    asked.had_it.add(static_cast<core::NodeIndex>(connection.node));
  }
}

void Simulation::deliver(std::uint32_t index) {
  Connection& connection = connections_[index];
  if (!connection.client_side || connection.replies.empty()) return;
  const std::uint32_t client = connection.client;
  const auto node = static_cast<core::NodeIndex>(connection.node);
  std::vector<core::PlainYes> plain_yeses;
  std::string marker;
  do {
    const Response response = as_planted(connection, connection.replies.front());
    Texts texts;
    const core::Answer answer = answer_of(connection, response, texts);
    const bool is_first = plain_yeses.empty();
    // As in the runtime, an answer that only says yes comes as a plain yes.
    if (!is_plain_yes(client, answer)) {
      if (!is_first) break;
      note_reply(connection, response);
      connection.replies.pop_front();
      step(client, answer);
      if (scenario_.mutant == Mutant::answer_twice) step(client, answer);
      return;
    }
    if (answer.reply == Reply::marker) {
      // The plain yeses of one read share a marker: another marker needs an answer of its own.
      if (!marker.empty() && marker != answer.text) break;
      marker = answer.text;
    }
    note_reply(connection, response);
    connection.replies.pop_front();
    plain_yeses.push_back({answer.stamp, answer.reply, answer.time});
  } while (reads_at_once(connection) && !connection.replies.empty());
  step(client, core::PlainYeses{node, plain_yeses, marker});
  if (scenario_.mutant == Mutant::answer_twice)
    step(client, core::PlainYeses{node, plain_yeses, marker});
}

/// Whether other answers that the node has already given arrive with the one that is due: on half
/// of the connections.
bool Simulation::reads_at_once(const Connection& connection) {
  return connection.number % 2 == 0 && !connection.invalidated && !connection.broken;
}

/// Whether the answer says no more than yes: the short form of a fenced SET names the key's holder,
/// which must be this client's token.
bool Simulation::says_nothing_or_ours(std::uint32_t client, const core::Answer& answer) const {
  if (answer.stamp.verb != Verb::set_fenced_short) return answer.text.empty();
  const core::Claim* const claim = clients_[client].engine->claim(answer.stamp.claim());
  return claim != nullptr && answer.text == claim->token();
}

bool Simulation::is_plain_yes(std::uint32_t client, const core::Answer& answer) const {
  if (answer.reply == Reply::clock) return true;
  if (answer.reply == Reply::marker) return answer.stamp.verb == core::Verb::read_marker;
  const bool yes = answer.reply == Reply::granted || answer.reply == Reply::extended ||
                   answer.reply == Reply::released;
  const bool says_more = !says_nothing_or_ours(client, answer) || answer.remaining ||
                         answer.holds || answer.number != 0 || answer.queued ||
                         answer.ticket != 0 || answer.is_first ||
                         answer.time != core::Duration::zero();
  return yes && !says_more;
}

// --- connections go ---------------------------------------------------------------------------

void Simulation::drop_client_side(std::uint32_t index) {
  Connection& connection = connections_[index];
  connection.client_side = false;
  connection.replies.clear();
  // A reset discards commands that were not read; the others may still be executed, late.
  const auto kept = random_.below(static_cast<True>(connection.requests.size()) + 1);
  connection.requests.resize(static_cast<std::size_t>(kept));
  connection.not_before = now_ + random_.below(scenario_.late + 1);
  forget_if_over(index);
}

void Simulation::forget_if_over(std::uint32_t index) {
  Connection& connection = connections_[index];
  if (connection.client_side || connection.planned > 0) return;
  connection.run = 0;
  forgotten_.push_back(index);
}

void Simulation::break_connection(std::uint32_t index) {
  Connection& connection = connections_[index];
  if (connection.broken) return;
  connection.broken = true;
  tell("the connection of client ", connection.client, " and node ", connection.node, " breaks");
  if (random_.per_mille(500)) break_subscription(connection.client, connection.node);
  const auto requests = random_.below(static_cast<True>(connection.requests.size()) + 1);
  connection.requests.resize(static_cast<std::size_t>(requests));
  connection.not_before = now_ + random_.below(scenario_.late + 1);
  const auto replies = random_.below(static_cast<True>(connection.replies.size()) + 1);
  connection.replies.resize(static_cast<std::size_t>(replies));
  plan(std::max(connection.last_reply, now_) + delay(), Kind::ended, index);
}

void Simulation::kill(const Connection& by, std::int64_t number) {
  tell("node ", by.node, " kills connection ", number);
  if (scenario_.mutant == Mutant::ignore_kill) return;
  for (Connection& other : connections_) {
    const bool same_server = other.server == by.server && other.run == by.run;
    if (!same_server || other.number != number) continue;
    if (other.client != by.client) checker_.violated("somebody else's connection was killed");
    other.server_side = false;
  }
}

bool Simulation::may_forget(std::uint32_t node) {
  if (!scenario_.one_forgets) return true;
  if (now_ < forgot_until_) return false;
  const std::uint32_t everywhere = (1U << scenario_.nodes) - 1U;
  for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
    if (checker_.interval_released_on(resource) != everywhere) return false;
    // The key of an attempt that can still be granted is a vote for the next interval.
    const std::uint64_t holder = servers_[node].holder(resource, now_);
    if (holder != 0 && holder != cooldown && !is_reservation(holder)) return false;
  }
  forgot_until_ = now_ + 2 * scenario_.longest_interval_ms * ms;
  return true;
}

void Simulation::restored(std::uint32_t server) {
  for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
    for (const auto token : servers_[server].holders(resource, now_)) checker_.restored(token);
  }
}

void Simulation::fail_back(std::uint32_t node) {
  if (!servers_[node].running) return;
  tell("node ", node, " gets its role back from a replica");
  servers_[node].take_role_back(now_ + (random_.per_mille(500) ? 0 : random_.below(20 * ms)));
  restored(node);
  if (scenario_.mutant != Mutant::no_tracking) invalidate(node);
}

void Simulation::invalidate(std::uint32_t server) {
  for (std::uint32_t index = 0; index < connections_.size(); ++index) {
    Connection& connection = connections_[index];
    const bool tracks = connection.server == server && connection.run == servers_[server].run &&
                        connection.client_side && !connection.broken && !connection.invalidated;
    if (!tracks) continue;
    connection.invalidated = true;
    // A connection that is not up ends when it would come up.
    if (clients_[connection.client].connection[connection.node] != index) continue;
    // The end comes after the answers to earlier requests and before all others.
    connection.last_reply = std::max(connection.last_reply, transit(connection.client, server));
    plan(connection.last_reply, Kind::ended, index);
  }
}

void Simulation::crash(std::uint32_t index) {
  ModelNode& node = servers_[index];
  if (!node.running) return;
  node.running = false;
  node.stopped_until = 0;
  const bool forgets = random_.per_mille(scenario_.data_loss_per_mille) && may_forget(index);
  True away = 1 * ms + random_.below(100 * ms);
  const bool finds_snapshot = forgets && random_.per_mille(scenario_.snapshot_per_mille);
  if (finds_snapshot) {
    node.restore();
    restored(index);
  } else if (forgets) {
    node.forget();
  }
  if (forgets && !scenario_.restart_guard) {
    // Without the restart guard, a node that forgot must stay away until every key it had would
    // have expired by anybody's clock.
    const True expired = scenario_.longest_ttl_ms * ms / 100 * 103 + 10 * ms;
    if (scenario_.mutant != Mutant::forget_at_once) away += expired;
  }
  tell("node ", index, " crashes",
       finds_snapshot ? " and goes back to what it saved" : (forgets ? " and forgets" : ""));
  plan(now_ + away, Kind::restart, index);
  const std::uint32_t of = node_of(index);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (subscription(i, of).server == index) break_subscription(i, of);
  }
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    const std::int64_t connection = clients_[i].connection[of];
    if (connection < 0) continue;
    const auto its = static_cast<std::uint32_t>(connection);
    if (connections_[its].server == index) break_connection(its);
  }
  if (is_replicated(of)) server_ended(index);
}

}  // namespace redlock::simulation
