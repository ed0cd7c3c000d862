#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "integration/deployment.hpp"
#include "integration/guarded.hpp"

namespace redlock::test {

/// Three nodes that nobody has met, and clients with the restart guard.
class RestartGuard : public testing::Test {
 protected:
  [[nodiscard]] ClientOptions options() const { return guarded(nodes_.urls()); }
  [[nodiscard]] Client client() const { return make_client(options()); }

  NewNodes nodes_{3, {.arguments = {"--repl-diskless-sync-delay", "0"}}};
};

/// Gives a master its first replica. The first one changes the master's replication id, as a change
/// of role does; later replicas do not.
inline void have_had_a_replica(RedisServer& master) {
  const RedisServer replica;
  master.command({"SET", "first", "1"});
  replica.command({"REPLICAOF", master.host(), std::to_string(master.port())});
  ASSERT_TRUE(eventually([&] { return replica.get("first") == "1"; }, std::chrono::seconds(30)));
}

inline void become_replica_of(const RedisServer& node, const RedisServer& master) {
  node.command({"REPLICAOF", master.host(), std::to_string(master.port())});
  ASSERT_TRUE(eventually(
      [&] {
        return node.command({"INFO", "replication"}).string.find("master_link_status:up") !=
               std::string::npos;
      },
      std::chrono::seconds(30)));
}

/// Makes a replica, cuts it off from its master and promotes it: it knows the marker, not the lock.
inline void cut_off_a_replica(RedisServer& master, std::optional<RedisServer>& replica) {
  master.command({"SET", "replicated", "1"});
  replica.emplace(RedisServerOptions{.arguments = {"--repl-diskless-sync-delay", "0"}});
  replica->command({"REPLICAOF", master.host(), std::to_string(master.port())});
  ASSERT_TRUE(
      eventually([&] { return replica->get("replicated") == "1"; }, std::chrono::seconds(30)));
  ASSERT_TRUE(replica->command({"REPLICAOF", "NO", "ONE"}).is_ok());
}

/// Makes the node a replica of its promoted replica for a while. The node keeps its process, its
/// connections and its marker.
inline void give_its_role_back(RedisServer& node, std::optional<RedisServer>& replica) {
  const std::string marker(redis::keys::marker);
  ASSERT_EQ(replica->get(marker), node.get(marker));
  ASSERT_NO_FATAL_FAILURE(become_replica_of(node, *replica));
  ASSERT_EQ(replica->get(marker), node.get(marker));
  ASSERT_TRUE(node.command({"REPLICAOF", "NO", "ONE"}).is_ok());
}

}  // namespace redlock::test
