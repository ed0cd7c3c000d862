#include "redlock/callback.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "redlock/options.hpp"

namespace redlock {
namespace {

void by_pointer(int) {}

template <typename Kind>
class Callbacks : public testing::Test {};
using Kinds = testing::Types<Callback<void(int)>, SharedCallback<void(int)>>;
TYPED_TEST_SUITE(Callbacks, Kinds);

TYPED_TEST(Callbacks, MadeFromWhatHoldsNothingIsEmpty) {
  EXPECT_FALSE(TypeParam());
  EXPECT_FALSE(TypeParam(nullptr));
  EXPECT_FALSE(TypeParam(std::function<void(int)>()));
  EXPECT_FALSE(TypeParam(static_cast<void (*)(int)>(nullptr)));
  EXPECT_FALSE(TypeParam(Callback<void(long)>()));
  EXPECT_FALSE(TypeParam(SharedCallback<void(long)>()));
  EXPECT_TRUE(TypeParam() == nullptr);
}

TYPED_TEST(Callbacks, MadeFromWhatCanBeCalledCallsIt) {
  int sum = 0;
  TypeParam lambda([&sum](int more) { sum += more; });
  ASSERT_TRUE(lambda);
  lambda(1);
  TypeParam function(std::function<void(int)>([&sum](int more) { sum += more; }));
  ASSERT_TRUE(function);
  function(2);
  EXPECT_EQ(sum, 3);
  // A lambda and a function pointer can each be compared with a null pointer.
  EXPECT_TRUE(TypeParam([](int) {}));
  EXPECT_TRUE(TypeParam(by_pointer));
  EXPECT_TRUE(TypeParam(&by_pointer));
}

TYPED_TEST(Callbacks, OwnsWhatCanOnlyBeMoved) {
  auto owned = std::make_unique<int>(1);
  const int* const where = owned.get();
  TypeParam callback([owned = std::move(owned)](int more) { *owned += more; });
  callback(1);
  EXPECT_EQ(*where, 2);
}

/// Small captures are kept in place, larger ones are not.
TYPED_TEST(Callbacks, MovedFromIsEmptyAndMovedToCalls) {
  int sum = 0;
  TypeParam small([&sum](int more) { sum += more; });
  TypeParam large(
      [&sum, a = 1L, b = 2L, c = 3L](int more) { sum += more + static_cast<int>(a + b + c); });
  for (TypeParam* const one : {&small, &large}) {
    TypeParam moved(std::move(*one));
    EXPECT_FALSE(*one);  // NOLINT(bugprone-use-after-move)
    TypeParam assigned;
    assigned = std::move(moved);
    EXPECT_FALSE(moved);  // NOLINT(bugprone-use-after-move)
    ASSERT_TRUE(assigned);
    assigned(10);
  }
  EXPECT_EQ(sum, 26);
  // A small callback is replaced by a large one, and the reverse.
  small = TypeParam([&sum, a = 1L, b = 2L, c = 3L](int) { sum += static_cast<int>(a + b + c); });
  large = TypeParam([&sum](int more) { sum += more; });
  small(0);
  large(8);
  EXPECT_EQ(sum, 40);
}

TYPED_TEST(Callbacks, WhatIsCapturedEndsWithIt) {
  const auto captured = std::make_shared<int>(1);
  {
    const TypeParam callback([captured](int) {});
    EXPECT_EQ(captured.use_count(), 2);
  }
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(Callback, TakesWhatCanOnlyBeMovedAndRefersToTheRest) {
  int given = 0;
  Callback<void(std::unique_ptr<int>, int&)> callback(
      [&given](std::unique_ptr<int> owned, int& counted) {
        given = *owned;
        ++counted;
      });
  int calls = 0;
  callback(std::make_unique<int>(7), calls);
  EXPECT_EQ(given, 7);
  EXPECT_EQ(calls, 1);
}

TEST(SharedCallbacks, ShareOneCallableBetweenTheirCopies) {
  int last = 0;
  const SharedCallback<void(int)> one(
      [&last, count = std::make_unique<int>(0)](int more) { last = *count += more; });
  const SharedCallback<void(int)> copy = one;
  one(1);
  copy(1);
  EXPECT_EQ(last, 2);
}

static_assert(std::is_copy_constructible_v<AcquireOptions>);
static_assert(std::is_copy_assignable_v<AcquireOptions>);
static_assert(!std::is_copy_constructible_v<Callback<void(int)>>);

TEST(CallbackDeathTest, SaysWhatItHasThrown) {
  Callback<void()> small([] { throw std::runtime_error("disk full"); });
  EXPECT_DEATH(small(), "redlock: a callback has thrown an exception: disk full");
  const SharedCallback<void(int)> shared([](int number) { throw number; });
  EXPECT_DEATH(shared(1), "redlock: a callback has thrown an exception: which is no std::excep");
}

}  // namespace
}  // namespace redlock
