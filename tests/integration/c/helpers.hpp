#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "redlock.h"

/// Shared by the tests of redlock.h against real servers.
namespace redlock::test {

inline constexpr std::int64_t one_second_ns = 1'000'000'000;

template <auto free>
struct CFree {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using CClient = std::unique_ptr<redlock_client, CFree<redlock_client_free>>;
using CLease = std::unique_ptr<redlock_lease, CFree<redlock_lease_free>>;
using CError = std::unique_ptr<redlock_error, CFree<redlock_error_free>>;
using CRound = std::unique_ptr<redlock_round, CFree<redlock_round_free>>;
using CInspection = std::unique_ptr<redlock_inspection, CFree<redlock_inspection_free>>;
using CStop = std::unique_ptr<redlock_stop, CFree<redlock_stop_free>>;

/// Options of a client; it must outlive the call that reads them.
struct COptions {
  explicit COptions(std::vector<std::string> urls) : nodes(std::move(urls)) {
    for (const std::string& node : nodes) pointers.push_back(node.c_str());
    redlock_client_options_init(&options, sizeof(options));
    options.nodes = pointers.data();
    options.node_count = pointers.size();
    options.node_shortest_timeout_ns = 20 * one_second_ns;
    options.node_longest_timeout_ns = 20 * one_second_ns;
  }
  std::vector<std::string> nodes;
  std::vector<const char*> pointers{};
  redlock_client_options options{};
};

[[nodiscard]] inline CClient c_client(const COptions& options) {
  redlock_client* client = nullptr;
  redlock_error* error = nullptr;
  redlock_client_create(&options.options, &client, &error);
  const CError owned(error);
  EXPECT_EQ(error, nullptr) << error->message;
  return CClient(client);
}
[[nodiscard]] inline CClient c_client(std::size_t nodes = 3) {
  return c_client(COptions(shared_urls(nodes)));
}

[[nodiscard]] inline redlock_acquire_options c_terms() {
  redlock_acquire_options terms;
  redlock_acquire_options_init(&terms, sizeof(terms));
  return terms;
}

/// Waits for connections that are still being made.
[[nodiscard]] inline CLease c_acquire(const CClient& client, const redlock_target& target,
                                      redlock_acquire_options terms = c_terms()) {
  redlock_lease* lease = nullptr;
  redlock_error* error = nullptr;
  redlock_acquire(client.get(), &target, &terms, nullptr, &lease, &error);
  const CError owned(error);
  EXPECT_EQ(error, nullptr) << error->message;
  return CLease(lease);
}

[[nodiscard]] inline CError c_refused(const CClient& client, const redlock_target& target,
                                      const redlock_acquire_options& terms = c_terms()) {
  redlock_lease* lease = nullptr;
  redlock_error* error = nullptr;
  redlock_try_acquire(client.get(), &target, &terms, &lease, &error);
  EXPECT_EQ(lease, nullptr);
  redlock_lease_free(lease);
  return CError(error);
}

[[nodiscard]] inline std::size_t count_votes(const redlock_round* round, redlock_vote vote) {
  std::size_t count = 0;
  for (std::size_t i = 0; round != nullptr && i < round->node_count; ++i) {
    if (redlock_round_node(round, i)->vote == vote) ++count;
  }
  return count;
}

}  // namespace redlock::test
