// The primary of a slot of a cluster, with its replicas, as one node.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "integration/guarded.hpp"
#include "integration/guards/reign_contest.hpp"
#include "redis/values/hash_tag.hpp"
#include "redlock/deployment.hpp"
#include "redlock/listing.hpp"
#include "support/fake_server.hpp"
#include "support/sockets.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* locks_prefix = "{locks}:";

/// Servers 0 to 2 are the shard of the slot of the keys, 3 to 5 another one; 6 is a primary without
/// replicas, so that the primaries have a majority when one of them is lost.
class Cluster {
 public:
  Cluster() : servers_(7, [this](std::size_t) { return options_of_server(); }) {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      say(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
      if (i == 0) continue;
      say(0, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(servers_[i].port()),
              std::to_string(bus_ports_[i].port())});
    }
    wait_for("to know each other", [&](std::size_t server) {
      return info_of(server).find("cluster_known_nodes:7\r\n") != std::string::npos;
    });
    say(0, {"CLUSTER", "ADDSLOTSRANGE", "0", "5460"});
    say(3, {"CLUSTER", "ADDSLOTSRANGE", "5461", "10922"});
    say(6, {"CLUSTER", "ADDSLOTSRANGE", "10923", "16383"});
    for (const std::size_t replica : {1U, 2U, 4U, 5U}) follow(replica, replica < 3 ? 0 : 3);
    wait_for("to be complete", [&](std::size_t server) {
      return info_of(server).find("cluster_state:ok") != std::string::npos;
    });
    wait_for("to follow", [&](std::size_t server) {
      const std::string info = servers_[server].command({"INFO", "replication"}).string;
      return server % 3 == 0 || info.find("master_link_status:up") != std::string::npos;
    });
  }

  [[nodiscard]] RedisServer& operator[](std::size_t server) { return servers_[server]; }

  [[nodiscard]] ClientOptions options(milliseconds max_ttl = seconds(1)) const {
    ClientOptions options = impatient({"redis+cluster://" + servers_[3].short_url() + ";" +
                                       servers_[6].short_url() + "/?servers=3"});
    options.prefix = locks_prefix;
    options.max_ttl = max_ttl;
    return options;
  }

  void follow(std::size_t server, std::size_t primary) {
    try_to(server, {"CLUSTER", "REPLICATE", id_of(primary)});
  }
  /// Makes the server primary of its shard without asking anybody.
  void take_over(std::size_t server) { try_to(server, {"CLUSTER", "FAILOVER", "TAKEOVER"}); }
  /// Moves the slot as redis-cli does.
  void move_slot(std::size_t from, std::size_t to) {
    const std::string slot = std::to_string(redis::HashTag("{locks}").slot());
    try_to(to, {"CLUSTER", "SETSLOT", slot, "IMPORTING", id_of(from)});
    try_to(from, {"CLUSTER", "SETSLOT", slot, "MIGRATING", id_of(to)});
    while (true) {
      const Reply keys = try_to(from, {"CLUSTER", "GETKEYSINSLOT", slot, "100"});
      if (keys.elements.empty()) break;
      Command migrate{"MIGRATE", "127.0.0.1", std::to_string(servers_[to].port()), "", "0",
                      "5000",    "KEYS"};
      for (const Reply& key : keys.elements) migrate.push_back(key.string);
      if (try_to(from, migrate).is_error()) break;
    }
    for (const std::size_t server : {to, from, std::size_t{6}}) {
      try_to(server, {"CLUSTER", "SETSLOT", slot, "NODE", id_of(to)});
    }
  }
  /// The server that the others take for the owner of the slot.
  [[nodiscard]] std::size_t owner() {
    const Reply slots = servers_[6].command({"CLUSTER", "SLOTS"});
    const auto slot = static_cast<std::int64_t>(redis::HashTag("{locks}").slot());
    for (const Reply& range : slots.elements) {
      if (slot < range.elements[0].integer || slot > range.elements[1].integer) continue;
      for (std::size_t i = 0; i < servers_.size(); ++i) {
        if (range.elements[2].elements[1].integer == servers_[i].port()) return i;
      }
    }
    return servers_.size();
  }

 private:
  /// What a disturbed cluster may refuse.
  Reply try_to(std::size_t server, const Command& command) {
    return servers_[server].command(command);
  }
  void say(std::size_t server, const Command& command) {
    const Reply reply = servers_[server].command(command);
    if (!reply.is_ok()) throw std::runtime_error(command[1] + ": " + reply.string);
  }
  [[nodiscard]] std::string id_of(std::size_t server) const {
    return servers_[server].command({"CLUSTER", "MYID"}).string;
  }
  [[nodiscard]] std::string info_of(std::size_t server) const {
    return servers_[server].command({"CLUSTER", "INFO"}).string;
  }
  template <typename Condition>
  void wait_for(const std::string& what, Condition&& condition) {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (!eventually([&] { return condition(i); }, longest_wait)) {
        throw std::runtime_error("the cluster does not come " + what);
      }
    }
  }
  [[nodiscard]] RedisServerOptions options_of_server() {
    bus_ports_.push_back(reserve_port());
    return {.arguments = {"--cluster-enabled", "yes", "--cluster-port",
                          std::to_string(bus_ports_.back().port()), "--cluster-node-timeout",
                          "1000", "--cluster-allow-replica-migration", "no",
                          "--cluster-require-full-coverage", "no", "--repl-diskless-sync-delay",
                          "0"}};
  }

  std::vector<PortReservation> bus_ports_;
  NewNodes servers_;
};

