#include <algorithm>
#include <utility>

#include "core/membership/reign.hpp"
#include "simulation/simulation.hpp"

// Nodes of several servers, of which one should be the primary: replication as Redis has it, and an
// adversary who decides who follows whom, and to which server a name leads.
namespace redlock::simulation {

using core::Reply;

// --- the servers of a node ----------------------------------------------------------------------

void Simulation::begin_replication() {
  replication_.resize(servers_.size());
  roles_rest_until_.resize(scenario_.nodes);
  for (std::uint32_t node = 0; node < scenario_.nodes; ++node) {
    for (const std::uint32_t server : servers_of(node)) {
      if (server == node) continue;
      servers_[server].follow();
      servers_[server].role = servers_[node].role;
      servers_[server].load(servers_[node].copy());
      replication_.server(server).follows = node;
      ReplicaLink& link = replication_.link(replication_.connect(server, node));
      link.attached = link.in_step = true;
      ++replication_.server(node).attachments;
    }
  }
}

std::string Simulation::member_name(std::uint32_t node) const {
  std::string name = std::to_string(node);
  if (is_replicated(node)) name += "?servers=" + std::to_string(scenario_.servers_of_each);
  return name;
}

std::uint32_t Simulation::node_of(std::uint32_t server) const {
  const auto nodes = static_cast<std::uint32_t>(scenario_.nodes);
  if (server < nodes) return server;
  const auto others = static_cast<std::uint32_t>(scenario_.servers_of_each - 1);
  return nodes - static_cast<std::uint32_t>(scenario_.replicated) + (server - nodes) / others;
}

std::vector<std::uint32_t> Simulation::servers_of(std::uint32_t node) const {
  std::vector<std::uint32_t> servers{node};
  if (!is_replicated(node)) return servers;
  for (auto other = static_cast<std::uint32_t>(scenario_.nodes); other < servers_.size(); ++other) {
    if (node_of(other) == node) servers.push_back(other);
  }
  return servers;
}

std::uint32_t Simulation::some_server(std::uint32_t node) {
  if (!is_replicated(node)) return node;
  const std::vector<std::uint32_t> servers = servers_of(node);
  return servers[static_cast<std::size_t>(random_.below(static_cast<True>(servers.size())))];
}

void Simulation::lead_to(std::uint32_t node, std::uint32_t server) {
  leaders_[node] = server;
  tell("the name of node ", node, " leads to server ", server);
}

std::uint32_t Simulation::look_up(std::uint32_t client, std::uint32_t node) {
  std::uint32_t& led_to = led_to_[client * scenario_.nodes + node];
  // A sentinel, a resolver or a cache may not know yet.
  const bool is_told = !is_replicated(node) || healed_ || random_.per_mille(600);
  if (is_told) led_to = leaders_[node];
  return led_to;
}

/// The restart guard's script reaches the server some time after INFO was answered.
void Simulation::finish_greeting(const Event& event) {
  Connection& connection = connections_[event.a];
  const ModelNode& server = servers_[connection.server];
  const bool refuses = !server.running || server.run != connection.run;
  if (!refuses && server.stopped_until > now_) {
    return plan(server.stopped_until, Kind::greets, event.a, event.b);
  }
  // A replica's answer to a script that writes is an error.
  if (refuses || server.is_replica(now_)) {
    connection.client_side = false;
    const std::uint32_t who = connection.client * static_cast<std::uint32_t>(scenario_.nodes);
    return plan(now_ + delay(), Kind::refused, who + connection.node, event.b);
  }
  greet(connection);
  plan(now_ + delay(), Kind::up, event.a, event.b);
}

// --- replication --------------------------------------------------------------------------------

void Simulation::promote(std::uint32_t index) {
  Replication::Server& server = replication_.server(index);
  if (!server.follows || !servers_[index].running) return;
  tell("server ", index, " is a primary");
  ++role_changes_;
  stop_following(index);
  server.follows.reset();
  server.second_id = servers_[index].role;
  server.second_offset = server.offset;
  servers_[index].lead(replication_.new_id());
  drop_replicas(index);
}

void Simulation::follow(std::uint32_t index, std::uint32_t source) {
  Replication::Server& server = replication_.server(index);
  if (!servers_[index].running || index == source || server.follows == source) return;
  tell("server ", index, " follows server ", source);
  ++role_changes_;
  stop_following(index);
  const bool was_primary = !server.follows;
  server.follows = source;
  servers_[index].follow();
  if (was_primary) end_readings_of(index);
  connect_replica(index);
}

/// The replica closes its end. The other one may not notice for long.
void Simulation::stop_following(std::uint32_t index) {
  const std::optional<std::uint32_t> link = replication_.leave(index);
  if (!link) return;
  const True unnoticed = random_.per_mille(600) ? delay() : random_.below(10'000 * ms);
  plan(now_ + unnoticed, Kind::detaches, *link);
}

/// The server closes its ends, and its replicas notice.
void Simulation::drop_replicas(std::uint32_t index) {
  replication_.each_attached(index, [&](std::uint32_t at) {
    ReplicaLink& link = replication_.link(at);
    link.attached = link.in_step = false;
    if (!link.follows) return;
    static_cast<void>(replication_.leave(link.replica));
    plan(now_ + delay() + random_.below(1'000 * ms), Kind::reconnects, link.replica);
  });
}

void Simulation::connect_replica(std::uint32_t index) {
  const Replication::Server& server = replication_.server(index);
  if (!server.follows || server.link || !servers_[index].running) return;
  const std::uint32_t link = replication_.connect(index, *server.follows);
  plan(now_ + delay(), Kind::attaches, link);
}

/// The server may have written: sends its replicas what it has, a little later.
void Simulation::replicate(std::uint32_t index) {
  if (!is_replicated(node_of(index))) return;
  ++replication_.server(index).offset;
  replication_.each_attached(index, [&](std::uint32_t at) {
    ReplicaLink& link = replication_.link(at);
    if (!link.in_step || std::exchange(link.sends, true)) return;
    plan(now_ + random_.below(50'000), Kind::sends, at);
  });
}

void Simulation::note_replication(const Event& event) {
  if (event.kind == Kind::greets) return finish_greeting(event);
  if (event.kind == Kind::wait_ends) {
    const Connection& connection = connections_[event.a];
    if (connection.readings != event.b) return;
    const True stopped = servers_[connection.server].stopped_until;
    if (stopped > now_) return plan(stopped, event.kind, event.a, event.b);
    return go_on_reading(event.a);
  }
  if (event.kind == Kind::reconnects) return connect_replica(event.a);
  if (event.kind == Kind::returns) {
    if (!healed_) follow(event.a, event.b);
    return;
  }
  ReplicaLink& link = replication_.link(event.a);
  const std::uint32_t there = event.kind == Kind::copied ? link.replica : link.source;
  if (!servers_[there].running) {
    // The replica tries again, as often as it takes.
    if (event.kind == Kind::attaches && link.follows) {
      static_cast<void>(replication_.leave(link.replica));
      plan(now_ + random_.below(1'000 * ms), Kind::reconnects, link.replica);
    }
    return;
  }
  if (const True stopped = servers_[there].stopped_until; stopped > now_) {
    return plan(stopped + random_.below(1000), event.kind, event.a, event.b);
  }
  switch (event.kind) {
    case Kind::attaches:
      return attach(event.a);
    case Kind::sends:
      link.sends = false;
      if (link.attached) send_copy(event.a, false);
      return;
    case Kind::copied:
      return take_copy(event.a);
    case Kind::acknowledged:
      link.acknowledged = std::max<std::uint64_t>(link.acknowledged, event.b);
      return note_acknowledged(link.source);
    default:
      link.attached = link.in_step = false;
      return;
  }
}

void Simulation::attach(std::uint32_t at) {
  ReplicaLink& link = replication_.link(at);
  Replication::Server& source = replication_.server(link.source);
  const Replication::Server& replica = replication_.server(link.replica);
  // A replica whose own link is down serves nobody.
  const bool has_data = !source.follows || (source.link && replication_.link(*source.link).in_step);
  if (!has_data) {
    if (!link.follows) return;
    static_cast<void>(replication_.leave(link.replica));
    return plan(now_ + random_.below(1'000 * ms), Kind::reconnects, link.replica);
  }
  const std::uint64_t id = servers_[link.replica].role;
  const bool of_same = id == servers_[link.source].role && replica.offset <= source.offset;
  const bool of_before = id == source.second_id && replica.offset <= source.second_offset;
  const bool partial = (of_same || of_before) && random_.per_mille(900);
  link.attached = true;
  link.in_step = partial;
  ++source.attachments;
  tell("server ", link.replica, " attaches to server ", link.source,
       partial ? " and goes on" : " for a copy");
  send_copy(at, !partial);
  if (!link.follows) plan(now_ + delay(), Kind::detaches, at);
}

void Simulation::send_copy(std::uint32_t at, bool full) {
  ReplicaLink& link = replication_.link(at);
  link.sent.push_back({servers_[link.source].copy(), replication_.server(link.source).offset,
                       servers_[link.source].role, full});
  const True takes = !full                    ? 0
                     : random_.per_mille(800) ? random_.below(20 * ms)
                                              : random_.below(2'000 * ms);
  link.last_sent =
      std::max({link.last_sent, now_ + delay() + takes, link.data_held_until + delay()});
  plan(link.last_sent, Kind::copied, at);
}

void Simulation::take_copy(std::uint32_t at) {
  ReplicaLink& link = replication_.link(at);
  const ReplicaLink::Sent sent = std::move(link.sent.front());
  link.sent.pop_front();
  if (!link.follows) return;
  ModelNode& replica = servers_[link.replica];
  if (sent.full || replica.role != sent.id) drop_replicas(link.replica);
  replica.load(sent.data);
  replica.role = sent.id;
  replication_.server(link.replica).offset = sent.offset;
  restored(link.replica);
  if (sent.full) {
    tell("server ", link.replica, " has the data of server ", link.source);
    invalidate(link.replica);
    if (link.attached) {
      link.in_step = true;
      replicate(link.source);
    }
  }
  // Its own replicas get what it gets.
  replicate(link.replica);
  replication_.server(link.replica).offset = sent.offset;
  link.last_acknowledged = std::max(
      {link.last_acknowledged, now_ + delay(), link.acknowledgements_held_until + delay()});
  plan(link.last_acknowledged, Kind::acknowledged, at, sent.offset);
}

/// The process has ended.
void Simulation::server_ended(std::uint32_t index) {
  end_readings_of(index);
  stop_following(index);
  drop_replicas(index);
}

/// A process begins as a primary, unless its configuration says whom to follow.
void Simulation::server_began(std::uint32_t index) {
  const std::uint32_t node = node_of(index);
  if (!is_replicated(node)) return;
  ++role_changes_;
  Replication::Server& server = replication_.server(index);
  const std::optional<std::uint32_t> followed = server.follows;
  server = {};
  servers_[index].role = replication_.new_id();
  if (healed_ && leaders_[node] != index) return follow(index, leaders_[node]);
  if (followed && random_.per_mille(500)) follow(index, *followed);
}

// --- the reading of a reign ---------------------------------------------------------------------

/// The write was executed, marker and record were read; WAIT blocks the connection.
void Simulation::begin_reading(std::uint32_t index, const Request& request) {
  Connection& connection = connections_[index];
  connection.reading = Connection::Reading::waits;
  connection.offset = replication_.server(connection.server).offset;
  connection.acknowledgements = request.acknowledgements;
  if (scenario_.mutant == Mutant::attachments_before_wait) note_attachments(connection);
  plan(now_ + std::max(request.within, 1 * ms), Kind::wait_ends, index, ++connection.readings);
  note_acknowledged(connection.server);
}

/// WAIT returns on the server's connections for which enough replicas have acknowledged.
void Simulation::note_acknowledged(std::uint32_t server) {
  for (std::uint32_t i = 0; i < connections_.size(); ++i) {
    const Connection& connection = connections_[i];
    if (connection.server != server || connection.reading != Connection::Reading::waits) continue;
    const bool enough =
        replication_.acknowledged(server, connection.offset) >= connection.acknowledgements;
    if (!enough) continue;
    // Acknowledgements that come in the same turn of the server's loop count, too.
    if (random_.per_mille(500)) {
      plan(now_ + random_.below(scenario_.slowest), Kind::wait_ends, i, connection.readings);
    } else {
      go_on_reading(i);
    }
  }
}

/// The present step of a reading has ended.
void Simulation::go_on_reading(std::uint32_t index) {
  Connection& connection = connections_[index];
  const ModelNode& server = servers_[connection.server];
  if (connection.reading == Connection::Reading::none) return;
  if (!server.running || server.run != connection.run || !connection.server_side) {
    connection.reading = Connection::Reading::none;
    connection.requests.clear();
    return;
  }
  if (connection.reading == Connection::Reading::counts) return end_reading(index);
  connection.reading = Connection::Reading::counts;
  connection.half_done.acknowledged =
      replication_.acknowledged(connection.server, connection.offset);
  ++connection.readings;
  if (!random_.per_mille(scenario_.torn_readings_per_mille)) return end_reading(index);
  const True torn = random_.per_mille(500) ? 1 * ms : scenario_.longest_limit;
  plan(now_ + 1 + random_.below(torn), Kind::wait_ends, index, connection.readings);
}

void Simulation::note_attachments(Connection& connection) {
  connection.half_done.attachments = replication_.server(connection.server).attachments;
  connection.half_done.attached = replication_.in_step(connection.server);
}

/// INFO is executed, and all is answered.
void Simulation::end_reading(std::uint32_t index) {
  Connection& connection = connections_[index];
  Response& response = connection.half_done;
  if (scenario_.mutant != Mutant::attachments_before_wait) note_attachments(connection);
  tell("server ", connection.server, " answers client ", connection.client, ": ",
       response.acknowledged, " acknowledged, ", response.attachments, " attachments, ",
       response.attached, " in step, the record is ", response.reign);
  plant_in_reading(connection);
  answer_reading(index);
}

void Simulation::answer_reading(std::uint32_t index) {
  Connection& connection = connections_[index];
  connection.reading = Connection::Reading::none;
  ++connection.readings;
  reply(index, connection.half_done);
  for (; connection.held > 0; --connection.held) plan(now_, Kind::arrive, index);
}

/// A server that becomes a replica answers those that wait with an error.
void Simulation::end_readings_of(std::uint32_t server) {
  for (std::uint32_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = connections_[i];
    const bool waits = connection.server == server && connection.run == servers_[server].run &&
                       connection.reading == Connection::Reading::waits;
    if (!waits) continue;
    connection.half_done.reply = Reply::error;
    answer_reading(i);
  }
}

void Simulation::plant_in_reading(Connection& connection) {
  Response& response = connection.half_done;
  const std::uint64_t servers = scenario_.servers_of_each;
  const std::uint64_t needed = servers / 2;
  const auto record = core::parse_reign(response.reign);
  const std::uint64_t moved = record && response.attachments > record->attachments
                                  ? response.attachments - record->attachments
                                  : 0;
  switch (scenario_.mutant) {
    case Mutant::nobody_waits:
      response.acknowledged = needed;
      break;
    case Mutant::primary_acknowledges:
      response.acknowledged = std::min(response.acknowledged + 1, servers - 1);
      break;
    case Mutant::attachments_uncounted:
      response.attachments = 0;
      break;
    case Mutant::attachments_tolerated:
      if (moved <= servers - 1 - needed) response.attachments -= moved;
      break;
    case Mutant::records_follow_each_reading: {
      std::string& text = servers_[connection.server].reign();
      if (text != response.reign || moved == 0 || response.acknowledged < needed + moved) break;
      text = text.substr(0, text.rfind(' ') + 1) + std::to_string(response.attachments);
      tell("server ", connection.server, " keeps ", text);
      break;
    }
    default:
      break;
  }
}

// --- the adversary ------------------------------------------------------------------------------

void Simulation::stop_server(std::uint32_t server, True length) {
  servers_[server].stopped_until = now_ + length;
  tell("node ", server, " stops until ", servers_[server].stopped_until / 1000);
}

/// The network between the server and its replicas: data or acknowledgements are late.
void Simulation::hold_up_replicas(std::uint32_t server) {
  const True until = now_ + random_.below(2 * scenario_.longest_limit);
  tell("replication of server ", server, " is held up until ", until / 1000);
  replication_.each_attached(server, [&](std::uint32_t at) {
    ReplicaLink& link = replication_.link(at);
    if (random_.per_mille(500)) link.data_held_until = until;
    if (random_.per_mille(500)) link.acknowledgements_held_until = until;
  });
}

void Simulation::settle(std::uint32_t node) {
  const std::vector<std::uint32_t> servers = servers_of(node);
  std::uint32_t primary = some_server(node);
  for (const std::uint32_t other : servers) {
    if (!servers_[primary].running) primary = other;
  }
  promote(primary);
  for (const std::uint32_t other : servers) follow(other, primary);
  lead_to(node, primary);
}

void Simulation::end_faults_of_replication(std::uint32_t node) {
  settle(node);
  for (const std::uint32_t server : servers_of(node)) {
    replication_.each_attached(server, [&](std::uint32_t at) {
      ReplicaLink& link = replication_.link(at);
      link.data_held_until = link.acknowledgements_held_until = 0;
      // A server counts half-open connections until it notices: one too many gives no vote.
      if (!link.follows) link.attached = link.in_step = false;
    });
  }
}

/// The first of these servers is promoted, and the others come back to the old primary.
void Simulation::undo_failover(std::uint32_t node, const std::vector<std::uint32_t>& servers) {
  const std::uint32_t primary = leaders_[node];
  const std::uint32_t next = servers[servers[0] == primary ? 1 : 0];
  promote(next);
  for (const std::uint32_t server : servers) {
    if (server == next || server == primary) continue;
    follow(server, next);
    plan(now_ + random_.below(6 * scenario_.longest_ttl_ms * ms), Kind::returns, server, primary);
  }
  lead_to(node, next);
}

void Simulation::change_roles(std::uint32_t node) {
  if (!is_replicated(node) || now_ < roles_rest_until_[node]) return;
  std::vector<std::uint32_t> servers = servers_of(node);
  const auto size = static_cast<True>(servers.size());
  for (True i = size - 1; i > 0; --i) {
    std::swap(servers[static_cast<std::size_t>(i)],
              servers[static_cast<std::size_t>(random_.below(i + 1))]);
  }
  if (random_.per_mille(scenario_.undone_failovers_per_mille)) {
    const bool healthy = replication_.in_step(leaders_[node]) >= servers.size() / 2;
    return healthy ? undo_failover(node, servers) : settle(node);
  }
  const std::uint32_t one = servers[0];
  const std::uint32_t other = servers[1];
  const auto others_follow = [&](std::uint32_t primary) {
    for (const std::uint32_t server : servers) {
      if (server != one && server != other && random_.per_mille(800)) follow(server, primary);
    }
  };
  switch (random_.below(11)) {
    case 0:
      promote(one);
      return lead_to(node, one);
    case 1:
      promote(one);
      follow(other, one);
      return lead_to(node, random_.per_mille(500) ? one : other);
    case 2:
      return follow(one, other);
    case 3:
      return lead_to(node, one);
    case 4:
      // The classic two masters.
      stop_server(leaders_[node], random_.below(4 * scenario_.longest_ttl_ms * ms));
      if (other == leaders_[node]) return;
      promote(other);
      others_follow(other);
      return lead_to(node, other);
    case 5:
      promote(one);
      others_follow(one);
      return lead_to(node, one);
    case 6:
      return hold_up_replicas(leaders_[node]);
    case 7:
      return undo_failover(node, servers);
    case 8:
      // A replica's connection ends, and it connects again.
      stop_following(one);
      return plan(now_ + random_.below(500 * ms), Kind::reconnects, one);
    case 9:
      return crash(one);
    default:
      settle(node);
      if (random_.per_mille(700)) {
        roles_rest_until_[node] =
            now_ + random_.below(3 * scenario_.longest_ttl_ms * ms + 3'000 * ms);
      }
  }
}

}  // namespace redlock::simulation
