// The number that grows with every lease of a resource.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "integration/guarded.hpp"
#include "redis/values/keys.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"

namespace redlock::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

[[nodiscard]] AcquireOptions fenced(std::chrono::nanoseconds ttl = seconds(20)) {
  AcquireOptions options{.ttl = ttl};
  options.fencing = true;
  return options;
}

/// The fencing token of a lease that is released at once; 0 if no lease was granted.
[[nodiscard]] std::uint64_t next_token(Client& client, const std::string& resource,
                                       std::chrono::nanoseconds ttl = seconds(20)) {
  auto lease = acquire_patiently(client, resource, fenced(ttl));
  EXPECT_TRUE(succeeded(lease));
  if (!lease) return 0;
  const auto token = lease->fencing_token();
  EXPECT_TRUE(token);
  EXPECT_TRUE(succeeded(lease->release()));
  return token.value_or(FencingToken()).value();
}

struct SkewedClient {
  std::string nodes;
  std::string resource;
  std::chrono::milliseconds max_ttl = limits::default_max_ttl;
  std::chrono::milliseconds wait = std::chrono::minutes(2);
  int leases = 1;
  std::chrono::seconds skew{0};

  [[nodiscard]] std::vector<std::string> words() const {
    return {skewed_client_program(),
            nodes,
            resource,
            std::to_string(max_ttl.count()),
            std::to_string(wait.count()),
            std::to_string(leases),
            std::to_string(skew.count())};
  }
};

/// A lease as its holder saw it.
struct FencedLease {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t token = 0;
};

[[nodiscard]] std::vector<FencedLease> leases_in(const std::string& output) {
  std::vector<FencedLease> leases;
  std::istringstream stream(output.substr(0, output.rfind('\n') + 1));
  for (FencedLease held; stream >> held.begin >> held.end >> held.token;) leases.push_back(held);
  return leases;
}

[[nodiscard]] std::uint64_t token_of(const SkewedClient& client) {
  const ProcessResult result = run_process(client.words());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto leases = leases_in(result.output);
  return leases.size() == 1 ? leases[0].token : 0;
}

TEST(Fencing, ATokenIsAbsentUnlessAskedFor) {
  Client client = make_client(patient(shared_urls(3)));
  const auto lease = client.try_acquire(fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(lease->fencing_token(), std::nullopt);
  EXPECT_EQ(Lease().fencing_token(), std::nullopt);
}

class FencingOver : public testing::TestWithParam<std::size_t> {};

TEST_P(FencingOver, NodesTokensOfSeveralClientsStrictlyIncrease) {
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(make_client(patient(shared_urls(GetParam()))));
  const auto resource = fresh_resource();
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    const auto token = next_token(clients[(i / 2) % clients.size()], resource);
    EXPECT_GT(token, last);
    EXPECT_LT(token, std::uint64_t{1} << 53);
    last = token;
  }
}

INSTANTIATE_TEST_SUITE_P(OneToFive, FencingOver, testing::Values(1, 2, 3, 4, 5));

TEST(Fencing, ContendersGetDistinctTokens) {
  constexpr std::size_t leases_each = 20;
  const auto resource = fresh_resource();
  std::mutex mutex;
  std::vector<FencingToken> tokens;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Client client = make_client(patient(shared_urls(5)));
      for (std::size_t i = 0; i < leases_each; ++i) {
        auto lease = acquire_patiently(client, resource, fenced());
        ASSERT_TRUE(succeeded(lease));
        const std::lock_guard lock(mutex);
        // Still under the distributed lock, so the order of `tokens` is the order of the leases.
        tokens.push_back(lease->fencing_token().value_or(FencingToken()));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(tokens.size(), 4 * leases_each);
  EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
  EXPECT_EQ(std::set(tokens.begin(), tokens.end()).size(), tokens.size());
}

TEST(Fencing, ATokenStaysOverExtensions) {
  Client client = make_client(patient(shared_urls(3)));
  auto options = fenced(seconds(3));
  auto lease = client.try_acquire(fresh_resource(), std::move(options));
  ASSERT_TRUE(succeeded(lease));
  const auto token = lease->fencing_token();
  ASSERT_TRUE(token);
  ASSERT_TRUE(succeeded(lease->extend(seconds(4))));
  EXPECT_EQ(lease->fencing_token(), token);
  const auto deadline = lease->valid_until();
  EXPECT_TRUE(eventually([&] { return lease->valid_until() > deadline; }, seconds(30)));
  EXPECT_EQ(lease->fencing_token(), token);
}

TEST(Fencing, InspectionShowsTheLastTokenWhileTheLockIsHeldAndAfterwards) {
  Client client = make_client(patient(shared_urls(3)));
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource, fenced());
  ASSERT_TRUE(succeeded(lease));
  const auto token = lease->fencing_token();
  const auto nodes_that_show_it = [&] {
    const auto inspection = client.inspect(resource);
    if (!inspection) return std::ptrdiff_t{0};
    return std::count_if(inspection->nodes.begin(), inspection->nodes.end(),
                         [&](const NodeInspection& node) { return node.fencing_token == token; });
  };
  EXPECT_GE(nodes_that_show_it(), 2);
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_GE(nodes_that_show_it(), 2);

  const auto untouched = client.inspect(fresh_resource());
  ASSERT_TRUE(succeeded(untouched));
  for (const NodeInspection& node : untouched->nodes) EXPECT_EQ(node.fencing_token, std::nullopt);
}

