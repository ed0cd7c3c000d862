// Many renewals in one call: the script on a real server, and a client that holds many leases.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "integration/guarded.hpp"
#include "integration/in_turns.hpp"
#include "integration/library.hpp"
#include "integration/scripts/shared_call_script.hpp"
#include "redis/batches/encoder.hpp"
#include "redis/requests/row.hpp"
#include "redis/requests/shared_call.hpp"
#include "support/encoding.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::seconds;

class RenewalsScript : public SharedCallScript {
 protected:
  /// Renews to a TTL of 60 seconds.
  Reply renew(const std::vector<std::string>& resources) {
    core::Terms terms;
    terms.ttl = seconds(60);
    return call(Verb::extend, resources, terms);
  }
};

TEST_F(RenewalsScript, RaisesTheExpiryOfAll) {
  for (const std::string resource : {"a", "b", "c"}) hold(resource, "t" + resource);
  EXPECT_EQ(renew({"a", "b", "c"}).integer, 3);
  for (const std::string resource : {"a", "b", "c"}) EXPECT_GT(server_.pttl(resource), 10'000);
  EXPECT_EQ(calls(server_, "mget"), 1);
  EXPECT_EQ(calls(server_, "get"), 0);
}

TEST_F(RenewalsScript, NeverLowersAnExpiry) {
  hold("a", "ta", "3600000");
  hold("b", "tb");
  ASSERT_TRUE(server_.command({"SET", "c", "tc"}).is_ok());
  EXPECT_EQ(renew({"a", "b", "c"}).integer, 3);
  EXPECT_GT(server_.pttl("a"), 60'000);
  EXPECT_EQ(server_.pttl("c"), -1) << "longer than any";
}

TEST_F(RenewalsScript, SaysWhatIsGoneAndLeavesWhatIsSomebodys) {
  hold("a", "ta");
  hold("b", "somebody");
  server_.command({"HSET", "d", "field", "value"});
  EXPECT_EQ(numbers(renew({"a", "b", "c", "d"})), (std::vector<std::int64_t>{1, -1, 0, -1}));
  EXPECT_GT(server_.pttl("a"), 10'000);
  EXPECT_EQ(server_.get("b"), "somebody");
  EXPECT_LE(server_.pttl("b"), 10'000);
  EXPECT_EQ(server_.get("c"), std::nullopt) << "a renewal that comes late would revive it";
  EXPECT_EQ(server_.command({"HGET", "d", "field"}).string, "value");
}

TEST_F(RenewalsScript, OneAloneNeedsNoTable) {
  hold("a", "ta");
  EXPECT_EQ(renew({"a"}).integer, 1);
  EXPECT_GT(server_.pttl("a"), 10'000);
  EXPECT_EQ(calls(server_, "mget"), 0);
  EXPECT_EQ(numbers(renew({"b"})), std::vector<std::int64_t>{0});
  EXPECT_EQ(server_.get("b"), std::nullopt);
}

TEST_F(RenewalsScript, LeavesReadersAndWhatIsLeftOfThem) {
  const std::string later = std::to_string(4'000'000'000'000);
  server_.command({"ZADD", "a", "0", "group:shared", later, "hold:somebody"});
  server_.command({"ZADD", "b", "0", "group:shared", "1", "hold:gone"});
  EXPECT_EQ(numbers(renew({"a", "b"})), (std::vector<std::int64_t>{-1, 0}));
  EXPECT_EQ(server_.command({"TYPE", "a"}).string, "zset");
}

TEST_F(RenewalsScript, AWriterIsNoneAnyMoreIfItsTokenIsAReaders) {
  // The lock was downgraded by its token.
  const std::string later = std::to_string(4'000'000'000'000);
  server_.command({"ZADD", "a", "0", "group:shared", later, "hold:ta"});
  EXPECT_EQ(numbers(renew({"a"})), std::vector<std::int64_t>{-1});
  redis::Encoder encoder;
  for (const Verb verb : {Verb::extend, Verb::extend_or_set}) {
    client_.send_raw(test::encode(encoder, verb, ScriptForm::text, redis::Dialect::classic, "a",
                                  Token::parse("ta").value(), seconds(60), 0));
    EXPECT_EQ(client_.read().integer, -1) << "alone, too";
  }
}

TEST_F(RenewalsScript, DoesWithoutMget) {
  server_.command({"ACL", "SETUSER", "default", "-mget"});
  hold("a", "ta");
  hold("b", "tb");
  EXPECT_EQ(numbers(renew({"a", "b"})), (std::vector<std::int64_t>{1, 1}));
  EXPECT_GT(server_.pttl("b"), 10'000);
}

TEST_F(RenewalsScript, SaysWhatIsForbidden) {
  hold("a", "ta");
  server_.command({"ACL", "SETUSER", "default", "-pexpire"});
  EXPECT_TRUE(renew({"a", "b"}).is_error());
  EXPECT_EQ(server_.get("b"), std::nullopt) << "after an error, nothing was written";
  EXPECT_TRUE(renew({"a"}).is_error());
  server_.command({"ACL", "SETUSER", "default", "+pexpire", "-set"});
  EXPECT_EQ(numbers(renew({"a", "b"})), (std::vector<std::int64_t>{1, 0})) << "it writes no key";
}

class RenewalsOfAClient : public InTurns {
 protected:
  /// Begins all renewals in one turn; each that succeeds counts in `ended_`.
  void begin_renewals(AsyncClient& client, const std::vector<Lease>& leases) {
    for (const Lease& lease : leases) {
      client.extend(lease, seconds(30), [this](const Result<Round>& round) {
        EXPECT_TRUE(succeeded(round));
        ++ended_;
      });
    }
  }
  void release(AsyncClient& client, std::vector<Lease> leases) {
    leases.clear();
    run_until([&] { return nodes_.count_held("r0") == 0; });
    close(client);
  }
  [[nodiscard]] bool all_have(const Lease& lease) const {
    const std::string token = lease.token().str();
    return nodes_.count_held_by(lease.resource(), token) == nodes_.size();
  }

  Nodes nodes_ = Nodes(5);
  std::size_t ended_ = 0;
};

TEST_F(RenewalsOfAClient, OfOneTurnAreOneCallOfEachNode) {
  // However slow the machine is, no renewal in the background comes in between.
  ttl_ = std::chrono::minutes(10);
  nodes_ = Nodes(5, {}, ttl_);
  ClientOptions options = patient(nodes_.urls());
  options.max_ttl = ttl_;
  for (const std::size_t count : {1U, 10U, 100U, 1000U}) {
    AsyncClient client = create(options);
    std::vector<Lease> leases = acquire_many(client, nodes_, count);
    const int before = calls(nodes_[0], "evalsha");
    ended_ = 0;
    begin_renewals(client, leases);
    run_until([&] { return ended_ == count; });
    // The last node's answers may come after the quorum's.
    const int most =
        static_cast<int>((count + redis::SharedCall::most - 1) / redis::SharedCall::most);
    EXPECT_LE(calls(nodes_[0], "evalsha") - before, most) << count;
    release(client, std::move(leases));
  }
}

TEST_F(RenewalsOfAClient, KeepTheLeasesWithTwoNodesDead) {
  AsyncClient client = create(patient(nodes_.urls()));
  std::vector<Lease> leases = acquire_many(client, nodes_, 100);
  nodes_[1].kill();
  nodes_[3].kill();
  begin_renewals(client, leases);
  run_until([&] { return ended_ == 100; });
  for (const Lease& lease : leases) EXPECT_GT(lease.remaining(), seconds(20));
  for (const std::size_t node : {0U, 2U, 4U}) EXPECT_GT(nodes_[node].pttl("r99"), 20'000);
  leases.clear();
  run_until([&] { return !nodes_[0].get("r99"); });
  close(client);
}

TEST_F(RenewalsOfAClient, GiveANodeBackWhatItLost) {
  AsyncClient client = create(patient(nodes_.urls()));
  std::vector<Lease> leases = acquire_many(client, nodes_, 100);
  nodes_[0].command({"DEL", "r0", "r50"});
  nodes_[2].command({"DEL", "r99"});
  begin_renewals(client, leases);
  run_until([&] { return ended_ == 100; });
  for (const std::size_t lease : {0U, 50U, 99U}) run_until([&] { return all_have(leases[lease]); });
  release(client, std::move(leases));
}

TEST_F(RenewalsOfAClient, WorkWhereTheScriptsWereForgotten) {
  AsyncClient client = create(patient(nodes_.urls()));
  std::vector<Lease> leases = acquire_many(client, nodes_, 100);
  for (std::size_t time = 1; time <= 2; ++time) {
    for (RedisServer& node : nodes_) node.command({"SCRIPT", "FLUSH"});
    begin_renewals(client, leases);
    run_until([&] { return ended_ == 100 * time; });
  }
  release(client, std::move(leases));
}

}  // namespace
}  // namespace redlock::test
