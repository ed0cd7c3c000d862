// Take a lock, do something that only one may do, give the lock back.

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
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }

  auto lease = client->try_acquire_for("orders/4711", 5s);
  if (!lease) {
    // One line that says which nodes refused or failed, who holds the lock, and for how long.
    std::cerr << lease.error().message << '\n';
    return lease.error().code == redlock::Errc::held ? 2 : 3;
  }

  // A lease is a promise about time: ask before each step that cannot be undone.
  if (!lease->valid()) return 4;
  std::cout << "holding " << lease->resource() << '\n';

  auto released = lease->release();  // or let the destructor do it, without an answer
  if (!released) std::cerr << released.error().message << '\n';
  return released ? 0 : 5;
}
