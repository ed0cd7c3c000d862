// The ticket and the name that an attempt carries, and the patience of a waiter.

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

TEST(QueuePositions, are_nobodys_in_a_first_attempt) {
  Connected h(3);
  h.acquire(1, 10s, 60s);
  EXPECT_EQ(position_of_attempt(h), "nobody's");
}

TEST(QueuePositions, have_a_ticket_if_the_caller_waits_for_one_key) {
  Queued h;
  h.notified(0, "resource");
  h.notified(1, "resource");
  EXPECT_EQ(position_of_attempt(h), "with ticket 7");
}

TEST(QueuePositions, of_readers_have_no_ticket) {
  QueuedReader h;
  h.notified(0, "resource");
  h.notified(1, "resource");
  EXPECT_EQ(position_of_attempt(h), "as the client");
}

/// The second of two resources is in the way.
struct Blocked : Connected {
  Blocked() : Connected(3) {
    shows_notifications = true;
    random.shortest = true;
    step(two_resources(1));
    refused_by(2);
  }
  /// The nodes refuse the attempt for this resource. Returns the commands.
  std::string refused_by(std::uint64_t resource) {
    std::string out;
    for (NodeIndex node = 0; node < 3; ++node) {
      Answer event{node, take_open(node), Reply::taken, holder, 10s};
      event.number = resource;
      out += step(event);
    }
    return out;
  }
  std::string turn_for(const std::string& key) { return notified(0, key) + notified(1, key); }
};

TEST(QueuePositions, are_in_the_queue_of_the_resource_that_is_in_the_way) {
  Blocked h;
  EXPECT_EQ(h.subscribed({0, 1, 2}),
            "queue second of several -> 0; queue second of several -> 1; "
            "queue second of several -> 2");
  h.queued({0, 1, 2}, {7});
  h.notified(0, "second");
  EXPECT_EQ(h.notified(1, "second"), "take t3 -> 0 1 2");
}

TEST(QueuePositions, of_callers_that_need_several_resources_have_no_ticket) {
  Blocked h;
  h.subscribed({0, 1, 2});
  h.queued({0, 1, 2}, {7});
  h.notified(0, "second");
  h.notified(1, "second");
  EXPECT_EQ(position_of_attempt(h), "as the client");
}

/// A client that waited for the second resource, and left that queue for the first resource's. Now
/// the first is reserved for it, and it waits for the second again.
struct BlockedByBoth : Blocked {
  BlockedByBoth() {
    subscribed({0, 1, 2});
    queued({0, 1, 2}, {7});
    turn_for("second");
    left = refused_by(1);
    placed({0, 1, 2}, Reply::done, {}, {}, {});
    queued({0, 1, 2}, {9});
    turn_for("resource");
    moved_on = refused_by(2);
  }
  std::string left, moved_on;
};

TEST(QueuePositions, are_kept_while_another_of_several_resources_is_in_the_way) {
  BlockedByBoth h;
  EXPECT_EQ(h.left, "leave second -> 0 1 2; queue resource of several -> 0 1 2")
      << "what is reserved for it there is passed on";
  EXPECT_EQ(h.moved_on,
            "queue resource of several ticket 9 -> 0 1; queue second of several ticket 7 -> 0 1 2")
      << "keeps its ticket, so it comes before those that queued meanwhile";
}

TEST(QueuePositions, of_several_resources_are_all_left_in_the_end) {
  BlockedByBoth h;
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled; leave second -> 0 1 2; leave resource -> 0 1 2");
}

TEST(QueuePositions, of_several_resources_are_not_for_other_callers_of_the_client) {
  BlockedByBoth h;
  h.acquire(2, 10s, 60s);
  EXPECT_EQ(position_of_attempt(h), "nobody's");
}

TEST(QueuePositions, are_restored_for_other_callers_of_a_client_after_a_grant_removed_it) {
  Queued h;
  h.pass(1s);
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  h.pass(1400ms);
  h.refuse(holder);
  h.notified(0, "resource");
  EXPECT_EQ(h.notified(1, "resource"), "take t5 ticket 7 -> 0 1 2");
  h.placed({0}, Reply::granted, {}, {}, {});
  EXPECT_EQ(h.cancel(1),
            "release t5 -> 0 1 2; failed #1 cancelled; queue resource ticket 7 -> 0 1 2");
  EXPECT_EQ(h.tick(), "take t6 ticket 7 -> 0 1 2");
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

TEST(Patience, grows_with_attempts_that_are_refused) {
  EXPECT_EQ(patience_after(0), 1ms);
  EXPECT_EQ(patience_after(1), 2ms);
  EXPECT_EQ(patience_after(3), 4ms);
  EXPECT_EQ(patience_after(11), 64ms);
  EXPECT_EQ(patience_after(20), 64ms) << "longer than a reservation: others have it then";
}

TEST(Patience, begins_anew_when_a_quorum_notified) {
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

TEST(Patience, only_becomes_shorter) {
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
