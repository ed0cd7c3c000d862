#include <gtest/gtest.h>

#include "core/claim/validity.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

TEST(Release, is_answered_as_soon_as_no_majority_is_taken_any_more) {
  Connected h(5);
  h.acquire(1, 10s);
  h.answers({0, 1, 2}, Reply::granted);
  h.answers({3, 4}, Reply::taken, "other");
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(h.answer(1, Reply::released), "released #2");
}

TEST(Release, goes_behind_a_set_that_is_not_answered) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(h.open(2), 2U);
}

TEST(Release, goes_to_a_node_that_was_repaired_although_it_refused_the_set_late) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  EXPECT_EQ(h.extend(2, 10s), "extend t1 -> 0 1 2");
  h.answer(2, Reply::taken, "other");
  h.answers({0, 1}, Reply::extended);
  EXPECT_EQ(h.answer(2, Reply::gone), "extend-or-set t1 -> 2");
  EXPECT_EQ(h.release(3), "release t1 -> 0 1 2");
}

TEST(Release, goes_to_a_node_that_refused_one_extend_while_the_next_was_under_way) {
  Connected h(3);
  h.hold(10s);
  h.extend(2, 10s);
  h.answers({0, 1}, Reply::extended);
  EXPECT_EQ(h.extend(3, 10s), "extend t1 -> 0 1 2");
  h.answer(2, Reply::taken);
  EXPECT_EQ(h.release(4), "failed #3 cancelled; release t1 -> 0 1 2");
}

TEST(Release, of_what_had_expired_is_not_the_holders) {
  Connected h(3);
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.answers({0, 1}, Reply::gone), "");
  EXPECT_EQ(h.answer(2, Reply::taken), "failed #2 not_holder");
}

TEST(Release, that_reaches_too_few_is_unavailable_and_stays_owed) {
  Connected h(3);
  h.hold(10s);
  h.down(0);
  h.down(1);
  EXPECT_EQ(h.release(2), "release t1 -> 2");
  EXPECT_EQ(h.answer(2, Reply::released), "failed #2 unavailable");
  h.pass(10ms);
  EXPECT_EQ(h.up(0), "release t1 -> 0");
  h.answer(0, Reply::released);
  h.up(1);
  h.answer(1, Reply::released);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Release, needs_nobody_to_wait_for_it) {
  Connected h(1);
  h.hold(10s);
  EXPECT_EQ(h.release(0), "release t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "");
}

TEST(Release, that_is_certain_is_owed_until_the_key_has_expired_and_then_dropped) {
  Connected h(3);
  h.hold(10s);
  h.down(0);
  h.release(2);
  h.answers({1, 2}, Reply::released);
  h.pass(10'101ms);
  EXPECT_EQ(h.engine().claims(), 1U);
  h.pass(1ms);
  EXPECT_EQ(h.settled(), "yes");
  EXPECT_EQ(h.up(0), "");
}

TEST(Release, whose_set_may_be_executed_yet_is_owed_past_the_expiry) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.down(2);
  h.release(2);
  h.answers({0, 1}, Reply::released);
  h.pass(100s);
  EXPECT_EQ(h.engine().claims(), 1U);
  EXPECT_EQ(h.up(2), "kill 103 -> 2; release t1 -> 2");
  h.answer(2, Reply::done);
  h.answer(2, Reply::gone);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Release, to_a_restarted_server_needs_no_kill) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.down(2);
  h.release(2);
  EXPECT_EQ(h.up(2, "another run"), "release t1 -> 2");
}

TEST(Release, after_a_connection_without_open_requests_needs_no_kill) {
  Connected h(3);
  h.hold(10s);
  h.down(2);
  h.release(2);
  EXPECT_EQ(h.up(2), "release t1 -> 2");
}

TEST(Release, is_behind_the_kill_of_every_connection_in_doubt_until_one_is_answered) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.down(2);
  h.release(2);
  EXPECT_EQ(h.up(2), "kill 103 -> 2; release t1 -> 2");
  h.down(2);
  EXPECT_EQ(h.up(2), "kill 103 -> 2; kill 104 -> 2; release t1 -> 2");
  h.answers({2, 2}, Reply::done);
  h.down(2);
  EXPECT_EQ(h.up(2), "kill 105 -> 2; release t1 -> 2");
}

