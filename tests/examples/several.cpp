// Several resources, all or none: nobody waits for one while holding another.

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  options.guards.restart = nodes.given();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  const auto transfer = [&](const std::string& from, const std::string& to) {
    redlock::AcquireOptions both{.ttl = 10s, .wait = 10s};
    both.also = {to};
    auto lease = client->acquire(from, std::move(both));
    if (!lease) return false;
    std::cout << from << " and " << to << " are ours\n";
    return lease->valid();
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
