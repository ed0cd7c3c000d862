// At most so many at the same time.

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

  const auto enter = [&] {
    return client->try_acquire(redlock::permit("encoders", 2), {.ttl = 10s});
  };
  auto one = enter();
  auto two = enter();
  if (!one || !two) return 2;
  std::cout << one->resource() << " and " << two->resource() << '\n';  // "encoders#0", "encoders#1"
  const auto three = enter();
  std::cout << (three ? "?" : "no third\n");
  static_cast<void>(one->release());
  return !three && enter() ? 0 : 3;
}
