#include <gtest/gtest.h>

#include <set>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

TEST(Acquire, asks_all_nodes_in_one_step_and_is_granted_by_the_third_of_five) {
  Connected h(5);
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 1 2 3 4");
  h.pass(5ms);
  EXPECT_EQ(h.answers({4, 2}, Reply::granted), "");
  EXPECT_EQ(h.answer(0, Reply::granted), "acquired #1 until 9898ms");
  EXPECT_EQ(h.answer(1, Reply::granted), "");
}

TEST(Acquire, is_granted_early_although_two_nodes_are_silent) {
  Connected h(5);
  h.acquire(1, 10s);
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::granted), "acquired #1 until 9898ms");
  EXPECT_EQ(h.pass(1s), "disconnect 3; disconnect 4");
  EXPECT_EQ(h.up(3), "kill 104 -> 3");
}

TEST(Acquire, counts_the_deadline_from_the_start_of_the_granting_round) {
  Connected h(3);
  h.pass(1s);
  h.acquire(1, 10s, 5s);
  h.pass(20ms);
  h.answers({0, 1}, Reply::taken, "x", 30ms);
  EXPECT_EQ(h.answer(2, Reply::granted), "release t1 -> 2");
  // The second attempt begins when two nodes can be free.
  EXPECT_EQ(h.pass(31ms), "set t2 -> 0 1 2");
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.answer(1, Reply::granted), "acquired #1 until 10949ms");
  EXPECT_EQ(std::get<Acquired>(h.commands().back()).elapsed, 51ms);
}

TEST(Acquire, with_a_ttl_that_is_all_drift_is_never_granted_but_expired_and_released) {
  Connected h(3);
  EXPECT_EQ(h.acquire(1, 1ms), "set t1 -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::granted), "release t1 -> 0 1 2; failed #1 expired");
  EXPECT_EQ(h.answers({1, 2}, Reply::granted), "");
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::released), "");
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Acquire, is_granted_a_nanosecond_before_the_deadline_and_expired_at_it) {
  for (const Duration spare : {1ns, 0ns}) {
    Connected h(1);
    h.acquire(1, 100ms);
    h.oversleep(97ms - spare);
    EXPECT_EQ(h.answer(0, Reply::granted),
              spare > 0ns ? "acquired #1 until 97ms" : "release t1 -> 0; failed #1 expired");
  }
}

TEST(Acquire, undecided_at_its_deadline_is_expired_without_waiting_for_answers) {
  Connected h(3);
  h.acquire(1, 100ms);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.pass(97ms), "release t1 -> 0 1 2; failed #1 expired");
}

TEST(Acquire, near_the_end_of_time_does_not_wrap) {
  Connected h(1);
  h.oversleep(Instant::max() - h.now() - 1s);
  h.acquire(1, 10s);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.valid_until(), Instant::max());
}

TEST(Acquire, tells_who_holds_the_lock_and_for_how_long) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answer(1, Reply::taken, "other", 700ms);
  EXPECT_EQ(h.answer(2, Reply::taken, "other", 400ms), "failed #1 held");
  const Round& round = *h.decided_by();
  EXPECT_EQ(round.leading_holder(), "other");
  EXPECT_EQ(round.free_in(), 700ms);
  EXPECT_EQ(round.vote(0).vote, Vote::pending);
  EXPECT_EQ(round.vote(2).remaining, 400ms);
}

TEST(Acquire, waits_for_a_key_that_is_there_for_longer_than_a_duration_can_say) {
  Connected h(1);
  h.acquire(1, 10s, 20s);
  h.answer(0, Reply::taken, "other", Duration::max());
  EXPECT_GT(h.until_deadline(), 0ms) << "not at once, again and again";
}

TEST(Acquire, that_failed_does_not_forget_a_key_that_was_set_late) {
  Connected h(3);
  h.acquire(1, 100ms);
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, "other"), "failed #1 held");
  h.pass(90ms);
  EXPECT_EQ(h.answer(2, Reply::granted), "release t1 -> 2");
  h.answer(2, Reply::error, "BUSY");
  h.pass(60ms);
  EXPECT_EQ(h.engine().claims(), 1U) << "150 ms after the first, 60 ms after the last could be set";
  h.pass(60ms);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Acquire, is_split_when_nobody_can_have_a_majority) {
  Connected h(5);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.answers({2, 3}, Reply::taken, "other");
  EXPECT_EQ(h.answer(4, Reply::taken, "third"), "release t1 -> 0 1; failed #1 split");
}

TEST(Acquire, is_held_as_long_as_a_silent_node_may_be_the_holders) {
  Connected h(5);
  h.acquire(1, 10s);
  h.answer(0, Reply::granted);
  h.answers({2, 3}, Reply::taken, "other");
  EXPECT_EQ(h.answer(4, Reply::error, "OOM"), "release t1 -> 0 1; failed #1 held");
}

