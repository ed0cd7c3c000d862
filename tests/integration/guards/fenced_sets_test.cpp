// Many fenced acquires in one turn of a client's loop ask each node for all numbers at once.

#include <gtest/gtest.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "integration/guarded.hpp"
#include "integration/library.hpp"
#include "uv/loop.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

constexpr const char* numbers = "redlock:node:numbers";

/// A client with both guards, as by default.
class FencedSets : public testing::Test {
 protected:
  FencedSets() {
    const ClientOptions options = guarded(nodes_.urls());
    open_deployment(options);
    auto created = AsyncClient::create(options, loop_.get());
    EXPECT_TRUE(succeeded(created));
    client_.emplace(*std::move(created));
    // Waits until all nodes vote and their clocks are known.
    acquire({"first"});
    run_until([&] { return nodes_.count_held("first") == 3; });
    leases_.clear();
    run_until([&] { return nodes_.count_held("first") == 0; });
  }
  ~FencedSets() override {
    leases_.clear();
    bool closed = false;
    client_->close([&](const CloseReport&) { closed = true; });
    run_until([&] { return closed; });
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const auto limit = BootClock::now() + seconds(60);
    while (!condition() && BootClock::now() < limit) uv_run(loop_.get(), UV_RUN_NOWAIT);
    ASSERT_TRUE(condition());
  }
  static std::vector<std::string> many(std::size_t count) {
    std::vector<std::string> resources;
    for (std::size_t i = 0; i < count; ++i) {
      resources.push_back(std::string("r").append(std::to_string(i)));
    }
    return resources;
  }
  /// Begins all acquires in one turn of the loop.
  void acquire(const std::vector<std::string>& resources) {
    std::size_t answered = 0;
    AcquireOptions options;
    options.ttl = short_max_ttl;
    options.fencing = true;
    for (const std::string& resource : resources) {
      client_->try_acquire(resource, options, [&, resource](Result<Lease> lease) {
        ++answered;
        if (lease) {
          leases_.insert_or_assign(resource, *std::move(lease));
        } else {
          errors_.insert_or_assign(resource, lease.error());
        }
      });
    }
    run_until([&] { return answered == resources.size(); });
  }
  std::int64_t number_at(std::size_t node, const std::string& resource) {
    return std::stoll(nodes_[node].command({"ZSCORE", numbers, resource}).string);
  }
  std::int64_t token_of(const std::string& resource) {
    const auto token = leases_.at(resource).fencing_token();
    return token ? static_cast<std::int64_t>(token->value()) : 0;
  }

  NewNodes nodes_ = NewNodes(3);
  uv::Loop loop_;
  std::optional<AsyncClient> client_;
  std::map<std::string, Lease> leases_;
  std::map<std::string, Error> errors_;
};

TEST_F(FencedSets, OfOneTurnRaiseTheirNumbersInOneCommand) {
  const std::vector<std::string> resources = many(50);
  const int before = calls(nodes_[0], "zadd");
  const int clocks_before = calls(nodes_[0], "time");
  acquire(resources);
  ASSERT_EQ(leases_.size(), 50U);
  run_until([&] { return nodes_.count_held("r49") == 3; });
  // On a slow machine the turn lasts long enough for the client to read a clock between two
  // acquires.
  EXPECT_LE(calls(nodes_[0], "zadd") - before, 1 + calls(nodes_[0], "time") - clocks_before);
  for (const std::string& resource : resources) {
    EXPECT_GT(token_of(resource), 0);
    EXPECT_EQ(number_at(0, resource), token_of(resource)) << resource;
  }
  std::optional<std::uint64_t> in_more_rounds;
  client_->metrics(
      [&](Result<Metrics> metrics) { in_more_rounds = std::move(metrics)->fenced_in_more_rounds; });
  run_until([&] { return in_more_rounds.has_value(); });
  EXPECT_EQ(in_more_rounds, 0U);
}

TEST_F(FencedSets, HaveAllTheirTokensWhereOneNumberIsNotTheHighest) {
  // A number as from a client whose clock is an hour ahead.
  acquire({"r1"});
  const std::int64_t ahead = token_of("r1") + 3'600'000'000;
  leases_.clear();
  run_until([&] { return nodes_.count_held("r1") == 0; });
  for (std::size_t node = 0; node < 3; ++node) {
    nodes_[node].command({"ZADD", numbers, std::to_string(ahead), "r1"});
  }
  acquire(many(20));
  ASSERT_EQ(leases_.size(), 20U);
  EXPECT_GT(token_of("r1"), ahead);
  EXPECT_LT(token_of("r0"), ahead);
  for (const auto& [resource, lease] : leases_) {
    std::vector<std::int64_t> there;
    for (std::size_t node = 0; node < 3; ++node) there.push_back(number_at(node, resource));
    EXPECT_GE(std::count(there.begin(), there.end(), token_of(resource)), 2) << resource;
  }
}

