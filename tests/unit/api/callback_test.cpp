#include "redlock/callback.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <type_traits>

#include "redlock/options.hpp"

namespace redlock {
namespace {

void by_pointer(int) {}

template <typename Kind>
class Callbacks : public testing::Test {};
using Kinds = testing::Types<Callback<void(int)>, SharedCallback<void(int)>>;
TYPED_TEST_SUITE(Callbacks, Kinds);

TYPED_TEST(Callbacks, made_from_what_holds_nothing_is_empty) {
  EXPECT_FALSE(TypeParam());
  EXPECT_FALSE(TypeParam(nullptr));
  EXPECT_FALSE(TypeParam(std::function<void(int)>()));
  EXPECT_FALSE(TypeParam(static_cast<void (*)(int)>(nullptr)));
  EXPECT_FALSE(TypeParam(Callback<void(long)>()));
  EXPECT_FALSE(TypeParam(SharedCallback<void(long)>()));
  EXPECT_TRUE(TypeParam() == nullptr);
}

TYPED_TEST(Callbacks, made_from_what_can_be_called_calls_it) {
  int sum = 0;
  TypeParam lambda([&sum](int more) { sum += more; });
  ASSERT_TRUE(lambda);
  lambda(1);
  TypeParam function(std::function<void(int)>([&sum](int more) { sum += more; }));
  ASSERT_TRUE(function);
  function(2);
  EXPECT_EQ(sum, 3);
  // Either compares with a null pointer.
  EXPECT_TRUE(TypeParam([](int) {}));
  EXPECT_TRUE(TypeParam(by_pointer));
  EXPECT_TRUE(TypeParam(&by_pointer));
}

TYPED_TEST(Callbacks, owns_what_can_only_be_moved) {
  auto owned = std::make_unique<int>(1);
  const int* const where = owned.get();
  TypeParam callback([owned = std::move(owned)](int more) { *owned += more; });
  callback(1);
  EXPECT_EQ(*where, 2);
}

TEST(SharedCallbacks, share_one_callable_between_their_copies) {
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

}  // namespace
}  // namespace redlock
