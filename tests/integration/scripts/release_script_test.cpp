// P5, its first half, on a node: a release passes the resource to the first in its queue.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "integration/guarded.hpp"
#include "redis/batches/encoder.hpp"
#include "redis/values/keys.hpp"
#include "support/encoding.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::seconds;

class ReleaseScript : public testing::Test {
 protected:
  void SetUp() override { server_.command({"FLUSHALL"}); }

  static std::string encoded(Verb verb, const std::string& resource, const std::string& token,
                             core::Terms terms = {}, std::int64_t number = 0) {
    redis::Encoder encoder;
    terms.reserved_for = seconds(60);  // longer than any test takes
    return std::string(test::encode(encoder, verb, ScriptForm::text, redis::Dialect::classic,
                                    resource, token.empty() ? Token() : Token::parse(token).value(),
                                    seconds(60), number, terms));
  }
  Reply release(const std::string& token, const core::Terms& terms = {}) {
    client_.send_raw(encoded(Verb::release, "r", token, terms));
    return client_.read();
  }
  /// Whether to wait for a notification. `where`: see queue.lua.
  std::int64_t queue(const std::string& who, const std::string& resource = "r",
                     std::int64_t where = 0) {
    client_.send_raw(encoded(Verb::join_queue, resource, who, {}, where));
    return client_.read().elements.at(0).integer;
  }
  /// `how`: see leave.lua.
  void leave(const std::string& who, std::int64_t how = 0, const std::string& resource = "r") {
    client_.send_raw(encoded(Verb::leave_queue, resource, who, {}, how));
    EXPECT_EQ(client_.read().integer, 0);
  }
  static constexpr std::int64_t as_reader = 4;
  /// 1: granted; -1: refused.
  std::int64_t enter(const std::string& token, const std::string& who) {
    const core::Terms terms{.group = "shared", .client = who};
    client_.send_raw(encoded(Verb::enter, "r", token, terms));
    return client_.read().elements.at(0).integer;
  }
  void listen(const std::string& who) {
    ASSERT_EQ(ear_.call({"SUBSCRIBE", "redlock:wake:" + who}).elements.size(), 3U);
  }
  /// The next notification, as "client: text".
  [[nodiscard]] std::string heard() {
    const Reply message = ear_.read();
    if (message.elements.size() != 3) return "nothing";
    return message.elements[1].string.substr(13) + ": " + message.elements[2].string;
  }
  void hold(const std::string& resource, const std::string& token) {
    ASSERT_TRUE(client_.call({"SET", resource, token, "PX", "60000"}).is_ok());
  }

  RedisServer server_;
  RespClient client_ = RespClient::unix_socket(server_.unix_path());
  RespClient ear_ = RespClient::unix_socket(server_.unix_path());
};

TEST_F(ReleaseScript, KnowsThatSomebodyWaitsAsLongAsAnyQueueIsKept) {
  // As after a clock that was set back: another queue is kept for longer than usual.
  server_.command({"SET", "redlock:node:awaited", "", "PX", "90000"});
  queue("a");
  EXPECT_GT(server_.command({"PTTL", "redlock:node:awaited"}).integer, 60000);
  server_.command({"PEXPIRE", "redlock:node:awaited", "10"});
  queue("a", "another");
  EXPECT_GT(server_.command({"PTTL", "redlock:node:awaited"}).integer, 10000);
}

TEST_F(ReleaseScript, PassesTheResourceOnAndHasTheLastOneWatch) {
  hold("r", "me");
  for (const std::string who : {"a", "b", "c"}) {
    listen(who);
    EXPECT_EQ(queue(who), 1);
  }
  EXPECT_EQ(queue("a"), 1) << "a client that asks again keeps its position";
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(server_.get("r"), "redlock:next:a");
  EXPECT_GT(server_.pttl("r"), 0);
  EXPECT_EQ(heard(), "a: 0r");
  EXPECT_EQ(heard(), "c: 1r");
  leave("a");  // its reservation passes to the next client
  EXPECT_EQ(server_.get("r"), "redlock:next:b");
  EXPECT_EQ(heard(), "b: 0r");
  leave("c");
  leave("b");
  EXPECT_EQ(server_.get("r"), std::nullopt);
}

