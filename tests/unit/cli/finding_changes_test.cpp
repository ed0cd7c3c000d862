#include "quorum-lock/verbs/finding_changes.hpp"

#include <gtest/gtest.h>

namespace redlock::cli {
namespace {

admin::Finding seen_finding(admin::Finding::Kind kind, const std::string& node,
                            const std::string& what = "what") {
  return {node, kind, what, "why", "remedy"};
}

TEST(FindingChanges, BeginWithWhatThereIs) {
  FindingChanges none;
  const auto first = none.take({});
  ASSERT_TRUE(first) << "that nothing is wrong is news, too";
  EXPECT_TRUE(first->appeared.empty() && first->gone.empty());
  FindingChanges some;
  EXPECT_EQ(some.take({seen_finding(admin::Finding::Kind::clock, "a")})->appeared.size(), 1U);
}

TEST(FindingChanges, TellWhatAppearsAndWhatIsGone) {
  using Kind = admin::Finding::Kind;
  FindingChanges changes;
  static_cast<void>(
      changes.take({seen_finding(Kind::clock, "a"), seen_finding(Kind::unreachable, "b")}));
  EXPECT_FALSE(changes.take(
      {seen_finding(Kind::unreachable, "b"), seen_finding(Kind::clock, "a", "3 s ahead")}))
      << "the order and the words do not matter";
  const auto change =
      changes.take({seen_finding(Kind::clock, "a"), seen_finding(Kind::unreachable, "c")});
  ASSERT_TRUE(change);
  ASSERT_EQ(change->appeared.size(), 1U);
  EXPECT_EQ(change->appeared[0].node, "c");
  ASSERT_EQ(change->gone.size(), 1U);
  EXPECT_EQ(change->gone[0].node, "b");
  EXPECT_EQ(changes.take({})->gone.size(), 2U);
  EXPECT_FALSE(changes.take({}));
}

}  // namespace
}  // namespace redlock::cli
