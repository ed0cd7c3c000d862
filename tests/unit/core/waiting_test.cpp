// Waiting without looking again and again: nodes tell when what is in the way is given up.

#include <gtest/gtest.h>

#include <string>

#include "core/hints.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

const std::string holder(40, 'a');

/// Three nodes, refused by `whose`, which is there for ten seconds; the nodes tell, and were looked
/// at once more.
struct Listening : Connected {
  explicit Listening(const std::string& whose = holder) : Connected(3) {
    shows_hints = true;
    random.shortest = true;
    acquire(1, 10s, 60s);
    refuse(whose);
  }
  /// The third is asked to undo what it refused all the same.
  std::string refuse(const std::string& whose) {
    const std::string out = answers({0, 1}, Reply::taken, whose, 10s);
    answer(2, Reply::taken, whose, 10s);
    answer(2, Reply::gone);
    return out;
  }
};

TEST(Hints, begins_to_listen_when_it_was_refused) {
  Connected h(3);
  h.shows_hints = true;
  h.acquire(1, 10s, 60s);
  EXPECT_EQ(h.answer(0, Reply::taken, holder, 10s), "");
  EXPECT_EQ(h.answer(1, Reply::taken, holder, 10s), "release t1 -> 2; listen resource -> 0 1 2");
  EXPECT_EQ(h.answer(2, Reply::taken, holder, 10s), "");
  h.answer(2, Reply::gone);
  EXPECT_EQ(h.marked(), 3U);
}

TEST(Hints, a_single_attempt_does_not_listen) {
  Connected h(3);
  h.shows_hints = true;
  h.acquire(1, 10s);
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, holder, 10s), "release t1 -> 2; failed #1 held");
}

TEST(Hints, looks_once_when_enough_nodes_tell) {
  Listening h;
  EXPECT_EQ(h.telling({0}, "resource"), "");
  EXPECT_EQ(h.telling({1}, "resource"), "set t2 -> 0 1 2") << "it may have been missed so far";
  EXPECT_EQ(h.telling({2}, "resource"), "");
}

/// As Listening, and looked once since the nodes tell.
struct Asleep : Listening {
  explicit Asleep(const std::string& whose = holder) : Listening(whose) {
    telling({0, 1, 2}, "resource");
    refuse(whose);
  }
};

TEST(Hints, sleeps_while_it_is_told) {
  Asleep h;
  EXPECT_EQ(h.pass(2390ms), "");
  EXPECT_EQ(h.pass(20ms), "set t3 -> 0 1 2") << "a hint may be lost";
}

TEST(Hints, looks_at_once_when_a_quorum_told) {
  Asleep h;
  EXPECT_EQ(h.hint(0, "resource"), "");
  EXPECT_EQ(h.hint(0, "resource"), "") << "one node, twice";
  EXPECT_EQ(h.hint(1, "another"), "");
  EXPECT_EQ(h.hint(2, "resource"), "set t3 -> 0 1 2");
}

TEST(Hints, nodes_that_had_let_it_in_need_not_tell) {
  Connected h(3);
  h.shows_hints = true;
  h.acquire(1, 10s, 60s);
  h.answers({0, 1}, Reply::taken, holder, 10s);
  h.answer(2, Reply::granted);
  h.answer(2, Reply::released);
  h.telling({0, 1, 2}, "resource");
  h.answer(2, Reply::granted);
  h.answers({0, 1}, Reply::taken, holder, 10s);
  h.answer(2, Reply::released);
  EXPECT_EQ(h.hint(1, "resource"), "set t3 -> 0 1 2");
}

TEST(Hints, what_is_told_while_it_looks_is_not_lost) {
  Asleep h;
  EXPECT_EQ(h.pass(2400ms), "set t3 -> 0 1 2");
  h.hint(0, "resource");
  h.hint(1, "resource");
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, holder, 10s), "release t3 -> 2");
  EXPECT_EQ(h.tick(), "set t4 -> 0 1 2");
}

TEST(Hints, locks_of_others_are_looked_at_again_and_again) {
  Listening h("another client's");
  EXPECT_NE(h.pass(60ms), "");
}

TEST(Hints, for_an_interval_sleeps_until_it_is_over) {
  Asleep h("redlock:cooldown");
  EXPECT_EQ(h.pass(1s), "");
}

TEST(Hints, without_enough_nodes_that_tell_it_looks_again_and_again) {
  Listening h;
  h.telling({0}, "resource");
  EXPECT_NE(h.pass(60ms), "");
}

TEST(Hints, is_woken_by_the_end_of_a_subscription) {
  Asleep h;
  EXPECT_EQ(h.deaf(2), "") << "two are enough";
  EXPECT_EQ(h.deaf(1), "set t3 -> 0 1 2");
  EXPECT_EQ(h.refuse(holder), "release t3 -> 2") << "nobody is asked again at once";
  EXPECT_NE(h.pass(60ms), "");
}

TEST(Hints, a_node_that_comes_back_is_asked_to_tell_again) {
  Asleep h;
  EXPECT_EQ(h.down(2), "stop-listening 2");
  EXPECT_EQ(h.up(2), "");
  EXPECT_EQ(h.down(1), "stop-listening 1; set t3 -> 0 2");
  EXPECT_EQ(h.answers({0, 2}, Reply::taken, holder, 10s), "release t3 -> 2; listen resource -> 2");
}

TEST(Hints, the_first_of_several_looks_for_all) {
  Asleep h;
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  EXPECT_EQ(h.pass(1ms), "set t4 -> 0 1 2") << "they told before it looked for the first time";
  h.refuse(holder);
  h.hint(0, "resource");
  EXPECT_EQ(h.hint(1, "resource"), "set t5 -> 0 1 2") << "the other one sleeps on";
  EXPECT_EQ(h.cancel(1), "release t5 -> 0 1 2; failed #1 cancelled");
  EXPECT_EQ(h.pass(0ms), "set t6 -> 0 1 2") << "whoever is behind it was told as well";
}

TEST(Hints, stops_when_it_is_over_and_is_asked_again_where_many_others_were_waited_for) {
  Asleep h;
  h.hint(0, "resource");
  h.hint(1, "resource");
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "acquired #1 until 9898ms");
  Hints hints;
  for (std::uint32_t i = 0; i < 33; ++i) {
    hints.wait(std::to_string(i), i);
    const auto* const given_up = hints.stop(std::to_string(i), i);
    EXPECT_EQ(given_up == nullptr ? "" : given_up->first, i < 32 ? "" : "0");
  }
}

TEST(Hints, knows_who_tells) {
  EXPECT_TRUE(tells_when_free(holder));
  EXPECT_TRUE(tells_when_free(holder + ":a name"));
  EXPECT_TRUE(tells_when_free("shared"));
  EXPECT_TRUE(tells_when_free("owner a"));
  EXPECT_FALSE(tells_when_free(""));
  EXPECT_FALSE(tells_when_free(holder + "a"));
  EXPECT_FALSE(tells_when_free(holder.substr(1)));
  EXPECT_FALSE(tells_when_free(std::string(40, 'G')));
}

}  // namespace
}  // namespace redlock::core::test
