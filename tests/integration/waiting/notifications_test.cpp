// P5, its first half: a release notifies the waiters, and a waiter does not poll again.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "integration/guarded.hpp"
#include "redis/keys.hpp"
#include "redis/wire/encoder.hpp"
#include "support/certificates.hpp"
#include "support/encoding.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ReleaseScript : public testing::Test {
 protected:
  void SetUp() override { server_.command({"FLUSHALL"}); }

  static std::string encoded(Verb verb, const std::string& resource, const std::string& token,
                             core::Terms terms = {}, std::int64_t number = 0) {
    redis::Encoder encoder;
    terms.reserved_for = seconds(60);  // the tests are not in a hurry
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
  /// The clients that were notified, and the notifications.
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
  // As a clock that was set back leaves it: the other queue is kept for longer than is usual.
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
  leave("a");  // what was reserved for it passes to the next
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
  server_.command({"ZREM", "redlock:node:queue:r", "b"});  // as a grant takes it out
  listen("d");
  queue("d");
  hold("r", "me");
  queue("a");
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(heard(), "d: 0r");
  EXPECT_EQ(heard(), "a: 1r") << "b was told, and is not there any more";
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
  // An attempt that was lost: queued again with its ticket, which is older.
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
  leave("c", 0, "r#2");  // what was reserved for it is passed on
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

TEST_F(ReleaseScript, WhoComesToAFreeResourceIsToldThatItIsFree) { EXPECT_EQ(queue("a"), 0); }

TEST_F(ReleaseScript, TellsNobodyWhereNobodyWaits) {
  const auto before = calls(server_, "publish");
  hold("r", "me");
  EXPECT_EQ(release("me").integer, 1);
  EXPECT_EQ(calls(server_, "publish"), before);
}

TEST_F(ReleaseScript, LooksForNobodyAnyMoreWhenNobodyHasWaitedForLong) {
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
  server_.command({"ZREM", "r", "hold:reader"});  // as if it had ended by itself
  EXPECT_EQ(enter("ta", "a"), -1);
  EXPECT_EQ(heard(), "w: 0r") << "nobody has it: it is passed on by whoever asks";
  EXPECT_EQ(server_.get("r"), "redlock:next:w");
}

/// A reader that another holder's release lets in, by its client's place in the queue.
class ReaderInTurn : public ReleaseScript {
 protected:
  void SetUp() override {
    ReleaseScript::SetUp();
    hold("r", "me");
    for (const std::string who : {"a", "b"}) listen(who);
    EXPECT_EQ(queue("a", "r", as_reader), 1);
  }
  /// As a writer of that client asks: 1: granted; -1: refused.
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

class Notifications : public testing::Test {
 protected:
  [[nodiscard]] auto in_background(std::chrono::nanoseconds wait) {
    return std::async(std::launch::async,
                      [this, wait] { return waiter_.try_acquire_for(resource_, wait); });
  }
  [[nodiscard]] bool stand_in_all_queues(std::int64_t count = 1) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      // Behind the clients, the next ticket.
      const Reply queued = nodes_[i].command({"ZCARD", "redlock:node:queue:" + resource_});
      if (queued.integer != count + 1) return false;
    }
    return true;
  }
  /// Attempts of a client that waits are made by a script.
  [[nodiscard]] int attempts() { return calls(nodes_[0], "evalsha"); }

  Nodes nodes_{3};
  Client holder_ = make_client(patient(nodes_.urls()));
  Client waiter_ = make_client(patient(nodes_.urls()));
  std::string resource_ = "r";
};

TEST_F(Notifications, LetAWaiterSleep) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = in_background(forever);
  ASSERT_TRUE(eventually([&] { return stand_in_all_queues(); }));
  // One retry in more than two seconds.
  EXPECT_TRUE(eventually([&] {
    const auto before = attempts();
    std::this_thread::sleep_for(seconds(1));
    return attempts() - before <= 1;
  }));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  // A node where it has the lock by then has nobody to notify.
  EXPECT_TRUE(eventually([&] {
    return calls(nodes_[0], "publish") + calls(nodes_[1], "publish") +
               calls(nodes_[2], "publish") >=
           1;
  }));
}

TEST_F(Notifications, ServeAllWaitersOfOneProcess) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  constexpr int waiters = 8;
  std::vector<std::future<Result<Lease>>> waiting;
  for (int i = 0; i < waiters; ++i) waiting.push_back(in_background(forever));
  ASSERT_TRUE(eventually([&] { return stand_in_all_queues(); }));
  ASSERT_TRUE(succeeded(lease->release()));
  int served = 0;
  while (served < waiters) {
    for (auto& one : waiting) {
      if (!one.valid() || one.wait_for(seconds(0)) != std::future_status::ready) continue;
      auto mine = one.get();
      ASSERT_TRUE(succeeded(mine));
      ++served;
      ASSERT_TRUE(succeeded(mine->release()));
    }
    std::this_thread::yield();
  }
}

