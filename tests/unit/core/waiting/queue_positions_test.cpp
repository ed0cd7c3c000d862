// The ticket and the name that an attempt carries, and the patience of a waiter.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "unit/core/waiting/waiting.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

/// The queue position of the attempt in the last commands: "as the client", "with ticket 7", or
/// "nobody's".
std::string position_of_attempt(Harness& h) {
  for (const Command& command : h.commands()) {
    const auto* send = request_for_claim_in(command);
    if (send == nullptr || !is_set(send->stamp.verb)) continue;
    const Terms& terms = send->terms;
    if (terms.ticket) return "with ticket " + std::to_string(*terms.ticket);
    return terms.client.empty() ? "nobody's" : "as the client";
  }
  return "no attempt";
}

Acquire two_resources(std::uint64_t request) {
  Acquire event;
  event.request = CallId{request};
  event.resource = "resource";
  static const std::vector<std::string> second{"second"};
  event.more_resources = second;
  event.ttl = 10s;
  event.wait = 60s;
  return event;
}

TEST(QueuePositions, AreNobodysInAFirstAttempt) {
  Connected h(3);
  h.acquire(1, 10s, 60s);
  EXPECT_EQ(position_of_attempt(h), "nobody's");
}

/// The second of two resources is in the way.
struct Blocked : Connected {
  Blocked() : Connected(3) {
    shows_notifications = true;
    random.shortest = true;
    step(two_resources(1));
    refused_by(2);
    subscribed({0, 1, 2});
    queued({0, 1, 2}, {7});
  }
  /// The nodes refuse the attempt for this resource. Returns the commands.
  std::string refused_by(std::uint64_t resource, const std::string& whose = holder) {
    std::string out;
    for (NodeIndex node = 0; node < 3; ++node) {
      Answer event{node, take_open(node), Reply::taken, whose, 10s};
      event.number = resource;
      out += step(event);
    }
    return out;
  }
  std::string turn_for(const std::string& key) { return notified(0, key) + notified(1, key); }
  /// Answers all open requests about queues: nobody else is queued.
  void alone_in_queues() {
    for (NodeIndex node = 0; node < 3; ++node) {
      while (open(node) > 0) queued({node}, {9, true});
    }
  }
};

/// The second resource was passed on to the client, and then the first one was in the way.
struct Turned : Blocked {
  explicit Turned(const std::string& whose = holder) {
    asks = turn_for("second");
    moves = refused_by(1, whose);
  }
  std::string asks, moves;
};

TEST(SeveralResources, StayReservedForATurnIfAnotherOneIsInTheWay) {
  Turned h;
  EXPECT_EQ(h.asks, "take t3 and keeps for 20 ms -> 0 1 2");
  EXPECT_EQ(h.moves, "queue second of several ticket 7 -> 0 1; queue resource of several -> 0 1 2");
  h.alone_in_queues();
  EXPECT_EQ(h.turn_for("resource"), "take t4 and keeps for 20 ms -> 0 1 2");
}

TEST(SeveralResources, AreWaitedForWithTheTicketThatTheClientHad) {
  Turned h;
  h.alone_in_queues();
  h.pass(20ms);
  h.alone_in_queues();
  h.turn_for("resource");
  EXPECT_EQ(h.refused_by(2),
            "queue resource of several ticket 9 -> 0 1; queue second of several ticket 9 -> 0 1 2");
}

TEST(SeveralResources, StayReservedTwiceAsLongAfterEachTurnInVain) {
  Turned h;
  bool first = true;
  for (const char* const keep : {"40", "80", "160", "320", "640", "1280", "2560"}) {
    h.alone_in_queues();
    // In a long turn, it checks the awaited resource.
    while (!h.pass(h.until_deadline()).starts_with("leave")) h.alone_in_queues();
    h.alone_in_queues();
    EXPECT_THAT(h.turn_for(first ? "resource" : "second"),
                testing::HasSubstr(std::string(" and keeps for ") + keep + " ms"));
    h.refused_by(first ? 2 : 1);
    first = !first;
  }
}

TEST(SeveralResources, BeginNoTurnWhenNodesOnlySayThatTheAwaitedOneHasNoHolder) {
  // As they do during an interval.
  Turned h;
  std::string commands;
  std::chrono::milliseconds kept(0);
  for (; commands.find("leave second") == std::string::npos && kept < 1s; kept += 1ms) {
    for (NodeIndex node = 0; node < 3; ++node) {
      for (std::size_t open = h.open(node); open > 0 && h.open(node) > 0; --open) {
        Answer event{node, h.take_open(node), Reply::gone};
        event.ticket = 9;
        event.is_first = true;
        if (event.stamp.verb == Verb::take) {
          event = {node, event.stamp, Reply::taken, holder, 10s};
          event.number = 1;
        } else if (event.stamp.verb == Verb::release) {
          event.reply = Reply::released;
        }
        commands += h.step(event);
      }
    }
    commands += h.pass(1ms);
  }
  EXPECT_LE(kept, 21ms);
}

