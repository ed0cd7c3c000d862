#include "uv/resolver.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "uv/stream.hpp"
#include "uv_test_support.hpp"

namespace redlock::uv::test {
namespace {

constexpr std::uint16_t port = 7000;

[[nodiscard]] Address address(const std::string& host) { return *parse_literal(host, port); }

[[nodiscard]] Addresses addresses(const std::vector<std::string>& hosts) {
  Addresses list;
  for (const std::string& host : hosts) list.push_back(address(host));
  return list;
}

class Waiter final : public ResolverListener {
 public:
  void on_answer(const ResolvedHost& host) noexcept override {
    ++answers;
    problem = host.failed() ? host.problem : "";
    found = resolver == nullptr ? host.addresses : resolver->in_order(host.addresses);
  }
  const Resolver* resolver = nullptr;
  int answers = 0;
  std::string problem;
  Addresses found;
};

/// Counts the lookups, and answers none of them before `answer()`.
class NameServer {
 public:
  [[nodiscard]] HostLookup lookup(Addresses found) const {
    return [state = state_, found = std::move(found)](const std::string&, std::uint16_t) {
      ++state->asked;
      state->answering.wait();
      return ResolvedHost{nullptr, found};
    };
  }
  void answer() { state_->answering.count_down(); }
  [[nodiscard]] int asked() const { return state_->asked; }

