// A lease that is handed on: detach() in one client, adopt() in another.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>

#include "integration/library.hpp"
#include "redlock/detached_lease.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class Adoption : public testing::Test {
 protected:
  [[nodiscard]] DetachedLease hand_on(const Target& target, AcquireOptions options) {
    auto granted = giver_.try_acquire_for(target, seconds(30), std::move(options));
    EXPECT_TRUE(succeeded(granted));
    // Through text, as if to another process.
    return DetachedLease::parse(granted->detach().str()).value_or(DetachedLease());
  }

  Client giver_ = make_client(patient(shared_urls(3)));
  Client taker_ = make_client(patient(shared_urls(3)));
  Client other_ = make_client(patient(shared_urls(3)));
  const std::string resource_ = fresh_resource();
};

TEST_F(Adoption, MakesALeaseThatIsRenewedAndReleased) {
  const DetachedLease detached =
      hand_on(resource_, {.ttl = seconds(5), .fencing = true, .name = "giver"});
  ASSERT_TRUE(detached.fencing_token);
  auto adopted = taker_.adopt(detached, {.ttl = milliseconds(600)});
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_EQ(adopted->resource(), resource_);
  EXPECT_EQ(adopted->token(), detached.token);
  EXPECT_EQ(adopted->fencing_token(), detached.fencing_token);
  EXPECT_EQ(adopted->round().nodes.size(), 3U);
  const auto first = adopted->valid_until();
  EXPECT_TRUE(eventually([&] { return adopted->valid_until() > first + seconds(1); }, seconds(30)))
      << "it is renewed";
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(succeeded(adopted->release()));
  EXPECT_TRUE(eventually([&] { return shared_nodes(3).count_held(resource_) == 0; }));
  const auto next = other_.try_acquire(resource_, {.fencing = true});
  ASSERT_TRUE(succeeded(next));
  EXPECT_GT(next->fencing_token(), detached.fencing_token);
}

TEST_F(Adoption, IsRefusedWhenTheLockIsGone) {
  const DetachedLease detached = hand_on(resource_, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(other_.release(resource_, detached.token)));
  EXPECT_TRUE(failed_with(taker_.adopt(detached), Errc::not_holder));
  EXPECT_TRUE(succeeded(other_.try_acquire(resource_))) << "nothing was set";
}

TEST_F(Adoption, NeedsAQuorumThatStillHasIt) {
  const DetachedLease detached = hand_on(resource_, {.ttl = seconds(20)});
  ASSERT_TRUE(eventually([&] { return shared_nodes(3).count_held(resource_) == 3; }));
  shared_nodes(3)[0].command({"DEL", resource_});
  auto adopted = taker_.adopt(detached, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_TRUE(eventually([&] { return shared_nodes(3).count_held(resource_) == 3; }))
      << "the node that lost it has it again";
  const DetachedLease again = adopted->detach();
  EXPECT_EQ(again, detached);
  shared_nodes(3)[0].command({"DEL", resource_});
  shared_nodes(3)[1].command({"DEL", resource_});
  EXPECT_TRUE(failed_with(taker_.adopt(again), Errc::not_holder));
}

TEST_F(Adoption, IsOfEveryKind) {
  const std::vector<Target> targets = {shared(resource_ + ":r"), owned(resource_ + ":o", "nightly"),
                                       permit(resource_ + ":p", 4),
                                       all_of({resource_ + ":1", resource_ + ":2"})};
  for (const Target& target : targets) {
    const DetachedLease detached = hand_on(target, {.ttl = seconds(5)});
    auto adopted = taker_.adopt(detached, {.ttl = seconds(20)});
    ASSERT_TRUE(succeeded(adopted)) << detached.str();
    EXPECT_EQ(adopted->resources(), detached.resources);
    EXPECT_GT(adopted->remaining(), seconds(10));
    ASSERT_TRUE(succeeded(adopted->extend(seconds(25))));
    EXPECT_EQ(adopted->detach(), detached);
    auto again = giver_.adopt(detached);
    ASSERT_TRUE(succeeded(again)) << detached.str();
    EXPECT_TRUE(succeeded(again->release()));
    for (const std::string& resource : detached.resources) {
      // The previous owner's late request may set the key again on a node whose answer was not
      // waited for.
      EXPECT_TRUE(eventually([&] { return shared_nodes(3).count_held(resource) < 2; }));
    }
  }
}

TEST_F(Adoption, RefusesWhatIsNoDetachedLease) {
  const DetachedLease detached = hand_on(resource_, {.ttl = seconds(5)});
  const auto refused = [&](const DetachedLease& what, AcquireOptions options = {}) {
    auto adopted = taker_.adopt(what, std::move(options));
    EXPECT_TRUE(failed_with(adopted, Errc::invalid_argument));
    return adopted ? std::string() : adopted.error().message;
  };
  EXPECT_THAT(refused({}), HasSubstr("names no resource"));
  DetachedLease wrong = detached;
  wrong.token = Token();
  EXPECT_THAT(refused(wrong), HasSubstr("token"));
  wrong = detached;
  wrong.kind = Target::Kind::owned;
  EXPECT_THAT(refused(wrong), HasSubstr("detached lease"));
  EXPECT_THAT(refused(detached, {.fencing = true}), HasSubstr("fencing"));
  EXPECT_THAT(refused(detached, {.ttl = std::chrono::hours(10)}), HasSubstr("TTL"));
  EXPECT_THAT(refused(detached, {.name = "another"}), HasSubstr("name"));
  EXPECT_TRUE(succeeded(taker_.adopt(detached)));
}

TEST_F(Adoption, OfAWritersLockAsAReadersLetsReadersIn) {
  DetachedLease detached = hand_on(resource_, {.ttl = seconds(20), .fencing = true});
  detached.kind = Target::Kind::shared;
  auto adopted = taker_.adopt(detached, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_EQ(adopted->fencing_token(), detached.fencing_token);
  EXPECT_TRUE(succeeded(other_.try_acquire(shared(resource_))));
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(succeeded(adopted->extend(seconds(20))));
  EXPECT_EQ(adopted->detach().kind, Target::Kind::shared);
}

TEST_F(Adoption, GetsALargerFencingNumberIfSomebodyAskedForOneSince) {
  if (!shared_nodes(3)[0].is_since(7)) GTEST_SKIP() << "a refused SET leaves no number there";
  const DetachedLease detached = hand_on(resource_, {.ttl = seconds(20), .fencing = true});
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_, {.fencing = true}), Errc::held));
  auto adopted = taker_.adopt(detached, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_GT(adopted->fencing_token(), detached.fencing_token)
      << "the other client could have had the lock in between";
  const std::optional<FencingToken> number = adopted->fencing_token();
  ASSERT_TRUE(succeeded(adopted->release()));
  const auto next = acquire_patiently(other_, resource_, {.fencing = true});
  ASSERT_TRUE(succeeded(next));
  EXPECT_GT(next->fencing_token(), number);
}

