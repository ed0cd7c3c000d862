// When the engine sends plain commands instead of scripts, and how it handles their answers.

#include <gtest/gtest.h>

#include <string>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

/// Three nodes that compare without a script.
struct Comparing : Harness {
  explicit Comparing(bool runs_scripts = true, Settings settings = settings_for(3))
      : Harness(std::move(settings)) {
    tick();
    NodeUp node;
    node.capabilities = {Capability::set_fenced, Capability::compare, Capability::set_all};
    if (runs_scripts) node.capabilities = node.capabilities.with({Capability::run_scripts});
    for (NodeIndex i = 0; i < 3; ++i) up_as(i, node);
  }
  std::string queued(NodeIndex node) {
    const Stamp stamp = take_open(node);
    Answer event{node, stamp, Reply::released};
    event.queued = true;
    return step(event);
  }
};

TEST(PlainCommands, ReleaseALeaseThatNobodyElseHolds) {
  Comparing h;
  h.hold(10s);
  EXPECT_EQ(h.release(2), "release-plain t1 -> 0 1 2");
  h.answer(0, Reply::released);
  EXPECT_EQ(h.answer(1, Reply::released), "released #2");
  h.answer(2, Reply::gone);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(PlainCommands, QueueNobodyWhoseAttemptIsReleased) {
  Comparing h(false);
  h.random.shortest = true;
  const auto refused_but_by = [&](NodeIndex granting) {
    for (NodeIndex node = 0; node < 3; ++node) {
      if (node != granting) h.answer(node, Reply::taken, std::string(40, 'a'), 10s);
    }
    h.answer(granting, Reply::granted);
    h.answer(granting, Reply::released);
  };
  h.acquire(1, 10s, 60s);
  refused_but_by(2);
  h.subscribed({0, 1, 2});
  for (NodeIndex node = 0; node < 3; ++node) {
    EXPECT_NE(h.pass(60ms), "") << "it has to poll";
    refused_but_by(node);
  }
}

TEST(PlainCommands, AreNotSentWhereTheSettingsSayScripts) {
  Settings settings = Harness::settings_for(3);
  settings.plain_commands = false;
  Comparing h(true, settings);
  h.hold(10s);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
}

TEST(PlainCommands, NotifyThoseThatAreQueuedByAScript) {
  Comparing h;
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.queued(0), "notify t1 -> 0");
  EXPECT_EQ(h.queued(1), "notify t1 -> 1; released #2");
  h.answer(2, Reply::released);
  EXPECT_EQ(h.engine().claims(), 1U) << "a closing client waits until they are notified";
  h.answer(0, Reply::done);
  EXPECT_EQ(h.answer(1, Reply::script_missing), "notify t1 in full -> 1");
  h.answer(1, Reply::done);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(PlainCommands, AreNoLongerSentOnceTheLeaseWasWaitedFor) {
  Comparing h;
  h.acquire(1, 10s, 5s);
  h.answers({0, 1, 2}, Reply::taken, "other", 10ms);
  ASSERT_EQ(h.pass(11ms), "set t2 -> 0 1 2");
  h.answers({0, 1, 2}, Reply::granted);
  EXPECT_EQ(h.release(2), "release t2 -> 0 1 2") << "others may wait, too: notified at once";
}

TEST(PlainCommands, AreNotSentForASecondAfterOthersWereSeenInTheQueue) {
  Comparing h;
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.queued(0), "notify t1 -> 0");
  h.answer(0, Reply::done);
  h.answer(1, Reply::released);
  h.answer(2, Reply::released);
  h.hold(10s);
  EXPECT_EQ(h.release(3), "release t2 -> 0 1 2")
      << "a plain release would leave the lock to whoever is quick, as this client is";
  h.answers({0, 1, 2}, Reply::released);
  h.pass(1s);
  h.hold(10s);
  EXPECT_EQ(h.release(4), "release-plain t3 -> 0 1 2");
}

TEST(PlainCommands, LeaveTheRestToTheScript) {
  Comparing h;
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.answer(0, Reply::script_needed, "NOPERM DELIFEQ"), "release t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "");
  EXPECT_EQ(h.answer(1, Reply::released), "released #2");
  h.answer(2, Reply::released);
  h.hold(10s);
  EXPECT_EQ(h.release(3), "release-plain t2 -> 1 2; release t2 -> 0") << "refused for good";
}