TEST(Acquire, is_held_when_servers_that_do_not_tell_the_holder_complete_a_majority) {
  Connected h(5);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.answers({2, 3}, Reply::taken, "other");
  EXPECT_EQ(h.answer(4, Reply::taken), "release t1 -> 0 1; failed #1 held");
  EXPECT_EQ(h.decided_by()->leading_holder(), "other");
}

TEST(Acquire, names_the_holder_although_most_servers_do_not_tell_it) {
  Connected h(5);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::taken);
  EXPECT_EQ(h.answer(2, Reply::taken, "other"), "release t1 -> 3 4; failed #1 held");
  EXPECT_EQ(h.decided_by()->leading_holder(), "other");
}

TEST(Acquire, is_unavailable_when_too_few_answer_and_says_why_node_by_node) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answer(0, Reply::error, "READONLY");
  EXPECT_EQ(h.down(2, "reset"), "release t1 -> 1; failed #1 unavailable");
  const Round& round = *h.decided_by();
  EXPECT_EQ(round.vote(0).vote, Vote::error);
  EXPECT_EQ(round.vote(0).text, "READONLY");
  EXPECT_EQ(round.vote(2).vote, Vote::unreachable);
  EXPECT_EQ(round.vote(2).text, "reset");
}

TEST(Acquire, sends_nothing_where_too_few_nodes_are_up) {
  Connected h(3);
  h.down(0);
  h.down(1);
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 unavailable");
}

TEST(Acquire, treats_a_missed_time_limit_as_a_denial_and_drops_the_connection) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.pass(1s),
            "release t1 -> 1; disconnect 1; release t1 -> 2; disconnect 2; "
            "release t1 -> 0; failed #1 unavailable");
  EXPECT_EQ(h.decided_by()->vote(1).vote, Vote::timeout);
  EXPECT_EQ(h.decided_by()->vote(1).text, "no answer within 1000 ms");
}

TEST(Acquire, is_excluded_when_duplicates_leave_too_few_voters) {
  Harness h(3);
  h.tick();
  h.up(0, "same");
  EXPECT_EQ(h.up(1, "same"), "excluded 1");
  EXPECT_EQ(h.up(2, "same"), "excluded 2");
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 excluded");
}

TEST(Waiting, uses_a_fresh_token_for_every_attempt) {
  Connected h(3);
  h.acquire(1, 10s, 1s);
  std::set<std::string> tokens;
  for (int attempt = 0; attempt < 10; ++attempt) {
    for (NodeIndex node = 0; node < 3; ++node) {
      while (h.open(node) > 0) h.answer(node, Reply::taken, "other", 5s);
    }
    const std::string sent = h.pass(50ms);
    EXPECT_TRUE(sent.starts_with("set t")) << sent;
    tokens.insert(sent);
  }
  EXPECT_EQ(tokens.size(), 10U);
}

TEST(Waiting, for_a_holder_retries_when_a_quorum_can_be_free) {
  Connected h(5);
  h.random.shortest = true;
  h.acquire(1, 10s, 10s);
  h.answer(0, Reply::taken, "other", 1ms);
  h.answer(1, Reply::taken, "other", 20ms);
  EXPECT_EQ(h.answer(2, Reply::taken, "other", 9ms), "");
  // Without measurements the scale is 100 us; the third smallest remaining time is 20 ms.
  EXPECT_EQ(h.until_deadline(), 100us);
}

TEST(Waiting, for_a_holder_retries_in_between_with_growing_pauses_up_to_50_ms) {
  Connected h(3);
  h.acquire(1, 10s, 60s);
  std::vector<Duration> pauses;
  for (int attempt = 0; attempt < 12; ++attempt) {
    h.pass(1ms);
    h.answers({0, 1}, Reply::taken, "other", 20s);
    while (h.open(2) > 0) h.answer(2, Reply::taken, "other", 20s);
    while (h.open(0) > 0) h.answer(0, Reply::gone);
    while (h.open(1) > 0) h.answer(1, Reply::gone);
    pauses.push_back(h.until_deadline());
    h.pass(pauses.back());
  }
  EXPECT_EQ(pauses[0], 2ms);
  EXPECT_EQ(pauses[1], 4ms);
  EXPECT_EQ(pauses.back(), 50ms);
}

TEST(Waiting, for_the_expiry_of_a_holder_comes_a_millisecond_later) {
  Connected h(1);
  h.acquire(1, 10s, 60s);
  h.pass(30ms);
  h.answer(0, Reply::taken, "other", 7ms);
  EXPECT_EQ(h.until_deadline(), 8ms);
}

TEST(Waiting, after_a_split_is_on_the_scale_of_the_round_trip) {
  Connected h(2);
  h.acquire(1, 10s, 60s);
  h.pass(400us);
  h.answer(0, Reply::granted);
  h.answer(1, Reply::taken, "other", 10s);
  EXPECT_EQ(h.until_deadline(), 800us);
}

