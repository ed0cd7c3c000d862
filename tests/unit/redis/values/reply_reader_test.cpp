#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "redis/values/reply.hpp"
#include "redis/values/visible.hpp"
#include "redlock/limits.hpp"
#include "support/resp.hpp"
#include "support/shown_values.hpp"

namespace redlock::redis {
namespace {

/// Feeds all at once; a malformed reply is the last element.
std::vector<std::string> read(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  std::vector<std::string> values = drain(reader);
  if (!reader.malformed().empty()) values.push_back("! " + std::string(reader.malformed()));
  return values;
}

bool refuses(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  while (reader.next() != nullptr) reader.recycle();
  return !reader.malformed().empty();
}

const std::string stream =
    "+OK\r\n-NOSCRIPT No matching "
    "script.\r\n:-2\r\n:9223372036854775807\r\n$-1\r\n*-1\r\n$0\r\n\r\n"
    "$5\r\na\r\nb\n\r\n*0\r\n*3\r\n$-1\r\n:1500\r\n*2\r\n+x\r\n*1\r\n$1\r\ny\r\n+\r\n";

const std::vector<std::string> values_of_stream{"+OK", "-NOSCRIPT No matching script.",
                                                ":-2", ":9223372036854775807",
                                                "nil", "nil",
                                                "$",   "$a\\r\\nb\\n",
                                                "[]",  "[nil :1500 [+x [$y ] ] ]",
                                                "+"};

TEST(ReplyReader, ReadsAStreamOfAllKindsOfValues) { EXPECT_EQ(read(stream), values_of_stream); }

TEST(ReplyReader, ReadsTheSameWhereverTheBytesAreSplit) {
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    for (std::size_t second = first; second <= stream.size(); ++second) {
      ReplyReader reader;
      std::vector<std::string> values;
      const std::string_view all = stream;
      for (const auto part :
           {all.substr(0, first), all.substr(first, second - first), all.substr(second)}) {
        reader.feed(part);
        for (std::string& value : drain(reader)) values.push_back(std::move(value));
      }
      ASSERT_EQ(values, values_of_stream) << first << " " << second;
      ASSERT_EQ(reader.malformed(), "");
      ASSERT_FALSE(reader.in_the_middle());
    }
  }
}

TEST(ReplyReader, ReadsTheSameByteByByteForLong) {
  ReplyReader reader;
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<std::string> values;
    for (const char byte : stream) {
      reader.feed({&byte, 1});
      for (std::string& value : drain(reader)) values.push_back(std::move(value));
    }
    ASSERT_EQ(values, values_of_stream);
  }
}

TEST(ReplyReader, KnowsWhenItIsInTheMiddleOfAValue) {
  ReplyReader reader;
  EXPECT_FALSE(reader.in_the_middle());
  for (const char* part : {"$3\r\nab", "c", "\r"}) {
    reader.feed(part);
    EXPECT_EQ(reader.next(), nullptr);
    EXPECT_TRUE(reader.in_the_middle());
  }
  reader.feed("\n");
  EXPECT_NE(reader.next(), nullptr);
  EXPECT_FALSE(reader.in_the_middle());
  reader.feed("*2\r\n:1\r\n");
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_TRUE(reader.in_the_middle());
}

TEST(ReplyReader, ValuesStayValidUntilTheyAreTakenBack) {
  ReplyReader reader;
  reader.feed("$3\r\none\r\n+two\r\n");
  const Value* first = reader.next();
  ASSERT_NE(first, nullptr);
  const Value* second = reader.next();
  ASSERT_NE(second, nullptr);
  reader.feed("$5000\r\n" + std::string(5000, 'x') + "\r\n");
  ASSERT_NE(reader.next(), nullptr);
  EXPECT_EQ(first->text, "one");
  EXPECT_EQ(second->text, "two");
}

TEST(ReplyReader, UsesTheSameValueAgainOnceItWasTakenBack) {
  ReplyReader reader;
  reader.feed("$40\r\n" + std::string(40, 'a') + "\r\n:1\r\n");
  const Value* first = reader.next();
  ASSERT_NE(first, nullptr);
  reader.recycle();
  const Value* second = reader.next();
  EXPECT_EQ(first, second);
  EXPECT_EQ(second->text, "");
  EXPECT_GE(second->text.capacity(), 40U);
}

TEST(ReplyReader, AnErrorIsMadeFitToBeShown) {
  EXPECT_EQ(read("-ERR a\tb\x1b[2J\r\n"), std::vector<std::string>{"-ERR a\\tb\\x1b[2J"});
  const auto values = read("-ERR " + std::string(5000, 'x') + "\r\n");
  ASSERT_EQ(values.size(), 1U);
  EXPECT_LE(values[0].size(), 1 + message_bytes);
}

TEST(ReplyReader, AcceptsWhatIsJustWithinTheLimits) {
  const auto bulk = test::resp::bulk(std::string(limits::reply_bytes, 'x'));
  EXPECT_FALSE(refuses(bulk));
  EXPECT_FALSE(refuses(test::resp::array(std::vector<std::string>(64, ":1\r\n"))));
  EXPECT_FALSE(refuses("*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"));
  ReplyReader reader;
  for (std::size_t start = 0; start < bulk.size(); start += 65536) {
    reader.feed(std::string_view(bulk).substr(start, 65536));
    if (start + 65536 < bulk.size()) {
      ASSERT_EQ(reader.next(), nullptr);
    }
    ASSERT_EQ(reader.malformed(), "");
  }
  ASSERT_NE(reader.next(), nullptr);
}

