// A deployment's members change one node at a time, and a change that was cut off at any step is
// resumed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stop_token>

#include "integration/membership/members.hpp"
#include "redlock/deployment.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

admin::Membership members_of(const ClientOptions& options) {
  auto membership = admin::members(options);
  if (!membership) throw std::runtime_error(membership.error().message);
  return *std::move(membership);
}

TEST_F(Members, AreReportedByAnyOfThem) {
  open(3);
  const admin::Membership membership = members_of(options_of({nodes_[1].url()}));
  EXPECT_THAT(membership.members, UnorderedElementsAreArray(initial_));
  EXPECT_EQ(membership.max_ttl, short_max_ttl);
  EXPECT_EQ(membership.resume, "");
  ASSERT_EQ(membership.nodes.size(), 3U);
  for (const admin::MemberReport& node : membership.nodes) {
    EXPECT_EQ(node.state, admin::MemberReport::State::member);
    EXPECT_EQ(node.deployment, membership.deployment);
  }
  EXPECT_EQ(members_of(options_of({nodes_[4].url()})).deployment, "");
}

TEST_F(Members, AreReplacedAddedAndRemoved) {
  open(3);
  auto changed = admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url());
  ASSERT_TRUE(succeeded(changed));
  EXPECT_THAT(changed->members, UnorderedElementsAreArray(urls({0, 1, 3})));
  changed = admin::add_member(options_of(initial_), nodes_[4].url());
  ASSERT_TRUE(succeeded(changed));
  EXPECT_THAT(changed->members, UnorderedElementsAreArray(urls({0, 1, 3, 4})));
  changed = admin::remove_member(options_of(initial_), nodes_[0].url());
  ASSERT_TRUE(succeeded(changed));
  EXPECT_THAT(changed->members, UnorderedElementsAreArray(urls({1, 3, 4})));
  EXPECT_TRUE(succeeded(admin::remove_member(options_of(initial_), nodes_[0].url())))
      << "once more";
}

TEST_F(Members, ThatAreGoneAreReplaced) {
  open(3);
  nodes_[0].kill();
  const auto changed =
      admin::replace_member(options_of(initial_), nodes_[0].url(), nodes_[3].url());
  ASSERT_TRUE(succeeded(changed));
  EXPECT_THAT(changed->members, UnorderedElementsAreArray(urls({1, 2, 3})));
}

TEST_F(Members, AreNotChangedWhileAnotherOneIsMissing) {
  open(3);
  nodes_[1].kill();
  const auto refused =
      admin::replace_member(options_of(initial_), nodes_[0].url(), nodes_[3].url());
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message, HasSubstr(nodes_[1].url()));
  EXPECT_THAT(refused.error().message, HasSubstr("nothing was changed"));
  EXPECT_FALSE(nodes_[3].get(marker_key));
}

TEST_F(Members, EnterOnlyIfTheyRunScripts) {
  open(3);
  const RedisServer renamed({.arguments = {"--rename-command", "EVAL", ""}});
  const auto refused = admin::add_member(options_of(initial_), renamed.url());
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message,
              HasSubstr("nothing was changed by this call: " + renamed.url()));
  EXPECT_THAT(refused.error().message, testing::ContainsRegex("(know|need) EVAL"));
}

TEST_F(Members, AreWaitedForAndTheWaitIsReported) {
  open(3);
  std::vector<admin::ChangeProgress> waits;
  admin::ChangeOptions change;
  change.on_progress = [&](const admin::ChangeProgress& progress) {
    if (progress.kind == admin::ChangeProgress::Kind::waiting) waits.push_back(progress);
  };
  ASSERT_TRUE(succeeded(
      admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url(), change)));
  ASSERT_TRUE(succeeded(
      admin::replace_member(options_of(initial_), nodes_[3].url(), nodes_[2].url(), change)));
  ASSERT_FALSE(waits.empty()) << "two changes within one max TTL";
  ASSERT_TRUE(waits.back().left);
  EXPECT_GT(*waits.back().left, nanoseconds(0));
}

TEST_F(Members, AreNotChangedByACallThatIsCancelled) {
  open(3);
  std::stop_source stop;
  stop.request_stop();
  admin::ChangeOptions change;
  change.stop = stop.get_token();
  const auto cancelled =
      admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url(), change);
  ASSERT_TRUE(failed_with(cancelled, Errc::cancelled));
  EXPECT_FALSE(nodes_[3].get(marker_key));
}

/// Repeats a change until it is done, and cuts it off one write later each time.
template <typename Change>
int cut_off_at_every_step(const Change& change) {
  struct Cut {};
  for (int steps = 0;; ++steps) {
    int writings = 0;
    admin::ChangeOptions options;
    options.on_progress = [&](const admin::ChangeProgress& progress) {
      if (progress.kind == admin::ChangeProgress::Kind::writing && writings++ == steps) throw Cut();
    };
    try {
      if (!succeeded(change(options))) return -1;
      return steps;
    } catch (const Cut&) {
    }
  }
}

