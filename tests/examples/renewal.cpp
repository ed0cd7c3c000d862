// Hold a lock for as long as the work takes, and stop the work if the lock is lost.

#include <chrono>
#include <iostream>
#include <thread>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions client_options;
  client_options.nodes = nodes.urls();
  auto client = redlock::Client::create(client_options);
  if (!client) return 1;

  redlock::AcquireOptions options;  // renewed for as long as the lease lives
  options.ttl = 2s;                 // how long others wait if this process dies
  options.max_hold = 10min;         // a hung holder does not block the rest for ever
  options.on_lost = [](const redlock::Error& why) { std::cerr << why.message << '\n'; };

  auto granted = client->try_acquire_for("nightly-report", 10s, std::move(options));
  if (!granted) {
    std::cerr << granted.error().message << '\n';
    return 2;
  }

  const std::stop_token lost = granted->lost();
  int steps = 0;
  while (!lost.stop_requested() && steps < 30) {
    std::this_thread::sleep_for(100ms);  // a step of the work
    ++steps;
  }
  std::cout << steps << " steps, " << (granted->valid() ? "still" : "no longer") << " the holder\n";
  return granted->valid() ? 0 : 3;
}