TEST(Release, that_is_answered_with_an_error_is_tried_again_until_the_expiry) {
  Connected h(1);
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.answer(0, Reply::error, "LOADING"), "failed #2 unavailable");
  int tries = 0;
  while (h.engine().claims() > 0 && tries < 10'000) {
    if (h.pass(10ms) == "release t1 -> 0") {
      ++tries;
      h.answer(0, Reply::error, "LOADING");
    }
    h.tick();
  }
  EXPECT_GE(tries, 90);
  EXPECT_LE(tries, 110);
}

/// For how long a release is sent again to the third node, which refuses it each time.
Duration until_given_up(Connected& h) {
  Duration tried{};
  while (h.engine().claims() > 0 && tried < 60s) {
    tried += 10ms;
    if (h.pass(10ms) == "release t1 -> 2") h.answer(2, Reply::error, "BUSY");
    h.tick();
  }
  return tried;
}

TEST(Release, is_owed_until_what_was_extended_late_has_expired) {
  Connected h(3);
  h.hold(10s);
  h.extend(2, 10s);
  h.answers({0, 1}, Reply::extended);
  h.release(3);
  h.answers({0, 1}, Reply::released);
  h.pass(90ms);
  h.answer(2, Reply::extended);  // the key's expiry may begin only now
  h.answer(2, Reply::error, "BUSY");
  const Duration tried = until_given_up(h);
  EXPECT_GE(tried, 10s + drift(10s));
  EXPECT_LE(tried, 10s + drift(10s) + 20ms);
}

TEST(Release, is_owed_until_what_was_set_late_has_expired_though_extends_asked_for_less) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.extend(2, 1s);
  h.answers({0, 1}, Reply::extended);
  h.release(3);
  h.answers({0, 1}, Reply::released);
  h.pass(90ms);
  h.answer(2, Reply::granted);
  h.answer(2, Reply::extended);
  h.answer(2, Reply::error, "BUSY");
  const Duration tried = until_given_up(h);
  EXPECT_GE(tried, 10s + drift(10s)) << "its TTL may have begun when it was answered";
  EXPECT_LE(tried, 10s + drift(10s) + 20ms);
}

TEST(Release, in_doubt_that_is_answered_with_errors_is_not_tried_for_ever) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.down(2);
  h.release(2);
  h.answers({0, 1}, Reply::released);
  h.up(2);
  h.answer(2, Reply::done);
  h.answer(2, Reply::error, "READONLY");
  // Node 2 has answered the kill: the key that the SET may have left expires.
  for (int i = 0; i < 4000 && h.engine().claims() > 0; ++i) {
    if (h.pass(10ms) == "release t1 -> 2") h.answer(2, Reply::error, "READONLY");
    h.tick();
  }
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Release, of_several_claims_that_do_not_fit_on_a_new_connection_is_never_forgotten) {
  Settings settings = Harness::settings_for(1);
  settings.max_unanswered = 2;
  Connected h(settings);
  h.acquire(1, 10s);
  h.acquire(2, 10s);
  EXPECT_EQ(h.down(0), "failed #1 unavailable; failed #2 unavailable");
  EXPECT_EQ(h.up(0), "kill 101 -> 0; release t1 -> 0");
  h.answer(0, Reply::done);
  h.answer(0, Reply::gone);
  EXPECT_EQ(h.pass(1s), "release t2 -> 0");
  h.answer(0, Reply::gone);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Release, of_a_hold_waits_for_no_node_in_first_contact) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  Acquire event;
  event.request = CallId{1};
  event.resource = "resource";
  event.ttl = 10s;
  event.group = "shared";
  EXPECT_EQ(h.step(event), "enter t1 -> 0 1");
  h.answers({0, 1}, Reply::granted);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1");
  h.answer(0, Reply::error, "LOADING");
  EXPECT_EQ(h.answer(1, Reply::released), "failed #2 unavailable");
}

TEST(Release, whose_script_is_unknown_is_sent_in_full_once) {
  Connected h(1);
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.answer(0, Reply::script_missing), "release t1 in full -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "released #2");
}

