#include <algorithm>
#include <map>
#include <string>

#include "core/membership/marker.hpp"
#include "simulation/simulation.hpp"

// Changes of nodes and connections that no client makes.
namespace redlock::simulation {

using core::Marker;

/// The connection dies as if a firewall had forgotten it.
void Simulation::die_silently(std::uint32_t index) {
  Connection& connection = connections_[index];
  if (connection.broken || connection.dead) return;
  connection.dead = true;
  tell("the connection of client ", connection.client, " and node ", connection.node,
       " dies silently");
  const auto requests = random_.below(static_cast<True>(connection.requests.size()) + 1);
  connection.requests.resize(static_cast<std::size_t>(requests));
  connection.replies.clear();
  if (random_.per_mille(500)) subscription(connection.client, connection.node).silent = true;
}

void Simulation::forge_markers() {
  if (scenario_.mutant != Mutant::forged_on_all) {
    const auto other = static_cast<True>(scenario_.nodes) + random_.below(4);
    return forge_marker(0, std::to_string(other));
  }
  for (std::uint32_t node = 0; node < scenario_.nodes; ++node) forge_marker(node, "9");
}

void Simulation::forge_marker(std::uint32_t node, const std::string& member) {
  std::string& text = servers_[node].marker();
  const auto marker = core::parse_marker(text);
  const bool can = marker && marker->state == Marker::State::active &&
                   std::count(marker->members.begin(), marker->members.end(), member) == 0;
  if (!can) return;
  Marker forged = *marker;
  forged.members.push_back(member);
  std::sort(forged.members.begin(), forged.members.end());
  forged.admissions.clear();
  for (const std::string& name : forged.members) {
    forged.admissions.emplace_back(core::admission_of(*marker, name));
  }
  // Half of the intruders know that every write draws a new incarnation.
  if (random_.per_mille(500)) {
    std::reverse(forged.incarnation.begin(), forged.incarnation.end());
  }
  tell("somebody adds ", member, " to the members that node ", node, " names");
  text = core::format_marker(forged) + text.substr(text.rfind(' '));
}

void Simulation::swap_away(std::uint32_t node) {
  if (!servers_[node].running || servers_[node].is_swapped()) return;
  servers_[node].swap_databases();
  tell("another database takes the place of that of node ", node, ": ", servers_[node].marker());
  // Within one round, nobody can see that the database was away.
  const True away = scenario_.longest_limit + random_.below(3 * scenario_.longest_ttl_ms * ms);
  plan(now_ + away, Kind::swap_back, node);
}

void Simulation::swap_back(std::uint32_t node) {
  servers_[node].swap_databases();
  tell("the database of node ", node, " is back: ", servers_[node].marker());
  restored(node);
  if (scenario_.mutant != Mutant::swapped_in_as_new || scenario_.nodes < 2) return;
  // The rule without admissions: every node that has the deployment's id votes with the others.
  std::string& text = servers_[node].marker();
  const auto old = core::parse_marker(text);
  const auto other = core::parse_marker(servers_[0].marker());
  if (!old || !other || old->deployment != other->deployment) return;
  Marker marker = *old;
  marker.members = other->members;
  marker.admissions = other->admissions;
  text = core::format_marker(marker) + text.substr(text.rfind(' '));
}

}  // namespace redlock::simulation