class ClusterNode : public OfReplicas {};
class ClusterUnderFire : public OfReplicas {};

TEST_F(ClusterNode, GrantsFencesListsAndServesWaiters) {
  Cluster cluster;
  // A lock of a team whose prefix has the tag, too.
  cluster[0].command({"SET", "{locks}team:r", std::string(40, 'a'), "PX", "60000"});
  EXPECT_FALSE(admin::bootstrap(cluster.options())) << "it can be a lock";
  cluster[0].command({"DEL", "{locks}team:r"});
  ASSERT_TRUE(succeeded(admin::bootstrap(cluster.options())));
  Client client = make_client(cluster.options());
  auto lease = acquire_patiently(client, "r", {.ttl = seconds(1), .fencing = true});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(succeeded(lease->extend(seconds(1))));
  const auto listed = admin::list_locks(cluster.options());
  ASSERT_TRUE(succeeded(listed));
  ASSERT_EQ(listed->locks.size(), 1U);
  EXPECT_EQ(listed->locks[0].resource, "r");
  const std::uint64_t number = lease->fencing_token()->value();
  Client other = make_client(cluster.options());
  auto waiting = std::async(std::launch::async, [&] {
    return acquire_patiently(other, "r", {.ttl = seconds(1), .fencing = true});
  });
  EXPECT_TRUE(eventually([&] {
    const auto now = admin::list_locks(cluster.options());
    return now && now->locks.size() == 1 && now->locks[0].waiters == 1;
  }));
  EXPECT_TRUE(succeeded(lease->release()));
  const auto next = waiting.get();
  ASSERT_TRUE(succeeded(next));
  EXPECT_GT(next->fencing_token()->value(), number);
  // All that the client wrote is in the slot.
  const Reply keys = cluster[0].command({"KEYS", "*"});
  for (const Reply& key : keys.elements) EXPECT_THAT(key.string, HasSubstr("{locks}"));
  const auto check = admin::check(cluster.options());
  ASSERT_TRUE(succeeded(check));
  for (const admin::Finding& finding : check->findings) ADD_FAILURE() << finding.what;
}

TEST_F(ClusterNode, FollowsItsSlotThroughAFailoverAndToAnotherShardAndBack) {
  Cluster cluster;
  Client client = make_client(cluster.options());
  ASSERT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  cluster.take_over(1);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  EXPECT_TRUE(cluster[1].get("redlock:node:{locks}:reign").has_value());
  cluster.move_slot(1, 3);
  ASSERT_TRUE(eventually([&] { return cluster.owner() == 3; }));
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  EXPECT_TRUE(cluster[3].get("redlock:node:{locks}:reign").has_value());
  cluster.move_slot(3, 1);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  EXPECT_EQ(cluster.owner(), 1U);
}

TEST_F(ClusterNode, GrantsAgainWhenThePrimariesHaveReplacedOneThatHangs) {
  Cluster cluster;
  Client client = make_client(cluster.options());
  ASSERT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  cluster[0].stop();
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  cluster[0].resume();
}

/// Answers CLUSTER SLOTS as the test wants.
std::string why_not_found(const std::string& slots) {
  FakeServer server([&slots](const Command&) { return slots; });
  ClientOptions options =
      impatient({"redis+cluster://127.0.0.1:" + std::to_string(server.port()) + "/?servers=3"});
  options.prefix = locks_prefix;
  const auto refused = make_client(options).try_acquire("r", {.ttl = seconds(1)});
  return refused ? "granted" : refused.error().message;
}

