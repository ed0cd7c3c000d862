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