TEST(Release, of_a_failed_attempt_whose_script_is_unknown_is_sent_in_full) {
  Connected h(2);
  h.acquire(1, 10s);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.answer(1, Reply::taken), "release t1 -> 0; failed #1 split");
  EXPECT_EQ(h.answer(0, Reply::script_missing), "release t1 in full -> 0");
  h.answer(0, Reply::released);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Release, is_sent_in_full_though_what_is_ahead_of_it_is_being_sent_in_full_too) {
  Connected h(1);
  h.acquire_fenced(1, 10s, 5000);
  EXPECT_EQ(h.fenced(0, Reply::behind, 7000), "raise t1 7001 -> 0");
  EXPECT_EQ(h.cancel(1), "release t1 -> 0; failed #1 cancelled");
  EXPECT_EQ(h.answer(0, Reply::script_missing), "raise t1 7001 in full -> 0");
  EXPECT_EQ(h.answer(0, Reply::script_missing), "release t1 in full -> 0");
}

TEST(ReleaseByToken, asks_all_nodes_and_needs_a_quorum_that_had_it) {
  Connected h(3);
  EXPECT_EQ(h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")}), "release abc -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::released), "");
  EXPECT_EQ(h.answer(1, Reply::released), "released #1");
}

TEST(ReleaseByToken, of_a_token_without_a_majority_is_not_the_holders) {
  Connected h(3);
  h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")});
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  EXPECT_EQ(h.answer(1, Reply::taken), "failed #1 not_holder");
}

TEST(ReleaseByToken, that_reaches_too_few_is_unavailable_and_owed) {
  Connected h(3);
  h.down(1);
  h.down(2);
  EXPECT_EQ(h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")}), "release abc -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "failed #1 unavailable");
  EXPECT_EQ(h.up(1), "release abc -> 1");
  EXPECT_EQ(h.up(2), "release abc -> 2");
}

TEST(ReleaseByToken, is_owed_to_a_node_whose_first_contact_fails) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  EXPECT_EQ(h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")}), "release abc -> 0 1");
  EXPECT_EQ(h.answers({0, 1}, Reply::released), "released #1");
  h.down(2);
  h.pass(100ms);
  EXPECT_EQ(h.up(2), "release abc -> 2");
}

TEST(ReleaseByToken, of_a_lease_that_was_handed_on_withdraws_its_set_from_late_nodes) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  h.hold(10s);
  h.step(Detach{h.lease});
  EXPECT_EQ(h.step(ReleaseToken{CallId{2}, "resource", *Token::parse("t1")}), "release t1 -> 0 1");
  EXPECT_EQ(h.up(2), "release t1 -> 2");
}

TEST(ReleaseByToken, does_not_wait_for_a_node_that_turns_out_to_be_a_replica) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")});
  h.answer(0, Reply::released);
  EXPECT_EQ(h.answer(1, Reply::error, "OOM"), "");
  NodeUp replica{2, "server2", 3};
  replica.replica = true;
  EXPECT_EQ(h.step(replica), "failed #1 unavailable");
}

TEST(ReleaseByToken, asked_for_twice_in_first_contact_is_answered_twice) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")});
  h.step(ReleaseToken{CallId{2}, "r", *Token::parse("abc")});
  EXPECT_EQ(h.up(1), "release abc -> 0 1; release abc -> 0 1");
  EXPECT_EQ(h.answers({0, 0}, Reply::released), "");
  EXPECT_EQ(h.answers({1, 1}, Reply::released), "released #1; released #2");
}

/// A release by an operator, with this delay.
ReleaseToken broken_for(Duration delay) {
  ReleaseToken event{CallId{1}, "r", *Token::parse("abc")};
  event.by_operator = true;
  event.delay = delay;
  return event;
}

TEST(BreakWithDelay, is_a_request_of_its_own_and_remembered) {
  Connected h(3);
  EXPECT_EQ(h.step(broken_for(5s)), "break abc -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::script_missing), "break abc in full -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "write-audit abc -> 0");
  EXPECT_EQ(h.answer(1, Reply::released), "write-audit abc -> 1; released #1");
  EXPECT_EQ(h.answer(2, Reply::gone), "");
  EXPECT_EQ(h.answers({0, 1}, Reply::done), "");
  EXPECT_EQ(h.settled(), "yes");
}

