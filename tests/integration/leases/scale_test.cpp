// Everything that can be counted: one, ten, a hundred and a thousand of it, or as many as are
// allowed.

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <latch>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "redlock/limits.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

using Done = std::function<void(Result<Lease>)>;

/// Calls `ask` `count` times at once and waits for all answers, each of which must be a lease.
/// Leases are kept, or released as they arrive.
enum class Leases { kept, released };
std::vector<Lease> all_granted(std::size_t count, Leases what,
                               const std::function<void(std::size_t, Done)>& ask) {
  std::vector<Lease> leases;
  std::mutex mutex;
  std::string refused;
  std::latch answered(static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    ask(i, [&](Result<Lease> lease) {
      {
        const std::lock_guard lock(mutex);
        if (!lease) refused = lease.error().message;
        if (lease && what == Leases::kept) leases.push_back(*std::move(lease));
      }
      answered.count_down();
    });
  }
  answered.wait();
  EXPECT_EQ(refused, "");
  return leases;
}

class ScaleOverNodes : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static std::size_t count() { return GetParam(); }
  [[nodiscard]] std::string name(std::size_t i) const {
    return resource_ + ":" + std::to_string(i);
  }
  [[nodiscard]] static bool soon_held(const std::string& resource, std::size_t nodes) {
    return eventually([&] { return shared_nodes().count_held(resource) == nodes; }, seconds(30));
  }

  std::string resource_ = fresh_resource();
  AsyncClient client_ = make_async_client(patient(shared_urls(3)));
};

TEST_P(ScaleOverNodes, LeasesOfAClient) {
  std::vector<Lease> leases = all_granted(count(), Leases::kept, [&](std::size_t i, Done done) {
    client_.try_acquire(name(i), {.ttl = seconds(30), .fencing = i % 2 == 1}, std::move(done));
  });
  ASSERT_EQ(leases.size(), count());
  EXPECT_TRUE(soon_held(name(count() - 1), 3));
  for (const Lease& lease : leases) EXPECT_TRUE(lease.valid());
  leases.clear();
  for (const std::size_t i : {std::size_t{0}, count() / 2, count() - 1}) {
    EXPECT_TRUE(soon_held(name(i), 0));
  }
}

TEST_P(ScaleOverNodes, ReadersOfAClient) {
  std::vector<Lease> readers = all_granted(count(), Leases::kept, [&](std::size_t, Done done) {
    client_.try_acquire_for(shared(resource_), seconds(30), {.ttl = seconds(30)}, std::move(done));
  });
  ASSERT_EQ(readers.size(), count());
  Client writer = make_client(patient(shared_urls(3)));
  EXPECT_TRUE(failed_with(writer.try_acquire(resource_), Errc::held));
  // Each call returned after a quorum's answers; the last node may lag.
  EXPECT_TRUE(eventually([&] {
    const auto seen = writer.inspect(resource_);
    return seen && std::all_of(seen->nodes.begin(), seen->nodes.end(),
                               [](const NodeInspection& node) { return node.holds == count(); });
  }));
  readers.clear();
  EXPECT_TRUE(succeeded(acquire_patiently(writer, resource_)));
}

TEST_P(ScaleOverNodes, CallsOfAClientThatWaitForOneResource) {
  static_cast<void>(all_granted(count(), Leases::released, [&](std::size_t, Done done) {
    client_.try_acquire_for(resource_, seconds(120), {.ttl = seconds(30)}, std::move(done));
  }));
  EXPECT_TRUE(soon_held(resource_, 0));
}

TEST_P(ScaleOverNodes, Clients) {
  // Each client needs descriptors for its loop and for its node, and the node needs one for each
  // client.
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < 16 * count()) GTEST_SKIP() << "too few descriptors are allowed here";
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, 16 * count());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  std::vector<AsyncClient> clients;
  for (std::size_t i = 0; i < count(); ++i) {
    clients.push_back(make_async_client(patient(shared_urls(1))));
  }
  const std::vector<Lease> leases =
      all_granted(count(), Leases::kept, [&](std::size_t i, Done done) {
        clients[i].try_acquire_for(name(i), seconds(60), {.ttl = seconds(30)}, std::move(done));
      });
  EXPECT_EQ(leases.size(), count());
}

INSTANTIATE_TEST_SUITE_P(UpToAThousand, ScaleOverNodes, testing::Values(1, 10, 100, 1000));

class PermitsUpToTheMost : public testing::TestWithParam<std::size_t> {};

TEST_P(PermitsUpToTheMost, AreAllTakenAndNoMore) {
  AsyncClient client = make_async_client(patient(shared_urls(3)));
  const std::string resource = fresh_resource();
  const Target slot = permit(resource, GetParam());
  std::vector<Lease> taken = all_granted(GetParam(), Leases::kept, [&](std::size_t, Done done) {
    client.try_acquire_for(slot, seconds(30), {.ttl = seconds(30)}, std::move(done));
  });
  ASSERT_EQ(taken.size(), GetParam());
  Client other = make_client(patient(shared_urls(3)));
  EXPECT_TRUE(failed_with(other.try_acquire(slot), Errc::held));
  taken.pop_back();
  EXPECT_TRUE(succeeded(acquire_patiently(other, slot)));
}

INSTANTIATE_TEST_SUITE_P(Numbers, PermitsUpToTheMost, testing::Values(1, 10, 100, limits::permits));

class ResourcesUpToTheMost : public testing::TestWithParam<std::size_t> {};

TEST_P(ResourcesUpToTheMost, AreTakenTogether) {
  std::vector<std::string> names;
  const std::string resource = fresh_resource();
  for (std::size_t i = 0; i < GetParam(); ++i) names.push_back(resource + std::to_string(i));
  Client client = make_client(patient(shared_urls(3)));
  Client other = make_client(patient(shared_urls(3)));
  auto lease = client.try_acquire(all_of(names), {.ttl = seconds(20), .fencing = true});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(failed_with(other.try_acquire(names.back()), Errc::held));
  EXPECT_TRUE(succeeded(lease->extend(seconds(30))));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(acquire_patiently(other, names.back())));
}

INSTANTIATE_TEST_SUITE_P(Numbers, ResourcesUpToTheMost, testing::Values(1, 10, limits::resources));

class NodesUpToTheMost : public testing::TestWithParam<std::size_t> {};

TEST_P(NodesUpToTheMost, AreADeployment) {
  Nodes nodes(GetParam());
  Client client = make_client(patient(nodes.urls()));
  auto lease = client.try_acquire("r", {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(lease->round().quorum, GetParam() / 2 + 1);
  EXPECT_TRUE(eventually([&] { return nodes.count_held("r") == GetParam(); }));
  EXPECT_TRUE(succeeded(lease->extend(seconds(30))));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(eventually([&] { return nodes.count_held("r") == 0; }));
  // As many nodes as a quorum can spare are killed.
  for (std::size_t i = 0; 2 * (i + 1) < GetParam(); ++i) nodes[i].kill();
  EXPECT_TRUE(succeeded(make_client(patient(nodes.urls())).try_acquire("r")));
}

INSTANTIATE_TEST_SUITE_P(Numbers, NodesUpToTheMost, testing::Values(1, 2, 10, limits::nodes));

}  // namespace
}  // namespace redlock::test
