#include "api/options/admission.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redlock::api::test {
namespace {

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
}  // namespace redlock::api::test
