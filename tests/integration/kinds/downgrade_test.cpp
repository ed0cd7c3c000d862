// A writer that becomes a reader, on real servers: which callers are let in then, and what remains
// if nodes are down or stopped.

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

class Downgrade : public testing::Test {
 protected:
  [[nodiscard]] Result<Lease> write(AcquireOptions options = {}) {
    options.ttl = seconds(25);
    return holder_.try_acquire(resource_, std::move(options));
  }
  /// Starts a call that waits, and returns when it is queued on every node after `behind` others.
  [[nodiscard]] std::future<Result<Lease>> wait_for(Client& client, const Target& target,
                                                    std::int64_t behind = 0) {
    auto waiting = std::async(std::launch::async, [&client, target] {
      return client.try_acquire_for(target, seconds(60), {.ttl = seconds(25)});
    });
    EXPECT_TRUE(eventually([&] { return are_queued(nodes_, resource_, behind + 1); }));
    return waiting;
  }
  static constexpr auto at_once = seconds(0);

  Nodes& nodes_ = shared_nodes(5);
  Client holder_ = make_client(patient(nodes_.urls()));
  Client other_ = make_client(patient(nodes_.urls()));
  Client third_ = make_client(patient(nodes_.urls()));
  std::string resource_ = fresh_resource();
};

