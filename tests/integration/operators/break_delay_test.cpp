// Locks that operators break and that nobody may acquire for a while: Client::break_lock with a
// delay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/library.hpp"
#include "redlock/listing.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Longer than a test takes.
constexpr BreakOptions for_long{.delay = 30s};

class BreakDelay : public testing::Test {
 protected:
  static constexpr std::size_t count = 3;

  static Client client_named(const std::string& name) {
    ClientOptions options = patient(shared_urls(count));
    options.name = name;
    return make_client(std::move(options));
  }

  void store(std::size_t node, const std::string& token) const {
    shared_nodes()[node].command({"SET", resource_, token, "PX", "60000"});
  }
  void store_everywhere(const std::string& token) const {
    for (std::size_t node = 0; node < count; ++node) store(node, token);
  }
  [[nodiscard]] auto break_it(const std::string& token, BreakOptions options = for_long) {
    return operator_.break_lock(resource_, *Token::parse(token), options);
  }

  /// The number of nodes that keep all clients out, for `longest` at most.
  [[nodiscard]] std::size_t delayed_nodes(std::chrono::milliseconds longest = 30s) {
    std::size_t delayed = 0;
    for (const NodeInspection& node : inspect().nodes) {
      if (!node.holder || !node.holder->is_delay()) continue;
      EXPECT_EQ(node.kind, LockKind::exclusive);
      EXPECT_GT(node.remaining, 0s);
      EXPECT_LE(node.remaining, longest);
      EXPECT_EQ(node.holder->name(), "on call");
      ++delayed;
    }
    return delayed;
  }
  [[nodiscard]] Inspection inspect() {
    auto seen = other_.inspect(resource_);
    EXPECT_TRUE(succeeded(seen));
    return seen ? *std::move(seen) : Inspection();
  }
  [[nodiscard]] bool eventually_waits(std::uint32_t clients) {
    return eventually([&] { return inspect().waiters == clients; });
  }
  /// Nobody gets the resource, in whatever way.
  void expect_that_everybody_is_kept_out() {
    for (Client* client : {&other_, &operator_}) {
      for (const Target& target :
           {Target(resource_), shared(resource_), owned(resource_, "nightly"),
            all_of({resource_, fresh_resource()})}) {
        const auto refused = client->try_acquire(target);
        EXPECT_TRUE(failed_with(refused, Errc::held));
        // A plain SET does not name the holders of holds, and asks for no time.
        const bool by_script =
            target.kind() == Target::Kind::shared || target.kind() == Target::Kind::owned;
        if (refused || !by_script) continue;
        EXPECT_THAT(refused.error().message, HasSubstr(" was broken by on call and is free in "));
      }
    }
    for (std::size_t node = 0; node < count; ++node) {
      const Reply set = shared_nodes()[node].command({"SET", resource_, "x", "NX", "PX", "1000"});
      EXPECT_EQ(set.kind, Reply::Kind::nil) << "another library's client";
    }
  }

  /// Holds the target on all nodes, as a reader or as an owner.
  [[nodiscard]] Lease hold(const Target& target) {
    auto lease = other_.try_acquire(target, {.ttl = 20s});
    EXPECT_TRUE(succeeded(lease));
    EXPECT_TRUE(eventually([&] {
      const auto seen = other_.inspect(resource_);
      return seen && std::all_of(seen->nodes.begin(), seen->nodes.end(), [&](const auto& node) {
               const auto& all = node.tokens;
               return std::find(all.begin(), all.end(), lease->token()) != all.end();
             });
    }));
    return *std::move(lease);
  }

  const std::string resource_ = fresh_resource();
  Client operator_ = client_named("on call");
  Client other_ = client_named("other");
};

