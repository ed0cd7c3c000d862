#include "core/vocabulary/capabilities.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <vector>

namespace redlock::core {
namespace {

TEST(Capabilities, AreASet) {
  constexpr Capabilities two{Capability::track, Capability::run_scripts};
  static_assert(two.has(Capability::track) && two.has(Capability::run_scripts));
  static_assert(!two.has(Capability::compare));
  static_assert(two.without({Capability::track, Capability::compare}) ==
                Capabilities{Capability::run_scripts});
  static_assert(Capabilities{Capability::track}.with({Capability::run_scripts}) == two);
  static_assert(two.with(two) == two && two.without(two) == Capabilities());

  std::vector<Capability> visited;
  two.each([&](Capability capability) { visited.push_back(capability); });
  EXPECT_EQ(visited, (std::vector{Capability::run_scripts, Capability::track}));
}

TEST(Capabilities, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  Capabilities::all().each(
      [&](Capability capability) { names.insert(capability_names.at(index_of(capability))); });
  EXPECT_EQ(names.size(), capability_names.size());
  EXPECT_EQ(names.count(""), 0U);
}

}  // namespace
}  // namespace redlock::core
