// The types of the fields of a claim, an acquisition and a node say who may change them: the
// compiler refuses all others.

#include "core/containers/written_by.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "unit/core/anybody.hpp"

namespace redlock::core::test {
namespace {

struct Clerk {
  static constexpr By<Clerk> key() noexcept { return By<Clerk>(); }
};
struct Stranger {
  static constexpr By<Stranger> key() noexcept { return By<Stranger>(); }
};
using Page = WrittenBy<int, Clerk>;

template <typename Field, typename Writer>
concept Writes = requires(Field& field, By<Writer> key) {
  field.by(key);
};
static_assert(Writes<Page, Clerk> && Writes<Page, Anybody>);
static_assert(!Writes<Page, Stranger> && !Writes<const Page, Clerk>);
static_assert(!std::is_assignable_v<Page&, int> && !std::is_assignable_v<Page&, Page>);
static_assert(!std::is_default_constructible_v<By<Clerk>>, "nobody else makes one");
static_assert(std::is_convertible_v<By<Anybody>, By<Clerk>> &&
              !std::is_convertible_v<By<Stranger>, By<Clerk>>);

TEST(WrittenBy, IsReadLikeItsValue) {
  Page page = 3;
  page.by(Clerk::key()) += 1;
  EXPECT_EQ(page, 4);
  WrittenBy<std::pair<int, int>, Clerk> pair;
  pair.by(Clerk::key()).second = 7;
  EXPECT_EQ(pair->second, 7);
  EXPECT_EQ(*pair, std::pair(0, 7));
}

TEST(WrittenBy, LeadsToWhatAnOptionalOrPointerHas) {
  WrittenBy<std::optional<std::pair<int, int>>, Clerk> maybe;
  EXPECT_FALSE(maybe);
  maybe.by(Clerk::key()) = std::pair(1, 2);
  EXPECT_TRUE(maybe);
  EXPECT_EQ(maybe->first, 1);
  EXPECT_EQ((*maybe).second, 2);
  EXPECT_EQ(maybe.read(), std::optional(std::pair(1, 2)));
  WrittenBy<std::unique_ptr<int>, Clerk> pointer = std::make_unique<int>(5);
  EXPECT_EQ(*pointer, 5);
}

}  // namespace
}  // namespace redlock::core::test
