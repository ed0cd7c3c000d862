// Idle leases, of which there may be a million.

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/claim/renewal.hpp"
#include "support/label.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

constexpr Acquire::Renewal for_ever{UINT64_MAX, Duration::max()};

const Claim& lease_of(Connected& h) { return *h.engine().claim(h.lease); }

TEST(IdleLeases, ALeaseThatEveryNodeHasGrantedKeepsNoMemoryForRounds) {
  Connected h(3);
  h.hold(9s, for_ever);
  h.tick();
  EXPECT_FALSE(lease_of(h).work);
  EXPECT_EQ(lease_of(h).round->with(Vote::granted), NodeSet::first(3)) << "who has it is known";
  EXPECT_EQ(h.pass(3s), "extend t1 -> 0 1 2");
  EXPECT_TRUE(lease_of(h).work);
  h.answers({0, 1}, Reply::extended);
  h.tick();
  EXPECT_TRUE(lease_of(h).work) << "an answer is missing";
  h.answer(2, Reply::extended);
  h.tick();
  EXPECT_FALSE(lease_of(h).work);
}

TEST(IdleLeases, WhatANodeSaidIsKeptWhereItDidNotGrant) {
  Connected h(3);
  h.hold(9s, for_ever);
  h.pass(3s);
  h.answers({0, 1}, Reply::extended);
  h.answer(2, Reply::error, "LOADING");
  h.tick();
  ASSERT_TRUE(lease_of(h).work);
  EXPECT_EQ(lease_of(h).round->vote(2).text, "LOADING");
}

/// When the renewal of a lease is due that was granted at one second for a TTL of nine.
Instant due_of(std::uint16_t where) {
  Renewal renewal;
  renewal.begin(for_ever, Instant(1s), 9s);
  renewal.spread(where);
  return renewal.due().value_or(Instant::max());
}

TEST(Renewal, OfManyLeasesIsSpreadOverHalfOfItsTimeAndNeverLater) {
  EXPECT_EQ(due_of(0), Instant(4s));
  EXPECT_GE(due_of(UINT16_MAX), Instant(2500ms) - 8ms);
  EXPECT_LE(due_of(UINT16_MAX), Instant(2501ms));
  std::set<Instant> instants;
  for (std::uint32_t where = 0; where <= UINT16_MAX; ++where) {
    const Instant due = due_of(static_cast<std::uint16_t>(where));
    ASSERT_LE(due, Instant(4s));
    instants.insert(due);
  }
  EXPECT_EQ(instants.size(), 1504U / 8 + 1) << "so that requests leave together";
}

TEST(Renewal, OfACrowdKeepsItsDistance) {
  Settings settings = Harness::settings_for(3);
  settings.most_in_step = 0;
  Connected h(std::move(settings));
  h.hold(9s, for_ever);
  const Duration first = h.until_deadline();
  EXPECT_LT(first, 3s);
  EXPECT_GE(first, 1500ms - 8ms);
  EXPECT_EQ(h.pass(first), "extend t1 -> 0 1 2");
  h.answers({0, 1, 2}, Reply::extended);
  EXPECT_EQ(h.until_deadline(), 3s);
}

TEST(Label, IsSharedByAllThatHaveIt) {
  support::Label first;
  EXPECT_EQ(first.resource(), "");
  EXPECT_EQ(first.token(), "");
  first.assign("inventory/1", "token 1");
  const support::Label second = first;
  const char* const letters = second.resource().data();
  EXPECT_EQ(first.resource().data(), letters);
  first.assign("inventory/2", "token 2");
  EXPECT_EQ(second.resource(), "inventory/1") << "what is shared is not written over";
  EXPECT_EQ(second.token(), "token 1");
  EXPECT_EQ(first.resource(), "inventory/2");
  EXPECT_EQ(first.token(), "token 2");
  const char* const own = first.resource().data();
  first.assign("shorter", "");
  EXPECT_EQ(first.resource().data(), own) << "what is not is used again";
  EXPECT_EQ(first.resource(), "shorter");
  EXPECT_EQ(first.token(), "");
  const std::string longer(100, 'x');
  first.assign(longer, "token");
  EXPECT_EQ(first.resource(), longer);
}

}  // namespace
}  // namespace redlock::core::test