TEST_F(Adoption, OfAnOwnersHoldAsAReadersIsRefused) {
  DetachedLease detached = hand_on(owned(resource_, "nightly"), {.ttl = seconds(20)});
  detached.kind = Target::Kind::shared;
  detached.owner.clear();
  EXPECT_TRUE(failed_with(taker_.adopt(detached), Errc::not_holder));
}

class AdoptionOverNodes : public testing::TestWithParam<std::size_t> {};

TEST_P(AdoptionOverNodes, OutlivesTheGiverAndAMinority) {
  Nodes nodes(GetParam());
  DetachedLease detached;
  {
    Client giver = make_client(patient(nodes.urls()));
    auto granted = giver.try_acquire_for("r", seconds(30), {.ttl = seconds(30), .fencing = true});
    ASSERT_TRUE(succeeded(granted));
    ASSERT_TRUE(eventually([&] { return nodes.count_held("r") == GetParam(); }));
    detached = granted->detach();
  }
  for (std::size_t i = 0; i < (GetParam() - 1) / 2; ++i) nodes[i].kill();
  Client taker = make_client(patient(nodes.urls()));
  auto adopted = taker.adopt(detached, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_EQ(adopted->fencing_token(), detached.fencing_token);
  EXPECT_TRUE(succeeded(adopted->extend(seconds(25))));
  Client other = make_client(patient(nodes.urls()));
  EXPECT_TRUE(failed_with(other.try_acquire("r"), Errc::held));
  EXPECT_TRUE(succeeded(adopted->release()));
  const auto next = other.try_acquire_for("r", seconds(30), {.fencing = true});
  ASSERT_TRUE(succeeded(next));
  EXPECT_GT(next->fencing_token(), detached.fencing_token);
}

TEST_P(AdoptionOverNodes, IsUnavailableWithoutAMajority) {
  Nodes nodes(GetParam());
  Client giver = make_client(patient(nodes.urls()));
  auto granted = giver.try_acquire_for("r", seconds(30), {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(granted));
  const DetachedLease detached = granted->detach();
  for (std::size_t i = 0; i < GetParam() / 2 + 1; ++i) nodes[i].kill();
  Client taker = make_client(impatient(nodes.urls()));
  EXPECT_TRUE(failed_with(taker.adopt(detached), Errc::unavailable));
}

INSTANTIATE_TEST_SUITE_P(OneThreeFive, AdoptionOverNodes, testing::Values(1U, 3U, 5U));

TEST_F(Adoption, IsAsynchronousToo) {
  auto client = AsyncClient::create(patient(shared_urls(3)));
  ASSERT_TRUE(client);
  std::promise<Result<Lease>> answered;
  client->adopt(hand_on(resource_, {.ttl = seconds(5)}), {},
                [&](Result<Lease> adopted) { answered.set_value(std::move(adopted)); });
  auto adopted = answered.get_future().get();
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_TRUE(succeeded(adopted->release()));
}

}  // namespace
}  // namespace redlock::test
