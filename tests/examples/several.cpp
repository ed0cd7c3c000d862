// Several resources, all or none: nobody waits for one while holding another.

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  const auto transfer = [&](const std::string& from, const std::string& to) {
    auto granted = client->try_acquire_for(redlock::all_of({from, to}), 10s, {.ttl = 10s});
    if (!granted) return false;
    std::cout << from << " and " << to << " are ours\n";
    return granted->valid();
  };
  bool done = true;
  {
    // In whatever order they are named.
    std::jthread there([&] { done = transfer("account/1", "account/2") && done; });
    there.join();
    std::jthread back([&] { done = transfer("account/2", "account/1") && done; });
  }
  return done ? 0 : 2;
}