TEST_F(Notifications, AreReplacedByPollingWhereTheyAreForbidden) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].command({"ACL", "SETUSER", "default", "-subscribe"});
  }
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = in_background(forever);
  // By SET, or by the script that attempts are on Redis 6.0.
  const char* const attempt = nodes_[0].is_since(7) ? "set" : "evalsha";
  EXPECT_TRUE(eventually([&] { return calls(nodes_[0], attempt) > 20; })) << "it polls instead";
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(Notifications, HandOverAtOnceAndNotAtTheNextRetry) {
  std::atomic<int> turns{0};
  std::jthread taking_turns([&](const std::stop_token& stop) {
    while (turns < 20 && !stop.stop_requested()) {
      auto lease = holder_.try_acquire_for(resource_, seconds(30), {.ttl = seconds(30)});
      ASSERT_TRUE(succeeded(lease));
      auto waiting = in_background(seconds(30));
      ASSERT_TRUE(eventually([&] { return stand_in_all_queues(); }));
      ASSERT_TRUE(succeeded(lease->release()));
      auto next = waiting.get();
      ASSERT_TRUE(succeeded(next));
      ASSERT_TRUE(succeeded(next->release()));
      ++turns;
    }
  });
  // A retry comes after 2.4 s at the earliest: 20 of them would take 48 s.
  EXPECT_TRUE(eventually([&] { return turns == 20; }, seconds(30)));
}

TEST_F(Notifications, WakeAWaiterOverADeadNode) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return nodes_.count_held_by("r", lease->token().str()) == 3; }));
  auto waiting = in_background(forever);
  ASSERT_TRUE(eventually([&] { return stand_in_all_queues(); }));
  nodes_[0].kill();
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(Notifications, FollowAWriterAndItsReaders) {
  auto writer = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(writer));
  const auto read = [&] {
    return waiter_.try_acquire_for(shared(resource_), seconds(60), {.ttl = seconds(30)});
  };
  auto first = std::async(std::launch::async, read);
  auto second = std::async(std::launch::async, read);
  ASSERT_TRUE(eventually([&] { return stand_in_all_queues(); }));
  ASSERT_TRUE(succeeded(writer->release()));
  auto a = first.get();
  auto b = second.get();
  ASSERT_TRUE(succeeded(a));
  ASSERT_TRUE(succeeded(b));
  auto next = std::async(std::launch::async, [&] {
    return holder_.try_acquire_for(resource_, seconds(60), {.ttl = seconds(30)});
  });
  ASSERT_TRUE(succeeded(a->release()));
  ASSERT_TRUE(succeeded(b->release()));
  EXPECT_TRUE(succeeded(next.get()));
}

/// With every kind of connection and user, a waiter is queued on the node.
struct Way {
  const char* name;
  std::function<std::string(const RedisServer&)> url;
  bool may_listen = true;
  friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

class NotificationsOver : public testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] static RedisServerOptions server_options() {
    RedisServerOptions options;
    options.password = "s3cret";
    options.tls.emplace();
    options.tls->certificate = certificates().server.certificate;
    options.tls->key = certificates().server.key;
    options.tls->ca = certificates().ca;
    return options;
  }
  RedisServer server_{server_options()};
};

TEST_P(NotificationsOver, ReachAWaiter) {
  if (!GetParam().may_listen && !server_.is_since(6, 2)) {
    GTEST_SKIP() << "channels can be forbidden: row redis-7.0";
  }
  server_.command({"ACL", "SETUSER", "mute", "on", ">pw", "~*", "+@all", "resetchannels"});
  ClientOptions options = patient({GetParam().url(server_)});
  if (options.nodes.front().starts_with("rediss:")) options.tls.ca_file = certificates().ca;
  open_deployment(options);
  server_.command({"CONFIG", "RESETSTAT"});
  Client holder = make_client(options);
  Client waiter = make_client(options);
  auto lease = holder.try_acquire("r", {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  const auto before = calls(server_, "publish");
  auto waiting =
      std::async(std::launch::async, [&] { return waiter.acquire("r", {.ttl = seconds(30)}); });
  const auto told = [&] { return calls(server_, "zadd") > 0; };
  if (GetParam().may_listen) {
    ASSERT_TRUE(eventually(told));
  } else {
    ASSERT_TRUE(eventually([&] { return calls(server_, "set") > 20; }));
    EXPECT_FALSE(told());
  }
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  EXPECT_EQ(calls(server_, "publish") > before, GetParam().may_listen);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, NotificationsOver,
    testing::Values(Way{"TcpWithAPassword", [](const RedisServer& server) { return server.url(); }},
                    Way{"Tls", [](const RedisServer& server) { return server.tls_url(); }},
                    Way{"AnotherDatabase",
                        [](const RedisServer& server) { return server.url() + "/3"; }},
                    Way{"AUserWithoutChannels",
                        [](const RedisServer& server) {
                          return "redis://mute:pw@127.0.0.1:" + std::to_string(server.port());
                        },
                        false}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace redlock::test