TEST_F(Members, AreResumedAfterEachStep) {
  open(3);
  EXPECT_GT(cut_off_at_every_step([&](const admin::ChangeOptions& change) {
              return admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url(),
                                           change);
            }),
            0);
  EXPECT_GT(cut_off_at_every_step([&](const admin::ChangeOptions& change) {
              return admin::add_member(options_of(initial_), nodes_[4].url(), change);
            }),
            0);
  EXPECT_GT(cut_off_at_every_step([&](const admin::ChangeOptions& change) {
              return admin::remove_member(options_of(initial_), nodes_[4].url(), change);
            }),
            0);
  EXPECT_THAT(members_of(options_of(initial_)).members, UnorderedElementsAreArray(urls({0, 1, 3})));
}

TEST_F(Members, AreResumedByTheCommandThatIsReported) {
  open(3);
  struct Cut {};
  admin::ChangeOptions cut;
  int writings = 0;
  cut.on_progress = [&writings](const admin::ChangeProgress& progress) {
    if (progress.kind == admin::ChangeProgress::Kind::writing && writings++ == 2) throw Cut();
  };
  EXPECT_THROW(static_cast<void>(admin::replace_member(options_of(initial_), nodes_[2].url(),
                                                       nodes_[3].url(), cut)),
               Cut);
  const std::string reported = "members replace " + nodes_[2].url() + " " + nodes_[3].url();
  EXPECT_EQ(members_of(options_of(initial_)).resume, reported);
  const auto other = admin::add_member(options_of(initial_), nodes_[4].url());
  ASSERT_TRUE(failed_with(other, Errc::unavailable));
  EXPECT_THAT(other.error().message, HasSubstr(reported));
  EXPECT_TRUE(
      succeeded(admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url())));
}

/// Cuts the change off before its write number `writing`.
void cut_off(std::size_t writing, const std::function<void(const admin::ChangeOptions&)>& change) {
  struct Cut {};
  admin::ChangeOptions options;
  options.patience = nanoseconds(0);
  options.on_progress = [&writing](const admin::ChangeProgress& progress) {
    if (progress.kind == admin::ChangeProgress::Kind::writing && writing-- == 0) throw Cut();
  };
  EXPECT_THROW(change(options), Cut);
}

TEST_F(Members, ReportHowFarAChangeHasComeWhenOneRefuses) {
  open(3);
  auto sorted = initial_;
  std::sort(sorted.begin(), sorted.end());
  // After two writes, the entering node is joining and the first member has the new id.
  cut_off(2, [&](const admin::ChangeOptions& change) {
    static_cast<void>(admin::add_member(options_of(initial_), nodes_[3].url(), change));
  });
  const auto last = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&](const RedisServer& node) { return node.url() == sorted[2]; });
  last->command({"CONFIG", "SET", "requirepass", "other"});
  admin::ChangeOptions impatient;
  impatient.patience = nanoseconds(0);
  const auto same = admin::add_member(options_of(initial_), nodes_[3].url(), impatient);
  ASSERT_TRUE(failed_with(same, Errc::unavailable));
  for (const std::string& words :
       {std::string("half done: ") + sorted[2], "done on " + sorted[0], std::string("missing on "),
        "Resume it with: quorum-lock members add " + nodes_[3].url(),
        "finish it first, then run: quorum-lock members remove " + nodes_[3].url()}) {
    EXPECT_THAT(same.error().message, HasSubstr(words));
  }
  const auto other = admin::remove_member(options_of(initial_), initial_[0], impatient);
  ASSERT_TRUE(failed_with(other, Errc::unavailable));
  for (const std::string& words :
       {std::string("nothing was changed by this call: another change"), "done on " + sorted[0],
        "Resume it with: quorum-lock members add " + nodes_[3].url()}) {
    EXPECT_THAT(other.error().message, HasSubstr(words));
  }
}

TEST_F(Members, OfWhomTheOnlyOneThatKnowsOfAChangeRefusesAreNotSaidToBeUnchanged) {
  open(3);
  cut_off(1, [&](const admin::ChangeOptions& change) {
    static_cast<void>(admin::add_member(options_of(initial_), nodes_[3].url(), change));
  });
  nodes_[3].command({"CONFIG", "SET", "requirepass", "other"});
  admin::ChangeOptions impatient;
  impatient.patience = nanoseconds(0);
  const auto refused = admin::add_member(options_of(initial_), nodes_[3].url(), impatient);
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message, HasSubstr("nothing was changed by this call: "));
  EXPECT_THAT(refused.error().message,
              HasSubstr("Whether an earlier call has begun on " + nodes_[3].url()));
}

TEST_F(Members, ThatWereChangedAreNamedByTheDoctor) {
  open(3);
  ASSERT_TRUE(
      succeeded(admin::replace_member(options_of(initial_), nodes_[2].url(), nodes_[3].url())));
  const auto check = admin::check(options_of(initial_));
  ASSERT_TRUE(succeeded(check));
  std::vector<std::string> ids;
  for (const admin::Finding& finding : check->findings) ids.emplace_back(to_string(finding.kind));
  // The new member, which the list does not name, is still in quarantine.
  EXPECT_THAT(ids, ElementsAre("quarantined", "other-deployment", "stale-client"));
}

}  // namespace
}  // namespace redlock::test