TEST(Waiting, ends_exactly_at_its_limit_with_the_last_reason) {
  Connected h(1);
  h.acquire(1, 10s, 200ms);
  std::string out = h.answer(0, Reply::taken, "other", 10s);
  while (h.now() < Instant(199ms)) {
    out = h.pass(std::min<Duration>(h.until_deadline(), Instant(199ms) - h.now()));
    while (h.open(0) > 0) h.answer(0, Reply::taken, "other", 10s);
  }
  EXPECT_EQ(h.pass(1ms - 1ns), "");
  EXPECT_EQ(h.pass(1ns), "failed #1 held");
  EXPECT_EQ(h.now(), Instant(200ms));
}

TEST(Waiting, is_cut_off_in_the_middle_of_an_attempt_which_is_released) {
  Connected h(3);
  h.acquire(1, 10s, 200ms);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.pass(200ms), "release t1 -> 0 1 2; failed #1 unavailable");
}

TEST(Waiting, through_an_outage_ends_when_enough_nodes_are_back) {
  Connected h(3);
  h.down(0);
  h.down(1);
  EXPECT_EQ(h.acquire(1, 10s, 60s), "");
  h.pass(10ms);
  EXPECT_EQ(h.up(0), "set t1 -> 0 2");
}

TEST(Waiting, through_an_outage_pauses_for_no_more_than_250_ms) {
  Connected h(1);
  h.down(0);
  EXPECT_EQ(h.acquire(1, 10s, 60s), "");
  for (int i = 0; i < 200; ++i) {
    const Duration next = h.until_deadline();
    EXPECT_LE(next, 250ms);
    EXPECT_GT(next, 0ns);
    h.pass(next);
    if (h.commands().size() == 1 && std::holds_alternative<Connect>(h.commands()[0])) h.down(0);
  }
}

TEST(Waiting, for_ever_has_no_limit) {
  Connected h(1);
  h.acquire(1, 10s, Duration::max());
  h.oversleep(24h * 365);
  EXPECT_EQ(h.answer(0, Reply::taken, "other"), "release t1 -> 0");
  while (h.open(0) > 0) h.answer(0, Reply::gone);
  EXPECT_EQ(h.pass(50ms), "set t2 -> 0");
}

TEST(Cancel, during_an_attempt_releases_it) {
  Connected h(3);
  h.acquire(1, 10s, 1s);
  h.answer(0, Reply::taken, "other");
  EXPECT_EQ(h.cancel(1), "release t1 -> 1 2; failed #1 cancelled");
  EXPECT_EQ(h.cancel(1), "");
}

TEST(Cancel, between_attempts_has_nothing_left_to_release) {
  Connected h(1);
  h.acquire(1, 10s, 1s);
  h.answer(0, Reply::taken, "other");
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled");
  EXPECT_EQ(h.pass(5s), "");
}

TEST(Cancel, during_first_contact_sends_nothing) {
  Harness h(3);
  h.tick();
  EXPECT_EQ(h.acquire(1, 10s), "");
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled");
  EXPECT_EQ(h.up(0), "");
  EXPECT_EQ(h.up(1), "");
}

TEST(Cancel, after_the_grant_is_too_late_and_harmless) {
  Connected h(1);
  h.hold(10s);
  EXPECT_EQ(h.cancel(1), "");
  EXPECT_EQ(h.cancel(99), "");
}

TEST(FirstContact, begins_the_round_as_soon_as_a_quorum_is_up) {
  Harness h(5);
  EXPECT_EQ(h.tick(), "connect 0; connect 1; connect 2; connect 3; connect 4");
  EXPECT_EQ(h.acquire(1, 10s), "");
  h.pass(3ms);
  EXPECT_EQ(h.up(0), "");
  EXPECT_EQ(h.up(1), "");
  EXPECT_EQ(h.up(2), "set t1 -> 0 1 2");
  EXPECT_EQ(h.up(3), "set t1 -> 3");
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::granted), "acquired #1 until 9901ms");
  EXPECT_EQ(h.up(4), "set t1 -> 4") << "the key goes to late nodes after the grant too";
  h.answers({3, 4}, Reply::granted);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2 3 4");
}

TEST(FirstContact, does_not_wait_for_nodes_that_refuse_the_connection) {
  Harness h(3);
  h.tick();
  h.acquire(1, 10s);
  EXPECT_EQ(h.down(0, "refused"), "");
  EXPECT_EQ(h.down(1, "refused"), "failed #1 unavailable");
}

TEST(FirstContact, is_limited_by_the_wait) {
  Harness h(3);
  h.tick();
  h.acquire(1, 10s, 50ms);
  EXPECT_EQ(h.pass(50ms), "failed #1 unavailable");
}

TEST(FirstContact, with_nodes_that_never_answer_is_limited_by_the_time_to_connect) {
  Harness h(3);
  h.tick();
  h.acquire(1, 10s);
  EXPECT_EQ(h.pass(1s), "disconnect 0; disconnect 1; failed #1 unavailable; disconnect 2");
}

}  // namespace
}  // namespace redlock::core::test
