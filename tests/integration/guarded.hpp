#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "redis/values/keys.hpp"

/// Shared by the tests of guards and fencing.
namespace redlock::test {

/// Short, because a quarantine is as long.
inline constexpr auto short_max_ttl = std::chrono::seconds(3);

[[nodiscard]] inline ClientOptions guarded(std::vector<std::string> urls) {
  ClientOptions options = patient(std::move(urls));
  options.max_ttl = short_max_ttl;
  return options;
}

/// A client that has had a lock. A client that never requested one leaves nodes as they are.
[[nodiscard]] inline Client client_that_locks(const ClientOptions& options) {
  Client client = make_client(options);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "the first one", {.ttl = short_max_ttl})));
  return client;
}

[[nodiscard]] inline bool quarantined(const RedisServer& node) {
  return node.pttl(std::string(redis::keys::quarantine)) != -2;
}

/// Whether the node is an active member of a deployment.
[[nodiscard]] inline bool is_member(const RedisServer& node) {
  return node.get(std::string(redis::keys::marker)).value_or("").starts_with("redlock3 active ");
}

/// Waits until a client has met a node that was started without its data. The quarantine that
/// begins then may be over before a test on a busy machine checks, so this does not ask for the
/// quarantine.
[[nodiscard]] inline bool soon_met(const RedisServer& node) {
  return eventually([&] { return node.get(std::string(redis::keys::marker)).has_value(); },
                    std::chrono::seconds(30));
}

[[nodiscard]] inline bool soon_out_of_quarantine(const RedisServer& node) {
  return soon_met(node) && eventually([&] { return !quarantined(node); }, std::chrono::seconds(60));
}

/// How often a server has executed a command, by itself or in a script.
[[nodiscard]] inline int calls(const RedisServer& node, const std::string& command) {
  const std::string statistics = node.command({"INFO", "commandstats"}).string;
  const std::string name = "cmdstat_" + command + ":calls=";
  const auto found = statistics.find(name);
  return found == std::string::npos ? 0 : std::stoi(statistics.substr(found + name.size()));
}

/// A lease that only the first two of three nodes have heard of: the third was taken, and is free
/// afterwards. Any one of the two that forgets the lease could make another one with the third.
[[nodiscard]] inline Result<Lease> acquire_on_first_two(Client& client, const NewNodes& nodes,
                                                        const std::string& resource,
                                                        AcquireOptions options) {
  const RedisServer& third = nodes[2];
  third.command({"SET", resource, "somebody-else", "PX", "3600000"});
  options.renew = false;
  const int before = calls(third, "set");
  auto lease = client.try_acquire(resource, std::move(options));
  // Nobody waits for the third's refusal; the key must be there until then.
  EXPECT_TRUE(eventually([&] { return calls(third, "set") > before; }));
  third.command({"DEL", resource});
  return lease;
}

/// The contender tries until it gets a lease, which must be after the end of the other one.
inline void expect_refused_until_over(Client& contender, const Lease& lease) {
  const std::string resource = lease.resource();
  // Repeated attempts meet the moments around a reconnection; the last call waits.
  for (int i = 0; i < 20; ++i) {
    const auto early = contender.try_acquire(resource, {.ttl = short_max_ttl});
    ASSERT_FALSE(early && lease.valid()) << "two leases at once";
  }
  const auto granted = acquire_patiently(contender, resource, {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(granted));
  EXPECT_FALSE(lease.valid()) << "two leases at once";
}

}  // namespace redlock::test
