// Many items, each under a lock of its own: pools of threads on several machines work through one
// list, and no item is worked on twice. A client serves any number of threads.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

/// In place of a database: what has been done, for all machines to see.
struct Item {
  std::atomic<bool> done = false;
  std::atomic<int> workers = 0;  // at this moment: never two
};

/// The number of items that this thread did.
int work_through(redlock::Client& client, std::vector<Item>& items, std::atomic<bool>& overlap) {
  int count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].done) continue;  // a cheap look saves most of the locking
    auto granted = client.try_acquire("item/" + std::to_string(i), {.ttl = 5s});
    if (!granted) continue;       // held by another thread or machine, or an outage: a later run
    if (items[i].done) continue;  // between the look and the lock; the lease ends by its destructor
    if (++items[i].workers != 1) overlap = true;
    std::this_thread::sleep_for(1ms);  // the work; ask `granted->valid()` before irreversible steps
    --items[i].workers;
    items[i].done = true;
    ++count;
    if (auto released = granted->release(); !released)
      std::cerr << released.error().message << '\n';
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();

  std::vector<Item> items(200);
  std::atomic<int> count = 0;
  std::atomic<bool> overlap = false;
  const auto machine = [&] {
    auto client = redlock::Client::create(options);  // one for all threads of a process
    if (!client) return;
    std::vector<std::jthread> pool;
    for (int thread = 0; thread < 8; ++thread) {
      pool.emplace_back([&] { count += work_through(*client, items, overlap); });
    }
  };
  {
    const std::jthread first(machine);
    const std::jthread second(machine);
  }
  // Two that meet at one item may both be refused (`split`): further runs find what is left.
  const int all = static_cast<int>(items.size());
  for (int run = 0; run < 10 && count < all; ++run) machine();
  std::cout << count << " items done\n";
  if (overlap) return 2;
  return count == all ? 0 : 3;
}