TEST_F(ReleaseScript, HasAnotherOneWatchWhereTheLastWaitsNoMore) {
  hold("r", "me");
  for (const std::string who : {"a", "b", "c"}) {
    listen(who);
    queue(who);
  }
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(heard(), "a: 0r");
  EXPECT_EQ(heard(), "c: 1r");
  leave("c");
  EXPECT_EQ(heard(), "b: 1r") << "what is reserved for the first would be left to nobody";
  server_.command({"ZREM", "redlock:node:queue:r", "b"});  // as a grant removes it
  listen("d");
  queue("d");
  hold("r", "me");
  queue("a");
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(heard(), "d: 0r");
  EXPECT_EQ(heard(), "a: 1r") << "b was notified, and has gone";
}

TEST_F(ReleaseScript, IsAskedForByWhoIsNext) {
  hold("r", "me");
  for (const std::string who : {"a", "b"}) {
    listen(who);
    queue(who);
  }
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(heard(), "a: 0r");
  const auto ask = [&](const std::string& who, const std::string& token) {
    client_.send_raw(encoded(Verb::take, "r", token, {.client = who, .ticket = 0}));
    return client_.read();
  };
  const Reply refused = ask("b", "tb");
  ASSERT_EQ(refused.elements.size(), 6U);
  EXPECT_EQ(refused.elements[1].string, "redlock:next:a");
  EXPECT_EQ(refused.elements[4].integer, 2) << "its ticket";
  EXPECT_EQ(refused.elements[5].integer, 1) << "it is the first now";
  EXPECT_EQ(ask("a", "ta").elements.at(0).integer, 1);
  EXPECT_EQ(server_.get("r"), "ta");
  // The attempt was lost: the client is queued again with its ticket, which is older.
  EXPECT_EQ(release("ta", {.client = "a", .ticket = 1}).integer, 1);
  EXPECT_EQ(server_.get("r"), "redlock:next:a");
}

TEST_F(ReleaseScript, ReservesTheResourceAlsoForWhoNeedsSeveral) {
  constexpr std::int64_t of_several = 3;
  hold("r", "me");
  listen("a");
  EXPECT_EQ(queue("a", "r", of_several), 1);
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(server_.get("r"), "redlock:next:a");
  EXPECT_EQ(heard(), "a: 0r");
}

TEST_F(ReleaseScript, ReservesAPermitForWhoWaitsForAnyWhereNobodyIsQueuedForThatOne) {
  constexpr std::int64_t any = 6;
  for (const std::string permit : {"r#2", "r#17"}) hold(permit, "me");
  for (const std::string who : {"a", "b", "c"}) listen(who);
  EXPECT_EQ(queue("a", "r#", any), 0) << "one may have been free: it asks once more";
  EXPECT_EQ(queue("a", "r#", any), 1);
  EXPECT_EQ(queue("b", "r#", any), 0) << "two may have been";
  EXPECT_EQ(queue("c", "r#2"), 1);
  const auto release_permit = [&](const std::string& permit) {
    client_.send_raw(encoded(Verb::release, permit, "me"));
    EXPECT_EQ(client_.read().integer, 1);
  };
  release_permit("r#2");
  EXPECT_EQ(heard(), "c: 0r#2");
  EXPECT_EQ(server_.get("r#2"), "redlock:next:c");
  release_permit("r#17");
  EXPECT_EQ(heard(), "a: 0r#17");
  EXPECT_EQ(server_.get("r#17"), "redlock:next:a");
  EXPECT_EQ(heard(), "b: 1r#") << "it is the last, and watches";
  leave("c", 0, "r#2");  // its reservation is passed on
  EXPECT_EQ(heard(), "b: 0r#2");
  EXPECT_EQ(server_.get("r#2"), "redlock:next:b");
}