 private:
  // Shared, because a lookup may outlive the test.
  struct State {
    std::atomic<int> asked{0};
    std::latch answering{1};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class ResolverTest : public testing::Test {
 protected:
  void resolve(Resolver& resolver, Waiter& waiter) {
    waiter.resolver = &resolver;
    resolver.resolve("host", port, waiter);
  }
  [[nodiscard]] bool answered(const Waiter& waiter) {
    return run_until(loop, [&] { return waiter.answers > 0; });
  }
  /// Whether a lookup succeeds soon: hung lookups of this test or an earlier one may end first.
  [[nodiscard]] bool soon_looks_up(Resolver& resolver) {
    return run_until(loop, [&] {
      Waiter waiter;
      resolve(resolver, waiter);
      resolver.forget(waiter);
      return waiter.problem.empty();
    });
  }
  Loop loop;
  NameServer names;
};

TEST_F(ResolverTest, RunsOneLookupForAllWhoAskWhileItHangs) {
  Resolver resolver(loop.get(), names.lookup(addresses({"127.0.0.1"})));
  Waiter first;
  Waiter second;
  Waiter gave_up;
  resolve(resolver, first);
  resolve(resolver, gave_up);
  resolver.forget(gave_up);
  resolve(resolver, second);
  names.answer();
  ASSERT_TRUE(answered(first) && answered(second));
  EXPECT_EQ(names.asked(), 1);
  EXPECT_EQ(first.found, addresses({"127.0.0.1"}));
  EXPECT_EQ(second.found, addresses({"127.0.0.1"}));
  EXPECT_EQ(gave_up.answers, 0);
}

TEST_F(ResolverTest, RunsNoSecondThreadForTriesThatWereGivenUp) {
  Resolver resolver(loop.get(), names.lookup(addresses({"127.0.0.1"})));
  for (int tries = 0; tries < 100; ++tries) {
    Waiter waiter;
    resolve(resolver, waiter);
    resolver.forget(waiter);
  }
  Waiter last;
  resolve(resolver, last);
  names.answer();
  ASSERT_TRUE(answered(last));
  EXPECT_EQ(names.asked(), 1);
}

TEST_F(ResolverTest, KeepsAnAnswerThatComesAfterEverybodyGaveUpForTheNext) {
  Resolver resolver(loop.get(), names.lookup(addresses({"127.0.0.1"})));
  Waiter gave_up;
  resolve(resolver, gave_up);
  resolver.forget(gave_up);
  names.answer();
  // The answer is there when the loop has nothing left to wait for.
  uv_run(loop.get(), UV_RUN_DEFAULT);
  Waiter next;
  resolve(resolver, next);
  EXPECT_EQ(next.answers, 1) << "without another lookup";
  EXPECT_EQ(names.asked(), 1);

  Waiter later;
  resolve(resolver, later);
  EXPECT_EQ(later.answers, 0) << "an answer is used once: addresses change";
  ASSERT_TRUE(answered(later));
  EXPECT_EQ(names.asked(), 2);
}

TEST_F(ResolverTest, StartsBehindTheAddressThatWasTriedLastUnlessItWorks) {
  names.answer();
  Addresses resolved = addresses({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  Resolver resolver(loop.get(), [&](const std::string&, std::uint16_t) {
    return ResolvedHost{nullptr, resolved};
  });
  const auto order = [&] {
    Waiter waiter;
    resolve(resolver, waiter);
    EXPECT_TRUE(answered(waiter));
    return waiter.found;
  };
  EXPECT_EQ(order(), addresses({"127.0.0.1", "127.0.0.2", "127.0.0.3"}));
  resolver.trying(address("127.0.0.1"));
  EXPECT_EQ(order(), addresses({"127.0.0.2", "127.0.0.3", "127.0.0.1"}));
  resolver.trying(address("127.0.0.2"));
  resolver.works(address("127.0.0.2"));
  EXPECT_EQ(order(), addresses({"127.0.0.2", "127.0.0.3", "127.0.0.1"}));
  resolver.trying(address("127.0.0.2"));
  EXPECT_EQ(order(), addresses({"127.0.0.3", "127.0.0.1", "127.0.0.2"})) << "it hangs by now";
  resolver.trying(address("127.0.0.3"));
  EXPECT_EQ(order(), addresses({"127.0.0.1", "127.0.0.2", "127.0.0.3"}));

  // Name servers rotate their answers: the address counts, not its position.
  resolved = addresses({"127.0.0.3", "127.0.0.1", "127.0.0.2"});
  EXPECT_EQ(order(), addresses({"127.0.0.1", "127.0.0.2", "127.0.0.3"}));
  resolved = addresses({"127.0.0.8", "127.0.0.9"});
  EXPECT_EQ(order(), addresses({"127.0.0.8", "127.0.0.9"})) << "the last one is gone";
}

TEST_F(ResolverTest, TellsWhatTheNameServerSaid) {
  Resolver resolver(loop.get(), [](const std::string&, std::uint16_t) {
    return ResolvedHost{"no such host", {}};
  });
  Waiter waiter;
  resolve(resolver, waiter);
  ASSERT_TRUE(answered(waiter));
  EXPECT_EQ(waiter.problem, "no such host");
}

TEST_F(ResolverTest, RunsABoundedNumberOfLookupsInAProcess) {
  for (std::size_t i = 0; i < most_lookups; ++i) {
    // Destroyed at once, as with a client that ends; the lookup still hangs.
    Resolver resolver(loop.get(), names.lookup({}));
    ASSERT_TRUE(soon_looks_up(resolver));
  }
  Waiter waiter;
  Resolver one_too_many(loop.get(), names.lookup(addresses({"127.0.0.1"})));
  resolve(one_too_many, waiter);
  EXPECT_EQ(waiter.problem, "too many other calls hang");

  names.answer();
  EXPECT_TRUE(soon_looks_up(one_too_many));
}

TEST_F(ResolverTest, TakesAStreamPastAnAddressThatHangs) {
  names.answer();
  LoopbackServer hangs(loop, LoopbackServer::Ip{"127.0.0.1"});
  LoopbackServer answers(loop, LoopbackServer::Ip{"127.0.0.1"});
  Resolver resolver(loop.get(), [&](const std::string&, std::uint16_t) {
    return ResolvedHost{
        nullptr,
        {*parse_literal("127.0.0.1", hangs.port()), *parse_literal("127.0.0.1", answers.port())}};
  });
  ASSERT_TRUE(soon_looks_up(resolver));
  Endpoint endpoint = hangs.endpoint("host");
  endpoint.resolver = &resolver;
  const auto reach = [&](LoopbackServer& server, bool works) {
    const int before = server.accepted;
    Recorder recorder;
    Stream stream(loop.get(), recorder);
    stream.open(endpoint);
    EXPECT_TRUE(run_until(loop, [&] { return server.accepted > before && recorder.opened > 0; }));
    if (works) stream.server_works();
    stream.close(CloseMode::reset);
  };
  reach(hangs, false);
  reach(answers, true);
  reach(answers, false);
  reach(hangs, false);
}

TEST(Address, HasATextAsInAUrl) {
  EXPECT_EQ(text_of(*parse_literal("10.0.0.7", 6379)), "10.0.0.7:6379");
  EXPECT_EQ(text_of(*parse_literal("::1", 6379)), "[::1]:6379");
}

}  // namespace
}  // namespace redlock::uv::test