TEST(Fencing, LeasesWithoutATokenInBetweenDoNotMatter) {
  Client client = make_client(patient(shared_urls(3)));
  const auto resource = fresh_resource();
  const auto first = next_token(client, resource);
  EXPECT_TRUE(succeeded(acquire_patiently(client, resource)));
  EXPECT_GT(next_token(client, resource), first);
}

/// Stores a number for `member`: the time `ago` before now, in microseconds.
void number(const RedisServer& server, const std::string& member, std::chrono::nanoseconds ago) {
  const auto then = std::chrono::system_clock::now().time_since_epoch() - ago;
  const auto score = std::chrono::duration_cast<std::chrono::microseconds>(then).count();
  server.command(
      {"ZADD", std::string(redis::keys::fencing_numbers), std::to_string(score), member});
}

TEST(Fencing, NumbersThatWereNotRaisedForTwoDaysLeaveNothingBehind) {
  const RedisServer server;
  const std::string key(redis::keys::fencing_numbers);
  number(server, "", hours(72));
  for (int i = 0; i < 500; ++i) number(server, "old" + std::to_string(i), hours(60));
  number(server, "recent", hours(47));
  // Without the restart guard: opening the deployment would raise the floor that is set here.
  Client client = make_client(unguarded(patient({server.url()})));
  EXPECT_GT(next_token(client, "r"), 0U);
  // These remain: the floor, two numbers, and the name that makes Redis choose the faster encoding.
  EXPECT_TRUE(eventually([&] { return server.command({"ZCARD", key}).integer == 4; }));
  EXPECT_EQ(server.command({"OBJECT", "ENCODING", key}).string, "skiplist");
  EXPECT_FALSE(server.command({"ZSCORE", key, "recent"}).string.empty());
  const auto floor = std::stoll(server.command({"ZSCORE", key, ""}).string);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  EXPECT_GE(std::chrono::microseconds(floor), now - hours(49));
  EXPECT_LE(std::chrono::microseconds(floor), now - hours(47));
}

TEST(Fencing, ClientsAnHourApartAreOrderedByTheirLeases) {
  SkewedClient ahead{.nodes = shared_nodes(5).joined_urls(), .resource = fresh_resource()};
  SkewedClient behind = ahead;
  ahead.skew = hours(1);
  behind.skew = -hours(1);
  Client exact = make_client(patient(shared_urls(5)));
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    for (const SkewedClient* client : {&behind, &ahead}) {
      const auto token = token_of(*client);
      EXPECT_GT(token, last);
      last = std::max(last, token);
    }
    const auto token = next_token(exact, ahead.resource);
    EXPECT_GT(token, last);
    last = token;
  }
}

TEST(Fencing, AClientWhoseClockIsDaysAheadIsRefusedWithTheReason) {
  const SkewedClient lost{.nodes = shared_nodes(5).joined_urls(),
                          .resource = fresh_resource(),
                          .wait = seconds(0),
                          .skew = hours(48)};
  Client exact = make_client(patient(shared_urls(5)));
  const auto before = next_token(exact, lost.resource);
  const ProcessResult result = run_process(lost.words());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, HasSubstr("clock"));
  const auto after = next_token(exact, lost.resource);
  EXPECT_GT(after, before);
  EXPECT_LT(after, before + 3'600'000'000U) << "its numbers did not get in";
}

