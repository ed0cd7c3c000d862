// Result, tokens and detached leases as values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>
#include <type_traits>
#include <unordered_set>

#include "redlock/async_mutex.hpp"
#include "redlock/clock.hpp"
#include "redlock/detached_lease.hpp"
#include "redlock/election.hpp"
#include "redlock/lease.hpp"
#include "redlock/result.hpp"

namespace redlock {
namespace {

// `while (granted)` on a Result would never end if its Lease converted to bool too.
static_assert(!std::is_constructible_v<bool, Lease>);
static_assert(!std::is_constructible_v<bool, Leadership>);
static_assert(!std::is_constructible_v<bool, AsyncMutexGuard>);

TEST(ResultOf, AValueIsReadWithoutACheckOrWithOne) {
  Result<int> seven = 7;
  EXPECT_EQ(*seven, 7);
  EXPECT_EQ(seven.value(), 7);
  EXPECT_EQ(std::as_const(seven).value(), 7);
  EXPECT_EQ(Result<int>(7).value(), 7);
  EXPECT_EQ(seven.error_or(Error{Errc::split, "none"}).message, "none");
  EXPECT_EQ(seven.transform_error([](Error error) { return error; }), 7);
}

TEST(ResultOf, AClosedClientIsNotSaidTwice) {
  const std::system_error closed(Errc::closed, "the client is closed");
  EXPECT_STREQ(closed.what(), "the client is closed: closed");
}

TEST(ResultOf, AnErrorThrowsWhatItIs) {
  const Result<int> held = Error{Errc::held, "held on 'r'"};
  try {
    static_cast<void>(held.value());
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), Errc::held);
    EXPECT_THAT(error.what(), testing::HasSubstr("held on 'r'"));
  }
  EXPECT_EQ(held.error_or(Error{}).code, Errc::held);
  const auto changed = held.transform_error([](Error error) {
    error.message = "for the invoice: " + error.message;
    return error;
  });
  EXPECT_EQ(changed.error().message, "for the invoice: held on 'r'");
}

TEST(ResultOf, AnErrorThatIsNotCheckedEndsTheProgram) {
  const Result<int> held = Error{Errc::held, "held on 'r'"};
  EXPECT_DEATH(static_cast<void>(*held), "redlock: a result without a value was read: held on 'r'");
  const Result<int> five = 5;
  EXPECT_DEATH(static_cast<void>(five.error()), "redlock: the error of a result was read");
}

TEST(TokenValue, IsHashedOrderedAndPrinted) {
  const Token a = *Token::parse("a");
  const Token b = *Token::parse("b");
  EXPECT_LT(a, b);
  const std::unordered_set<Token> known{a, b, a};
  EXPECT_EQ(known.size(), 2U);
  std::ostringstream text;
  text << a << ' ' << FencingToken(12);
  EXPECT_EQ(text.str(), "a 12");
}

TEST(Wait, TakesDurationsAndInstantsOfAnyKind) {
  using namespace std::chrono_literals;
  using std::chrono::duration;
  using std::chrono::nanoseconds;
  constexpr nanoseconds forever = nanoseconds::max();
  EXPECT_EQ(wait_detail::saturated(3ms), 3ms);
  EXPECT_EQ(wait_detail::saturated(-3ms), 0ns);
  EXPECT_EQ(wait_detail::saturated(nanoseconds::min()), 0ns);
  EXPECT_EQ(wait_detail::saturated(std::chrono::hours::max()), forever);
  EXPECT_EQ(wait_detail::saturated(duration<double>(1e300)), forever);
  EXPECT_EQ(wait_detail::saturated(duration<double>(std::numeric_limits<double>::infinity())),
            forever);
  EXPECT_EQ(wait_detail::saturated(duration<double>(std::numeric_limits<double>::quiet_NaN())),
            0ns);
  using Steady = std::chrono::steady_clock;
  EXPECT_EQ(wait_detail::time_left(Steady::time_point::max()), forever);
  EXPECT_EQ(wait_detail::time_left(Steady::time_point::min()), 0ns);
  EXPECT_EQ(wait_detail::time_left(BootClock::time_point::max()), forever);
  const nanoseconds left = wait_detail::time_left(std::chrono::system_clock::now() + 1h);
  EXPECT_GT(left, 0ns);
  EXPECT_LE(left, 1h);
}

DetachedLease detached_lease(std::vector<std::string> resources, std::string_view token,
                             Target::Kind kind = Target::Kind::exclusive) {
  DetachedLease lease;
  lease.resources = std::move(resources);
  lease.token = *Token::parse(token);
  lease.kind = kind;
  return lease;
}

DetachedLease some_lease() {
  DetachedLease lease =
      detached_lease({"jobs#3"}, "0123456789abcdef0123456789abcdef01234567:me, with, commas");
  lease.fencing_token = FencingToken(1'781'000'000'000'000);
  return lease;
}

TEST(DetachedLeaseText, IsOneWordThatSaysAll) {
  DetachedLease owned = detached_lease({"r"}, "t", Target::Kind::owned);
  owned.owner = "nightly job";
  const std::vector<DetachedLease> leases = {
      some_lease(), detached_lease({"a b", "ä\n%,", std::string("\0", 1)}, "\xff\x01"),
      detached_lease({"r"}, "t", Target::Kind::shared), owned};
  for (const DetachedLease& lease : leases) {
    const std::string text = lease.str();
    EXPECT_EQ(text.find_first_of(" \n\t\"'\\$`;&|<>*?"), std::string::npos) << text;
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; }));
    EXPECT_EQ(DetachedLease::parse(text), lease) << text;
  }
}

TEST(DetachedLeaseText, OfNothingIsEmptyAndRefused) {
  EXPECT_EQ(DetachedLease().str(), "");
  EXPECT_FALSE(DetachedLease::parse(""));
}

TEST(DetachedLeaseText, MayHaveBlanksAroundIt) {
  const std::string text = some_lease().str();
  EXPECT_EQ(DetachedLease::parse(text + "\n"), some_lease());
  EXPECT_EQ(DetachedLease::parse(" \t" + text + " \r\n"), some_lease());
  EXPECT_FALSE(DetachedLease::parse(" \n"));
}

TEST(DetachedLeaseText, IsNothingElse) {
  const std::string good = some_lease().str();
  ASSERT_TRUE(DetachedLease::parse(good));
  for (const std::string& text :
       {std::string(), std::string("1"), std::string("some text"), "2" + good.substr(1),
        good.substr(0, good.rfind(',')), good + "%", good + "%4", good + "%zz", good + " x",
        std::string("1,t,x,exclusive,,r"), std::string("1,t,1,other,,r"),
        std::string("1,,1,exclusive,,r"), std::string("1,t,99999999999999999999,exclusive,,r")}) {
    EXPECT_FALSE(DetachedLease::parse(text)) << text;
  }
}

}  // namespace
}  // namespace redlock
