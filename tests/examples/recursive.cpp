// A thread that has the lock may take it again, at no cost.

#include <chrono>
#include <iostream>
#include <mutex>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  redlock::RecursiveMutex mutex(*client, "account/42");
  const auto log = [&] {
    const std::scoped_lock again(mutex);  // no round trip
    std::cout << "locked " << mutex.holds() << " times by this thread\n";
    return mutex.holds() == 2;
  };
  const std::scoped_lock lock(mutex);
  return log() && mutex.holds() == 1 && mutex.valid() ? 0 : 2;
}
