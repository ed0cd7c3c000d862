// Leases of redlock.h against real servers.

#include "redlock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

TEST(CInterface, ALeaseHasAllThatItHasInCpp) {
  const CClient client = c_client();
  const std::string resource = fresh_resource();
  redlock_acquire_options terms = c_terms();
  terms.ttl_ns = 20 * one_second_ns;
  terms.fencing = true;
  const CLease lease = c_acquire(client, redlock_exclusive(resource.c_str()), terms);
  EXPECT_TRUE(redlock_lease_valid(lease.get()));
  EXPECT_FALSE(redlock_lease_lost(lease.get()));
  EXPECT_STREQ(redlock_lease_resource(lease.get()), resource.c_str());
  EXPECT_EQ(redlock_lease_resource_count(lease.get()), 1U);
  EXPECT_STREQ(redlock_lease_resource_at(lease.get(), 0), resource.c_str());
  EXPECT_EQ(redlock_lease_resource_at(lease.get(), 1), nullptr);
  EXPECT_EQ(std::string(redlock_lease_token(lease.get())).size(), 40U);
  EXPECT_GT(redlock_lease_fencing_token(lease.get()), 0U);
  EXPECT_GT(redlock_lease_remaining_ns(lease.get()), 0);
  EXPECT_GT(redlock_lease_valid_until_ns(lease.get()), redlock_now_ns());

  redlock_round* granting = nullptr;
  ASSERT_EQ(redlock_lease_round(lease.get(), &granting, nullptr), REDLOCK_OK);
  const CRound round(granting);
  EXPECT_EQ(round->quorum, 2U);
  EXPECT_EQ(round->node_count, 3U);
  EXPECT_EQ(round->ttl_ns, 20 * one_second_ns);
  EXPECT_GT(round->remaining_ns, 0);
  EXPECT_EQ(round->holds_left, -1);
  EXPECT_GE(count_votes(round.get(), REDLOCK_VOTE_GRANTED), 2U);
  EXPECT_EQ(redlock_round_node(round.get(), 3), nullptr);
  EXPECT_EQ(redlock_round_node(round.get(), 0)->url, shared_nodes()[0].url());

  redlock_round* released = nullptr;
  ASSERT_EQ(redlock_lease_release(lease.get(), &released, nullptr), REDLOCK_OK);
  const CRound owned(released);
  EXPECT_GE(count_votes(released, REDLOCK_VOTE_GRANTED), 1U);
  EXPECT_FALSE(redlock_lease_valid(lease.get()));
  EXPECT_EQ(redlock_lease_release(lease.get(), nullptr, nullptr), REDLOCK_NOT_HOLDER);
}

TEST(CInterface, AWritersLeaseBecomesAReaders) {
  const CClient client = c_client();
  const std::string resource = fresh_resource();
  const CLease lease = c_acquire(client, redlock_exclusive(resource.c_str()));
  redlock_round* round = nullptr;
  ASSERT_EQ(redlock_lease_downgrade(lease.get(), &round, nullptr), REDLOCK_OK);
  EXPECT_GE(count_votes(round, REDLOCK_VOTE_GRANTED), 2U);
  redlock_round_free(round);
  const CLease reader = c_acquire(client, redlock_shared(resource.c_str()));
  EXPECT_TRUE(redlock_lease_valid(lease.get()));
  EXPECT_TRUE(redlock_lease_valid(reader.get()));
  EXPECT_EQ(redlock_lease_downgrade(nullptr, nullptr, nullptr), REDLOCK_INVALID_ARGUMENT);
}

