// Locks of another library on some of the nodes: this client keeps the nodes that granted it the
// lock, and does not lose them to that library.

#include <gtest/gtest.h>

#include <string>

#include "unit/core/waiting/waiting.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

const std::string another = "another one of that library";

/// The first of three nodes granted the lock; each of the others has another library's lock. The
/// client is first in the queues.
struct BesideForeignLocks : Tracking {
  BesideForeignLocks() {
    acquire(1, 10s, 60s);
    answer(0, Reply::granted);
    refused({1}, foreign, 10s, {});
    after_refusal = refused({2}, another, 10s, {});
    answer(0, Reply::released);
    answers({0}, Reply::gone);  // track
    answers({1, 2}, Reply::taken);
    subscribed({0, 1, 2});
    queued({0, 1, 2}, {7, true});
    begun = pass(kept_for / 2);
  }
  /// The next attempt ends in the same way.
  std::string try_again() {
    placed({0}, Reply::granted, {}, {}, {});
    refused({1}, foreign, 10s, {7, true});
    return refused({2}, another, 10s, {7, true});
  }
  std::string after_refusal;
  std::string begun;
};

TEST(BesideForeignLocks, HoweverOftenItFailsTheNextAttemptComesInTime) {
  BesideForeignLocks h;
  for (int i = 0; i < 20; ++i) {
    h.try_again();
    h.answer(0, Reply::released);
    h.answers({0, 1, 2}, Reply::taken);  // track
    h.notified(0, "resource");           // by its own release
    ASSERT_NE(h.pass(kept_for / 2).find("take"), std::string::npos) << i;
  }
}

TEST(BesideForeignLocks, OneThatEndsIsReplacedAtOnce) {
  BesideForeignLocks h;
  h.try_again();
  EXPECT_EQ(h.changed({1}, "resource"), "take t4 ticket 7 -> 0 1 2");
}

TEST(BesideForeignLocks, OneThatEndedDuringAnAttemptIsReplacedBehindIt) {
  BesideForeignLocks h;
  h.placed({0}, Reply::granted, {}, {}, {});
  h.refused({1}, foreign, 10s, {7, true});
  h.changed({1}, "resource");
  EXPECT_EQ(h.refused({2}, another, 10s, {7, true}),
            "release t3 again 7 for longer -> 0; track resource -> 0 1 2");
  EXPECT_EQ(h.tick(), "take t4 ticket 7 -> 0 1 2");
}

TEST(BesideForeignLocks, OneThatEndsIsLeftToTheFirstInTheQueue) {
  BesideForeignLocks h;
  for (NodeIndex node = 0; node < 3; ++node) {
    h.refused({node}, node == 1 ? foreign : another, 10s, {7, false});
  }
  const Duration left = h.until_deadline();
  EXPECT_EQ(h.changed({1}, "resource"), "");
  EXPECT_EQ(h.until_deadline(), left);
}

}  // namespace
}  // namespace redlock::core::test
