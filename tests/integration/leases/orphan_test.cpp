// Keys without an expiry, left by holders that died between SETNX and EXPIRE.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto repair = milliseconds(300);

class Orphans : public testing::Test {
 protected:
  void TearDown() override {
    for (const RedisServer& node : shared_nodes()) node.command({"DEL", resource_});
  }
  /// Stores an orphan on each node: `values[i]` on node i.
  void leave_behind(const std::vector<std::string>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(shared_nodes()[i].command({"SETNX", resource_, values[i]}).integer, 1);
    }
  }
  [[nodiscard]] Client client() const { return make_client(patient(shared_urls(3))); }
  [[nodiscard]] static AcquireOptions repairing() { return {.orphan_ttl = repair}; }

  const std::string resource_ = fresh_resource();
};

TEST_F(Orphans, BlockForEverWhereNobodyAskedForARepair) {
  leave_behind({"dead", "dead", "dead"});
  Client client = Orphans::client();
  EXPECT_TRUE(failed_with(client.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(failed_with(client.try_acquire_for(resource_, milliseconds(800)), Errc::held));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(shared_nodes()[i].pttl(resource_), -1);
  const auto inspection = client.inspect(resource_);
  ASSERT_TRUE(succeeded(inspection));
  EXPECT_EQ(inspection->holder, Token::parse("dead"));
  EXPECT_EQ(inspection->nodes.at(0).remaining, std::nullopt);
}

TEST_F(Orphans, AreGivenAnExpiryAndTheLockIsAcquired) {
  leave_behind({"dead", "dead", "dead"});
  Client client = Orphans::client();
  const auto lease = client.try_acquire_for(resource_, seconds(60), repairing());
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(lease->valid());
  EXPECT_GE(shared_nodes().count_held_by(resource_, lease->token().str()), 2U);
}

TEST_F(Orphans, OfSeveralHoldersAreRepairedToo) {
  leave_behind({"dead-1", "dead-2", "dead-3"});
  Client client = Orphans::client();
  EXPECT_TRUE(succeeded(client.try_acquire_for(resource_, seconds(60), repairing())));
}

TEST_F(Orphans, AreRepairedByASingleAttemptForTheNextOne) {
  leave_behind({"dead", "dead", "dead"});
  Client client = Orphans::client();
  EXPECT_TRUE(failed_with(client.try_acquire(resource_, repairing()), Errc::held));
  EXPECT_TRUE(eventually([&] { return client.try_acquire(resource_).has_value(); }, seconds(30)));
}

TEST_F(Orphans, OnOneNodeAreRepairedWhileTheOthersAreLocked) {
  leave_behind({"dead"});
  Client client = Orphans::client();
  const auto lease = client.try_acquire_for(resource_, seconds(60), repairing());
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually([&] { return shared_nodes()[0].get(resource_) != "dead"; }, seconds(30)));
}

TEST_F(Orphans, KeysThatDoExpireAreNotTouched) {
  for (std::size_t i = 0; i < 3; ++i) {
    shared_nodes()[i].command({"SET", resource_, "alive", "PX", "3600000"});
  }
  Client client = Orphans::client();
  EXPECT_TRUE(
      failed_with(client.try_acquire_for(resource_, milliseconds(800), repairing()), Errc::held));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(shared_nodes()[i].get(resource_), "alive");
    EXPECT_GT(shared_nodes()[i].pttl(resource_), 3'000'000);
  }
}

TEST_F(Orphans, DataThatIsNoTokenIsNotTouched) {
  const std::string too_long(limits::token_bytes + 1, 'x');
  const std::vector<std::vector<std::string>> data{{"RPUSH", resource_, "a"},
                                                   {"HSET", resource_, "field", "value"},
                                                   {"SADD", resource_, "member"},
                                                   {"ZADD", resource_, "1", "member"},
                                                   {"XADD", resource_, "*", "field", "value"},
                                                   {"SET", resource_, too_long},
                                                   {"SET", resource_, ""}};
  Client client = Orphans::client();
  for (const auto& command : data) {
    for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command(command);
    EXPECT_TRUE(
        failed_with(client.try_acquire_for(resource_, seconds(0), repairing()), Errc::held));
    // The nodes have answered all earlier requests before they answer this one.
    EXPECT_TRUE(succeeded(client.inspect(resource_)));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(shared_nodes()[i].pttl(resource_), -1) << command.front();
      shared_nodes()[i].command({"DEL", resource_});
    }
  }
}

TEST_F(Orphans, AFencedLeaseRepairsThemToo) {
  leave_behind({"dead", "dead", "dead"});
  Client client = Orphans::client();
  auto options = repairing();
  options.fencing = true;
  const auto lease = client.try_acquire_for(resource_, seconds(60), std::move(options));
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(lease->fencing_token());
}

}  // namespace
}  // namespace redlock::test