TEST_F(BreakDelay, KeepsEverybodyOutWhereTheTokenWas) {
  store_everywhere("theirs");
  const auto broken = break_it("theirs");
  ASSERT_TRUE(succeeded(broken));
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  for (const Target& target : {Target(resource_), shared(resource_), owned(resource_, "nightly"),
                               interval(resource_, 1s), all_of({resource_, fresh_resource()})}) {
    EXPECT_TRUE(failed_with(other_.try_acquire(target), Errc::held));
    EXPECT_TRUE(failed_with(operator_.try_acquire(target), Errc::held)) << "the operator as well";
  }
  EXPECT_THAT(other_.try_acquire_for(resource_, 10ms).error().message,
              HasSubstr("was broken by on call and is free in "));
  EXPECT_TRUE(failed_with(other_.release(resource_, *Token::parse("theirs")), Errc::not_holder));
  EXPECT_TRUE(
      failed_with(other_.extend(resource_, *Token::parse("theirs"), 10s), Errc::not_holder));
  EXPECT_EQ(delayed_nodes(), count);
}

TEST_F(BreakDelay, WaitersGetItWhenItIsOver) {
  Client holder = client_named("holder");
  const auto held = holder.acquire(resource_, {.ttl = 20s});
  ASSERT_TRUE(succeeded(held));
  auto waiting = std::async(std::launch::async, [&] { return other_.acquire(resource_); });
  EXPECT_TRUE(eventually([&] {
    const auto seen = operator_.inspect(resource_);
    return seen && seen->waiters == 1;
  }));
  ASSERT_TRUE(succeeded(break_it(held->token().str(), {.delay = 1s})));
  // No node is free before the delay has passed on its own clock: TTL and time are read from the
  // node, in this order.
  std::array<std::int64_t, count> ends{};
  const auto milliseconds_of = [](const RedisServer& node) {
    const Reply time = node.command({"TIME"});
    return std::stoll(time.elements[0].string) * 1000 + std::stoll(time.elements[1].string) / 1000;
  };
  for (std::size_t node = 0; node < count; ++node) {
    const std::int64_t now = milliseconds_of(shared_nodes()[node]);
    ends[node] = now + std::max<std::int64_t>(shared_nodes()[node].pttl(resource_), 0);
  }
  const auto lease = waiting.get();
  ASSERT_TRUE(succeeded(lease));
  std::size_t over = 0;
  for (std::size_t node = 0; node < count; ++node) {
    if (milliseconds_of(shared_nodes()[node]) >= ends[node]) ++over;
  }
  EXPECT_GE(over, 2U) << "not passed on before";
  EXPECT_TRUE(shared_nodes()[0].get(resource_) || shared_nodes()[1].get(resource_));
}

TEST_F(BreakDelay, AHolderCannotTakeItBack) {
  AcquireOptions options;
  options.ttl = 1s;
  const auto lease = other_.acquire(resource_, options);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually(
      [&] { return shared_nodes().count_held_by(resource_, lease->token().str()) == count; }));
  ASSERT_TRUE(succeeded(break_it(lease->token().str())));
  EXPECT_TRUE(eventually([&] { return !lease->valid(); }, 30s));
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == count; }));
}

TEST_F(BreakDelay, OfAllReaders) {
  const Lease first = hold(shared(resource_));
  const Lease second = hold(shared(resource_));
  ASSERT_TRUE(succeeded(break_it(first.token().str())));
  EXPECT_TRUE(failed_with(other_.try_acquire(shared(resource_)), Errc::held));
  ASSERT_TRUE(succeeded(break_it(second.token().str())));
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  expect_that_everybody_is_kept_out();
}

/// Several hold the resource, and one hold is broken: the other holders go on, and the delay
/// outlives their holds.
class BreakDelayNextTo : public BreakDelay, public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] Target target() const {
    const std::string owner = GetParam();
    return owner.empty() ? shared(resource_) : owned(resource_, owner);
  }
  void SetUp() override {
    first_ = hold(target());
    second_ = hold(target());
  }
  void break_first(BreakOptions options = for_long) {
    ASSERT_TRUE(succeeded(break_it(first_->token().str(), options)));
    ASSERT_TRUE(eventually([&] { return nodes_with_a_delay() == count; }));
  }
  /// The nodes that have other holds and the delay.
  [[nodiscard]] std::size_t nodes_with_a_delay() {
    const Inspection seen = inspect();
    return static_cast<std::size_t>(
        std::count_if(seen.nodes.begin(), seen.nodes.end(), [](const NodeInspection& node) {
          return std::any_of(node.tokens.begin(), node.tokens.end(),
                             [](const Token& token) { return token.is_delay(); });
        }));
  }

  std::optional<Lease> first_;
  std::optional<Lease> second_;
};
INSTANTIATE_TEST_SUITE_P(Holds, BreakDelayNextTo, testing::Values("", "nightly"),
                         [](const auto& instance) {
                           return *instance.param == '\0' ? "of_readers" : "of_an_owner";
                         });