TEST(BreakWithDelay, needs_a_quorum_that_keeps_everybody_out) {
  for (const Duration delay : {Duration(0), Duration(5s)}) {
    Connected h(5);
    h.step(broken_for(delay));
    h.answers({0, 1}, Reply::released);
    h.answers({2, 3}, Reply::gone);
    // Three of five nodes do not have the token: without a delay, that completes the call.
    EXPECT_EQ(h.answer(4, Reply::error, "OOM"),
              delay == Duration::zero() ? "released #1" : "failed #1 unavailable");
  }
}

TEST(BreakWithDelay, of_a_token_that_a_majority_does_not_have_is_not_the_holders) {
  Connected h(3);
  h.step(broken_for(5s));
  EXPECT_EQ(h.answer(0, Reply::released), "write-audit abc -> 0");
  EXPECT_EQ(h.answer(1, Reply::gone), "");
  EXPECT_EQ(h.answer(2, Reply::taken), "failed #1 not_holder");
}

TEST(BreakWithDelay, is_owed_to_nodes_that_are_down) {
  Connected h(3);
  h.down(2);
  EXPECT_EQ(h.step(broken_for(5s)), "break abc -> 0 1");
  h.answers({0, 1}, Reply::released);
  EXPECT_EQ(h.up(2), "break abc -> 2");
}

TEST(BreakWithDelay, leaves_no_trace_in_the_next_release) {
  Connected h(3);
  h.step(broken_for(5s));
  h.answers({0, 1, 2}, Reply::released);
  h.answers({0, 1, 2}, Reply::done);
  EXPECT_EQ(h.step(ReleaseToken{CallId{2}, "r", *Token::parse("abc")}), "release abc -> 0 1 2");
}

TEST(ExtendByToken, gives_the_key_back_only_after_a_quorum_has_shown_to_have_it) {
  Connected h(3);
  EXPECT_EQ(h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s}), "extend abc -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  h.answer(1, Reply::extended);
  EXPECT_EQ(h.answer(2, Reply::extended),
            "extended until 9898ms; extended #1 until 9898ms; extend-or-set abc -> 0");
  h.answer(0, Reply::repaired);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(ExtendByToken, repairs_a_straggler_too) {
  Connected h(3);
  h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s});
  h.answers({1, 2}, Reply::extended);
  EXPECT_EQ(h.answer(0, Reply::script_missing), "extend abc in full -> 0");
  EXPECT_EQ(h.answer(0, Reply::gone), "extend-or-set abc -> 0");
}

TEST(ExtendByToken, repairs_nothing_behind_a_release_of_the_token) {
  Connected h(3);
  h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s});
  h.answers({1, 2}, Reply::extended);
  h.step(ReleaseToken{CallId{2}, "r", *Token::parse("abc")});
  EXPECT_EQ(h.answer(0, Reply::gone), "");
}

TEST(ExtendByToken, of_several_resources_gives_back_all_of_them_or_none) {
  Connected h(3);
  const std::vector<std::string> more{"s"};
  EXPECT_EQ(h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s, more}),
            "extend abc -> 0 1 2");
  h.answers({1, 2}, Reply::extended);
  h.step(ReleaseToken{CallId{2}, "s", *Token::parse("abc")});
  EXPECT_EQ(h.answer(0, Reply::gone), "") << "the release of one of them is a release of it";
}

TEST(ReleaseByToken, of_several_resources_ends_an_extend_of_any_of_them) {
  Connected h(3);
  const std::vector<std::string> more{"s", "t"};
  h.step(ExtendToken{CallId{1}, "t", *Token::parse("abc"), 10s});
  h.answers({1, 2}, Reply::extended);
  EXPECT_EQ(h.step(ReleaseToken{CallId{2}, "r", *Token::parse("abc"), false, {}, more}),
            "release abc -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  EXPECT_EQ(h.answers({1, 2}, Reply::released), "released #2");
}

TEST(ExtendByToken, that_lost_repairs_nothing) {
  Connected h(3);
  h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s});
  h.answer(0, Reply::gone);
  EXPECT_EQ(h.answer(1, Reply::gone), "failed #1 not_holder");
  EXPECT_EQ(h.answer(2, Reply::extended), "");
}

