// Many may read at the same time, or one may write.

#include <chrono>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "nodes.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::Client::create(options);
  if (!client) return 1;

  redlock::SharedMutex index(*client, "index", {.ttl = 10s, .fencing = true});
  {
    const std::shared_lock reading(index);
    std::jthread another([&] {
      const std::shared_lock too(index, std::try_to_lock);
      const std::unique_lock writing(index, std::try_to_lock);
      std::cout << (too ? "another reader is let in" : "?") << ", "
                << (writing ? "?" : "a writer is not") << '\n';
    });
  }
  {
    auto lease = client->acquire("table", {.fencing = true});
    if (!lease) return 2;
    // What was written can be read by others as soon as nothing is changed any more. Nobody has
    // written in between.
    if (!lease->downgrade()) return 2;
    const auto reader = client->try_acquire(redlock::shared("table"));
    const auto writer = client->try_acquire("table");
    std::cout << "a writer that goes on as a reader lets " << (reader ? "a reader" : "nobody")
              << " in and " << (writer ? "a writer" : "no writer") << '\n';
  }
  // While it waits, no new readers come in. Only a writer has a fencing token: readers do not
  // write.
  const std::unique_lock writing(index, 10s);
  if (!writing) return 2;
  std::cout << "the readers have left, and one may write with number "
            << index.lease().fencing_token().value() << '\n';
  return index.valid() ? 0 : 3;
}
