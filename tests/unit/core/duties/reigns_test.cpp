#include "core/duties/reigns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct ReignsDuty : testing::Test {
  static Settings replicated() {
    Settings settings = settings_of(3);
    settings.nodes[0] += "?servers=3";
    settings.restart_guard = true;
    return settings;
  }
  /// The node has no record, or that of `attachments`.
  void meet(const std::string& record = "") {
    borrowed.mark(0, borrowed.marker_of(0));
    borrowed.nodes[0].reign.by(me).met(record, borrowed.nodes[0].mandate->marker(), "",
                                       borrowed.now);
  }
  [[nodiscard]] std::string record(int attachments) const {
    return head_of(reign_of(borrowed.marker_of(0))) + " 17 " + std::to_string(attachments);
  }
  /// The primary's answer. Returns what the client then does.
  void say(const std::string& text, std::uint64_t acknowledged, std::uint64_t attachments) {
    const ReignReading reading{text, acknowledged, attachments, acknowledged};
    ASSERT_TRUE(borrowed.nodes[0].reign.by(me).take(reading, *borrowed.nodes[0].mandate->marker(),
                                                    borrowed.now));
    looks_elsewhere = reigns.read(0, reading);
  }
  void pass(Duration time) {
    borrowed.begin_step(time);
    reigns.end_step();
  }
  [[nodiscard]] bool asks() const { return !borrowed.asked(Verb::read_reign).empty(); }
  /// The write that was requested; none: nothing was.
  [[nodiscard]] const ReignWrite* written() const {
    for (const Command& command : borrowed.commands) {
      const auto* request = std::get_if<Request>(&command);
      if (request != nullptr && request->stamp.verb == Verb::write_reign) {
        return request->terms.reign;
      }
    }
    return nullptr;
  }

  bool looks_elsewhere = false;
  Borrowed borrowed{replicated()};
  Claims claims;
  Closing closing{borrowed.now, claims, borrowed.nodes, borrowed.outbox};
  LostVotes lost;
  Enroller enroller{borrowed.settings, borrowed.now,   closing, borrowed.nodes, lost,
                    borrowed.outbox,   borrowed.random};
  Reigns reigns{borrowed.settings, borrowed.now,   closing,
                enroller,          borrowed.nodes, borrowed.outbox};
};

TEST_F(ReignsDuty, AskNothingBeforeALockIsRequested) {
  meet();
  pass(0s);
  EXPECT_FALSE(asks());
  EXPECT_EQ(reigns.deadline(), never);
  static_cast<void>(enroller.want_votes());
  pass(0s);
  EXPECT_TRUE(asks());
}

TEST_F(ReignsDuty, ConfirmANewPrimaryThatAMajorityFollowsWithAQuarantine) {
  static_cast<void>(enroller.want_votes());
  meet();
  pass(0s);
  say("", 0, 4);
  EXPECT_EQ(written(), nullptr) << "nobody follows";
  EXPECT_EQ(reigns.deadline(), later(borrowed.now, 1s));
  pass(1s);
  EXPECT_TRUE(asks());
  say("", 1, 5);
  ASSERT_NE(written(), nullptr);
  EXPECT_EQ(written()->confirmed, "");
  EXPECT_EQ(written()->attachments, 5U);
  EXPECT_EQ(written()->expected, "");
  EXPECT_EQ(written()->quarantine, borrowed.settings.quarantine);
  EXPECT_TRUE(reigns.written(0, Reply::done)) << "another handshake sees the quarantine";
}

TEST_F(ReignsDuty, WriteAnewWhoFollowsOnceItDoesNotMoveBetweenTwoReadings) {
  static_cast<void>(enroller.want_votes());
  meet(record(10));
  pass(0s);
  EXPECT_FALSE(asks()) << "the record is as fresh as is known";
  say(record(10), 2, 11);
  EXPECT_EQ(written(), nullptr);
  pass(0s);
  EXPECT_TRUE(asks());
  say(record(10), 2, 11);
  ASSERT_NE(written(), nullptr);
  EXPECT_EQ(written()->confirmed, "17") << "the reign goes on";
  EXPECT_EQ(written()->attachments, 11U);
  EXPECT_FALSE(reigns.written(0, Reply::done));
}

TEST_F(ReignsDuty, DoNotWriteAnewWhatMovedBetweenTheReadings) {
  static_cast<void>(enroller.want_votes());
  meet(record(10));
  say(record(10), 2, 11);
  say(record(10), 2, 12);
  ASSERT_NE(written(), nullptr);
  EXPECT_EQ(written()->confirmed, "") << "another reign begins";
}

TEST_F(ReignsDuty, GiveTheFollowersOfABrokenReignAMomentBeforeAnotherBegins) {
  static_cast<void>(enroller.want_votes());
  meet(record(10));
  say(record(10), 1, 11);
  EXPECT_EQ(reigns.deadline(), borrowed.now) << "the reading did not wait for the other";
  pass(0s);
  EXPECT_TRUE(asks());
  say(record(10), 1, 11);
  EXPECT_EQ(written(), nullptr) << "the other may be about to acknowledge";
  pass(borrowed.settings.longest_limit);
  EXPECT_TRUE(asks());
  say(record(10), 1, 11);
  ASSERT_NE(written(), nullptr);
  EXPECT_EQ(written()->confirmed, "");
  EXPECT_EQ(written()->expected, record(10));
}

TEST_F(ReignsDuty, EndAReignAtOnceWhoseServersHaveAllAnswered) {
  static_cast<void>(enroller.want_votes());
  meet(record(10));
  say(record(10), 2, 12);
  ASSERT_NE(written(), nullptr) << "a client that asks once has no time";
  EXPECT_EQ(written()->confirmed, "");
}

TEST_F(ReignsDuty, LookForAnotherPrimaryIfNobodyFollowsThisOne) {
  static_cast<void>(enroller.want_votes());
  meet(record(10));
  say(record(10), 0, 10);
  EXPECT_FALSE(looks_elsewhere);
  pass(1s);
  say(record(10), 1, 10);
  EXPECT_FALSE(looks_elsewhere) << "it was only slow";
  pass(1s);
  say(record(10), 0, 10);
  EXPECT_FALSE(looks_elsewhere);
  pass(1s);
  say(record(10), 0, 10);
  EXPECT_TRUE(looks_elsewhere);
}

TEST_F(ReignsDuty, BeginWithANodeThatRemembersNothingBefore) {
  meet(record(10));
  EXPECT_EQ(borrowed.nodes[0].remembers_for(borrowed.now), 0s) << "its clock is not known";
  borrowed.begin_step(2s);
  EXPECT_EQ(borrowed.nodes[0].remembers_for(borrowed.now), 2s) << "since this client saw it";
  EXPECT_EQ(borrowed.nodes[1].remembers_for(borrowed.now), Duration::max());
  // The record was written at 17 microseconds.
  static_cast<void>(borrowed.nodes[0].observe_clock(me, borrowed.now, borrowed.now, 10s));
  EXPECT_EQ(borrowed.nodes[0].remembers_for(borrowed.now), 10s - 17us);
}

TEST_F(ReignsDuty, ConfirmNobodyWithMoreServersThanAreNamed) {
  static_cast<void>(enroller.want_votes());
  meet();
  say("", 3, 5);
  EXPECT_EQ(written(), nullptr);
}

}  // namespace
}  // namespace redlock::core::test
