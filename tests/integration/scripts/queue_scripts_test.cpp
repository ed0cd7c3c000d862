// The effects of the Lua scripts on queues and reservations: of readers, of clients that are gone,
// of several resources, of permits.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/scripts/scripts.hpp"
#include "redis/scripts_embedded.hpp"

namespace redlock::test {
namespace {

using core::Verb;

/// Readers hold "r", and clients are queued for it in the order of their tickets; a reader's name
/// begins with '~'.
class ScriptsOfReaders : public Scripts {
 protected:
  void hold_and_queue(const std::vector<std::string>& queued, bool refuses_new) {
    const std::int64_t now = std::stoll(server_->command({"TIME"}).elements.at(0).string) * 1000;
    server_->command(
        {"ZADD", "r", "0", "group:shared", std::to_string(now + 600'000), "hold:token"});
    if (refuses_new) server_->command({"ZADD", "r", std::to_string(now + 60'000), "writer"});
    for (std::size_t i = 0; i < queued.size(); ++i) {
      const std::string ticket = std::to_string(i + 1);
      server_->command({"ZADD", "redlock:node:queue:r", ticket, queued[i]});
    }
    const std::string next = std::to_string(queued.size() + 1);
    server_->command({"ZADD", "redlock:node:queue:r", next, ""});
    server_->command({"SET", "redlock:node:awaited", "", "PX", "60000"});
    subscriber_ = RespClient::unix_socket(server_->unix_path());
    for (std::string who : queued) {
      if (who.front() == '~') who.erase(0, 1);
      subscriber_->call({"SUBSCRIBE", "redlock:wake:" + who});
    }
  }
  void expect_notified(const std::string& who) {
    const Reply notification = subscriber_->read();
    ASSERT_EQ(notification.elements.size(), 3U) << notification;
    EXPECT_EQ(notification.elements[1].string, "redlock:wake:" + who);
    EXPECT_EQ(notification.elements[2].string, "0r");
  }
  std::int64_t enters(const std::string& who) {
    const std::string enter(redis::scripts::enter.text);
    return server_
        ->command(
            {"EVAL", enter, "1", "r", "token of " + who, "60000", "shared", who, "0", "30000"})
        .elements.at(0)
        .integer;
  }
  /// With '2', the writer says that nodes refused new holds because of it.
  Reply leaves(const std::string& who, const std::string& how) {
    const std::string leave(redis::scripts::leave.text);
    return server_->command({"EVAL", leave, "1", "r", who, how, "30000"});
  }
  /// Queues a reader. Whether it has to wait for a notification.
  std::int64_t joins(const std::string& who) {
    const std::string queue(redis::scripts::queue.text);
    return server_->command({"EVAL", queue, "1", "r", who, "30000", "4", "0", "30000"})
        .elements.at(0)
        .integer;
  }

  std::optional<RespClient> subscriber_;
};

TEST_F(ScriptsOfReaders, AWriterThatGivesUpLetsInThoseBehindIt) {
  hold_and_queue({"writer", "~first", "~second", "another", "~late"}, true);
  ASSERT_FALSE(leaves("writer", "2").is_error());
  expect_notified("first");
  expect_notified("second");
  EXPECT_EQ(enters("late"), -1) << "another writer is ahead of it";
  EXPECT_EQ(enters("first"), 1);
  EXPECT_EQ(enters("second"), 1);
  EXPECT_EQ(enters("second"), -1) << "once";
  // The key stays for the longest hold, and no reservation is left.
  EXPECT_GT(server_->pttl("r"), 500'000);
  EXPECT_TRUE(server_->command({"ZSCORE", "r", "next"}).is_nil());

  ASSERT_FALSE(leaves("another", "2").is_error());
  EXPECT_EQ(enters("late"), 1);
  EXPECT_EQ(enters("new"), 1) << "no writer waits";
}

TEST_F(ScriptsOfReaders, AWriterThatIsDowngradedLetsInThoseAheadOfTheNextWriter) {
  hold_and_queue({"~first", "~second", "writer", "~late"}, false);
  server_->command({"DEL", "r"});
  hold("me", "600000");
  ASSERT_EQ(ask(Verb::downgrade, "me").elements.size(), 2U);
  expect_notified("first");
  expect_notified("second");
  EXPECT_EQ(enters("late"), -1) << "a writer is ahead of it";
  EXPECT_EQ(enters("first"), 1);
  EXPECT_EQ(enters("second"), 1);
  EXPECT_GT(server_->pttl("r"), 500'000);
  EXPECT_EQ(ask(Verb::release, "me").elements.at(1).integer, 2);
}

TEST_F(ScriptsOfReaders, AReaderThatIsQueuedWhileReadersHoldItIsLetIn) {
  hold_and_queue({"~late"}, false);
  EXPECT_EQ(joins("late"), 1);
  expect_notified("late");
  EXPECT_EQ(enters("late"), 1);
  EXPECT_EQ(server_->command({"ZCARD", "redlock:node:queue:r"}).integer, 1) << "the next ticket";
}

TEST_F(ScriptsOfReaders, AReaderThatIsQueuedWhileAWriterWaitsStaysThere) {
  // The writer was refused, and is not in the queue.
  hold_and_queue({"~late"}, true);
  EXPECT_EQ(joins("late"), 1);
  EXPECT_EQ(enters("late"), -1);
  EXPECT_EQ(server_->command({"ZCARD", "redlock:node:queue:r"}).integer, 2);
}

TEST_F(ScriptsOfReaders, AWriterThatNodesHadWaitForReadersLetsThemInAsItLeaves) {
  hold_and_queue({"writer", "~late"}, true);
  EXPECT_EQ(enters("new"), -1);
  ASSERT_FALSE(leaves("writer", "0").is_error());
  expect_notified("late");
  EXPECT_EQ(enters("late"), 1);
  EXPECT_EQ(enters("new"), 1);
}

TEST_F(ScriptsOfReaders, AWriterThatIsQueuedToReadKeepsNoReadersOut) {
  hold_and_queue({"client"}, true);
  EXPECT_EQ(enters("new"), -1);
  EXPECT_EQ(joins("client"), 1);
  expect_notified("client");
  EXPECT_EQ(enters("client"), 1);
  EXPECT_EQ(enters("new"), 1);
}

TEST_F(ScriptsOfReaders, AReaderThatWasLetInAndAsksToWriteGivesItsReservationUp) {
  const std::int64_t now = std::stoll(server_->command({"TIME"}).elements.at(0).string) * 1000;
  server_->command({"ZADD", "r", "0", "group:shared", std::to_string(now + 60'000), "next"});
  server_->command({"ZADD", "redlock:node:next:r", "0", "client"});
  const Reply taken =
      server_->command({"EVAL", std::string(redis::scripts::take.text), "2", "redlock:node:numbers",
                        "r", "token", "1000", "0", "4000", "client", "0", "30000", "20"});
  ASSERT_FALSE(taken.elements.empty()) << taken;
  EXPECT_EQ(taken.elements[0].integer, 1) << taken;
}

/// More clients than any script handles at once.
constexpr int so_many = 300;

std::vector<std::string> many(const std::string& form) {
  std::vector<std::string> all;
  for (int i = 0; i < so_many; ++i) all.push_back(form + std::to_string(1000 + i));
  return all;
}

TEST_F(ScriptsOfReaders, AnyNumberOfThemComesInAndNoneIsTakenForAWriter) {
  const std::vector<std::string> queued = many("~");
  hold_and_queue(queued, false);
  server_->command({"DEL", "r"});
  hold("writer");
  ASSERT_EQ(number(Verb::release, "writer"), 1);
  EXPECT_TRUE(server_->command({"ZSCORE", "r", "writer"}).is_nil());
  for (const std::string& reader : queued) {
    const std::string who = reader.substr(1);
    const std::string queue = "redlock:node:queue:r";
    ASSERT_TRUE(server_->command({"ZSCORE", queue, reader}).is_nil()) << who << " was not let in";
    ASSERT_EQ(enters(who), 1) << who;
  }
  EXPECT_EQ(enters("new"), 1);
}

TEST_F(ScriptsOfReaders, AnyNumberOfThemComesInAheadOfAWriterThatCameLater) {
  std::vector<std::string> queued = many("~");
  queued.emplace_back("writer");
  hold_and_queue(queued, false);
  server_->command({"DEL", "r"});
  hold("another");
  ASSERT_EQ(number(Verb::release, "another"), 1);
  expect_notified(queued[0].substr(1));
  // Half of the readers leave.
  for (int i = 0; i < so_many; ++i) {
    const std::string who = queued[static_cast<std::size_t>(i)].substr(1);
    if (i % 2 == 0) {
      ASSERT_FALSE(leaves(who, "0").is_error());
    } else {
      ASSERT_EQ(enters(who), 1) << who;
    }
  }
  EXPECT_FALSE(server_->command({"ZSCORE", "r", "writer"}).is_nil());
  EXPECT_EQ(enters("new"), -1) << "the writer is next";
}

/// Clients wait for "r", and most of them are gone: they do not listen for notifications.
class ScriptsOfTheGone : public ScriptsOfReaders {
 protected:
  void queue(const std::vector<std::string>& clients) {
    for (const std::string& client : clients) {
      server_->command({"ZADD", "redlock:node:queue:r", std::to_string(++last_), client});
    }
    server_->command({"ZADD", "redlock:node:queue:r", std::to_string(last_ + 1), ""});
    server_->command({"SET", "redlock:node:awaited", "", "PX", "60000"});
  }
  void listen(const std::string& who) {
    subscriber_ = RespClient::unix_socket(server_->unix_path());
    subscriber_->call({"SUBSCRIBE", "redlock:wake:" + who});
  }

 private:
  int last_ = 0;
};

TEST_F(ScriptsOfTheGone, TheNextThatIsThereHasWhatIsReleased) {
  hold("token");
  queue(many("gone"));
  queue({"live"});
  listen("live");
  ASSERT_EQ(number(Verb::release, "token"), 1);
  EXPECT_EQ(server_->get("r"), "redlock:next:live");
  expect_notified("live");
  EXPECT_EQ(server_->command({"ZCARD", "redlock:node:queue:r"}).integer, 1) << "the next ticket";
}

TEST_F(ScriptsOfTheGone, TheNextThatIsThereIsNotifiedOfWhatIsNotFree) {
  hold("token");
  queue(many("gone"));
  queue({"live"});
  listen("live");
  const std::string broken(redis::scripts::break_lock.text);
  EXPECT_EQ(server_->command({"EVAL", broken, "1", "r", "token", "60000", "operator"}).integer, 1);
  expect_notified("live");
}

TEST_F(ScriptsOfTheGone, TheLastThatIsThereWatches) {
  hold("token");
  queue({"successor", "live"});
  queue(many("gone"));
  RespClient successor = RespClient::unix_socket(server_->unix_path());
  successor.call({"SUBSCRIBE", "redlock:wake:successor"});
  listen("live");
  ASSERT_EQ(number(Verb::release, "token"), 1);
  EXPECT_EQ(server_->get("r"), "redlock:next:successor");
  EXPECT_EQ(server_->get("redlock:node:watch:r"), "live");
  const Reply notification = subscriber_->read();
  ASSERT_EQ(notification.elements.size(), 3U) << notification;
  EXPECT_EQ(notification.elements[2].string, "1r");
}

/// Clients that listen, and wait for "r" in this order: "first", "second", "last".
class ScriptsOfChecks : public ScriptsOfTheGone {
 protected:
  void SetUp() override {
    ScriptsOfTheGone::SetUp();
    hold("token");
    for (const char* client : {"first", "second", "last"}) {
      queue({client});
      listeners_.push_back(RespClient::unix_socket(server_->unix_path()));
      listeners_.back().call({"SUBSCRIBE", std::string("redlock:wake:") + client});
    }
  }
  /// Whether the check finds the resource free.
  static bool finds_free(const std::string& client) {
    const Reply reply =
        server_->command({"EVAL", std::string(redis::scripts::check.text), "1", "r", client});
    EXPECT_EQ(reply.elements.size(), 3U) << reply;
    return reply.elements.size() == 3 && reply.elements[0].integer == 0;
  }
  static std::optional<std::string> standby() { return server_->get("redlock:node:watch:r"); }

 private:
  std::vector<RespClient> listeners_;
};

TEST_F(ScriptsOfChecks, TheOneThatCheckedLastStandsBy) {
  EXPECT_FALSE(finds_free("last"));
  EXPECT_FALSE(finds_free("second"));
  ASSERT_EQ(number(Verb::release, "token"), 1);
  EXPECT_EQ(server_->get("r"), "redlock:next:first");
  EXPECT_EQ(standby(), "second");
}

TEST_F(ScriptsOfChecks, TheLastStandsByIfTheOneThatCheckedIsTheSuccessor) {
  EXPECT_FALSE(finds_free("first"));
  ASSERT_EQ(number(Verb::release, "token"), 1);
  EXPECT_EQ(standby(), "last");
}

TEST_F(ScriptsOfChecks, FindAResourceFreeThatNobodyHasAndReserveNothing) {
  EXPECT_FALSE(finds_free("second"));
  server_->command({"DEL", "r"});
  EXPECT_TRUE(finds_free("second"));
  EXPECT_EQ(server_->get("r"), std::nullopt);
  server_->command({"SET", "r", "redlock:cooldown"});
  EXPECT_FALSE(finds_free("second")) << "nobody may have it until the interval ends";
}

TEST_F(ScriptsOfChecks, FindAResourceFreeThatOnlyAWriterReservationIsLeftOf) {
  server_->command({"DEL", "r"});
  server_->command({"ZADD", "r", "0", "group:shared", "9999999999999", "writer"});
  EXPECT_TRUE(finds_free("second"));
  server_->command({"ZADD", "r", "9999999999999", "hold:token"});
  EXPECT_FALSE(finds_free("second"));
}

TEST_F(ScriptsOfChecks, TheOneThatPassesAResourceOnStandsByForItsSuccessor) {
  server_->command({"DEL", "r"});
  const Reply taken =
      server_->command({"EVAL", std::string(redis::scripts::take.text), "2", "numbers", "r",
                        "another", "60000", "0", "0", "second", "0", "30000", "1000"});
  EXPECT_EQ(taken.elements.at(0).integer, -1) << taken;
  EXPECT_EQ(server_->get("r"), "redlock:next:first");
  EXPECT_EQ(standby(), "second");
}

/// The client "both" needs "a" and "b", and "one" only one of them.
class ScriptsOfSeveral : public Scripts {
 protected:
  void SetUp() override {
    Scripts::SetUp();
    ear_ = RespClient::unix_socket(server_->unix_path());
    for (const char* client : {"both", "one", "older"}) {
      ear_->call({"SUBSCRIBE", std::string("redlock:wake:") + client});
    }
  }
  static void set(const std::string& key, const std::string& value) {
    server_->command({"SET", key, value, "PX", "60000"});
  }
  /// Waits for the resource of this index, from 1 on; 0: for none.
  static Reply take_both(const std::string& first, const std::string& second, int waits_for = 0,
                         const std::string& keep_ms = "5000") {
    return server_->command({"EVAL", std::string(redis::scripts::take.text), "3", "numbers", first,
                             second, "token", "60000", "0", "5000", "both", "", "30000", "1000",
                             std::to_string(waits_for), keep_ms});
  }
  static Reply queue(const std::string& key, const std::string& client, const std::string& ticket) {
    return server_->command({"EVAL", std::string(redis::scripts::queue.text), "1", key, client,
                             "30000", "2", ticket, "1000"});
  }
  /// `kept`: '1' for each resource that stays reserved.
  static void release_both(const std::string& kept) {
    ASSERT_EQ(server_
                  ->command({"EVAL", std::string(redis::scripts::release.text), "2", "a", "b",
                             "token", "0", "1000", "both", kept, "5000"})
                  .integer,
              1);
  }

 private:
  std::optional<RespClient> ear_;
};

TEST_F(ScriptsOfSeveral, KeepWhatIsReservedForThemForTheRestOfTheirTurn) {
  set("b", "held");
  server_->command({"SET", "a", "redlock:next:both", "PX", "20000"});
  take_both("b", "a", 1, "50000");
  EXPECT_EQ(server_->get("a"), "redlock:next:both");
  EXPECT_GT(server_->pttl("a"), 25'000);
  server_->command({"DEL", "b"});
  take_both("b", "a", 1);
  EXPECT_EQ(server_->get("a"), "token");
}

TEST_F(ScriptsOfSeveral, KeepNothingThatIsFreeAndNothingLongerWithoutATurn) {
  set("b", "held");
  take_both("a", "b", 2);
  EXPECT_EQ(server_->get("a"), std::nullopt) << "others may have it meanwhile";
  server_->command({"SET", "a", "redlock:next:both", "PX", "50000"});
  take_both("a", "b", 2, "0");
  EXPECT_GT(server_->pttl("a"), 5000) << "it ends by itself";
}

TEST_F(ScriptsOfSeveral, AreToldOfTheOneThatTheyWaitForAndElseInTheOrderOfTheNames) {
  set("a", "held");
  set("b", "held");
  for (const int waits_for : {1, 2}) {
    EXPECT_EQ(take_both("b", "a", waits_for).elements.at(3).integer, waits_for);
  }
  EXPECT_EQ(take_both("b", "a", 0).elements.at(3).integer, 2) << "a";
}

TEST_F(ScriptsOfSeveral, WaitForThoseThatWereQueuedBefore) {
  set("a", "held");
  queue("a", "one", "1");
  server_->command({"DEL", "a"});
  take_both("a", "b");
  EXPECT_EQ(server_->get("a"), "redlock:next:one");
}

TEST_F(ScriptsOfSeveral, GiveWhatTheyKeepToTheOneThatHasWaitedLonger) {
  set("a", "redlock:next:both");
  queue("a", "both", "7");
  EXPECT_EQ(server_->get("a"), "redlock:next:both");
  queue("a", "older", "5");
  EXPECT_EQ(server_->get("a"), "redlock:next:older");
}

TEST_F(ScriptsOfSeveral, KeepWhatTheyNameWhenAnAttemptIsLost) {
  set("a", "token");
  set("b", "token");
  release_both("10");
  EXPECT_EQ(server_->get("a"), "redlock:next:both");
  EXPECT_GT(server_->pttl("a"), 2000);
  EXPECT_EQ(server_->get("b"), std::nullopt);
}

/// A semaphore "s" of three permits, and clients that wait for any.
class ScriptsOfPermits : public Scripts {
 protected:
  void SetUp() override {
    Scripts::SetUp();
    ear_ = RespClient::unix_socket(server_->unix_path());
    server_->command({"SET", "redlock:node:awaited", "", "PX", "60000"});
  }
  void queue(const std::vector<std::string>& clients) {
    for (const std::string& client : clients) {
      server_->command({"ZADD", "redlock:node:queue:s#", std::to_string(++last_), client});
      listen(client);
    }
    server_->command({"ZADD", "redlock:node:queue:s#", std::to_string(last_ + 1), ""});
  }
  void listen(const std::string& client) { ear_->call({"SUBSCRIBE", "redlock:wake:" + client}); }
  static void set(int permit, const std::string& value) {
    server_->command({"SET", "s#" + std::to_string(permit), value, "PX", "60000"});
  }
  static std::string get(int permit) {
    return server_->get("s#" + std::to_string(permit)).value_or("");
  }
  static Reply takes(int permit, const std::string& client) {
    return server_->command({"EVAL", std::string(redis::scripts::permit.text), "1",
                             "s#" + std::to_string(permit), "token of " + client, "60000", "s#",
                             "3", client, "0", "30000", "60000"});
  }

 private:
  std::optional<RespClient> ear_;
  int last_ = 0;
};

TEST_F(ScriptsOfPermits, AReservationIsForAnyThatNobodyHas) {
  set(0, "redlock:next:a");
  set(1, "redlock:next:b");
  set(2, "holder");
  EXPECT_EQ(takes(2, "a").elements.at(1).string, "110");
  EXPECT_EQ(takes(1, "a").elements.at(0).integer, 1);
  EXPECT_EQ(get(0), "redlock:next:b") << "it was exchanged";
  EXPECT_EQ(get(1), "token of a");
  EXPECT_EQ(get(2), "holder");
  EXPECT_EQ(takes(0, "b").elements.at(0).integer, 1);
}

TEST_F(ScriptsOfPermits, AReservationThatIsNotNeededIsPassedOn) {
  set(0, "redlock:next:a");
  set(1, "holder");
  queue({"b"});
  EXPECT_EQ(takes(2, "a").elements.at(0).integer, 1);
  EXPECT_EQ(get(0), "redlock:next:b");
  EXPECT_EQ(get(2), "token of a");
}

TEST_F(ScriptsOfPermits, WhatIsFreeIsForThoseThatWaitLongest) {
  set(0, "holder");
  queue({"a", "b"});
  listen("c");
  const Reply refused = takes(1, "c");
  ASSERT_EQ(refused.elements.size(), 5U) << refused;
  EXPECT_EQ(refused.elements[1].string, "000");
  EXPECT_EQ(refused.elements[3].integer, 3) << "its ticket";
  EXPECT_EQ(refused.elements[4].integer, 1) << "the others have been served";
  EXPECT_EQ(get(1), "redlock:next:a");
  EXPECT_EQ(get(2), "redlock:next:b");
}

TEST_F(ScriptsOfPermits, WhoIsQueuedLastGetsWhatTheOthersLeave) {
  queue({"c", "a"});
  server_->command({"ZREM", "redlock:node:queue:s#", "c"});
  set(0, "holder");
  const Reply refused = takes(0, "c");
  EXPECT_EQ(refused.elements.at(1).string, "011") << "it has one, which stands for any";
  EXPECT_EQ(get(1), "redlock:next:a");
  EXPECT_EQ(get(2), "redlock:next:c");
}

}  // namespace
}  // namespace redlock::test
