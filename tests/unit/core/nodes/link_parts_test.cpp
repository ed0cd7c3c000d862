// The parts of a link, each by itself.

#include <gtest/gtest.h>

#include "core/nodes/contact.hpp"
#include "core/nodes/in_flight.hpp"
#include "core/nodes/mandate.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

constexpr Instant instant(Duration since_start) { return Instant(since_start); }

/// Draws the longest pauses.
class Longest final : public Randomness {
 public:
  [[nodiscard]] Token token() override { return {}; }
  [[nodiscard]] Duration between(Duration, Duration to) override { return to; }
};

struct LinkParts : testing::Test {
  Settings settings;
  VoteVersion version;
  Longest random;

  static NodeUp met(std::string_view server) {
    NodeUp event;
    event.server = server;
    event.connection = 7;
    return event;
  }
};

TEST_F(LinkParts, AContactIsTriedMoreSlowlyEachTimeUntilItWasOfUse) {
  Contact contact(settings);
  EXPECT_TRUE(contact.fresh() && contact.retry_due(instant(0s)));
  Duration pause = 10ms;
  for (Instant now = instant(1s); now < instant(8s);
       now += 1s, pause = std::min<Duration>(2 * pause, 1s)) {
    contact.connecting(now);
    contact.went_down(now, Vote::unreachable, "refused", false, random);
    EXPECT_EQ(contact.deadline(), now + pause);
  }
  contact.came_up(met("a"), instant(10s));
  contact.was_answered();
  contact.went_down(instant(30s), Vote::unreachable, "closed", true, random);
  EXPECT_TRUE(contact.returning());
  EXPECT_EQ(contact.deadline(), instant(30s) + 10ms);
  EXPECT_EQ(contact.suspects(), std::vector<std::int64_t>{7});
  contact.came_up(met("another process"), instant(31s));
  EXPECT_TRUE(contact.suspects().empty());
}

TEST_F(LinkParts, AnswersThatAreHeldBackAreTakenInTheirOrder) {
  InFlight requests(settings);
  const Stamp vote(Verb::set);
  const Stamp release(Verb::release);
  requests.sent(vote, instant(1s));
  requests.sent(release, instant(1s));
  PlainYes yes;
  yes.stamp = vote;
  requests.hold_back(yes, instant(1s + 2ms));
  Answer answer;
  answer.stamp = release;
  answer.text = "gone";
  requests.hold_back(answer, instant(1s + 3ms));
  EXPECT_EQ(requests.size(), 2U) << "they count as unanswered";
  const InFlight::HeldBack* held = requests.take_held_back();
  ASSERT_TRUE(held != nullptr && !held->has_details);
  EXPECT_EQ(held->arrival.took, 2ms);
  held = requests.take_held_back();
  ASSERT_TRUE(held != nullptr && held->has_details);
  EXPECT_EQ(requests.take_held_details().text, "gone");
  EXPECT_EQ(requests.take_held_back(), nullptr);
  EXPECT_TRUE(requests.empty());
  EXPECT_EQ(requests.limit(), settings.shortest_limit);
  requests.broke(true);
  EXPECT_EQ(requests.limit(), settings.longest_limit) << "it was too slow";
}

TEST_F(LinkParts, AMandateRestsForTheLongestOfItsQuarantines) {
  Mandate mandate(version);
  const std::uint64_t before = version.count();
  mandate.quarantine_by_node(instant(10s), "by the node");
  mandate.quarantine(instant(5s), "ours");
  mandate.doubt(instant(20s), "doubt");
  EXPECT_GT(version.count(), before);
  EXPECT_EQ(mandate.quarantined_until(), instant(20s));
  EXPECT_EQ(mandate.quarantine_why(), "by the node") << "a doubt is not counted";
  mandate.trust_again();
  EXPECT_EQ(mandate.quarantined_until(), instant(10s));
  EXPECT_FALSE(mandate.end_quarantine(instant(9s)));
  EXPECT_TRUE(mandate.end_quarantine(instant(10s)));
  EXPECT_TRUE(mandate.awaits_nothing());
}

}  // namespace
}  // namespace redlock::core::test
