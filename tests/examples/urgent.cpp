// Urgent callers go ahead of ordinary ones that wait: those wait at a door, and one at a time comes
// through it.

#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

std::vector<std::string> turns;
std::mutex turns_mutex;

void work(const std::string& who) {
  const std::lock_guard lock(turns_mutex);
  turns.push_back(who);
}

/// The lock protects the press; the door only says who may queue for it. In a shell:
/// quorum-lock run press/door -- quorum-lock run press -- COMMAND
void ordinary(redlock::Client& client, const std::string& who) {
  const auto door = client.acquire("press/door");
  const auto press = client.acquire("press");
  if (door && press) work(who);
}  // the press is released before the door: whoever comes through is behind those that wait for it

void urgent(redlock::Client& client) {
  const auto press = client.acquire("press");
  if (press) work("urgent");
}

bool waiting(redlock::Client& client, const std::string& resource, std::size_t clients) {
  for (int i = 0; i < 1000; ++i) {
    const auto seen = client.inspect(resource);
    if (seen && seen->waiters >= clients) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  std::vector<redlock::Client> clients;
  for (int i = 0; i < 5; ++i) {
    auto client = redlock::Client::create(options);
    if (!client) return 1;
    clients.push_back(*std::move(client));
  }
  {
    auto door = clients[0].acquire("press/door");
    auto press = clients[0].acquire("press");
    if (!door || !press) return 2;
    std::vector<std::jthread> callers;
    for (std::size_t i = 1; i < 4; ++i) {
      callers.emplace_back([&, i] { ordinary(clients[i], "ordinary"); });
    }
    if (!waiting(clients[0], "press/door", 3)) return 3;
    callers.emplace_back([&] { urgent(clients[4]); });
    if (!waiting(clients[0], "press", 1)) return 3;
    static_cast<void>(press->release());
    static_cast<void>(door->release());
  }
  for (const std::string& who : turns) std::cout << who << '\n';
  return turns.size() == 4 && turns.front() == "urgent" ? 0 : 4;
}