TEST_P(BreakDelayNextTo, AHoldThatIsReleasedKeepsWaitersOut) {
  // The first try must not be the last: W waits for as long as it takes.
  auto waiting = std::async(std::launch::async, [&] { return operator_.acquire(resource_); });
  ASSERT_TRUE(eventually_waits(1));
  break_first();
  ASSERT_TRUE(succeeded(second_->release()));
  ASSERT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  EXPECT_NE(waiting.wait_for(0s), std::future_status::ready);
  expect_that_everybody_is_kept_out();
  // The end of the delay, by its token.
  ASSERT_TRUE(succeeded(other_.break_lock(resource_, inspect().holder.value())));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_P(BreakDelayNextTo, AHoldThatExpiresKeepsEverybodyOut) {
  break_first();
  for (std::size_t node = 0; node < count; ++node) {
    shared_nodes()[node].command({"ZADD", resource_, "1", "hold:" + second_->token().str()});
  }
  ASSERT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  expect_that_everybody_is_kept_out();
}

TEST_P(BreakDelayNextTo, AHoldLetsNoNewOneIn) {
  break_first();
  const auto refused = other_.try_acquire(target());
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_THAT(refused.error().message, HasSubstr(" was broken by on call and is free in "));
}

TEST_P(BreakDelayNextTo, AHoldIsExtendedAndRepairedAfterTheDelay) {
  break_first({.delay = 1s});
  EXPECT_TRUE(succeeded(second_->extend(15s)));
  EXPECT_TRUE(failed_with(first_->extend(15s), Errc::not_holder));
  EXPECT_TRUE(second_->valid());
  // The key lives on, because a hold is left: so others can share it again.
  EXPECT_TRUE(eventually([&] { return succeeded(other_.try_acquire(target())); }, 30s));
}

TEST_P(BreakDelayNextTo, AHoldIsCountedWithoutTheDelay) {
  break_first();
  const Inspection seen = inspect();
  ASSERT_EQ(seen.nodes.size(), count);
  for (const NodeInspection& node : seen.nodes) {
    EXPECT_EQ(node.holds, 1U);
    EXPECT_EQ(node.tokens.size(), 2U) << "with the delay's";
  }
  const auto list = admin::list_locks(patient(shared_urls(count)), {.pattern = resource_});
  ASSERT_TRUE(succeeded(list));
  ASSERT_EQ(list->locks.size(), 1U);
  EXPECT_EQ(list->locks[0].holds, 1U);
  EXPECT_EQ(list->locks[0].kind, seen.kind);
  const auto released = second_->release();
  ASSERT_TRUE(succeeded(released));
  EXPECT_EQ(released->holds_left, 0U);
  ASSERT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  const auto after = admin::list_locks(patient(shared_urls(count)), {.pattern = resource_});
  ASSERT_TRUE(succeeded(after));
  ASSERT_EQ(after->locks.size(), 1U);
  EXPECT_TRUE(after->locks[0].holder && after->locks[0].holder->is_delay());
}

TEST_P(BreakDelayNextTo, AHoldThatIsBrokenTooDoesNotShortenTheDelay) {
  break_first();
  Client second = client_named("on call");
  ASSERT_TRUE(succeeded(second.break_lock(resource_, second_->token(), {.delay = 1ms})));
  ASSERT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  // Nor does a break of the delay.
  ASSERT_TRUE(succeeded(second.break_lock(resource_, inspect().holder.value(), {.delay = 1ms})));
  EXPECT_EQ(delayed_nodes(), count);
  for (std::size_t node = 0; node < count; ++node) {
    EXPECT_GT(shared_nodes()[node].pttl(resource_), 1) << "30 s are longer than a test takes";
  }
  expect_that_everybody_is_kept_out();
}

TEST_F(BreakDelay, OfAnOwner) {
  const Lease lease = hold(owned(resource_, "nightly"));
  ASSERT_TRUE(succeeded(break_it(lease.token().str())));
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  EXPECT_TRUE(failed_with(other_.try_acquire(owned(resource_, "nightly")), Errc::held));
}

TEST_F(BreakDelay, OfAPermitLeavesTheOthers) {
  const std::string permit = resource_ + "#0";
  for (std::size_t node = 0; node < count; ++node) {
    shared_nodes()[node].command({"SET", permit, "theirs", "PX", "60000"});
  }
  ASSERT_TRUE(succeeded(operator_.break_lock(permit, *Token::parse("theirs"), for_long)));
  const auto lease = other_.try_acquire(redlock::permit(resource_, 2));
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(lease->resource(), resource_ + "#1");
  EXPECT_TRUE(failed_with(operator_.try_acquire(redlock::permit(resource_, 2)), Errc::held));
}

TEST_F(BreakDelay, OfAnInterval) {
  store_everywhere(std::string(interval_token));
  ASSERT_TRUE(succeeded(break_it(std::string(interval_token))));
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == count; }));
}

