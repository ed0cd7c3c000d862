// The calls that have not answered, and how they are found.

#include "api/client/pending_calls.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

namespace redlock::api {
namespace {

TEST(PendingCalls, AreFoundUntilTheyAreRemoved) {
  PendingCalls pending;
  Completions completions;
  PendingCalls::Call& first = pending.add("a", InspectDone());
  PendingCalls::Call& second = pending.add("b", RoundDone());
  EXPECT_NE(first.id(), second.id());
  EXPECT_EQ(pending.find(first.id()), &first);
  EXPECT_EQ(second.resource, "b");
  const core::CallId over = first.id();
  pending.remove(first, completions);
  EXPECT_EQ(pending.find(over), nullptr);
  EXPECT_NE(pending.add("c", InspectDone()).id(), over)
      << "a place that is used again has a new id";
  EXPECT_EQ(pending.find(over), nullptr);
  EXPECT_EQ(pending.find(core::CallId::none), nullptr);
}

TEST(PendingCalls, AreFoundByTheIdOfTheirCaller) {
  PendingCalls pending;
  Completions completions;
  PendingCalls::Call& call = pending.add("a", AcquireDone());
  EXPECT_EQ(pending.find(RequestId{5}), std::nullopt);
  pending.name(call, RequestId{5});
  EXPECT_EQ(pending.find(RequestId{5}), call.id());
  EXPECT_EQ(pending.find(RequestId{6}), std::nullopt);
  pending.remove(call, completions);
  EXPECT_EQ(pending.find(RequestId{5}), std::nullopt);
}

TEST(PendingCalls, SpendTheCallbacksThatNoLeaseHasTaken) {
  PendingCalls pending;
  Completions completions;
  pending.remove(pending.add("a", AcquireDone()), completions);
  EXPECT_TRUE(completions.empty());
  const auto captured = std::make_shared<int>();
  PendingCalls::Call& call = pending.add("a", AcquireDone());
  call.callbacks.on_lost = [captured](const Error&) {};
  pending.remove(call, completions);
  EXPECT_EQ(captured.use_count(), 2);
  completions.run(false, true, [] {});
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(PendingCalls, CanAllBeRemovedWhileTheyAreVisited) {
  PendingCalls pending;
  Completions completions;
  for (int i = 0; i < 40; ++i) pending.name(pending.add("a", InspectDone()), RequestId{7});
  int visited = 0;
  pending.each([&](PendingCalls::Call& call) {
    ++visited;
    pending.remove(call, completions);
  });
  EXPECT_EQ(visited, 40);
  EXPECT_EQ(pending.find(RequestId{7}), std::nullopt);
}

}  // namespace
}  // namespace redlock::api
