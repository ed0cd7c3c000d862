// Waiting without polling: nodes keep a queue, and notify its first client.

#include <gtest/gtest.h>

#include <string>

#include "core/waited_keys.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

const std::string holder(40, 'a');

/// Three nodes, and `whose` key on all of them for ten seconds; refused there once.
struct Refused : Connected {
  explicit Refused(const std::string& whose = holder) : Connected(3) {
    shows_notifications = true;
    random.shortest = true;
    begun = acquire(1, 10s, 60s);
    after_refusal = refuse(whose);
  }
  /// The third is asked to undo what it refused all the same.
  std::string refuse(const std::string& whose) {
    const std::string out = answers({0, 1}, Reply::taken, whose, 10s);
    answer(2, Reply::taken, whose, 10s);
    answer(2, Reply::gone);
    return out;
  }
  std::string begun;
  std::string after_refusal;
};

/// As Refused, and in the queues of all nodes.
struct Queued : Refused {
  explicit Queued(const std::string& whose = holder) : Refused(whose) {
    subscribed({0, 1, 2});
    answers({0, 1, 2}, Reply::taken);
  }
};

TEST(Queues, are_for_who_was_refused_and_waits) {
  Refused h;
  EXPECT_EQ(h.after_refusal, "release t1 -> 2; subscribe 0 1 2");
  EXPECT_EQ(h.engine().client_id().str(), "t2");
  EXPECT_EQ(h.subscribed({0}), "queue resource -> 0");
  EXPECT_EQ(h.subscribed({0}), "") << "once";
}

TEST(Queues, are_not_for_a_single_attempt) {
  Connected h(3);
  h.shows_notifications = true;
  h.acquire(1, 10s);
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, holder, 10s), "release t1 -> 2; failed #1 held");
}

TEST(Queues, let_sleep_who_stands_in_a_quorum_of_them) {
  Refused h;
  h.subscribed({0, 1});
  EXPECT_EQ(h.until_deadline(), 100us) << "until then it retries soon";
  h.answer(0, Reply::taken);
  EXPECT_EQ(h.until_deadline(), 100us);
  h.answer(1, Reply::taken);
  EXPECT_EQ(h.pass(2390ms), "");
  EXPECT_EQ(h.pass(20ms), "set t3 -> 0 1 2") << "a notification may be lost";
}

TEST(Queues, tell_who_comes_when_it_is_free_already) {
  Refused h;
  h.subscribed({0, 1, 2});
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  EXPECT_EQ(h.answer(1, Reply::gone), "set t3 -> 0 1 2");
}

TEST(Queues, have_the_first_look_when_a_quorum_told) {
  Queued h;
  EXPECT_EQ(h.notified(0, "resource"), "");
  EXPECT_EQ(h.notified(0, "resource"), "") << "one node, twice";
  EXPECT_EQ(h.notified(1, "another"), "");
  EXPECT_EQ(h.notified(2, "resource"), "set t3 -> 0 1 2");
}

TEST(Queues, that_disagree_have_it_look_a_moment_later) {
  Queued h;
  EXPECT_EQ(h.notified(0, "resource"), "");
  EXPECT_EQ(h.pass(900us), "");
  EXPECT_EQ(h.pass(100us), "set t3 -> 0 1 2");
}

TEST(Queues, have_the_second_look_when_the_first_may_not_have_come) {
  Queued h;
  EXPECT_EQ(
      h.notified(0, "resource", 1) + h.notified(1, "resource", 1) + h.notified(2, "resource", 1),
      "");
  EXPECT_EQ(h.pass(3900us), "");
  EXPECT_EQ(h.pass(100us), "set t3 -> 0 1 2");
}