TEST_F(ClusterNode, TheReasonSaysWhyThePrimaryIsNotFound) {
  EXPECT_THAT(why_not_found("-ERR This instance has cluster support disabled\r\n"),
              HasSubstr("ERR This instance has cluster support disabled"));
  EXPECT_THAT(why_not_found("*0\r\n"), HasSubstr("no server of the cluster has slot 1236"));
  const std::string other = resp::array({resp::array(
      {resp::integer(0), resp::integer(1235), resp::array({resp::bulk("h"), resp::integer(1)})})});
  EXPECT_THAT(why_not_found(other), HasSubstr("no server of the cluster has slot 1236"));
  for (const char* wrong : {"+OK\r\n", "*1\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:9999\r\n*0\r\n",
                            "*1\r\n*3\r\n:0\r\n:9999\r\n*2\r\n$1\r\nh\r\n:0\r\n"}) {
    EXPECT_THAT(why_not_found(wrong), HasSubstr("it does not answer as a server of a cluster does"))
        << wrong;
  }
}

TEST_F(ClusterNode, NeedsAHashTag) {
  ClientOptions options = impatient({"redis+cluster://127.0.0.1:1/?servers=3"});
  for (const char* wrong : {"", "locks:", "{}:", "{locks:", "x{locks}:", "{lo*ks}:", "{locks}"}) {
    options.prefix = wrong;
    EXPECT_TRUE(failed_with(Client::create(options), Errc::invalid_argument)) << wrong;
  }
  options.prefix = "";
  EXPECT_THAT(Client::create(options).error().message, HasSubstr("such as '{locks}:'"));
  for (const char* right : {"{locks}:", "{a.b/c}:team:"}) {
    options.prefix = right;
    EXPECT_TRUE(succeeded(Client::create(options))) << right;
  }
}

// --- under an adversary ---------------------------------------------------------------------

class ClusterAdversary {
 public:
  explicit ClusterAdversary(unsigned seed) : random_(seed) {}

  void play(Cluster& cluster, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      disturb(cluster);
      std::this_thread::sleep_for(milliseconds(below(800)));
    }
  }

 private:
  unsigned below(unsigned bound) { return std::uniform_int_distribution(0U, bound - 1)(random_); }

  void disturb(Cluster& cluster) {
    const std::size_t owner = cluster.owner();
    const std::size_t shard = owner < 3 ? 0 : 3;
    const std::size_t other = shard + (owner - shard + 1 + below(2)) % 3;
    if (owner >= 6) return;
    switch (below(6)) {
      case 0:
        return cluster.take_over(other);
      case 1:
        cluster[owner].stop();
        std::this_thread::sleep_for(milliseconds(below(300)));
        cluster.take_over(other);
        std::this_thread::sleep_for(milliseconds(below(800)));
        return cluster[owner].resume();
      case 2:
        cluster[owner].kill();
        return cluster[owner].start();
      case 3:
        cluster[other].kill();
        return cluster[other].start();
      case 4:
        return move(cluster, owner, shard == 0 ? 3 : 0);
      default:
        std::this_thread::sleep_for(milliseconds(1000 + below(1500)));
    }
  }
  void move(Cluster& cluster, std::size_t owner, std::size_t to_shard) {
    for (std::size_t to = to_shard; to < to_shard + 3; ++to) {
      const Reply role = cluster[to].command({"ROLE"});
      if (role.elements.at(0).string == "master") return cluster.move_slot(owner, to);
    }
  }

  std::mt19937 random_;
};

TEST_F(ClusterUnderFire, HasNoTwoHoldersThroughFailoversAndMovesOfItsSlot) {
  for (const bool fenced : {false, true}) {
    Cluster cluster;
    const unsigned seed = std::random_device{}();
    Contest contest(cluster.options(milliseconds(300)), fenced);
    ClusterAdversary(seed).play(cluster, contest_rounds());
    const std::size_t before = contest.leases();
    EXPECT_TRUE(eventually([&] { return contest.leases() > before + 4; }, seconds(30)))
        << "locks are granted again, seed " << seed;
    expect_one_holder(contest.judge(), seed);
  }
}

}  // namespace
}  // namespace redlock::test
