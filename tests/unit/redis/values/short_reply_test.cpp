#include "redis/values/short_reply.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "redis/values/reply.hpp"
#include "redis/values/visible.hpp"
#include "support/resp.hpp"

namespace redlock::redis {
namespace {

using Type = Value::Type;
namespace resp = test::resp;

std::string written_out(const Value& value) {
  std::string out = std::to_string(static_cast<int>(value.type)) + " " +
                    std::to_string(value.integer) + " " + visible(value.text, 512);
  for (const Value* element : value.elements) out += " (" + written_out(*element) + ")";
  return out;
}

/// The value in `bytes`, whose size is the same with bytes after it; fewer bytes are not a value.
Value read_whole(const std::string& bytes) {
  Value value;
  EXPECT_EQ(read_short_value(bytes, value), bytes.size()) << visible(bytes);
  Value again;
  EXPECT_EQ(read_short_value(bytes + "\r\n:1", again), bytes.size()) << visible(bytes);
  EXPECT_EQ(written_out(again), written_out(value));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Value untouched;
    EXPECT_EQ(read_short_value(std::string_view(bytes).substr(0, size), untouched), 0U);
    EXPECT_EQ(written_out(untouched), written_out(Value()));
  }
  return value;
}

std::size_t size_of_value(std::string_view bytes) {
  Value value;
  return read_short_value(bytes, value);
}

TEST(ShortReply, IsWhatALockCycleIsAnsweredWith) {
  EXPECT_EQ(read_whole("$-1\r\n").type, Type::nil);
  EXPECT_EQ(read_whole("+OK\r\n").text, "OK");
  EXPECT_EQ(read_whole(":1\r\n").integer, 1);
  EXPECT_EQ(read_whole(":0\r\n").integer, 0);
  EXPECT_EQ(read_whole(":-2\r\n").integer, -2);
  EXPECT_EQ(read_whole(":999999999999999999\r\n").integer, 999'999'999'999'999'999);
  EXPECT_EQ(read_whole(resp::bulk("")).text, "");
  EXPECT_EQ(read_whole(resp::bulk("a\r\nb")).text, "a\r\nb");
  EXPECT_EQ(read_whole(resp::bulk(std::string(256, 'x'))).text, std::string(256, 'x'));
}

TEST(ShortReply, IsNothingThatMayBeMalformedOrLarge) {
  for (const std::string bytes : {"",
                                  "\r\n",
                                  "+\r\n",
                                  "+OKAY\r\n",
                                  "+QUEUED\r\n",
                                  "-ERR x\r\n",
                                  "*-1\r\n",
                                  "*0\r\n",
                                  "_\r\n",
                                  "$-2\r\n",
                                  "$-01\r\n",
                                  "$00\r\n\r\n",
                                  "$03\r\nabc\r\n",
                                  "$+3\r\nabc\r\n",
                                  "$3\r\nabcXX",
                                  "$3\r\nabcd\r\n",
                                  "$3\nabc\r\n",
                                  "$3\r\nab\r\n\r\n",
                                  "$\r\n",
                                  "$-\r\n",
                                  ":\r\n",
                                  ":-\r\n",
                                  ":+1\r\n",
                                  ":-0\r\n",
                                  ":01\r\n",
                                  ":-01\r\n",
                                  ":1\n\r",
                                  ":1 \r\n",
                                  ":9223372036854775807\r\n",
                                  ":1000000000000000000\r\n"}) {
    EXPECT_EQ(size_of_value(bytes), 0U) << visible(bytes);
  }
  EXPECT_EQ(size_of_value(resp::bulk(std::string(1025, 'x'))), 0U);
  EXPECT_EQ(size_of_value("$999999999999999999\r\nx\r\n"), 0U);
}

TEST(ShortReply, OfResp3IsAlsoItsNullAndADouble) {
  const auto read = [](std::string_view bytes) {
    Value value;
    EXPECT_EQ(read_short_value(bytes, value), 0U) << "not in RESP2";
    const std::size_t size = read_short_value(bytes, value, Protocol::resp3);
    return std::to_string(size) + ": " + written_out(value);
  };
  const std::string none = "0: " + written_out(Value());
  EXPECT_EQ(read("_\r\n:1\r\n"), "3: " + written_out(Value()));
  EXPECT_EQ(read(",1.7e+15\r\n:1"), "10: " + written_out({.type = Type::bulk, .text = "1.7e+15"}));
  EXPECT_EQ(read(",1790000000123456\r\n"),
            "19: " + written_out({.type = Type::bulk, .text = "1790000000123456"}));
  for (const std::string bytes : {"_", "_\r", "_x\r\n", ",", ",1", ",1\r", ",1\rx", "#t\r\n"}) {
    EXPECT_EQ(read(bytes), none) << visible(bytes);
  }
  EXPECT_EQ(read("," + std::string(40, '1') + "\r\n"), none);
}

TEST(ShortReply, AnArrayIsAnnouncedByOneDigit) {
  EXPECT_EQ(read_short_array("*1\r\n"), 1U);
  EXPECT_EQ(read_short_array("*9\r\n$-1"), 9U);
  for (const std::string bytes :
       {"", "*", "*1", "*1\r", "*0\r\n", "*10\r\n", "*-1\r\n", "*x\r\n", "$1\r\n", "*1\n\r"}) {
    EXPECT_EQ(read_short_array(bytes), 0U) << visible(bytes);
  }
}

std::string time_in(const std::string& seconds, const std::string& micros) {
  return resp::array({resp::bulk(seconds), resp::bulk(micros)});
}

TEST(ShortReply, ATimeIsReadWhole) {
  const auto of = [](const std::string& bytes) {
    std::chrono::microseconds time{};
    EXPECT_EQ(read_time(bytes, time), bytes.size()) << visible(bytes);
    EXPECT_EQ(read_time(bytes + "+OK\r\n", time), bytes.size()) << visible(bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(read_time(std::string_view(bytes).substr(0, size), time), 0U) << size;
    }
    return time.count();
  };
  EXPECT_EQ(of(time_in("1790000000", "0")), 1'790'000'000'000'000);
  EXPECT_EQ(of(time_in("1790000000", "999999")), 1'790'000'000'999'999);
  EXPECT_EQ(of(time_in("1000000000", "7")), 1'000'000'000'000'007);
  EXPECT_EQ(of(time_in("9000000000", "000042")), 9'000'000'000'000'042);
}

TEST(ShortReply, ATimeIsNothingThatMayBeMalformedOrFarAway) {
  std::string unended = time_in("1790000000", "42");
  unended.back() = 'x';
  for (const std::string& bytes :
       {time_in("0999999999", "42"), time_in("9000000001", "42"), time_in("999999999", "42"),
        time_in("17900000000", "42"), time_in("-790000000", "42"), time_in("1790000000", "-2"),
        time_in("1790000000", "1000000"), time_in("1790000000", ""), time_in("17900x0000", "42"),
        time_in("1790000000", "4x"), resp::array({resp::bulk("1790000000"), resp::integer(42)}),
        resp::array({resp::bulk("1790000000")}), unended}) {
    std::chrono::microseconds time{42};
    EXPECT_EQ(read_time(bytes, time), 0U) << visible(bytes);
    EXPECT_EQ(time.count(), 42);
  }
}

std::string any_of(std::mt19937& random, const std::vector<std::string>& all) {
  return all[random() % all.size()];
}

/// With one byte at a time no value is ever complete, and hiredis reads it all.
std::vector<std::string> read_in_pieces(std::string_view bytes, std::size_t longest,
                                        std::mt19937& random) {
  ReplyReader reader;
  std::vector<std::string> values;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, 1 + random() % longest);
    bytes.remove_prefix(piece.size());
    reader.feed(piece);
    while (const Value* value = reader.next()) {
      values.push_back(written_out(*value));
      reader.recycle();
    }
  }
  if (reader.in_the_middle()) values.emplace_back("more");
  values.emplace_back(reader.malformed());
  return values;
}

TEST(ShortReply, IsReadByTheReaderAsHiredisReadsIt) {
  std::mt19937 random(7);
  const std::vector<std::string> simple{"$-1\r\n",
                                        "+OK\r\n",
                                        ":1\r\n",
                                        ":-1\r\n",
                                        ":9223372036854775807\r\n",
                                        resp::bulk(""),
                                        resp::bulk(std::string(40, 'a')),
                                        resp::bulk(std::string(300, 'b')),
                                        "*-1\r\n",
                                        "-ERR no\r\n"};
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes;
    for (auto count = 1 + random() % 12; count > 0; --count) {
      if (random() % 3 != 0) {
        bytes += any_of(random, simple);
        continue;
      }
      std::vector<std::string> elements(random() % 12);
      for (std::string& element : elements) element = any_of(random, simple);
      if (random() % 8 == 0) elements.push_back(resp::array({resp::integer(1), resp::bulk("x")}));
      bytes += resp::array(elements);
    }
    if (random() % 2 == 0) bytes[random() % bytes.size()] = "\r\n0-:$*x"[random() % 8];
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto by_hiredis = read_in_pieces(bytes, 1, random);
    ASSERT_EQ(read_in_pieces(bytes, bytes.size() + 1, random), by_hiredis) << visible(bytes);
    ASSERT_EQ(read_in_pieces(bytes, 20, random), by_hiredis) << visible(bytes);
  }
}

}  // namespace
}  // namespace redlock::redis