TEST(PlainCommands, KnowThatAnotherTypeOfKeyIsSomebodyElses) {
  Comparing h;
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.answer(0, Reply::script_needed, "WRONGTYPE Operation"), "");
  EXPECT_EQ(h.answer(1, Reply::script_needed, "WRONGTYPE Operation"), "");
  EXPECT_EQ(h.answer(2, Reply::gone), "failed #2 not_holder");
}

TEST(PlainCommands, AskTheScriptWhetherATokenIsAHold) {
  Comparing h;
  EXPECT_EQ(h.step(ReleaseToken{CallId{1}, "resource", *Token::parse("theirs")}),
            "release-plain theirs -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::script_needed, "WRONGTYPE Operation"), "release theirs -> 0");
}

TEST(PlainCommands, DoNotExtendWhereAScriptMayRun) {
  Comparing h;
  h.hold(10s);
  EXPECT_EQ(h.extend(2, 20s), "extend t1 -> 0 1 2") << "another program may have extended it";
}

TEST(PlainCommands, AreAllThatAUserWithoutScriptsSends) {
  Comparing h(false);
  h.hold(10s);
  EXPECT_EQ(h.extend(2, 5s), "extend-plain t1 -> 0 1 2");
  EXPECT_EQ(h.engine().claim(h.lease)->time_to_ask(Verb::extend_plain, h.now()), 10s)
      << "never for less time than before";
  h.answer(0, Reply::taken, "t1");
  h.answer(1, Reply::gone);
  EXPECT_EQ(h.answer(2, Reply::taken, "t1"),
            "extended until 9898ms; extended #2 until 9898ms; repair-plain t1 -> 1");
  h.answer(1, Reply::repaired);
  EXPECT_EQ(h.release(3), "release-plain t1 -> 0 1 2");
  h.answer(0, Reply::released);
  EXPECT_EQ(h.queued(1), "released #3") << "it may not notify";
  h.answer(2, Reply::taken);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(PlainCommands, ExtendNothingThatIsSomebodyElses) {
  Comparing h(false);
  h.hold(10s);
  h.extend(2, 10s);
  h.answer(0, Reply::taken, "other");
  EXPECT_EQ(h.answer(1, Reply::gone), "failed #2 not_holder");
}

TEST(PlainCommands, RaiseAFencingNumber) {
  Settings settings = Harness::settings_for(3);
  settings.clock_guard = true;
  Comparing h(false, settings);
  for (NodeIndex node = 0; node < 3; ++node) h.clock(node, 5000us);
  EXPECT_EQ(h.acquire_fenced(1, 10s, 5000), "set-fenced t1 5000 -> 0 1 2");
  h.fenced(0, Reply::granted, 7000, "t1");
  EXPECT_EQ(h.fenced(1, Reply::granted, 4000, "t1"), "raise-plain t1 7001 -> 0 1");
  EXPECT_EQ(h.fenced(0, Reply::granted, 7000, "other"), "") << "the key was lost in between";
  EXPECT_EQ(h.fenced(2, Reply::granted, 4000, "t1"), "raise-plain t1 7001 -> 2");
  h.fenced(1, Reply::granted, 4000, "t1");
  EXPECT_NE(h.fenced(2, Reply::granted, 5000, "t1").find("acquired #1"), std::string::npos);
  EXPECT_EQ(h.engine().claim(h.lease)->fencing()->number, 7001U);
}

TEST(PlainCommands, TakeSeveralResourcesInOneCommand) {
  Comparing h;
  const std::vector<std::string> others{"b"};
  Acquire event;
  event.request = CallId{1};
  event.resource = "a";
  event.more_resources = others;
  event.ttl = 10s;
  event.wait = 5s;
  EXPECT_EQ(h.step(event), "set-all t1 -> 0 1 2");
  h.answer(0, Reply::script_needed, "NOPERM MSETEX");
  h.answer(1, Reply::taken, "other");
  h.answer(2, Reply::taken, "other");
  const std::string again = h.pass(2s);
  EXPECT_NE(again.find("take t2"), std::string::npos)
      << again << ": who holds which of them for how long, the script tells";
}

}  // namespace
}  // namespace redlock::core::test