TEST_F(FencedSets, AreGrantedBesideOneThatIsHeld) {
  for (std::size_t node = 0; node < 3; ++node) {
    nodes_[node].command({"SET", "r3", "somebody", "PX", "60000"});
  }
  nodes_[0].command({"HSET", "r4", "field", "value"});
  acquire(many(10));
  EXPECT_EQ(leases_.size(), 9U);
  ASSERT_TRUE(errors_.contains("r3"));
  EXPECT_EQ(errors_.at("r3").code, Errc::held);
  EXPECT_GT(token_of("r4"), 0) << "on the two other nodes";
}

/// Clients that have many acquires in flight for the same few resources, until a number of leases
/// were granted. Each token is larger than the one before it, and than the number that a quorum
/// knew when the acquire began.
class Rivals {
 public:
  Rivals(std::vector<AsyncClient*> clients, std::size_t lanes, std::size_t wanted)
      : clients_(std::move(clients)), wanted_(wanted) {
    for (AsyncClient* const client : clients_) {
      for (std::size_t lane = 0; lane < lanes; ++lane) begin(*client);
    }
  }

  static constexpr std::size_t resources = 12;
  /// Records a number that a quorum knows.
  void raised(std::size_t which, std::uint64_t number) { known_[which] = number; }

  [[nodiscard]] bool done() const { return running_ == 0; }
  [[nodiscard]] std::size_t granted() const { return granted_; }
  [[nodiscard]] std::size_t refused() const { return refused_; }

 private:
  void begin(AsyncClient& client) {
    ++running_;
    go_on(client);
  }
  void go_on(AsyncClient& client) {
    if (granted_ >= wanted_) {
      --running_;
      return;
    }
    const std::size_t which = random_() % last_.size();
    AcquireOptions options;
    options.ttl = short_max_ttl;
    options.fencing = true;
    client.try_acquire("rival/" + std::to_string(which), options,
                       [this, &client, which, known = known_[which]](Result<Lease> lease) {
                         if (lease) return hold(client, which, known, *std::move(lease));
                         ++refused_;
                         go_on(client);
                       });
  }
  void hold(AsyncClient& client, std::size_t which, std::uint64_t known, Lease lease) {
    ++granted_;
    const auto token = lease.fencing_token();
    ASSERT_TRUE(token);
    EXPECT_GT(token->value(), std::max(known, last_[which])) << which;
    last_[which] = token->value();
    client.release(std::move(lease), [this, &client](const Result<Round>&) { go_on(client); });
  }

  std::vector<AsyncClient*> clients_;
  std::size_t wanted_;
  std::array<std::uint64_t, resources> last_{};  // tokens
  std::array<std::uint64_t, resources> known_{};
  std::minstd_rand random_{7};
  std::size_t running_ = 0;
  std::size_t granted_ = 0;
  std::size_t refused_ = 0;
};

TEST_F(FencedSets, OfClientsThatWantTheSameHaveRisingTokens) {
  std::vector<AsyncClient> others;
  std::vector<AsyncClient*> all{&*client_};
  for (int other = 0; other < 2; ++other) {
    auto created = AsyncClient::create(guarded(nodes_.urls()), loop_.get());
    ASSERT_TRUE(succeeded(created));
    others.push_back(*std::move(created));
  }
  for (AsyncClient& other : others) all.push_back(&other);
  Rivals rivals(all, 16, 2'000);
  // Meanwhile, now and then a client takes the resources whose clock is further ahead each time.
  std::uint64_t ahead = std::stoull(nodes_[0].command({"TIME"}).elements.at(0).string) * 1'000'000;
  std::size_t next = 100;
  run_until([&] {
    if (rivals.granted() < next) return rivals.done();
    next += 100;
    ahead += 1'000'000'000;
    const std::size_t which = next / 100 % Rivals::resources;
    for (std::size_t node = 0; node < 2; ++node) {
      nodes_[node].command(
          {"ZADD", numbers, std::to_string(ahead), "rival/" + std::to_string(which)});
    }
    rivals.raised(which, ahead);
    return rivals.done();
  });
  EXPECT_GT(rivals.refused(), 0U);
  std::size_t open = others.size();
  for (AsyncClient& other : others) other.close([&](const CloseReport&) { --open; });
  run_until([&] { return open == 0; });
}

TEST_F(FencedSets, NeedASecondRoundTripWhereTheUserMayNotReadManyKeys) {
  for (std::size_t node = 0; node < 3; ++node) {
    ASSERT_TRUE(nodes_[node].command({"ACL", "SETUSER", "default", "-mget"}).is_ok());
  }
  acquire(many(5));
  EXPECT_EQ(leases_.size(), 5U);
  for (const auto& [resource, lease] : leases_) EXPECT_GT(token_of(resource), 0) << resource;
}

}  // namespace
}  // namespace redlock::test