TEST(ReplyReader, RefusesWhatNoRedisServerSends) {
  const std::vector<std::string> hostile{
      "HTTP/1.1 400 Bad Request\r\n",
      "\r\n",
      std::string("\0\0", 2),
      "\x16\x03\x01",
      "$-2\r\n",
      "$-9223372036854775808\r\n",
      "$9223372036854775807\r\n",
      "$9223372036854775808\r\n",
      "$18446744073709551615\r\n",
      "$18446744073709551616\r\n",
      "$1048577\r\n",
      "$1e3\r\n",
      "$ 3\r\nabc\r\n",
      "$\r\n",
      "$-\r\n",
      "$03\r\nabc\r\n",
      "$3\r\nabcXX",
      "$3\r\nabcdef\r\n",
      "$3\r\nabc\n\r",
      "*-2\r\n",
      "*65\r\n",
      "*1000000\r\n",
      "*2147483647\r\n",
      "*2147483648\r\n",
      "*4294967297\r\n",
      "*9223372036854775807\r\n",
      "*18446744073709551615\r\n",
      "*x\r\n",
      "*\r\n",
      "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
      ":\r\n",
      ":-\r\n",
      ":+1\r\n",
      ":1 \r\n",
      ": 1\r\n",
      ":0x1\r\n",
      ":1.5\r\n",
      ":9223372036854775808\r\n",
      ":-9223372036854775809\r\n",
      ":99999999999999999999999999\r\n",
      ":abc\r\n",
      // RESP3, which was not requested
      "_\r\n",
      "#t\r\n",
      ",1.5\r\n",
      "(12345\r\n",
      "!5\r\nERR x\r\n",
      "=7\r\ntxt:abc\r\n",
      "%1\r\n+a\r\n:1\r\n",
      "~1\r\n:1\r\n",
      ">1\r\n:1\r\n",
      "|1\r\n+a\r\n:1\r\n",
      "*1\r\n_\r\n",
  };
  for (const std::string& bytes : hostile) EXPECT_TRUE(refuses(bytes)) << visible(bytes);
}

TEST(ReplyReader, RefusesALineWithoutAnEnd) {
  for (const char type : std::string("+-:$*")) {
    ReplyReader reader;
    reader.feed({&type, 1});
    std::size_t fed = 0;
    while (reader.next() == nullptr && reader.malformed().empty() && fed < limits::reply_bytes) {
      // A carriage return alone does not end a line.
      reader.feed("0123456789\r0123456789\r0123456789\r");
      fed += 33;
    }
    EXPECT_NE(reader.malformed(), "") << type;
    EXPECT_LT(fed, 20'000U) << type;
  }
}

TEST(ReplyReader, RefusesABulkByItsLengthBeforeItArrives) {
  EXPECT_TRUE(refuses("*1\r\n$2000000000\r\nx"));
  EXPECT_FALSE(refuses("$1000000\r\nx"));
}

TEST(ReplyReader, RefusesMuchInManyPieces) {
  const std::string half = test::resp::bulk(std::string(limits::reply_bytes / 2 + 1, 'x'));
  EXPECT_TRUE(refuses(test::resp::array({half, half})));
  EXPECT_FALSE(refuses(half + half));
  const std::string wide = test::resp::array(std::vector<std::string>(64, ":1\r\n"));
  EXPECT_TRUE(refuses(test::resp::array(std::vector<std::string>(64, wide))));
}

TEST(ReplyReader, StaysRefusedAndReadsWhatCameBefore) {
  EXPECT_EQ(read("+OK\r\n:1\r\n?\r\n+OK\r\n").size(), 3U);
  ReplyReader reader;
  reader.feed("?");
  EXPECT_EQ(reader.next(), nullptr);
  const std::string why(reader.malformed());
  reader.feed("+OK\r\n");
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_EQ(reader.malformed(), why);
}

TEST(ReplyReader, SurvivesMutatedStreamsOfAllKinds) {
  std::mt19937 random(20'240'501);
  const std::string alphabet = "+-:$*_#,(!=%~>|\r\n0123456789-xOK \x01\xff";
  for (int round = 0; round < 4'000; ++round) {
    std::string bytes = stream;
    const auto changes = 1 + random() % 4;
    for (unsigned change = 0; change < changes; ++change) {
      const std::size_t at = random() % bytes.size();
      const char byte = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          bytes[at] = byte;
          break;
        case 1:
          bytes.insert(at, 1 + random() % 3, byte);
          break;
        default:
          bytes.erase(at, 1 + random() % 3);
          break;
      }
    }
    // Read whole and in pieces, the bytes must give the same values and the same verdict.
    ReplyReader pieces;
    std::vector<std::string> values;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = 1 + random() % 7;
      pieces.feed(std::string_view(bytes).substr(at, size));
      for (std::string& value : drain(pieces)) values.push_back(std::move(value));
      at += size;
    }
    if (!pieces.malformed().empty()) values.push_back("! " + std::string(pieces.malformed()));
    ASSERT_EQ(values, read(bytes)) << visible(bytes);
  }
}

}  // namespace
}  // namespace redlock::redis
