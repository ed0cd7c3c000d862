// One of many candidates leads; everybody may know who.

#include <chrono>
#include <iostream>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  redlock::ElectionOptions me;
  me.candidate = "host-1";
  me.ttl = 10s;
  me.on_at_risk = [](std::chrono::nanoseconds) { std::cerr << "about to lose the leadership\n"; };
  redlock::Election election(*client, "scheduler", me);

  auto leadership = election.campaign();
  if (!leadership) return 2;
  std::cout << "leading, term " << leadership->term() << '\n';

  // Anywhere else:
  redlock::Election observer(*client, "scheduler");
  const auto leader = observer.leader();
  if (!leader || !*leader) return 3;
  std::cout << (*leader)->candidate << " leads\n";

  // Work while it is valid; send the term along with every write.
  if (!leadership->valid()) return 4;
  return leadership->resign() ? 0 : 5;
}