TEST(Queues, of_nodes_that_had_let_it_in_need_not_tell) {
  Connected h(3);
  h.shows_notifications = true;
  h.acquire(1, 10s, 60s);
  h.answers({0, 1}, Reply::taken, holder, 10s);
  h.answer(2, Reply::granted);
  h.answer(2, Reply::released);
  h.subscribed({0, 1});
  h.answers({0, 1}, Reply::taken);
  h.pass(3200ms);
  h.answer(2, Reply::granted);
  h.answers({0, 1}, Reply::taken, holder, 10s);
  h.answer(2, Reply::released);
  EXPECT_EQ(h.notified(1, "resource"), "set t4 -> 0 1 2");
}

TEST(Queues, tell_what_is_not_lost_while_it_looks) {
  Queued h;
  EXPECT_EQ(h.pass(2400ms), "set t3 -> 0 1 2");
  h.notified(0, "resource");
  h.notified(1, "resource");
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, holder, 10s), "release t3 -> 2");
  EXPECT_EQ(h.tick(), "set t4 -> 0 1 2");
}

TEST(Queues, are_not_for_locks_of_others) {
  Refused h("another client's");
  EXPECT_EQ(h.after_refusal, "release t1 -> 2");
  EXPECT_NE(h.pass(60ms), "");
}

TEST(Queues, are_for_an_interval_too) {
  Queued h("redlock:cooldown");
  EXPECT_EQ(h.pass(1s), "");
}

TEST(Queues, wake_who_hears_them_no_more) {
  Queued h;
  EXPECT_EQ(h.unsubscribed(2), "") << "two are enough";
  EXPECT_EQ(h.pass(100ms), "");
  EXPECT_EQ(h.unsubscribed(1), "");
  EXPECT_EQ(h.pass(50ms), "set t3 -> 0 1 2");
  EXPECT_EQ(h.refuse(holder), "release t3 -> 2") << "nobody is asked again at once";
}

TEST(Queues, that_come_and_go_put_nobody_off) {
  Queued h;
  h.random.shortest = false;
  h.unsubscribed(1);
  h.unsubscribed(2);
  for (int i = 0; i < 12; ++i) {
    h.pass(51ms);
    h.refuse(holder);
  }
  std::string looks;
  for (int i = 0; i < 60; ++i) {
    h.unsubscribed(static_cast<NodeIndex>(i % 3));
    looks += h.pass(1ms);
  }
  EXPECT_NE(looks.find("set "), std::string::npos) << "50 ms is the longest pause";
}

TEST(Queues, of_a_node_that_comes_back_are_entered_again) {
  Queued h;
  EXPECT_EQ(h.down(2), "unsubscribe 2");
  h.up(2);
  EXPECT_EQ(h.down(1), "unsubscribe 1");
  EXPECT_EQ(h.pass(50ms).find("set t3 -> 0 2"), 0U);
  EXPECT_EQ(h.answers({0, 2}, Reply::taken, holder, 10s), "release t3 -> 2; subscribe 2");
  EXPECT_EQ(h.subscribed({2}), "queue resource -> 2");
}

TEST(Queues, are_left_by_who_was_let_in) {
  Queued h;
  h.notified(0, "resource");
  h.notified(1, "resource");
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "acquired #1 until 9898ms; leave resource -> 0 1 2");
}

TEST(Queues, are_left_by_who_gives_up) {
  Queued h;
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled; leave resource -> 0 1 2");
}

TEST(Queues, are_entered_once_for_all_of_one_client_who_take_turns) {
  Queued h;
  h.acquire(2, 10s, 60s);
  EXPECT_EQ(h.refuse(holder), "release t3 -> 2") << "they know";
  h.notified(0, "resource");
  EXPECT_EQ(h.notified(1, "resource"), "set t4 -> 0 1 2") << "the other one sleeps on";
  EXPECT_EQ(h.answers({0, 1}, Reply::granted),
            "acquired #1 until 9898ms; queue resource anew -> 0 1 2");
}

