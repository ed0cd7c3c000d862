#include "core/nodes/reign.hpp"

#include <gtest/gtest.h>

#include <string>

namespace redlock::core::test {
namespace {

/// A primary of `servers`, whose record says that 10 replicas had attached.
struct Primary {
  explicit Primary(std::size_t servers) : reign(servers, version) {
    marker.run_id = "run";
    marker.replid = "id";
  }
  void met(const std::string& record = "reign1 run id 17 10") {
    reign.met(record, marker, "10.0.0.7:6379", Instant());
  }
  bool said(std::uint64_t acknowledged, std::uint64_t attachments,
            std::string_view record = "reign1 run id 17 10") {
    return reign.take({record, acknowledged, attachments, attached}, marker, Instant());
  }
  std::uint64_t attached = 0;
  VoteVersion version;
  Marker marker;
  Reign reign;
};

TEST(Reign, OfANodeThatIsNoReplicatedOneAlwaysStands) {
  Primary one(1);
  one.met("");
  EXPECT_FALSE(one.reign.is_replicated());
  EXPECT_TRUE(one.reign.stands());
}

TEST(Reign, StandsWhileAMajorityFollows) {
  Primary of_three(3);
  EXPECT_FALSE(of_three.reign.stands());
  of_three.met();
  EXPECT_TRUE(of_three.reign.stands());
  EXPECT_TRUE(of_three.said(1, 10));
  EXPECT_TRUE(of_three.reign.stands());
  const std::uint64_t before = of_three.version.count();
  EXPECT_TRUE(of_three.said(0, 10));
  EXPECT_FALSE(of_three.reign.stands());
  EXPECT_EQ(of_three.reign.why_not(), "1 of its 3 servers is up to date; 2 are needed");
  EXPECT_GT(of_three.version.count(), before);
  Primary of_five(5);
  of_five.met();
  EXPECT_TRUE(of_five.said(1, 10));
  EXPECT_FALSE(of_five.reign.stands());
  EXPECT_EQ(of_five.reign.why_not(), "2 of its 5 servers are up to date; 3 are needed");
}

TEST(Reign, DoesNotStandBecauseOfWhoCameBack) {
  Primary of_three(3);
  of_three.met();
  EXPECT_TRUE(of_three.said(1, 11));
  EXPECT_FALSE(of_three.reign.stands()) << "the one that follows may be the one that came back";
  EXPECT_EQ(of_three.reign.wanted(), 2U);
  EXPECT_TRUE(of_three.said(2, 11));
  EXPECT_TRUE(of_three.reign.stands()) << "one of the two has stayed";
  EXPECT_TRUE(of_three.said(2, 12));
  EXPECT_FALSE(of_three.reign.stands());
  EXPECT_EQ(of_three.reign.wanted(), 2U) << "there are no more";
  EXPECT_TRUE(of_three.said(2, 3));
  EXPECT_FALSE(of_three.reign.stands()) << "an operator has reset the number";
}

TEST(Reign, IsReadAgainIfAReadingDidNotWaitForThoseWhoCameBack) {
  Primary of_three(3);
  of_three.met();
  EXPECT_TRUE(of_three.reign.stands());
  EXPECT_TRUE(of_three.said(1, 11));
  EXPECT_TRUE(of_three.reign.is_unread()) << "the other one may be about to acknowledge";
  EXPECT_TRUE(of_three.said(1, 11));
  EXPECT_FALSE(of_three.reign.is_unread()) << "this reading waited for both";
  Primary alone(3);
  alone.met();
  EXPECT_TRUE(alone.said(0, 11));
  EXPECT_FALSE(alone.reign.is_unread()) << "too few follow in any case";
}

TEST(Reign, SaysThatItsRecordCannotBeWritten) {
  Primary forbidden(3);
  forbidden.met("");
  forbidden.reign.refused_to_write("NOPERM 'eval'");
  const char* const why = "the record of its reign cannot be written: NOPERM 'eval'";
  EXPECT_EQ(forbidden.reign.why_not(), why);
  EXPECT_TRUE(forbidden.said(2, 10, ""));
  EXPECT_EQ(forbidden.reign.why_not(), why) << "the readings in between explain nothing";
  EXPECT_TRUE(forbidden.said(0, 10, ""));
  EXPECT_EQ(forbidden.reign.why_not(), "1 of its 3 servers is up to date; 2 are needed");
  forbidden.met("");
  EXPECT_FALSE(forbidden.reign.cannot_be_recorded()) << "another connection, perhaps another user";
}

TEST(Reign, DoesNotStandWithMoreServersThanAreNamed) {
  Primary of_two(2);
  of_two.met();
  EXPECT_TRUE(of_two.said(2, 10));
  EXPECT_FALSE(of_two.reign.stands()) << "two majorities of two may have nobody in common";
  of_two.attached = 2;
  EXPECT_TRUE(of_two.said(1, 10));
  EXPECT_FALSE(of_two.reign.stands()) << "WAIT does not wait for more than are needed";
}

TEST(Reign, IsOfThisPrimary) {
  Primary promoted(3);
  promoted.met("reign1 other id 17 10");
  EXPECT_FALSE(promoted.reign.stands());
  EXPECT_FALSE(promoted.reign.record());
  EXPECT_EQ(promoted.reign.record_text(), "reign1 other id 17 10");
  EXPECT_TRUE(promoted.said(2, 10, "reign1 other id 17 10"));
  EXPECT_FALSE(promoted.reign.stands());
  EXPECT_EQ(promoted.reign.why_not(), "") << "nothing but its quarantine is missing";
  EXPECT_EQ(promoted.reign.new_primary(), "it has a new primary, 10.0.0.7:6379");
  Primary first(3);
  first.met("");
  EXPECT_EQ(first.reign.new_primary(),
            "its servers are new or have lost their data; its primary is 10.0.0.7:6379");
}

TEST(Reign, ThatBeganMeanwhileHasAQuarantineThatTheHandshakeDidNotSee) {
  Primary confirmed(3);
  confirmed.met("");
  EXPECT_FALSE(confirmed.said(2, 10)) << "another client has confirmed it";
  EXPECT_FALSE(confirmed.reign.stands());
  Primary broken(3);
  broken.met();
  EXPECT_FALSE(broken.said(2, 12, "reign1 run id 18 12"));
  EXPECT_FALSE(broken.reign.stands());
  Primary refreshed(3);
  refreshed.met();
  EXPECT_TRUE(refreshed.said(2, 12, "reign1 run id 17 12")) << "the reign goes on";
  EXPECT_TRUE(refreshed.reign.stands());
}

}  // namespace
}  // namespace redlock::core::test
