// Ask who holds a lock, and report why it was not granted.

#include <chrono>
#include <iostream>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  options.on_node_event = [](const redlock::NodeEvent& event) {
    std::cout << event.url << ": " << event.message << '\n';
  };
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  auto granted = client->try_acquire_for("printer", 5s, {.ttl = 10s});
  if (!granted) return 2;

  auto second = client->try_acquire("printer");
  if (second) return 3;
  std::cout << to_string(second.error().code) << ": " << second.error().message << '\n';
  for (const redlock::NodeVote& node : second.error().round.nodes) {
    std::cout << "  " << node.url << ' ' << to_string(node.vote);
    if (node.holder) std::cout << " by " << to_string(node.holder->kind);
    std::cout << '\n';
  }

  auto inspection = client->inspect("printer");
  if (!inspection) return 4;
  std::cout << to_string(inspection->state) << " by " << to_string(inspection->kind);
  if (inspection->holder) std::cout << ' ' << *inspection->holder;
  std::cout << '\n';

  const bool mine = client->ownership("printer", granted->token()) == redlock::Ownership::held;
  return mine && second.error().code == redlock::Errc::held ? 0 : 5;
}
