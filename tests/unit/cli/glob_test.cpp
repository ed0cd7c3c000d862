#include "common/text/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace redlock::cli {
namespace {

TEST(Glob, MatchesAsTheNodesDo) {
  for (const auto& [glob, text] : {std::pair{"*", ""},
                                   {"*", "a"},
                                   {"a*", "a"},
                                   {"a*c", "abbc"},
                                   {"a*b*c", "axxbyybzzc"},
                                   {"*ab", "aab"},
                                   {"a?c", "abc"},
                                   {"[a-c]x", "bx"},
                                   {"[c-a]x", "bx"},
                                   {"[^a]", "b"},
                                   {"[\\]]", "]"},
                                   {"[ab", "b"},
                                   {"\\*", "*"},
                                   {"\\a", "a"},
                                   {"a\\", "a\\"},
                                   {"*@host-7:*", "alice@host-7:4711 backup"}}) {
    EXPECT_TRUE(matches_glob(glob, text)) << glob << " " << text;
  }
  for (const auto& [glob, text] : {std::pair{"", "a"},
                                   {"a", ""},
                                   {"a", "ab"},
                                   {"a?c", "ac"},
                                   {"a*c", "ab"},
                                   {"[^a]", "a"},
                                   {"[a-c]", "d"},
                                   {"[a]", ""},
                                   {"\\*", "a"},
                                   {"a*b*c", "axxbyybzz"}}) {
    EXPECT_FALSE(matches_glob(glob, text)) << glob << " " << text;
  }
}

TEST(Glob, ThatTriesForALongTimeEnds) {
  std::string glob;
  for (int i = 0; i < 100; ++i) glob += "*a";
  EXPECT_FALSE(matches_glob(glob + "b", std::string(10'000, 'a')));
}

TEST(Glob, IsLiteralIfAllThatIsSpecialIsEscaped) {
  for (const char* literal : {"", "invoice/42", "a\\*", "a\\?\\[b]", "a\\\\", "a\\"}) {
    EXPECT_TRUE(is_literal_glob(literal)) << literal;
  }
  for (const char* pattern : {"*", "a?", "[a]", "\\\\*"}) {
    EXPECT_FALSE(is_literal_glob(pattern)) << pattern;
  }
  EXPECT_EQ(unescaped_glob("a\\*b\\\\"), "a*b\\");
  for (const char* text : {"a*b", "a?[b]", "a\\b", "\\"}) {
    EXPECT_EQ(unescaped_glob(escaped_glob(text)), text);
    EXPECT_TRUE(is_literal_glob(escaped_glob(text))) << text;
    EXPECT_TRUE(matches_glob(escaped_glob(text), text)) << text;
  }
  EXPECT_FALSE(looks_like_glob("a\\b"));
  EXPECT_TRUE(looks_like_glob("a\\*"));
}

}  // namespace
}  // namespace redlock::cli
