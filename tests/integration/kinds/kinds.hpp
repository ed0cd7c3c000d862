#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "integration/library.hpp"

namespace redlock::test {

/// Clients of five nodes, and a resource, for locks other than the exclusive one.
class Kinds : public testing::Test {
 protected:
  [[nodiscard]] Result<Lease> take(const Target& target, AcquireOptions options = {}) {
    options.ttl = std::chrono::seconds(20);
    return client_.try_acquire(target, std::move(options));
  }
  [[nodiscard]] Result<Lease> read() { return take(shared(resource_)); }
  [[nodiscard]] Result<Lease> own(const std::string& owner) {
    return take(owned(resource_, owner));
  }
  /// The number of nodes that have the key.
  [[nodiscard]] static std::size_t count(const std::string& key) {
    std::size_t nodes = 0;
    for (RedisServer& node : shared_nodes(5)) {
      nodes += node.command({"EXISTS", key}).integer == 1 ? 1U : 0U;
    }
    return nodes;
  }

  Client client_ = make_client(patient(shared_urls(5)));
  Client other_ = make_client(patient(shared_urls(5)));
  std::string resource_ = fresh_resource();
};

}  // namespace redlock::test
