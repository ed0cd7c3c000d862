#pragma once

#include <gtest/gtest.h>
#include <uv.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "uv/loop.hpp"

namespace redlock::test {

/// Calls of an asynchronous client in one turn of its loop.
class InTurns : public testing::Test {
 protected:
  AsyncClient create(ClientOptions options) {
    auto created = AsyncClient::create(std::move(options), loop_.get());
    EXPECT_TRUE(succeeded(created));
    return *std::move(created);
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const auto limit = BootClock::now() + std::chrono::seconds(60);
    while (!condition() && BootClock::now() < limit) uv_run(loop_.get(), UV_RUN_NOWAIT);
    ASSERT_TRUE(condition());
  }
  /// A thousand of these leases can be renewed before the first one ends, on a slow machine, too.
  std::vector<Lease> acquire(AsyncClient& client, const std::vector<std::string>& resources) {
    std::vector<Lease> leases;
    for (const std::string& resource : resources) {
      client.try_acquire(resource, {.ttl = ttl_}, [&](Result<Lease> lease) {
        EXPECT_TRUE(succeeded(lease));
        leases.push_back(*std::move(lease));
      });
    }
    run_until([&] { return leases.size() == resources.size(); });
    return leases;
  }
  /// Acquires "r0", "r1", …, and waits until all nodes have them.
  std::vector<Lease> acquire_many(AsyncClient& client, const Nodes& nodes, std::size_t count) {
    std::vector<std::string> resources;
    for (std::size_t i = 0; i < count; ++i) {
      resources.push_back(std::string("r").append(std::to_string(i)));
    }
    std::vector<Lease> leases = acquire(client, resources);
    run_until([&] { return nodes.count_held(resources.back()) == nodes.size(); });
    return leases;
  }
  void close(AsyncClient& client) {
    bool closed = false;
    client.close([&](const CloseReport&) { closed = true; });
    run_until([&] { return closed; });
  }

  uv::Loop loop_;
  std::chrono::seconds ttl_{20};
};

}  // namespace redlock::test