TEST(Queues, let_one_of_a_client_try_at_a_time) {
  Queued h;
  h.acquire(2, 10s, 60s);
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::taken, holder, 50ms), "release t3 -> 2");
  std::string second;
  for (int passed = 0; passed < 200 && second.empty(); ++passed) second = h.pass(1ms);
  EXPECT_EQ(second, "set t4 -> 0 1 2") << "what it saw runs out";
  h.notified(0, "resource");
  EXPECT_EQ(h.notified(1, "resource"), "set t5 -> 0 1 2") << "the first";
  h.notified(0, "resource");
  h.notified(1, "resource");
  h.answers({0, 1}, Reply::taken, holder, 10s);
  EXPECT_EQ(h.tick(), "") << "two that try would divide the nodes between them";
}

TEST(Queues, pass_a_turn_on_that_nobody_took) {
  Queued h;
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  h.notified(0, "resource");
  EXPECT_EQ(h.notified(1, "resource"), "set t4 -> 0 1 2");
  EXPECT_EQ(h.cancel(1), "release t4 -> 0 1 2; failed #1 cancelled");
  EXPECT_EQ(h.tick(), "set t5 -> 0 1 2") << "the next in the queue was notified as well";
}

Acquire reading(std::uint64_t request) {
  Acquire event;
  event.request = CallId{request};
  event.resource = "resource";
  event.ttl = 10s;
  event.wait = 60s;
  event.group = "shared";
  return event;
}

/// A reader that met a writer's lease, queued on all nodes.
struct QueuedReader : Connected {
  QueuedReader() : Connected(3) {
    shows_notifications = true;
    random.shortest = true;
    step(reading(1));
    answers({0, 1}, Reply::taken, holder, 10s);
    answer(2, Reply::taken, holder, 10s);
    answer(2, Reply::gone);
    subscribed({0, 1, 2});
    answers({0, 1, 2}, Reply::taken);
  }
};

TEST(Queues, have_readers_stand_behind_a_writer_that_waits) {
  QueuedReader h;
  h.pass(2400ms);
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, "writer", 3s),
            "release t3 -> 2; queue resource anew -> 0 1 2");
}

TEST(Queues, have_a_writer_first_that_keeps_readers_out_and_let_readers_in_when_it_leaves) {
  Queued h("shared");
  h.pass(2400ms);
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, "shared", 3s),
            "release t3 -> 2; queue resource in front -> 0 1 2");
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled; leave resource and let readers in -> 0 1 2");
}

TEST(Queues, keep_the_place_of_a_writer_when_a_reader_of_the_same_client_makes_way) {
  Queued h("shared");
  h.step(reading(2));
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, "writer", 3s),
            "release t3 -> 2; queue resource in front -> 0 1 2");
}

TEST(Queues, are_entered_again_before_nodes_forget) {
  Queued h;
  std::string asked;
  for (int i = 0; i < 5; ++i) {
    h.pass(2400ms);
    asked = h.refuse(holder);
  }
  EXPECT_NE(asked.find("queue resource -> 0 1 2"), std::string::npos) << asked;
}

TEST(WaitedKeys, forgets_keys_but_for_a_few) {
  WaitedKeys queue;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t id = queue.wait(std::to_string(i), i).second.id;
    queue.forget(id);
    EXPECT_NE(queue.find(id), nullptr) << "somebody waits";
    queue.stop(std::to_string(i), i);
    queue.forget(id);
  }
  EXPECT_EQ(queue.all().size(), 32U);
}

TEST(Notifications, come_from_our_own_locks) {
  EXPECT_TRUE(notifies_on_release(holder));
  EXPECT_TRUE(notifies_on_release(holder + ":a name"));
  EXPECT_TRUE(notifies_on_release("shared"));
  EXPECT_TRUE(notifies_on_release("owner a"));
  EXPECT_FALSE(notifies_on_release(""));
  EXPECT_FALSE(notifies_on_release(holder + "a"));
  EXPECT_FALSE(notifies_on_release(holder.substr(1)));
  EXPECT_FALSE(notifies_on_release(std::string(40, 'G')));
}

}  // namespace
}  // namespace redlock::core::test
