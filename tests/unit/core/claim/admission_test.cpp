#include "core/claim/admission.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redlock::core {
namespace {

TEST(Durations, HaveNoExponents) {
  using namespace std::chrono_literals;
  EXPECT_EQ(format_duration(0ns), "0 ms");
  EXPECT_EQ(format_duration(10ns), "10 ns");
  EXPECT_EQ(format_duration(-10ns), "-10 ns");
  EXPECT_EQ(format_duration(250us), "0.25 ms");
  EXPECT_EQ(format_duration(999ms), "999 ms");
  EXPECT_EQ(format_duration(1'499'500us * 1000), "1500 s");
  EXPECT_EQ(format_duration(-1'499'500us * 1000), "-1500 s");
  EXPECT_EQ(format_duration(1'499'499us * 1000), "1499 s");
  EXPECT_EQ(format_duration(29'698ms), "29.7 s");
  EXPECT_EQ(format_duration(10'000s), "10000 s");
  EXPECT_EQ(format_duration(Duration::max()), "9223372037 s");
  EXPECT_EQ(format_duration(Duration::min()), "-9223372037 s");
}

TEST(Admission, OfACallByTokenTakesEveryTargetThatNamesItsKeys) {
  const Token token = *Token::parse("abc");
  for (const Target& target : {Target("r"), shared("r"), owned("r", "me"), all_of({"r", "s"}),
                               interval("r", std::chrono::hours(1)), Target("r#3")}) {
    EXPECT_EQ(refuse_by_token({}, target, token), std::nullopt);
  }
  EXPECT_EQ(refuse_by_token({}, permit("r", 4), token),
            "resource: 'r' is a semaphore; by token the name of the permit is allowed: 'r#0' to "
            "'r#3'");
  EXPECT_EQ(refuse_by_token({}, "r", Token()), "token: empty");
  EXPECT_TRUE(refuse_by_token({}, all_of({"r", ""}), token));
  EXPECT_TRUE(refuse_by_token({}, all_of(std::vector<std::string>(65, "x")), token));
}

}  // namespace
}  // namespace redlock::core
