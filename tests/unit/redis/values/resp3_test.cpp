#include "redis/values/resp3.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "redis/values/reply.hpp"
#include "redis/values/visible.hpp"
#include "redlock/limits.hpp"
#include "support/resp.hpp"
#include "support/shown_values.hpp"

namespace redlock::redis {
namespace {

using Kind = Resp3::Kind;
using test::resp::bulk;

const std::string invalidation = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$19\r\nredlock:node:marker\r\n";
const std::string flush = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

/// The translation of `bytes`, which is the same with bytes after it; fewer bytes are incomplete.
std::string translated(const std::string& bytes, Kind kind = Kind::reply) {
  std::string out = "before ";
  const Resp3 found = translate_resp3(bytes + ">1\r\n", out);
  EXPECT_EQ(found.kind, kind) << visible(bytes) << (found.why != nullptr ? found.why : "");
  EXPECT_EQ(found.size, bytes.size()) << visible(bytes);
  EXPECT_TRUE(out.starts_with("before "));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string nothing;
    const Resp3 part = translate_resp3(std::string_view(bytes).substr(0, size), nothing);
    EXPECT_EQ(part.kind, Kind::incomplete) << visible(bytes) << " " << size;
    EXPECT_EQ(nothing, "");
  }
  return out.substr(7);
}

bool refused(const std::string& bytes) {
  std::string out;
  const Resp3 found = translate_resp3(bytes, out);
  EXPECT_EQ(out, "") << visible(bytes);
  return found.kind == Kind::malformed && found.why != nullptr;
}

TEST(Resp3, LeavesWhatIsResp2AsItIs) {
  for (const std::string bytes :
       {"+OK\r\n", "-NOSCRIPT No matching script.\r\n", ":-2\r\n", "$-1\r\n", "*-1\r\n",
        "$0\r\n\r\n", "$5\r\na\r\nb\n\r\n", "*0\r\n",
        "*3\r\n$-1\r\n:1500\r\n*2\r\n+x\r\n*1\r\n$1\r\ny\r\n"}) {
    EXPECT_EQ(translated(bytes), bytes);
  }
}

TEST(Resp3, PutsEveryTypeIntoResp2) {
  EXPECT_EQ(translated("_\r\n"), "$-1\r\n");
  EXPECT_EQ(translated("#t\r\n"), ":1\r\n");
  EXPECT_EQ(translated("#f\r\n"), ":0\r\n");
  EXPECT_EQ(translated(",1.7e+15\r\n"), bulk("1.7e+15"));
  EXPECT_EQ(translated(",1790000000123456\r\n"), bulk("1790000000123456"));
  EXPECT_EQ(translated(",-inf\r\n"), bulk("-inf"));
  EXPECT_EQ(translated("(3492890328409238509324850943850943825024385\r\n"),
            bulk("3492890328409238509324850943850943825024385"));
  EXPECT_EQ(translated("=16\r\ntxt:Some\r\nstring\r\n"), bulk("Some\r\nstring"));
  EXPECT_EQ(translated("=4\r\ntxt:\r\n"), bulk(""));
  EXPECT_EQ(translated("!9\r\nERR a\r\nb!\r\n"), "-ERR a  b!\r\n");
  EXPECT_EQ(translated("~2\r\n+a\r\n_\r\n"), "*2\r\n+a\r\n$-1\r\n");
  EXPECT_EQ(translated("%1\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n"),
            "*2\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n");
  EXPECT_EQ(translated("*2\r\n,1\r\n_\r\n"), "*2\r\n$1\r\n1\r\n$-1\r\n");
}

TEST(Resp3, TellsAPushFromAReply) {
  EXPECT_EQ(translated(invalidation, Kind::push), "*" + invalidation.substr(1));
  EXPECT_EQ(translated(flush, Kind::push), "*2\r\n$10\r\ninvalidate\r\n$-1\r\n");
}

TEST(Resp3, LeavesOutAttributesAndWhatAMapHasInside) {
  EXPECT_EQ(translated("|1\r\n+ttl\r\n*2\r\n:1\r\n_\r\n:7\r\n"), ":7\r\n");
  EXPECT_EQ(translated("*2\r\n:1\r\n|1\r\n+a\r\n%1\r\n+b\r\n+c\r\n:2\r\n"), "*2\r\n:1\r\n:2\r\n");
  EXPECT_EQ(translated("%2\r\n+modules\r\n*2\r\n%1\r\n+name\r\n+x\r\n*0\r\n+proto\r\n:3\r\n"),
            "*4\r\n+modules\r\n*0\r\n+proto\r\n:3\r\n");
}

TEST(Resp3, RefusesWhatNoServerSays) {
  for (const std::string bytes :
       {"HTTP/1.1 200 OK\r\n",
        "\r\n",
        "_x\r\n",
        "#x\r\n",
        "#\r\n",
        "=3\r\ntxt\r\n",
        "=-1\r\n\r\n",
        "!-1\r\n\r\n",
        "$-2\r\n\r\n",
        "$x\r\n",
        "$\r\n",
        "$?\r\n",
        "*?\r\n",
        "%-1\r\n",
        "*-2\r\n",
        "|-1\r\n",
        "$2\r\nabcd\r\n",
        "*1\r\n>1\r\n+x\r\n",
        "*5000\r\n",
        "%5000\r\n",
        "$2000000\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"}) {
    EXPECT_TRUE(refused(bytes)) << visible(bytes);
  }
  EXPECT_TRUE(refused("+" + std::string(20'000, 'x')));
  const std::string wide = test::resp::array(std::vector<std::string>(100, ":1\r\n"));
  EXPECT_TRUE(refused(test::resp::array(std::vector<std::string>(100, wide))));
}

// --- as the reader reads it ---

const std::string conversation =
    "%3\r\n+proto\r\n:3\r\n+modules\r\n*1\r\n+x\r\n+role\r\n+master\r\n" + flush + "+OK\r\n_\r\n" +
    invalidation +
    "*2\r\n,1.7e+15\r\n_\r\n:1500\r\n$6\r\nholder\r\n=7\r\ntxt:abc\r\n"
    "|1\r\n+a\r\n+b\r\n#t\r\n!5\r\nERR x\r\n,7\r\n>1\r\n+other\r\n$-1\r\n";

const std::vector<std::string> values_of_conversation{"[+proto :3 +modules [] +role +master ]",
                                                      ">[$invalidate nil ]",
                                                      "+OK",
                                                      "nil",
                                                      ">[$invalidate [$redlock:node:marker ] ]",
                                                      "[$1.7e+15 nil ]",
                                                      ":1500",
                                                      "$holder",
                                                      "$abc",
                                                      ":1",
                                                      "-ERR x",
                                                      "$7",
                                                      ">[+other ]",
                                                      "nil"};

TEST(Resp3, IsReadTheSameWhereverTheBytesAreSplit) {
  for (std::size_t first = 0; first <= conversation.size(); ++first) {
    ReplyReader reader(Protocol::resp3);
    std::vector<std::string> values;
    const std::string_view all = conversation;
    for (const auto part : {all.substr(0, first), all.substr(first)}) {
      reader.feed(part);
      for (std::string& value : drain(reader)) values.push_back(std::move(value));
    }
    ASSERT_EQ(values, values_of_conversation) << first;
    ASSERT_EQ(reader.malformed(), "");
    ASSERT_FALSE(reader.in_the_middle());
  }
}

TEST(Resp3, APushThatIsNotCompleteIsNoAnswerThatIsMissing) {
  ReplyReader reader(Protocol::resp3);
  for (const char byte : flush) {
    EXPECT_EQ(reader.next(), nullptr);
    EXPECT_FALSE(reader.in_the_middle());
    reader.feed({&byte, 1});
  }
  EXPECT_EQ(drain(reader), std::vector<std::string>{">[$invalidate nil ]"});
  reader.feed("*2\r\n_\r\n");
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_TRUE(reader.in_the_middle());
}

TEST(Resp3, SurvivesMutatedStreams) {
  std::mt19937 random(20'261'018);
  const std::string alphabet = "+-:$*_#,(!=%~>|\r\n0123456789-xOK \x01\xff";
  const auto read = [&](const std::string& bytes, std::size_t longest) {
    ReplyReader reader(Protocol::resp3);
    std::vector<std::string> values;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = 1 + random() % longest;
      reader.feed(std::string_view(bytes).substr(at, size));
      for (std::string& value : drain(reader)) values.push_back(std::move(value));
      at += size;
    }
    if (reader.malformed().empty() && reader.in_the_middle()) values.emplace_back("more");
    values.emplace_back(reader.malformed());
    return values;
  };
  for (int round = 0; round < 4'000; ++round) {
    std::string bytes = conversation;
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % bytes.size();
      if (random() % 2 == 0) {
        bytes[at] = alphabet[random() % alphabet.size()];
      } else {
        bytes.erase(at, 1 + random() % 3);
      }
    }
    ASSERT_EQ(read(bytes, 7), read(bytes, 1)) << visible(bytes);
    ASSERT_EQ(read(bytes, 1'000'000), read(bytes, 1)) << visible(bytes);
  }
}

TEST(Resp3, ManyPiecesAreBoundedAsInResp2) {
  const std::string half = bulk(std::string(limits::reply_bytes / 2 + 1, 'x'));
  const auto refuses = [](const std::string& bytes) {
    ReplyReader reader(Protocol::resp3);
    for (std::size_t at = 0; at < bytes.size(); at += 64'000) {
      reader.feed(std::string_view(bytes).substr(at, 64'000));
      while (reader.next() != nullptr) reader.recycle();
    }
    return !reader.malformed().empty();
  };
  EXPECT_TRUE(refuses(test::resp::array({half, half})));
  EXPECT_FALSE(refuses(half + half));
  EXPECT_TRUE(refuses(test::resp::array(std::vector<std::string>(65, ":1\r\n"))));
  EXPECT_TRUE(refuses("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"));
}

}  // namespace
}  // namespace redlock::redis
