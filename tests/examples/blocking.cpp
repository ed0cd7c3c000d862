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

  auto granted = client->try_acquire_for("orders/4711", 5s);
  if (!granted) {
    // One line that says which nodes refused or failed, who holds the lock, and for how long.
    std::cerr << granted.error().message << '\n';
    return granted.error().code == redlock::Errc::held ? 2 : 3;
  }

  // A lease is a promise about time: ask before each step that cannot be undone.
  if (!granted->valid()) return 4;
  std::cout << "holding " << granted->resource() << '\n';

  auto released = granted->release();  // or let the destructor do it, without an answer
  if (!released) std::cerr << released.error().message << '\n';
  return released ? 0 : 5;
}