TEST_F(Downgrade, LetsReadersInAndNoWriter) {
  auto lease = write({.fencing = true});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(failed_with(other_.try_acquire(shared(resource_)), Errc::held));
  const auto number = lease->fencing_token();
  const auto round = lease->downgrade();
  ASSERT_TRUE(succeeded(round));
  EXPECT_GE(votes(*round, Vote::granted), 3U);
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lease->fencing_token(), number);
  auto reader = other_.try_acquire(shared(resource_));
  ASSERT_TRUE(succeeded(reader));
  EXPECT_TRUE(failed_with(third_.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(succeeded(lease->downgrade())) << "a reader's lease stays one";
  EXPECT_TRUE(succeeded(lease->extend(seconds(25))));
  const auto left = lease->release();
  ASSERT_TRUE(succeeded(left));
  EXPECT_EQ(left->holds_left, 1U);
  EXPECT_TRUE(failed_with(third_.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(succeeded(reader->release()));
  EXPECT_TRUE(succeeded(third_.try_acquire(resource_)));
}

TEST_F(Downgrade, NotifiesReadersThatWait) {
  ASSERT_TRUE(all_nodes_vote(other_, nodes_, 5));
  ASSERT_TRUE(all_nodes_vote(third_, nodes_, 5));
  const auto lease = write();
  ASSERT_TRUE(succeeded(lease));
  auto one = wait_for(other_, shared(resource_));
  auto another = wait_for(third_, shared(resource_), 1);
  EXPECT_EQ(one.wait_for(at_once), std::future_status::timeout);
  ASSERT_TRUE(succeeded(lease->downgrade()));
  const auto first = one.get();
  const auto second = another.get();
  EXPECT_TRUE(succeeded(first));
  EXPECT_TRUE(succeeded(second));
  EXPECT_TRUE(lease->valid()) << "all three at once";
  EXPECT_EQ(other_.metrics()->handovers, 1U) << "it came because it was notified";
  EXPECT_EQ(third_.metrics()->handovers, 1U);
}

TEST_F(Downgrade, LeavesReadersBehindAWriterThatWaitedBefore) {
  ASSERT_TRUE(all_nodes_vote(other_, nodes_, 5));
  ASSERT_TRUE(all_nodes_vote(third_, nodes_, 5));
  auto lease = write();
  ASSERT_TRUE(succeeded(lease));
  auto writer = wait_for(other_, resource_);
  auto reader = wait_for(third_, shared(resource_), 1);
  ASSERT_TRUE(succeeded(lease->downgrade()));
  EXPECT_TRUE(failed_with(holder_.try_acquire(shared(resource_)), Errc::held));
  EXPECT_EQ(writer.wait_for(at_once), std::future_status::timeout);
  EXPECT_EQ(reader.wait_for(at_once), std::future_status::timeout);
  ASSERT_TRUE(succeeded(lease->release()));
  // A machine that stalls for longer than the writer's reservation lets the reader in before it.
  const auto is_ready = [](const auto& future) {
    return future.wait_for(seconds(0)) == std::future_status::ready;
  };
  ASSERT_TRUE(eventually([&] { return is_ready(writer) || is_ready(reader); }));
  const bool first = is_ready(writer);
  if (!first) {
    auto read = reader.get();
    ASSERT_TRUE(succeeded(read));
    EXPECT_TRUE(succeeded(read->release()));
  }
  auto written = writer.get();
  ASSERT_TRUE(succeeded(written));
  EXPECT_TRUE(succeeded(written->release()));
  if (first) {
    EXPECT_TRUE(succeeded(reader.get()));
  }
}

TEST_F(Downgrade, IsHandedOnAsAReaders) {
  auto lease = write({.fencing = true});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(succeeded(lease->downgrade()));
  const DetachedLease detached = lease->detach();
  EXPECT_EQ(detached.kind, Target::Kind::shared);
  auto adopted = other_.adopt(detached, {.ttl = seconds(25)});
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_TRUE(succeeded(third_.try_acquire(shared(resource_))));
  EXPECT_TRUE(succeeded(adopted->release()));
}

TEST_F(Downgrade, ByItsToken) {
  auto lease = write();
  ASSERT_TRUE(succeeded(lease));
  const Token token = lease->detach().token;
  EXPECT_TRUE(
      failed_with(other_.downgrade(resource_, *Token::parse(hex_token())), Errc::not_holder));
  EXPECT_TRUE(failed_with(other_.downgrade(resource_ + "#3", token), Errc::invalid_argument));
  ASSERT_TRUE(succeeded(other_.downgrade(resource_, token)));
  EXPECT_TRUE(succeeded(third_.try_acquire(shared(resource_))));
  EXPECT_TRUE(succeeded(other_.extend(resource_, token, seconds(25))));
  EXPECT_TRUE(succeeded(other_.release(resource_, token)));
  EXPECT_TRUE(failed_with(other_.downgrade(resource_, token), Errc::not_holder));
}

TEST_F(Downgrade, IsRefusedInOneLineForOtherKinds) {
  const auto why = [&](const Target& target) {
    const auto lease = holder_.try_acquire(target, {.ttl = seconds(25)});
    EXPECT_TRUE(succeeded(lease));
    const auto refused = lease->downgrade();
    EXPECT_TRUE(failed_with(refused, Errc::invalid_argument));
    EXPECT_TRUE(lease->valid());
    return refused ? std::string() : refused.error().message;
  };
  const std::string allowed = "; the lease of one resource, as a writer, is allowed";
  EXPECT_EQ(why(permit(resource_, 2)), "downgrade: a permit has no readers" + allowed);
  EXPECT_EQ(why(owned(resource_, "me")),
            "downgrade: an owner may have other leases of the resource" + allowed);
  EXPECT_EQ(why(all_of({resource_ + "/1", resource_ + "/2"})),
            "downgrade: several resources are locked together" + allowed);
  EXPECT_EQ(why(interval(resource_ + "/3", seconds(25))),
            "downgrade: an interval keeps readers out" + allowed);
  Lease none;
  EXPECT_TRUE(failed_with(none.downgrade(), Errc::not_holder));
}

TEST_F(Downgrade, OfAnAsynchronousClient) {
  AsyncClient client = make_async_client(patient(nodes_.urls()));
  std::promise<Result<Lease>> granted;
  client.try_acquire(resource_, {.ttl = seconds(25)},
                     [&](Result<Lease> lease) { granted.set_value(std::move(lease)); });
  auto lease = granted.get_future().get();
  ASSERT_TRUE(succeeded(lease));
  std::promise<Result<Round>> done;
  client.downgrade(*lease, [&](Result<Round> round) { done.set_value(std::move(round)); });
  EXPECT_TRUE(succeeded(done.get_future().get()));
  EXPECT_TRUE(succeeded(other_.try_acquire(shared(resource_))));
}

// --- nodes that are down or do not answer ------------------------------------------------------

/// A lease of "r" that all nodes have granted.
Result<Lease> acquire_on_all(Client& client, const Nodes& nodes) {
  auto lease = acquire_patiently(client, "r", {.ttl = seconds(20)});
  EXPECT_TRUE(eventually([&] { return nodes.count_held("r") == nodes.size(); }));
  return lease;
}

TEST(DowngradeOverTheLoss, OfTwoOfFiveNodesLetsReadersInAndIsSeenToWhenTheyReturn) {
  Nodes nodes(5);
  Client client = make_client(impatient(nodes.urls()));
  Client other = make_client(impatient(nodes.urls()));
  auto lease = acquire_on_all(client, nodes);
  ASSERT_TRUE(succeeded(lease));
  nodes[1].kill();
  nodes[4].kill();
  ASSERT_TRUE(eventually([&] { return lease->downgrade().has_value(); }));
  auto reader = acquire_patiently(other, shared("r"), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(reader));
  EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
  nodes[1].restart();
  nodes[4].restart();
  // The restarted nodes have lost the key or still have the writer's: renewals give them the
  // reader's.
  for (RedisServer& node : nodes) {
    EXPECT_TRUE(eventually([&] {
      return lease->extend(seconds(20)) && node.command({"TYPE", "r"}).string == "zset";
    }));
  }
  EXPECT_TRUE(failed_with(client.try_acquire("r"), Errc::held));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(reader->release()));
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r")));
}

TEST(DowngradeOverTheLoss, OfAMajoritySaysThatItIsAReadersAndRenewalsGoOn) {
  Nodes nodes(3);
  Client client = make_client(impatient(nodes.urls()));
  Client other = make_client(impatient(nodes.urls()));
  auto lease = acquire_on_all(client, nodes);
  ASSERT_TRUE(succeeded(lease));
  nodes[0].stop();
  nodes[2].stop();
  const auto round = lease->downgrade();
  nodes[0].resume();
  nodes[2].resume();
  ASSERT_TRUE(failed_with(round, Errc::unavailable));
  EXPECT_NE(round.error().message.find("the lease is a reader's from now on"), std::string::npos)
      << round.error().message;
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(eventually([&] { return lease->extend(seconds(20)).has_value(); }));
  EXPECT_TRUE(succeeded(acquire_patiently(other, shared("r"), {.ttl = seconds(20)})));
  EXPECT_TRUE(eventually([&] { return lease->downgrade().has_value(); }));
  EXPECT_EQ(lease->detach().kind, Target::Kind::shared);
}

}  // namespace
}  // namespace redlock::test
