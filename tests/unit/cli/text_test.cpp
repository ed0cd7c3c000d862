#include "common/text/text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common/text/reasons.hpp"

namespace redlock::cli {
namespace {

TEST(CliText, KeepsWhatIsUtf8) {
  EXPECT_EQ(as_utf8("aé€😀"), "aé€😀");
  EXPECT_EQ(as_printable("aé€😀"), "aé€😀");
}

TEST(CliText, WritesBytesThatAreNoUtf8AsTheirNumbers) {
  EXPECT_EQ(as_utf8("\xff"), "\\xff");
  EXPECT_EQ(as_utf8("a\xc3"), "a\\xc3") << "cut off";
  EXPECT_EQ(as_utf8("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(as_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "behind the last code point";
  EXPECT_EQ(as_utf8("\x80z"), "\\x80z");
}

TEST(CliText, AWordOfACommandIsQuotedIfAShellWouldReadMoreIntoIt) {
  EXPECT_EQ(shell_word("redis://10.0.0.1:7001,unix:///run/a_b.sock"),
            "redis://10.0.0.1:7001,unix:///run/a_b.sock");
  EXPECT_EQ(shell_word("redis://[::1]:7001"), "'redis://[::1]:7001'") << "zsh would look for files";
  EXPECT_EQ(shell_word("a; rm -rf $HOME"), "'a; rm -rf $HOME'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("`id`\n"), "'`id`\\x0a'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(CliText, KeepsControlCharactersFromTheTerminalOnly) {
  EXPECT_EQ(as_printable("a\n\x1b[31m\x7f"), "a\\x0a\\x1b[31m\\x7f");
  EXPECT_EQ(as_printable("\xc2\x9b"), "\\xc2\\x9b") << "a C1 control";
  EXPECT_EQ(as_utf8("a\n"), "a\n");
  EXPECT_EQ(as_utf8(std::string_view("\0", 1)), std::string(1, '\0'));
}

TEST(CliText, KeepsCharactersThatReorderOrHideTextFromTheTerminal) {
  EXPECT_EQ(as_printable("a\u202egnp.exe"), "a\\xe2\\x80\\xaegnp.exe");
  EXPECT_EQ(as_printable("\u2066"), "\\xe2\\x81\\xa6");
  EXPECT_EQ(as_printable("\U000E0041"), "\\xf3\\xa0\\x81\\x81");
  for (const char* format : {"\u00ad", "\u061c", "\u180e", "\u200b", "\u200d", "\u200e", "\u200f",
                             "\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d", "\u2060",
                             "\u2067", "\u2068", "\u2069", "\u206f", "\ufeff", "\ufff9"}) {
    EXPECT_EQ(as_printable(format).find(format), std::string::npos) << as_printable(format);
    EXPECT_EQ(as_utf8(format), format);
  }
  // Their neighbours are ordinary text.
  for (const char* text : {"\u00ae", "\u061b", "\u061e", "\u2010", "\u2027", "\u2030", "\u2070"}) {
    EXPECT_EQ(as_printable(text), text);
  }
}

TEST(CliText, FindsPasswords) {
  EXPECT_TRUE(has_password("redis://:secret@host"));
  EXPECT_TRUE(has_password("rediss://user:secret@host:1/2"));
  EXPECT_TRUE(has_password("user:secret@host"));
  EXPECT_TRUE(has_password("redis://user:with/slash@host"));
  EXPECT_TRUE(has_password("redis+sentinel://s1;s2/m?servers=3&sentinel_password=secret"));
  EXPECT_FALSE(has_password("redis://user@host:6379"));
  EXPECT_FALSE(has_password("host:6379"));
  EXPECT_FALSE(has_password("redis://[::1]:6379/0"));
  EXPECT_FALSE(has_password("unix:///run/redis.sock"));
}

TEST(CliText, TakesPasswordsOutOfUrls) {
  EXPECT_EQ(without_password("redis://:secret@host"), "redis://@host");
  EXPECT_EQ(without_password("redis://user:se@cret@host:1"), "redis://user@host:1");
  EXPECT_EQ(without_password("redis+sentinel://u:a@s1;s2/m?sentinel_password=b&servers=3"),
            "redis+sentinel://u@s1;s2/m?sentinel_password=&servers=3");
  EXPECT_EQ(without_password("host:6379"), "host:6379");
}

TEST(Reasons, NameTheNodesOfOneReasonTogether) {
  Reasons reasons;
  EXPECT_EQ(reasons.text(), "");
  reasons.add("a", "refused");
  reasons.add("b", "late");
  reasons.add("c", "refused");
  EXPECT_EQ(reasons.text(), "a, c: refused; b: late");
}

}  // namespace
}  // namespace redlock::cli
