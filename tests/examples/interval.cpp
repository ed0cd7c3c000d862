// Once per interval over all contenders, however soon it is done.

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

  const auto run_once = [&](const char* who) {
    auto granted = client->try_acquire(redlock::interval("hourly-report", 55min), {.ttl = 10s});
    if (!granted) {
      std::cout << who << ": somebody has done it in this hour\n";
      return false;
    }
    std::cout << who << ": doing it\n";
    return true;  // released here, and not to be had for what is left of the 55 minutes
  };
  const bool first = run_once("first");
  const bool second = run_once("second");
  return first && !second ? 0 : 2;
}
