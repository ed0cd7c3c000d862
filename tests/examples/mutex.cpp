// The lock in the shape of a std::mutex.

#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  redlock::Mutex from(*client, "account/1");
  redlock::Mutex to(*client, "account/2");
  int first = 100;
  int second = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 10; ++i) {
      threads.emplace_back([&] {
        const std::scoped_lock both(from, to);  // in any order: no deadlock
        first -= 10;
        second += 10;
      });
    }
  }
  std::unique_lock lock(from, 100ms);
  if (!lock) return 2;
  std::cout << first << " and " << second << '\n';
  return first == 0 && second == 100 ? 0 : 3;
}