TEST(SeveralResources, StayReservedForFourSecondsAtMostHoweverOftenNodesNotify) {
  Turned h;
  std::string given_back;
  std::chrono::milliseconds kept(0);
  for (; given_back.empty() && kept < 5s; kept += 10ms) {
    h.alone_in_queues();
    h.turn_for("resource");  // but it is not free
    h.refused_by(1);
    h.alone_in_queues();
    given_back = h.pass(10ms);
  }
  EXPECT_EQ(given_back, "leave second -> 0 1 2");
  EXPECT_EQ(kept, 4s);
}

TEST(SeveralResources, AreNotKeptForAnEarlierOneThatIsReservedForAnotherClient) {
  EXPECT_EQ(Turned("redlock:next:0123456789abcdef").moves,
            "leave second -> 0 1 2; queue resource of several -> 0 1 2");
}

TEST(SeveralResources, AreNotKeptForOneForWhichAnotherClientComesFirst) {
  Turned h;
  h.queued({0}, {7, true});  // the second
  EXPECT_EQ(h.queued({0}, {9, false}), "leave second -> 0 1 2");
}

TEST(SeveralResources, AreKeptByTheReleaseOfALostAttemptWhileTheTurnLasts) {
  Blocked h;
  h.turn_for("second");
  h.answer(0, Reply::granted);
  Answer refusal{1, h.take_open(1), Reply::taken, holder, 10s};
  refusal.number = 1;
  h.step(refusal);
  refusal.node = 2;
  refusal.stamp = h.take_open(2);
  EXPECT_EQ(h.step(refusal),
            "release t3 and keeps 2 -> 0; queue second of several ticket 7 -> 0 1; "
            "queue resource of several -> 0 1 2");
}

TEST(SeveralResources, ThatAreKeptAreWaitedForAgainWhereTheyWerePassedOnLate) {
  Blocked h;
  h.turn_for("second");
  h.notified(2, "second");
  EXPECT_EQ(h.refused_by(1),
            "queue second of several ticket 7 -> 0 1 2; queue resource of several -> 0 1 2")
      << "the third node passed it on during the attempt";
  h.alone_in_queues();
  h.notified(2, "second");
  h.turn_for("resource");
  EXPECT_EQ(h.refused_by(1),
            "queue second of several ticket 9 -> 0 1 2; queue resource of several ticket 9 -> 0 1")
      << "and behind it";
}

TEST(SeveralResources, AreAllLeftInTheEnd) {
  Turned h;
  h.alone_in_queues();
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled; leave resource -> 0 1 2; leave second -> 0 1 2");
}

TEST(SeveralResources, ThatAreKeptAreNotForOtherCallersOfTheClient) {
  Turned h;
  h.alone_in_queues();
  h.turn_for("resource");
  h.refused_by(2);
  h.acquire(2, 10s, 60s);
  EXPECT_EQ(position_of_attempt(h), "nobody's");
}

/// How long a waiter, after `refusals` refusals, waits for the rest of the nodes.
Duration patience_after(int refusals) {
  Queued h;
  for (int i = 0; i < refusals; ++i) {
    h.pass(2400ms);
    h.refuse(holder);
  }
  h.notified(0, "resource");
  return h.until_deadline();
}

TEST(Patience, GrowsWithAttemptsThatAreRefused) {
  EXPECT_EQ(patience_after(0), 1ms);
  EXPECT_EQ(patience_after(1), 2ms);
  EXPECT_EQ(patience_after(3), 4ms);
  EXPECT_EQ(patience_after(11), 64ms);
  EXPECT_EQ(patience_after(20), 64ms) << "longer than a reservation: others have it then";
}

TEST(Patience, WithANodeThatGrantsEachAttemptGrowsFurther) {
  Queued h;
  for (int i = 0; i < 18; ++i) {
    h.notified(0, "resource");
    h.pass(h.until_deadline());
    h.answer(0, Reply::granted);
    h.refused({1, 2}, holder, 10s, {7});
    h.answer(0, Reply::released);
  }
  h.notified(0, "resource");
  EXPECT_EQ(h.until_deadline(), 512ms)
      << "it lacks the holder's key, and is free after each attempt";
  EXPECT_NE(h.notified(1, "resource").find("-> 0 1 2"), std::string::npos) << "a quorum";
}

TEST(Patience, BeginsAnewWhenAQuorumNotified) {
  Queued h;
  for (int i = 0; i < 11; ++i) {
    h.pass(2400ms);
    h.refuse(holder);
  }
  h.notified(0, "resource");
  h.notified(1, "resource");
  h.refuse(holder);
  h.notified(0, "resource");
  EXPECT_EQ(h.until_deadline(), 1ms);
}

TEST(Patience, OnlyBecomesShorter) {
  Queued h;
  h.pass(30ms);
  h.notified(0, "resource", 1);
  EXPECT_EQ(h.until_deadline(), 21ms);
  h.pass(5ms);
  h.notified(1, "resource", 1);
  EXPECT_EQ(h.until_deadline(), 16ms) << "the deadline of the first notification";
  h.notified(2, "resource");
  EXPECT_EQ(h.until_deadline(), 1ms);
}

}  // namespace
}  // namespace redlock::core::test
