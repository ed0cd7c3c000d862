#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "core/claim/delay_token.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

constexpr std::string_view own_id = "0123456789abcdef";

/// Tokens of 40 digits: 1, 2, … and zeros.
class CountedTokens final : public Randomness {
 public:
  [[nodiscard]] Token token() override {
    const std::string number = std::to_string(++tokens_);
    return *Token::parse(std::string(Token::digits - number.size(), '0') + number);
  }
  [[nodiscard]] Duration between(Duration, Duration to) override { return to; }

 private:
  int tokens_ = 0;
};

Settings named(Duration longest = 30s) {
  Settings settings = Harness::settings_for(3);
  settings.client_id = own_id;
  settings.name = "backup";
  settings.max_ttl = longest;
  return settings;
}

TEST(Names, TokensOfAClientBeginWithItsId) {
  CountedTokens random;
  Engine engine(named(), random);
  std::vector<Command> out;
  engine.step(Instant(), TimePassed{}, out);
  const std::array<std::string, 3> servers{"a", "b", "c"};
  for (NodeIndex node = 0; node < servers.size(); ++node) {
    engine.step(Instant(), NodeUp{node, servers[node], node}, out);
  }
  std::set<std::string> tokens;
  for (std::uint64_t request = 1; request <= 3; ++request) {
    Acquire acquire;
    acquire.request = CallId{request};
    acquire.resource = "resource";
    acquire.ttl = 10s;
    if (request == 3) acquire.name = "a lease's own";
    engine.step(Instant(), acquire, out);
  }
  engine.each_claim([&](const Claim& claim) { tokens.emplace(claim.token()); });
  EXPECT_EQ(tokens,
            (std::set<std::string>{"0123456789abcdef000000000000000000000001",
                                   "0123456789abcdef000000000000000000000002",
                                   "0123456789abcdef000000000000000000000003:a lease's own"}));
}

TEST(Names, AQueuedClientHasItsId) {
  Settings settings = named();
  settings.name.clear();
  Connected h(settings);
  h.acquire(1, 10s, 10s);
  h.answers({0, 1}, Reply::taken, "0123456789abcdef0123456789abcdef01234567", 10s);
  EXPECT_EQ(h.engine().client_id().view(), own_id);
}

TEST(Names, AreRenewedWhileThereIsALease) {
  Connected h(named(60s));
  h.acquire(1, 60s);
  h.answers({0, 1, 2}, Reply::granted);
  h.answers({0, 1, 2}, Reply::done);
  EXPECT_EQ(h.pass(29'999ms), "");
  EXPECT_EQ(h.pass(1ms), "write-name -> 0 1 2") << "at half the TTL";
  h.answers({0, 1, 2}, Reply::done);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::released), "released #2");
  EXPECT_EQ(h.pass(10min), "") << "an idle client sends nothing";
  EXPECT_EQ(h.acquire(3, 10s), "set t2 -> 0 1 2; write-name -> 0 1 2") << "it may have expired";
}

TEST(Names, ComeBackWithTheRenewalToANodeThatWasRestarted) {
  Connected h(named());
  h.acquire(1, 10s);
  h.answers({0, 1, 2}, Reply::granted);
  h.answers({0, 1, 2}, Reply::done);
  h.down(2);
  h.up(2);
  EXPECT_EQ(h.extend(2, 10s), "extend t1 -> 0 1 2; write-name -> 2");
}

TEST(Names, LastLongerThanALeaseThatWasRenewedLast) {
  for (const Duration longest : {Duration(20ms), Duration(30s), Duration(24h)}) {
    const Duration kept = name_kept_for(longest);
    EXPECT_GE(kept, 1min);
    EXPECT_GE(kept - kept / 4, longest + longest / 4);
  }
}

