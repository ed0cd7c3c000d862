#include "redis/values/visible.hpp"

#include <gtest/gtest.h>

#include <string>

namespace redlock::redis {
namespace {

TEST(Visible, OrdinaryTextStaysWordForWord) {
  EXPECT_EQ(visible("MISCONF can't persist – größer"), "MISCONF can't persist – größer");
}

TEST(Visible, ControlCharactersBecomeEscapes) {
  EXPECT_EQ(visible(std::string("a\0b\x1b[2Jc\x7f\r\n\t", 12)), "a\\x00b\\x1b[2Jc\\x7f\\r\\n\\t");
  EXPECT_EQ(visible("x\xc2\x9b"), "x\\xc2\\x9b");
}

TEST(Visible, CharactersThatReorderOrHideTextBecomeEscapes) {
  EXPECT_EQ(visible("a\u202egnp.exe"), "a\\xe2\\x80\\xaegnp.exe");
  EXPECT_EQ(visible("\U000E0041b"), "\\xf3\\xa0\\x81\\x81b");
  for (const char* format : {"\u00ad", "\u061c", "\u180e", "\u200b", "\u200f", "\u2028", "\u202a",
                             "\u2060", "\u2066", "\u2069", "\ufeff", "\ufff9"}) {
    EXPECT_EQ(visible(format).find(format), std::string::npos) << visible(format);
  }
  // Neighbours of the escaped characters are kept, and so are truncated sequences.
  for (const char* text : {"\u00ae", "\u061b", "\u2010", "\u2027", "\u2070", "\xe2\x80", "\xff"}) {
    EXPECT_EQ(visible(text), text);
  }
}

TEST(Visible, WhatIsLongerThanTheLimitIsCutAndSaysSo) {
  EXPECT_EQ(visible("0123456789", 10), "0123456789");
  EXPECT_EQ(visible("0123456789x", 10), "0123456...");
  EXPECT_EQ(visible("01234\x01\x01", 10), "01234...");
  EXPECT_EQ(visible("0123", 2), "");
}

TEST(Visible, NeverExceedsItsLimit) {
  const std::string hostile(1000, '\x01');
  for (std::size_t limit = 0; limit < 40; ++limit) {
    EXPECT_LE(visible(hostile, limit).size(), limit);
    EXPECT_LE(visible(std::string(1000, 'x'), limit).size(), limit);
  }
}

TEST(Visible, AppendsBehindWhatIsThere) {
  std::string out = "AUTH: ";
  append_visible(out, "no\n", 5);
  EXPECT_EQ(out, "AUTH: no\\n");
}

}  // namespace
}  // namespace redlock::redis