/// Nodes with the restart guard lose their data, one after the other.
class FencingAfterLoss : public testing::Test {
 protected:
  [[nodiscard]] ClientOptions options() const { return guarded(nodes_.urls()); }
  [[nodiscard]] std::uint64_t token_of_a_stranger() const {
    Client client = make_client(options());
    return next_token(client, "r", short_max_ttl);
  }

  NewNodes nodes_{3};
};

TEST_F(FencingAfterLoss, OfOneNodeAfterTheOtherTokensStillIncrease) {
  open_deployment(options());
  // A token from a clock that is an hour ahead, so that no other clock makes up for a forgotten
  // number.
  auto last = token_of(
      {.nodes = nodes_.joined_urls(), .resource = "r", .max_ttl = short_max_ttl, .skew = hours(1)});
  ASSERT_GT(last, 0U);
  // A client that stays connected: a stranger may get the other nodes' votes and end before it has
  // met the restarted node. A client that never wanted a lock would not take the node back.
  Client witness = make_client(options());
  ASSERT_TRUE(succeeded(witness.acquire("witness", {.ttl = short_max_ttl})));
  for (RedisServer& node : nodes_) {
    node.restart(Data::wipe);
    for (int i = 0; i < 2; ++i) {
      const auto token = token_of_a_stranger();
      EXPECT_GT(token, last);
      last = token;
    }
    ASSERT_TRUE(soon_out_of_quarantine(node));
    const auto token = token_of_a_stranger();
    EXPECT_GT(token, last);
    last = token;
  }
}

TEST_F(FencingAfterLoss, OfAllNodesAtOnceTokensStillIncrease) {
  open_deployment(options());
  const auto before = token_of_a_stranger();
  for (RedisServer& node : nodes_) node.restart(Data::wipe);
  EXPECT_GT(token_of_a_stranger(), before);
}

/// Every token is larger than those of all leases that ended before its own lease began.
void expect_ordered(std::vector<FencedLease> leases) {
  std::sort(leases.begin(), leases.end(),
            [](const FencedLease& a, const FencedLease& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < leases.size(); ++i) {
    const FencedLease& before = leases[i - 1];
    const FencedLease& after = leases[i];
    EXPECT_LE(before.end, after.begin) << "two leases at once, numbers " << i - 1 << " and " << i;
    EXPECT_LT(before.token, after.token) << "leases number " << i - 1 << " and " << i;
  }
}

TEST(FencingUnderChaos, TokensOfClientsWithWrongClocksFollowTheLeasesWhileNodesForget) {
  constexpr int contenders = 16;
  const auto max_ttl = seconds(2);
  NewNodes nodes(5);
  auto options = patient(nodes.urls());
  options.max_ttl = max_ttl;
  open_deployment(options);

  std::vector<ChildProcess> clients;
  for (int i = 0; i < contenders; ++i) {
    const auto skew = std::chrono::minutes(120 * i / (contenders - 1) - 60);
    clients.emplace_back(SkewedClient{.nodes = nodes.joined_urls(),
                                      .resource = "r",
                                      .max_ttl = max_ttl,
                                      .leases = 1'000'000,
                                      .skew = skew}
                             .words());
  }
  const auto all_leases = [&] {
    std::vector<FencedLease> leases;
    for (const ChildProcess& client : clients) {
      const auto some = leases_in(client.output());
      leases.insert(leases.end(), some.begin(), some.end());
    }
    return leases;
  };
  const auto soon_more = [&] {
    const auto before = all_leases().size();
    return eventually([&] { return all_leases().size() >= before + 30; }, seconds(60));
  };
  ASSERT_TRUE(soon_more());
  for (RedisServer& node : nodes) {
    node.kill();
    ASSERT_TRUE(soon_more());
    node.start(Data::wipe);
    // Leases during the quarantine give the node the numbers that it has forgotten.
    ASSERT_TRUE(soon_met(node));
    ASSERT_TRUE(soon_more());
    ASSERT_TRUE(soon_out_of_quarantine(node));
    ASSERT_TRUE(soon_more());
  }
  for (ChildProcess& client : clients) client.write_input("\n");
  for (ChildProcess& client : clients) {
    EXPECT_EQ(client.wait(), (ExitStatus{0, 0})) << client.errors();
  }
  const auto leases = all_leases();
  EXPECT_GE(leases.size(), 480U);
  expect_ordered(leases);
}

}  // namespace
}  // namespace redlock::test
