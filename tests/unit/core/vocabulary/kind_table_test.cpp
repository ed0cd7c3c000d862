#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "core/vocabulary/kind.hpp"
#include "core/vocabulary/lock_terms.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

/// An acquire of that kind.
Acquire asking_for(Kind kind) {
  static const std::vector<std::string> others{"second"};
  Acquire event;
  event.request = CallId{1};
  event.resource = "resource";
  event.ttl = 10s;
  switch (kind) {
    case Kind::exclusive:
      break;
    case Kind::shared:
      event.group = readers_group;
      break;
    case Kind::owned:
      event.group = "owner me";
      break;
    case Kind::permit:
      event.permits = 3;
      break;
    case Kind::several:
      event.more_resources = others;
      break;
  }
  return event;
}

/// The first request to nodes that run scripts and have no commands of their own for the kind.
/// Written out, because the table itself is under test.
Verb expected_request(Kind kind) {
  switch (kind) {
    case Kind::exclusive:
      return Verb::set;
    case Kind::shared:
    case Kind::owned:
      return Verb::enter;
    case Kind::permit:
      return Verb::take_permit;
    case Kind::several:
      return Verb::take;
  }
  return Verb::inspect;
}

template <typename Visit>
void each_kind(Visit&& visit) {
  for (std::size_t i = 0; i < kinds; ++i) visit(static_cast<Kind>(i));
}

TEST(KindTable, HasARowForEachWithANameOfItsOwn) {
  std::set<std::string_view> names;
  each_kind([&](Kind kind) {
    EXPECT_FALSE(traits_of(kind).name.empty());
    EXPECT_TRUE(names.insert(traits_of(kind).name).second);
  });
}

TEST(KindTable, IsOfTheKindThatWasAskedFor) {
  each_kind([](Kind kind) {
    LockTerms terms;
    terms.assign(asking_for(kind));
    EXPECT_EQ(terms.kind(), kind) << traits_of(kind).name;
  });
}

TEST(KindTable, NamesTheRequestThatAsksForIt) {
  each_kind([](Kind kind) {
    Connected h(3);
    h.step(asking_for(kind));
    const Request* asked = nullptr;
    for (const Command& command : h.commands()) {
      if (asked == nullptr) asked = request_for_claim_in(command);
    }
    ASSERT_NE(asked, nullptr);
    EXPECT_EQ(name_of(asked->stamp.verb), name_of(expected_request(kind))) << traits_of(kind).name;
  });
}

TEST(KindTable, HoldsExcludeTicketsAndFencing) {
  // Members of a group come and go freely: none of them is first, or has the highest number.
  each_kind([](Kind kind) {
    const KindTraits& traits = traits_of(kind);
    if (!traits.has_holds) return;
    EXPECT_FALSE(traits.has_ticket || traits.can_be_fenced || traits.has_one_token) << traits.name;
  });
}

}  // namespace
}  // namespace redlock::core::test