TEST(Names, AreKeptForTheLongestLeaseThatWasAskedFor) {
  Connected h(named(24h));
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 1 2; write-name -> 0 1 2");
  EXPECT_EQ(h.name_kept(), 1min) << "whatever the max TTL";
  h.answers({0, 1, 2}, Reply::granted);
  h.answers({0, 1, 2}, Reply::done);
  EXPECT_EQ(h.acquire(2, 30s), "set t2 -> 0 1 2");
  EXPECT_EQ(h.acquire(3, 2h), "set t3 -> 0 1 2; write-name -> 0 1 2") << "it would expire before";
  EXPECT_EQ(h.name_kept(), 4h);
  EXPECT_EQ(h.acquire(4, 1h), "set t4 -> 0 1 2");
}

TEST(Names, AreKeptForALeaseThatIsExtended) {
  Connected h(named(24h));
  h.acquire(1, 10s);
  h.answers({0, 1, 2}, Reply::granted);
  h.answers({0, 1, 2}, Reply::done);
  EXPECT_EQ(h.extend(2, 2h), "extend t1 -> 0 1 2; write-name -> 0 1 2");
  EXPECT_EQ(h.name_kept(), 4h);
}

TEST(Names, AreNotWaitedForWhereANodeHangs) {
  Settings settings = named();
  settings.shortest_limit = settings.longest_limit = 500ms;
  Connected h(settings);
  h.acquire(1, 10s);
  h.answers({0, 1, 2}, Reply::taken, "other", 10s);
  h.answers({0, 1, 2}, Reply::done);
  EXPECT_EQ(h.step(Shutdown{1s}), "write-name -> 0 1 2");
  EXPECT_EQ(h.answers({0, 1}, Reply::done), "");
  EXPECT_EQ(h.pass(100ms), "drained");
}

TEST(Names, OutliveAClientThatLeavesALease) {
  Connected h(named(24h));
  h.acquire(1, 10s);
  h.answers({0, 1, 2}, Reply::granted);
  h.answers({0, 1, 2}, Reply::done);
  h.step(Detach{h.lease});
  EXPECT_EQ(h.step(Shutdown{1s}), "drained");
  EXPECT_EQ(h.name_kept(), 1min);
}

TEST(Names, AreNotWrittenAgainWhereTheUserMayNot) {
  Connected h(named());
  h.acquire(1, 29s);
  h.answers({0, 1, 2}, Reply::granted);
  h.answer(0, Reply::error, "NOPERM no permissions to access a key");
  h.answer(1, Reply::error, "OOM command not allowed");
  h.answer(2, Reply::done);
  EXPECT_EQ(h.pass(15s), "write-name -> 1 2");
}

TEST(Names, TheTokenThatKeepsABrokenLockNamesTheOperator) {
  const Token token = delay_token(own_id, "on call");
  EXPECT_EQ(token.view(), std::string(own_id) + std::string(24, '0') + ":on call");
  EXPECT_TRUE(token.is_delay());
  EXPECT_EQ(token.client_id(), own_id);
  EXPECT_EQ(token.name(), "on call");
  EXPECT_TRUE(delay_token(own_id, "").is_delay());
  EXPECT_TRUE(delay_token(own_id, std::string(limits::name_bytes, 'x')).is_delay());
  const std::string digits = std::string(own_id) + std::string(23, '0');
  for (const std::string& other : {digits + "1", digits + "1:on call", digits, digits + "00",
                                   digits + "0x", std::string("0")}) {
    EXPECT_FALSE(Token::parse(other)->is_delay()) << other;
  }
  EXPECT_FALSE(Token().is_delay());
}

TEST(Names, ATokenKnowsWhoseItIs) {
  const auto client = [](const std::string& text) {
    return std::string(Token::parse(text)->client_id());
  };
  const std::string digits = std::string(own_id) + "0123456789abcdef01234567";
  EXPECT_EQ(client(digits), own_id);
  EXPECT_EQ(client(digits + ":nightly"), own_id);
  EXPECT_EQ(client(digits + "0"), "") << "another library's";
  EXPECT_EQ(client(digits.substr(1)), "");
  EXPECT_EQ(client("X" + digits.substr(1)), "");
}

}  // namespace
}  // namespace redlock::core::test