TEST(ExtendByToken, that_lost_does_not_go_to_nodes_in_first_contact) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  EXPECT_EQ(h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s}), "extend abc -> 0 1");
  h.answers({0, 1}, Reply::gone);
  EXPECT_EQ(h.up(2), "");
}

TEST(ExtendByToken, that_comes_too_late_to_be_worth_anything_is_expired_and_repairs_nothing) {
  Connected h(3);
  h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 20ms});
  h.oversleep(18ms);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.answer(1, Reply::extended), "failed #1 expired");
  EXPECT_EQ(h.answer(2, Reply::gone), "");
}

TEST(ExtendByToken, through_an_outage_is_unavailable) {
  Connected h(3);
  h.down(0);
  h.down(1);
  EXPECT_EQ(h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s}),
            "extend abc -> 2; failed #1 unavailable");
}

Adopt adoption(std::string_view group = {}) {
  return {CallId{1}, "r", *Token::parse("abc"), 10s, {}, group, {}, 0};
}

TEST(Adoption, makes_a_lease_of_what_a_quorum_still_has) {
  Connected h(3);
  EXPECT_EQ(h.step(adoption()), "extend abc -> 0 1 2");
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.answer(1, Reply::extended), "acquired #1 until 9898ms");
}

TEST(Adoption, ends_on_all_nodes_because_another_call_may_have_repaired_them) {
  Connected h(3);
  Adopt event = adoption();
  event.renewal.max_renewals = 1;
  event.renewal.max_hold = 60s;
  h.step(event);
  EXPECT_EQ(h.answers({0, 1}, Reply::extended), "acquired #1 until 9898ms");
  h.answer(2, Reply::extended);
  EXPECT_EQ(h.extend(2, 10s), "extend abc -> 0 1 2");
  EXPECT_EQ(h.answer(2, Reply::gone), "");
  EXPECT_EQ(h.release(3), "failed #2 cancelled; release abc -> 0 1 2");
}

TEST(Adoption, of_what_is_gone_is_no_lease) {
  Connected h(3);
  h.step(adoption());
  h.answer(0, Reply::gone);
  EXPECT_EQ(h.answer(1, Reply::gone), "failed #1 not_holder");
}

TEST(Adoption, of_a_hold_is_no_exclusive_lease) {
  Connected h(3);
  h.step(adoption());
  h.answer(0, Reply::extended, "", {}, Holds{2});
  EXPECT_EQ(h.answer(1, Reply::extended, "", {}, Holds{2}), "failed #1 not_holder")
      << "others hold it, too";
  h.answer(2, Reply::extended, "", {}, Holds{2});
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Adoption, of_a_hold_as_a_hold_is_a_lease) {
  Connected h(3);
  h.step(adoption("shared"));
  h.answer(0, Reply::extended, "", {}, Holds{2});
  EXPECT_EQ(h.answer(1, Reply::extended, "", {}, Holds{2}), "acquired #1 until 9898ms");
}

TEST(Inspect, is_answered_when_every_node_answered_or_failed) {
  Connected h(3);
  EXPECT_EQ(h.step(Inspect{CallId{1}, "r"}), "inspect  -> 0 1 2");
  h.answer(0, Reply::found, "abc", 3s);
  h.answer(1, Reply::gone);
  EXPECT_EQ(h.down(2), "inspected #1");
  const Round& round = *h.decided_by();
  EXPECT_EQ(round.vote(0).text, "abc");
  EXPECT_EQ(round.vote(0).remaining, 3s);
  EXPECT_EQ(round.vote(1).vote, Vote::granted);
  EXPECT_EQ(round.vote(2).vote, Vote::unreachable);
}

TEST(Inspect, waits_for_nodes_in_first_contact) {
  Harness h(2);
  h.tick();
  h.step(Inspect{CallId{1}, "r"});
  EXPECT_EQ(h.up(0), "") << "it does not say yet which deployment counts";
  EXPECT_EQ(h.down(1), "inspect  -> 0");
  EXPECT_EQ(h.answer(0, Reply::gone), "inspected #1");
}

}  // namespace
}  // namespace redlock::core::test
