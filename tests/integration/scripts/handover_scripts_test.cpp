// The cost of a hand-over on a node: every command of a script counts.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "integration/guarded.hpp"
#include "redis/batches/encoder.hpp"
#include "support/encoding.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::seconds;

class HandOverScripts : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string who : {"a", "b", "c"}) {
      ASSERT_EQ(ear_.call({"SUBSCRIBE", "redlock:wake:" + who}).elements.size(), 3U);
    }
  }
  Reply ask(Verb verb, const std::string& token, core::Terms terms = {}) {
    redis::Encoder encoder;
    terms.reserved_for = seconds(60);  // longer than any test takes
    client_.send_raw(test::encode(encoder, verb, ScriptForm::text, redis::Dialect::classic, "r",
                                  Token::parse(token).value(), seconds(60), 0, terms));
    return client_.read();
  }
  [[nodiscard]] std::int64_t take(const std::string& who, const std::string& token) {
    return ask(Verb::take, token, {.client = who, .ticket = 0}).elements.at(0).integer;
  }

  /// The commands that the node has executed since the last call, with those of its scripts.
  [[nodiscard]] std::int64_t commands() {
    const std::string info = server_.command({"INFO", "commandstats"}).string;
    std::int64_t all = 0;
    for (auto at = info.find(":calls="); at != std::string::npos; at = info.find(":calls=", at)) {
      at += 7;
      all += std::stoll(info.substr(at));
    }
    const std::int64_t looks = 1;
    const std::int64_t since = all - seen_ - looks;
    seen_ = all;
    return since;
  }
  [[nodiscard]] std::int64_t members_of_queue() {
    return server_.command({"ZCARD", "redlock:node:queue:r"}).integer;
  }

  RedisServer server_;
  RespClient client_ = RespClient::unix_socket(server_.unix_path());
  RespClient ear_ = RespClient::unix_socket(server_.unix_path());
  std::int64_t seen_ = 0;
};

TEST_F(HandOverScripts, MakeFewCommands) {
  ASSERT_EQ(take("a", "ta"), 1);
  ASSERT_EQ(take("b", "tb"), -1);
  ASSERT_EQ(take("c", "tc"), -1);
  ASSERT_EQ(ask(Verb::release, "ta").integer, 1);
  ASSERT_EQ(take("b", "tb"), 1);
  // From here on each hand-over is like all later ones: the queue and its standby are known.
  static_cast<void>(commands());
  ASSERT_EQ(take("a", "ta"), -1);
  EXPECT_LE(commands(), 1 + 8) << "a refusal, which queues";
  ASSERT_EQ(ask(Verb::release, "ta", {.client = "a", .ticket = 3}).integer, -1);
  EXPECT_LE(commands(), 1 + 3) << "a lost attempt";
  ASSERT_EQ(ask(Verb::release, "tb").integer, 1);
  EXPECT_LE(commands(), 1 + 11) << "a release, which passes on";
  ASSERT_EQ(take("c", "tc"), 1);
  EXPECT_LE(commands(), 1 + 3) << "a grant";
}

TEST_F(HandOverScripts, KeepTheNextTicketWhenTheLastOneIsServed) {
  ASSERT_EQ(take("a", "ta"), 1);
  ASSERT_EQ(take("b", "tb"), -1);
  ASSERT_EQ(ask(Verb::release, "ta").integer, 1);
  EXPECT_EQ(server_.get("r"), "redlock:next:b");
  EXPECT_EQ(members_of_queue(), 1);
  ASSERT_EQ(take("b", "tb"), 1);
  ASSERT_EQ(ask(Verb::release, "tb").integer, 1);
  EXPECT_EQ(server_.get("r"), std::nullopt);
  EXPECT_EQ(members_of_queue(), 1);
  EXPECT_EQ(server_.command({"ZSCORE", "redlock:node:queue:r", ""}).string, "2");
  EXPECT_GT(server_.pttl("redlock:node:queue:r"), 0);
}

TEST_F(HandOverScripts, RenewWhatANodeRemembersNowAndThen) {
  const std::string queue = "redlock:node:queue:r";
  ASSERT_EQ(take("a", "ta"), 1);
  ASSERT_EQ(take("b", "tb"), -1);
  for (const std::string& key : {queue, std::string("redlock:node:awaited")}) {
    EXPECT_GT(server_.pttl(key), 20'000) << key;
    server_.command({"PEXPIRE", key, "20000"});
  }
  ASSERT_EQ(take("b", "tb"), -1);
  for (const std::string& key : {queue, std::string("redlock:node:awaited")}) {
    EXPECT_GT(server_.pttl(key), 20'000) << key;
  }
}

}  // namespace
}  // namespace redlock::test