TEST_F(ReleaseScript, DropsWhoDoesNotListen) {
  hold("r", "me");
  for (const std::string who : {"a", "b", "c", "d"}) queue(who);
  listen("c");
  listen("d");
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(heard(), "c: 0r");
  EXPECT_EQ(heard(), "d: 1r");
  EXPECT_EQ(server_.command({"ZCARD", "redlock:node:queue:r"}).integer, 2)
      << "d, and the next ticket";
}

TEST_F(ReleaseScript, AClientThatComesToAFreeResourceLearnsThatItIsFree) {
  EXPECT_EQ(queue("a"), 0);
}

TEST_F(ReleaseScript, TellsNobodyWhereNobodyWaits) {
  const auto before = calls(server_, "publish");
  hold("r", "me");
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(calls(server_, "publish"), before);
}

TEST_F(ReleaseScript, ReadsNoQueueWhenNobodyHasWaitedForLong) {
  queue("a");
  server_.command({"DEL", "redlock:node:awaited"});
  hold("r", "me");
  const auto before = calls(server_, "zrange");
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(calls(server_, "zrange"), before);
}

TEST_F(ReleaseScript, DoesNotTellOfWhatItDoesNotGiveUp) {
  queue("a");
  const auto before = calls(server_, "publish");
  hold("r", "another");
  EXPECT_EQ(release("me").integer, -1);
  EXPECT_EQ(calls(server_, "publish"), before);
  EXPECT_EQ(server_.get("redlock:node:awaited"), "");
}

TEST_F(ReleaseScript, TellsThatOnlyTheRestOfAnIntervalIsLeft) {
  hold("r", "me");
  listen("a");
  EXPECT_EQ(queue("a"), 1);
  EXPECT_EQ(release("me", {.cooldown = seconds(60)}).integer, 1);
  EXPECT_EQ(heard(), "a: 0r") << "who waits has to learn when the interval is over";
  EXPECT_EQ(server_.get("r"), redis::keys::cooldown);
  EXPECT_EQ(queue("b"), 0) << "and who comes now, too";
}