TEST(CInterface, ATokenIsExtendedAndReleasedElsewhere) {
  const CClient first = c_client();
  const CClient second = c_client();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  const CLease lease = c_acquire(first, target);
  redlock_round* extended = nullptr;
  ASSERT_EQ(redlock_lease_extend(lease.get(), 15 * one_second_ns, &extended, nullptr), REDLOCK_OK);
  EXPECT_GE(count_votes(extended, REDLOCK_VOTE_GRANTED), 2U);
  redlock_round_free(extended);
  const std::string token = redlock_lease_token(lease.get());
  const std::string detached = redlock_lease_detach(lease.get());
  EXPECT_FALSE(redlock_lease_valid(lease.get()));
  EXPECT_THAT(detached, testing::HasSubstr(token));
  EXPECT_STREQ(redlock_lease_detach(lease.get()), detached.c_str()) << "a second call";

  { const CLease connects = c_acquire(second, redlock_exclusive(fresh_resource().c_str())); }
  bool holds = false;
  EXPECT_EQ(redlock_ownership(second.get(), resource.c_str(), token.c_str(), &holds, nullptr),
            REDLOCK_OK);
  EXPECT_TRUE(holds);
  redlock_lease* adopted = nullptr;
  EXPECT_EQ(redlock_adopt(second.get(), detached.c_str(), nullptr, &adopted, nullptr), REDLOCK_OK);
  const CLease by_second(adopted);
  EXPECT_TRUE(redlock_lease_valid(adopted));
  EXPECT_STREQ(redlock_lease_token(adopted), token.c_str());
  EXPECT_STREQ(redlock_lease_resource(adopted), resource.c_str());
  EXPECT_STREQ(redlock_lease_detach(adopted), detached.c_str());
  EXPECT_EQ(redlock_adopt(second.get(), "something", nullptr, &adopted, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_adopt(second.get(), nullptr, nullptr, &adopted, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(
      redlock_extend(second.get(), &target, token.c_str(), 20 * one_second_ns, nullptr, nullptr),
      REDLOCK_OK);
  EXPECT_EQ(redlock_downgrade(second.get(), resource.c_str(), token.c_str(), nullptr, nullptr),
            REDLOCK_OK);
  redlock_round* released = nullptr;
  EXPECT_EQ(redlock_release(second.get(), &target, token.c_str(), &released, nullptr), REDLOCK_OK);
  EXPECT_GE(count_votes(released, REDLOCK_VOTE_GRANTED), 1U);
  redlock_round_free(released);
  EXPECT_EQ(redlock_ownership(second.get(), resource.c_str(), token.c_str(), &holds, nullptr),
            REDLOCK_OK);
  EXPECT_FALSE(holds);
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_release(second.get(), &target, token.c_str(), nullptr, &error),
            REDLOCK_NOT_HOLDER);
  EXPECT_GE(count_votes(error->round, REDLOCK_VOTE_REFUSED), 2U);
  redlock_error_free(error);
}

/// The calls of a lease's callbacks.
struct COutcome {
  std::atomic<int> at_risk{0};
  std::atomic<int> lost{0};
  std::atomic<int> freed{0};
  std::atomic<redlock_status> inside{REDLOCK_OK};
  redlock_client* client = nullptr;
};

TEST(CInterface, ALeaseThatIsNotRenewedIsLost) {
  const CClient client = c_client();
  COutcome outcome;
  outcome.client = client.get();
  redlock_acquire_options terms = c_terms();
  terms.ttl_ns = one_second_ns / 2;
  terms.renew = true;
  terms.max_renewals = 0;
  terms.context = &outcome;
  terms.on_at_risk = [](void* context, int64_t remaining_ns) {
    if (remaining_ns > 0) ++static_cast<COutcome*>(context)->at_risk;
  };
  terms.on_lost = [](void* context, const redlock_error* error) {
    auto& seen = *static_cast<COutcome*>(context);
    redlock_inspection* none = nullptr;
    seen.inside = redlock_inspect(seen.client, "r", &none, nullptr);
    if (error->status == REDLOCK_EXPIRED || error->message[0] != '\0') ++seen.lost;
  };
  terms.free_context = [](void* context) { ++static_cast<COutcome*>(context)->freed; };
  CLease lease = c_acquire(client, redlock_exclusive(fresh_resource().c_str()), terms);
  EXPECT_TRUE(eventually([&] { return outcome.lost == 1; }));
  EXPECT_EQ(outcome.at_risk, 1);
  EXPECT_EQ(outcome.inside, REDLOCK_WOULD_BLOCK);
  EXPECT_TRUE(redlock_lease_lost(lease.get()));
  EXPECT_FALSE(redlock_lease_valid(lease.get()));
  EXPECT_EQ(redlock_lease_remaining_ns(lease.get()), 0);
  EXPECT_EQ(redlock_lease_release(lease.get(), nullptr, nullptr), REDLOCK_NOT_HOLDER);
  lease.reset();
  EXPECT_TRUE(eventually([&] { return outcome.freed == 1; }));
}

TEST(CInterface, ARenewedLeaseOutlivesItsTtlAndFreeingItReleases) {
  const CClient client = c_client();
  const std::string resource = fresh_resource();
  redlock_acquire_options terms = c_terms();
  terms.ttl_ns = one_second_ns;
  terms.renew = true;
  CLease lease = c_acquire(client, redlock_exclusive(resource.c_str()), terms);
  const std::int64_t deadline = redlock_lease_valid_until_ns(lease.get());
  EXPECT_TRUE(eventually([&] { return redlock_lease_valid_until_ns(lease.get()) > deadline; }));
  lease.reset();
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource) == 0; }));
}

}  // namespace
}  // namespace redlock::test
