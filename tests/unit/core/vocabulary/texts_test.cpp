#include "core/vocabulary/texts.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

namespace redlock::core::test {
namespace {

TEST(Texts, AreTakenOffOneByOneWhateverIsInThem) {
  std::string_view texts = "6:shared0:5:a:1:b";
  EXPECT_EQ(take_text(texts), "shared");
  EXPECT_EQ(take_text(texts), "");
  EXPECT_EQ(take_text(texts), "a:1:b");
  EXPECT_EQ(take_text(texts), std::nullopt);
  EXPECT_TRUE(texts.empty());
}

TEST(Texts, ThatAreNoneStayAsTheyAre) {
  for (const std::string_view none :
       {"", ":", "x", "1", "1:", "-1:a", "3:ab", "99999999999999999999:a"}) {
    std::string_view texts = none;
    EXPECT_EQ(take_text(texts), std::nullopt) << none;
    EXPECT_EQ(texts, none);
  }
}

}  // namespace
}  // namespace redlock::core::test