TEST_F(ReleaseScript, LeavesTheRestOfAnIntervalAlsoWhereTheKeyWasMissing) {
  EXPECT_EQ(release("me", {.cooldown = seconds(60)}).integer, 0);
  EXPECT_EQ(server_.get("r"), redis::keys::cooldown);
  EXPECT_GT(server_.command({"PTTL", "r"}).integer, 50'000);
  EXPECT_EQ(release("me", {.cooldown = seconds(30)}).integer, 0);
  EXPECT_GT(server_.command({"PTTL", "r"}).integer, 50'000) << "and makes none shorter";
  EXPECT_EQ(release("me", {.cooldown = seconds(900)}).integer, 0);
  EXPECT_GT(server_.command({"PTTL", "r"}).integer, 800'000) << "whose, nobody knows";
}

TEST_F(ReleaseScript, LeavesNoRestOfAnIntervalWhereSomebodyElsesKeyIs) {
  hold("r", "other");
  EXPECT_EQ(release("me", {.cooldown = seconds(60)}).integer, -1);
  EXPECT_EQ(server_.get("r"), "other");
}

/// A reader's hold, and a writer that was refused because of it and keeps new readers out.
class WaitingWriter : public ReleaseScript {
 protected:
  void SetUp() override {
    ReleaseScript::SetUp();
    client_.send_raw(encoded(Verb::enter, "r", "reader", {.group = "shared"}));
    ASSERT_EQ(client_.read().elements.size(), 2U);
    client_.send_raw(encoded(Verb::take, "r", "writer", {.writer_reservation = seconds(60)}));
    ASSERT_EQ(client_.read().elements.size(), 4U);
  }
};

TEST_F(WaitingWriter, IsNextWhenTheLastReaderLeaves) {
  for (const std::string who : {"a", "w"}) listen(who);
  EXPECT_EQ(queue("w"), 1);
  EXPECT_EQ(queue("a", "r", as_reader), 1);
  EXPECT_EQ(release("reader").elements.at(1).integer, 0);
  EXPECT_EQ(heard(), "w: 0r");
  EXPECT_EQ(heard(), "a: 1r");
  EXPECT_EQ(server_.get("r"), "redlock:next:w");
}

TEST_F(WaitingWriter, FindsTheResourceFreeWhereItsReservationIsAllThatIsLeft) {
  EXPECT_EQ(release("reader").elements.at(1).integer, 0);
  EXPECT_EQ(server_.command({"EXISTS", "r"}).integer, 1);
  EXPECT_EQ(queue("w"), 0);
  EXPECT_EQ(queue("a", "r", as_reader), 1) << "a reader has to wait for the writer";
}

TEST_F(WaitingWriter, GivesWayToTheRestOfAnInterval) {
  EXPECT_EQ(release("me", {.cooldown = seconds(60)}).elements.at(0).integer, -1);
  EXPECT_EQ(release("reader").elements.at(1).integer, 0);
  EXPECT_EQ(release("me", {.cooldown = seconds(60)}).integer, 0);
  EXPECT_EQ(server_.get("r"), redis::keys::cooldown);
}

TEST_F(WaitingWriter, LetsReadersInWhenItGivesUp) {
  queue("w");
  queue("a", "r", as_reader);
  leave("w", 2);
  EXPECT_EQ(server_.command({"ZSCORE", "r", "writer"}).kind, Reply::Kind::nil);
}

TEST_F(WaitingWriter, IsBehindReadersThatCameBefore) {
  for (const std::string who : {"a", "b", "w"}) listen(who);
  queue("a", "r", as_reader);
  queue("b", "r", as_reader);
  queue("w");
  EXPECT_EQ(release("reader").elements.at(1).integer, 0);
  EXPECT_EQ(heard(), "a: 0r");
  EXPECT_EQ(heard(), "b: 0r") << "together";
  EXPECT_EQ(heard(), "w: 1r");
  EXPECT_EQ(enter("new", "c"), -1) << "of those that are no more in the queue only";
  EXPECT_EQ(enter("first", "a"), 1);
  EXPECT_EQ(enter("again", "a"), -1) << "once";
  leave("b");
  EXPECT_EQ(server_.command({"ZSCORE", "r", "next"}).kind, Reply::Kind::nil);
  EXPECT_EQ(release("first").elements.at(1).integer, 0);
  EXPECT_EQ(heard(), "w: 0r");
  EXPECT_EQ(server_.get("r"), "redlock:next:w");
}

TEST_F(WaitingWriter, IsNextWhenReadersThatWereLetInLeave) {
  for (const std::string who : {"a", "w"}) listen(who);
  queue("a", "r", as_reader);
  queue("w");
  EXPECT_EQ(release("reader").elements.at(1).integer, 0);
  EXPECT_EQ(heard(), "a: 0r");
  EXPECT_EQ(heard(), "w: 1r");
  leave("a");
  EXPECT_EQ(heard(), "w: 0r");
  EXPECT_EQ(server_.get("r"), "redlock:next:w");
}

TEST_F(WaitingWriter, IsQueuedBehindWritersThatCameBefore) {
  for (const std::string who : {"v", "w"}) listen(who);
  for (const std::string who : {"a", "v", "w", "v"}) queue(who);
  EXPECT_EQ(release("reader").elements.at(1).integer, 0);
  EXPECT_EQ(heard(), "v: 0r");
  EXPECT_EQ(heard(), "w: 1r");
}

TEST_F(WaitingWriter, IsNotPassedOverByAReaderThatFindsItsReservationOnly) {
  for (const std::string who : {"a", "w"}) listen(who);
  EXPECT_EQ(queue("w"), 1);
  EXPECT_EQ(queue("a", "r", as_reader), 1);
  server_.command({"ZREM", "r", "hold:reader"});  // as if it had expired
  EXPECT_EQ(enter("ta", "a"), -1);
  EXPECT_EQ(heard(), "w: 0r") << "nobody has it: it is passed on by whoever asks";
  EXPECT_EQ(server_.get("r"), "redlock:next:w");
}

/// A reader that another holder's release lets in, in the order of the queue.
class ReaderInTurn : public ReleaseScript {
 protected:
  void SetUp() override {
    ReleaseScript::SetUp();
    hold("r", "me");
    for (const std::string who : {"a", "b"}) listen(who);
    EXPECT_EQ(queue("a", "r", as_reader), 1);
  }
  /// A writer's attempt of that client. 1: granted; -1: refused.
  std::int64_t take(const std::string& token, const std::string& who) {
    client_.send_raw(encoded(Verb::take, "r", token, {.client = who, .ticket = 0}));
    return client_.read().elements.at(0).integer;
  }
};

TEST_F(ReaderInTurn, ThatWantsToWriteNowFindsItFree) {
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(heard(), "a: 0r");
  EXPECT_EQ(take("tb", "b"), -1) << "reserved for readers";
  server_.command({"ZREM", "redlock:node:queue:r", "b"});
  EXPECT_EQ(take("ta", "a"), 1);
}

TEST_F(ReaderInTurn, ThatWantsToWriteNowLeavesItToWhoIsNext) {
  EXPECT_EQ(queue("b"), 1);
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(heard(), "a: 0r");
  EXPECT_EQ(heard(), "b: 1r");
  EXPECT_EQ(take("ta", "a"), -1);
  EXPECT_EQ(heard(), "b: 0r");
  EXPECT_EQ(server_.get("r"), "redlock:next:b");
}

TEST_F(ReaderInTurn, IsQueuedInOneFormOnly) {
  EXPECT_EQ(take("ta", "a"), -1);
  EXPECT_EQ(server_.command({"ZCARD", "redlock:node:queue:r"}).integer, 2)
      << "the writer, and the next ticket";
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(server_.get("r"), "redlock:next:a");
}

TEST_F(ReleaseScript, TellsOfEachOfSeveralResources) {
  listen("a");
  queue("a", "r");
  queue("a", "s");
  hold("r", "me");
  hold("s", "me");
  const std::vector<std::string> also{"s"};
  EXPECT_EQ(release("me", {.more_resources = also}).integer, 1);
  EXPECT_EQ(heard(), "a: 0r");
  EXPECT_EQ(heard(), "a: 0s");
}

TEST_F(ReleaseScript, TellsOfEveryHoldThatIsGivenUp) {
  for (const std::string token : {"a", "b"}) {
    client_.send_raw(encoded(Verb::enter, "r", token, {.group = "shared"}));
    ASSERT_EQ(client_.read().elements.size(), 2U);
  }
  listen("w");
  queue("w");
  EXPECT_EQ(release("a").elements.at(1).integer, 1);
  EXPECT_EQ(heard(), "w: 0r");
  EXPECT_EQ(release("b").elements.at(1).integer, 0);
  EXPECT_EQ(heard(), "w: 0r");
}

TEST_F(ReleaseScript, ReleasesAllTheSameWhereItMayTellNothing) {
  if (!server_.is_since(6, 2)) GTEST_SKIP() << "channels can be forbidden: row redis-7.0";
  server_.command({"ACL", "SETUSER", "narrow", "on", ">pw", "~r", "+@all", "resetchannels"});
  queue("a");
  RespClient narrow = RespClient::unix_socket(server_.unix_path());
  ASSERT_TRUE(narrow.call({"AUTH", "narrow", "pw"}).is_ok());
  hold("r", "me");
  narrow.send_raw(encoded(Verb::release, "r", "me"));
  EXPECT_EQ(narrow.read().integer, 1);
  EXPECT_EQ(server_.get("r"), std::nullopt);
  server_.command({"ACL", "SETUSER", "narrow", "~*"});
  hold("r", "me");
  narrow.send_raw(encoded(Verb::release, "r", "me"));
  EXPECT_EQ(narrow.read().integer, 1) << "without channels";
}

}  // namespace
}  // namespace redlock::test
