#include "quorum-lock/verbs/membership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace redlock::cli {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using State = admin::MemberReport::State;

/// A deployment of the members a, b and c, which the options name.
class CliMembership : public testing::Test {
 protected:
  CliMembership() {
    membership_.deployment = "1.d";
    membership_.members = {"redis://a", "redis://b", "redis://c"};
    membership_.max_ttl = seconds(30);
    for (const std::string& url : membership_.members) {
      membership_.nodes.push_back(
          {.url = url, .state = State::member, .deployment = "1.d", .member = url, .listed = true});
    }
  }

  admin::MemberReport& lists(const std::string& url) {
    return membership_.nodes.emplace_back(
        admin::MemberReport{.url = url, .state = State::blank, .listed = true});
  }

  [[nodiscard]] std::string changed() const {
    return deployment_to_change(membership_, seconds(30));
  }

  [[nodiscard]] std::string text() const {
    return membership_text(Style(false), Settings(), membership_);
  }

  admin::Membership membership_;
};

TEST_F(CliMembership, IsNotChangedByABootstrapOfTheSameMembers) {
  EXPECT_THAT(changed(), IsEmpty());
  EXPECT_THAT(deployment_to_change(membership_, seconds(40)),
              "these nodes are a deployment of 3 members with a max TTL of 30.000 s");
  for (admin::MemberReport& node : membership_.nodes) node.url.insert(5, "s");
  EXPECT_THAT(changed(), IsEmpty()) << "the same servers by other names";
  membership_.nodes[1].state = State::opening;
  membership_.nodes[1].deployment = "2.e";
  membership_.nodes[1].url = "redis://b";
  EXPECT_THAT(changed(), IsEmpty()) << "another run of the same bootstrap was cut off";
  EXPECT_THAT(deployment_to_change({}, seconds(30)), IsEmpty()) << "new nodes";
}

TEST_F(CliMembership, IsChangedByABootstrapOfAsManyNodesThatAreOtherOnes) {
  lists("redis://d");
  membership_.nodes[2].listed = false;
  EXPECT_THAT(changed(), HasSubstr("; bootstrap removes redis://c (it answers) and adds "
                                   "redis://d (it is blank)"));
  membership_.nodes[2].state = State::unreachable;
  membership_.nodes[3].state = State::removed;
  membership_.nodes[3].member = "redis://d";
  membership_.nodes[3].deployment = "0.c";
  EXPECT_THAT(changed(), HasSubstr("removes redis://c (it cannot be asked) and adds "
                                   "redis://d (it was in another deployment)"));
  membership_.nodes[3].state = State::opening;
  EXPECT_THAT(changed(), HasSubstr("adds redis://d (a bootstrap has begun there)"));
  membership_.nodes.erase(membership_.nodes.begin() + 2);
  EXPECT_THAT(changed(), HasSubstr("removes redis://c (it cannot be asked)")) << "not asked";
  membership_.members.pop_back();
  EXPECT_THAT(changed(),
              HasSubstr("2 members with a max TTL of 30.000 s; bootstrap adds redis://d"));
}

TEST_F(CliMembership, OfWhichAMajorityTakesAMemberBackIsChangedByABootstrap) {
  membership_.nodes[2].state = State::unmarked;
  membership_.nodes[2].deployment = membership_.nodes[2].member = "";
  EXPECT_THAT(changed(), HasSubstr("; without bootstrap, the others take back redis://c"));
  membership_.nodes[1] = membership_.nodes[2];
  membership_.nodes[1].url = "redis://b";
  EXPECT_THAT(changed(), IsEmpty()) << "too few remember: nothing but bootstrap helps";
}

TEST_F(CliMembership, IsShownWithWhatIsNotAMemberAndWhatIsNotInTheList) {
  EXPECT_THAT(text(), AllOf(Not(HasSubstr("not a member")), Not(HasSubstr("not in your list"))));
  lists("redis://d").quarantine = seconds(20);
  membership_.nodes[2].listed = false;
  EXPECT_THAT(text(), AllOf(HasSubstr("redis://c  member, not in your list\n"),
                            HasSubstr("redis://d  blank, not a member\n"), HasSubstr("3 members")));
  const auto json = nlohmann::json::parse(membership_json(membership_));
  EXPECT_EQ(json.at("nodes").at(2).at("listed"), false);
  EXPECT_EQ(json.at("nodes").at(3).at("listed"), true);
  membership_.deployment.clear();
  membership_.members.clear();
  EXPECT_THAT(text(), HasSubstr("blank, votes in 20.0")) << "a node that may be new";
}

}  // namespace
}  // namespace redlock::cli