TEST_F(BreakDelay, IsNotImposedWhereTheHolderReleasedBefore) {
  EXPECT_TRUE(failed_with(break_it("theirs"), Errc::not_holder));
  EXPECT_EQ(delayed_nodes(), 0U);
  store_everywhere("somebody else's");
  EXPECT_TRUE(failed_with(break_it("theirs"), Errc::not_holder));
  EXPECT_EQ(shared_nodes().count_held_by(resource_, "somebody else's"), count);
}

TEST_F(BreakDelay, OfAMinorityKeepsNobodyOut) {
  store(0, "theirs");
  EXPECT_TRUE(failed_with(break_it("theirs"), Errc::not_holder));
  // The other nodes' answers decide, so the delay may reach this node last.
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == 1; }));
  EXPECT_TRUE(succeeded(other_.try_acquire(resource_)));
}

TEST_F(BreakDelay, OfASplitIsOneForAllTokens) {
  for (std::size_t node = 0; node < count; ++node) store(node, "t" + std::to_string(node));
  for (std::size_t node = 0; node < count; ++node) {
    EXPECT_TRUE(failed_with(break_it("t" + std::to_string(node)), Errc::not_holder));
  }
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  const auto seen = other_.inspect(resource_);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->state, Inspection::State::held);
}

TEST_F(BreakDelay, EndsEarlyByItsOwnToken) {
  store_everywhere("theirs");
  ASSERT_TRUE(succeeded(break_it("theirs")));
  // A node that the delay reaches after its end would keep it.
  ASSERT_TRUE(eventually([&] { return delayed_nodes() == count; }));
  const auto seen = other_.inspect(resource_);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->holder_name, "on call");
  ASSERT_TRUE(succeeded(other_.break_lock(resource_, seen->holder.value())));
  EXPECT_TRUE(eventually([&] { return delayed_nodes() == 0; }));
  EXPECT_TRUE(succeeded(other_.try_acquire(resource_)));
}

TEST_F(BreakDelay, LeavesAnElectionWithoutALeader) {
  store_everywhere("theirs");
  Election election(other_, resource_);
  ASSERT_TRUE(election.leader()->has_value());
  ASSERT_TRUE(succeeded(break_it("theirs")));
  const auto leader = election.leader();
  ASSERT_TRUE(succeeded(leader));
  EXPECT_FALSE(leader->has_value());
}

TEST_F(BreakDelay, IsUpToTheMaxTtl) {
  store_everywhere("theirs");
  for (const BreakOptions wrong : {BreakOptions{.delay = 30s + 1ns}, BreakOptions{.delay = -1ns}}) {
    const auto refused = break_it("theirs", wrong);
    ASSERT_TRUE(failed_with(refused, Errc::invalid_argument));
    EXPECT_THAT(refused.error().message, HasSubstr("; up to the max TTL of 30 s is allowed"));
  }
  EXPECT_EQ(shared_nodes().count_held_by(resource_, "theirs"), count);
}

}  // namespace
}  // namespace redlock::test
