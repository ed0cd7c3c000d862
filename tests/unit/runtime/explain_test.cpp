#include "runtime/explain.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/nodes/link.hpp"

namespace redlock::runtime {
namespace {

using std::chrono::seconds;
using testing::EndsWith;

/// Three nodes, two of which refuse.
Round refused_by(const std::string& holder) {
  Round report;
  report.quorum = 2;
  std::vector<NodeVote> nodes(3);
  for (std::size_t node = 0; node < 2; ++node) {
    nodes[node].vote = Vote::refused;
    nodes[node].holder = holder_from(holder);
    nodes[node].remaining = seconds(4);
  }
  report.nodes = std::move(nodes);
  return report;
}

std::string held_by(const std::string& holder, std::uint32_t permits = 0) {
  return explain(Errc::held, "r", refused_by(holder), permits).message;
}

TEST(Explain, NamesTheHolderByItsTokenOrItsName) {
  EXPECT_EQ(held_by("0123456789abcdef0123456789abcdef01234567"),
            "'r' is held by 0123456789ab… (exclusive, 4 s left)");
  EXPECT_EQ(held_by("0123456789abcdef0123456789abcdef01234567:nightly"),
            "'r' is held by nightly (exclusive, 4 s left)");
  EXPECT_EQ(held_by("owner nightly"), "'r' is held by owner nightly (4 s left)");
}

TEST(Explain, SaysWhatIsInTheWayWhereThatIsNoSingleHolder) {
  EXPECT_EQ(held_by("shared"), "'r' is held by readers (4 s left)");
  EXPECT_EQ(held_by("writer"), "'r' is held by readers, and a writer waits (4 s left)");
  EXPECT_EQ(held_by("redlock:cooldown"), "'r' is not free: its interval is not over (4 s left)");
  EXPECT_EQ(held_by("redlock:next:0123"), "'r' is reserved for the next client (4 s left)");
  const std::string keeper = "0123456789abcdef" + std::string(24, '0');
  EXPECT_EQ(held_by(keeper + ":on call"), "'r' was broken by on call and is free in 4 s");
  EXPECT_EQ(held_by(keeper), "'r' was broken by 0123456789ab… and is free in 4 s");
  EXPECT_EQ(held_by(std::string(129, 'x')), "'r' is a key that is not a lock (4 s left)");
  EXPECT_EQ(held_by(""), "'r' is held by another client (4 s left)");
  EXPECT_EQ(held_by("", 1), "the only permit of 'r' is held (4 s left)");
  EXPECT_EQ(held_by("", 3), "all 3 permits of 'r' are held (4 s left)");
}

TEST(Explain, TellsWhyALeaseWasLostIfRenewalsFailed) {
  Round report;
  report.quorum = 2;
  std::vector<NodeVote> nodes(3);
  for (NodeVote& node : nodes) node.vote = Vote::granted;
  report.nodes = nodes;
  EXPECT_EQ(explain_loss("r", report).message, "lost the lease on 'r': its deadline passed");
  EXPECT_EQ(explain_loss("r", report).code, Errc::not_holder);
  for (const std::size_t node : {1U, 2U}) {
    nodes[node].vote = Vote::unreachable;
    nodes[node].url = "redis://" + std::to_string(node);
    nodes[node].message = "connection refused";
  }
  report.nodes = nodes;
  EXPECT_EQ(explain_loss("r", report).message,
            "lost the lease on 'r': its deadline passed, and the last renewal failed: granted 1, "
            "failed 2 of 3, 2 needed; redis://1, redis://2: connection refused");
}

TEST(Explain, SaysThatNobodyWasAskedIfNobodyWas) {
  EXPECT_EQ(explain(Errc::unavailable, "r", {}, 0).message,
            "unavailable for 'r': too few nodes could be asked");
}

TEST(Explain, AdvisesBootstrapOnlyIfItCanShortenTheWait) {
  using testing::HasSubstr;
  using testing::Not;
  core::Outlook outlook;
  const auto excluded = [&outlook](std::vector<NodeVote> nodes) {
    Round report;
    report.quorum = 2;
    report.nodes = std::move(nodes);
    Error error = explain(Errc::excluded, "r", std::move(report));
    add_outlook(error, outlook);
    return error.message;
  };
  NodeVote forgot;
  forgot.vote = Vote::excluded;
  forgot.message = "quarantined for 29 s more: " + std::string(core::may_be_new) +
                   std::string(core::may_have_forgotten) + "; " + std::string(core::no_deployment);
  forgot.remaining = seconds(29);
  NodeVote pending;
  EXPECT_THAT(excluded({forgot, forgot, forgot}), HasSubstr("; wait, or, "));
  // The third node may remember: it is not asked, because its vote could change nothing.
  EXPECT_THAT(
      excluded({forgot, forgot, pending}),
      EndsWith("; `quorum-lock doctor` says whether to wait, or to run `quorum-lock bootstrap`"));
  NodeVote unmet;
  unmet.vote = Vote::error;
  unmet.message = core::nobody_met_it;
  EXPECT_THAT(excluded({forgot, forgot, unmet}), HasSubstr("`quorum-lock doctor` says whether"));
  // `bootstrap` would also quarantine a node that remembers its deployment.
  NodeVote granted;
  granted.vote = Vote::granted;
  const auto says_it_once =
      testing::AllOf(HasSubstr("quarantined for 29 s more"), Not(HasSubstr("wait")));
  EXPECT_THAT(excluded({forgot, forgot, granted}), says_it_once);
  NodeVote member;
  member.vote = Vote::excluded;
  member.message = "it is alone in its deployment";
  EXPECT_THAT(excluded({forgot, forgot, member}), says_it_once);
  NodeVote came_back = forgot;
  came_back.message = "quarantined for 29 s more: " + std::string(core::came_without_data);
  EXPECT_THAT(excluded({forgot, forgot, came_back}), EndsWith("; wait 29 s"));
  // `bootstrap` needs every node.
  NodeVote gone;
  gone.vote = Vote::unreachable;
  gone.message = "connection refused";
  EXPECT_THAT(excluded({forgot, forgot, gone}), Not(HasSubstr("bootstrap")));
  EXPECT_THAT(excluded({forgot, gone, gone}), Not(HasSubstr("wait"))) << "one is no quorum";
  EXPECT_THAT(excluded({forgot, gone, pending}), EndsWith("doctor` says whether waiting helps"))
      << "the last one may have forgotten too";
  outlook = {.members = 3, .unlisted = {"redis://c"}};
  EXPECT_THAT(excluded({forgot, forgot, forgot}), Not(HasSubstr("wait")))
      << "what is quarantined may not be a member";
  outlook = {.members = 3, .forgot = 1, .needed = 2};
  EXPECT_THAT(
      excluded({forgot, granted, gone}),
      EndsWith("; 1 of 3 members has lost its data: the others take it back when 2 answer that "
               "remember"));
  outlook = {.impasse = core::Outlook::Impasse::forgotten, .members = 3, .forgot = 2};
  EXPECT_THAT(excluded({forgot, forgot, granted}),
              testing::AllOf(HasSubstr("waiting does not help: 2 of 3 members have lost"),
                             EndsWith("run `quorum-lock bootstrap`")));
  outlook = {.impasse = core::Outlook::Impasse::other_max_ttl, .members = 3};
  EXPECT_THAT(excluded({member, member, granted}),
              EndsWith("; waiting does not help: all clients of a deployment need one max TTL"));
  outlook = {.impasse = core::Outlook::Impasse::other_servers, .members = 3};
  EXPECT_THAT(excluded({member, member, granted}), EndsWith("; waiting does not help"));
}

TEST(Explain, NamesTheMembersThatAnOldListLacks) {
  Error error = explain(Errc::unavailable, "r", {});
  core::Outlook outlook{.members = 5, .unlisted = {"redis://d", "redis://e"}};
  add_outlook(error, outlook);
  const std::string lacks =
      "; your list of nodes is wrong: the deployment has 5 members, and the list lacks redis://d, "
      "redis://e";
  EXPECT_THAT(error.message, EndsWith(lacks));
  outlook.strangers = {"redis://x"};
  error = explain(Errc::unavailable, "r", {});
  add_outlook(error, outlook);
  EXPECT_THAT(error.message, EndsWith(lacks + "; redis://x is not a member's URL"));
}

TEST(Explain, NamesNodesThatFailedForOneReasonTogether) {
  const auto excluded = [](std::string url, std::string message, int left) {
    NodeVote node;
    node.url = std::move(url);
    node.vote = Vote::excluded;
    node.message = std::move(message);
    node.remaining = seconds(left);
    return node;
  };
  const std::string fresh = std::string(core::may_be_new) + std::string(core::may_have_forgotten);
  const std::string closed = "; " + std::string(core::no_deployment);
  Round report;
  report.quorum = 2;
  report.nodes = std::vector<NodeVote>{
      excluded("redis://a", "quarantined for 28 s more: " + fresh + closed, 28),
      excluded("redis://b", "quarantined for 29 s more: " + fresh + closed, 29),
      excluded("redis://c", "quarantined for 3 s more: it restarted", 3)};
  EXPECT_THAT(explain(Errc::excluded, "r", std::move(report)).message,
              EndsWith("2 needed; redis://a, redis://b: quarantined for 29 s more: " + fresh +
                       "; redis://c: quarantined for 3 s more: it restarted"));
  const std::string of_a = "it has a new primary, 10.0.0.7:6379: no new locks for 4 s more: …";
  const std::string of_b = "it has a new primary, 10.0.1.7:6379: no new locks for 5 s more: …";
  Round of_services;
  of_services.quorum = 2;
  of_services.nodes =
      std::vector<NodeVote>{excluded("redis://a", of_a, 4), excluded("redis://b", of_b, 5)};
  EXPECT_THAT(explain(Errc::excluded, "r", std::move(of_services)).message,
              testing::HasSubstr("; redis://a: " + of_a + "; redis://b: " + of_b));
}

TEST(Explain, MakesOfTheWordsOfNodesWhatTheyMean) {
  using Kind = Holder::Kind;
  EXPECT_EQ(holder_from(""), std::nullopt) << "the server does not say";
  const Holder lease{Kind::exclusive, Token::parse("t0k")};
  EXPECT_EQ(holder_from("t0k"), lease);
  EXPECT_EQ(holder_from(std::string(128, 'x')).value().token.value().view(), std::string(128, 'x'));
  EXPECT_EQ(holder_from("shared"), Holder{Kind::shared});
  const Holder owner{Kind::owned, std::nullopt, "the nightly import"};
  EXPECT_EQ(holder_from("owner the nightly import"), owner);
  EXPECT_EQ(holder_from("writer"), Holder{Kind::writer});
  EXPECT_EQ(holder_from("redlock:cooldown"), Holder{Kind::interval});
  EXPECT_EQ(holder_from("redlock:next:0123456789abcdef"), Holder{Kind::reserved});
  EXPECT_EQ(holder_from(std::string(129, 'x')), Holder{Kind::other});
  for (const char* token :
       {"Shared", "shared ", "owner", "writers", "redlock:cooldowns", "redlock:"}) {
    EXPECT_EQ(holder_from(token).value().token, Token::parse(token)) << token;
  }
}

/// The answer of a node that names the holder.
NodeVote refusal(std::string_view said) {
  return report_node({.vote = Vote::refused, .text = said}, "redis://a");
}

TEST(Explain, TellsOfAHolderOnlyIfTheNodeRefused) {
  EXPECT_EQ(refusal("t0k").holder.value().token, Token::parse("t0k"));
  EXPECT_EQ(refusal("t0k").message, "");
  const NodeVote error = report_node({.vote = Vote::error, .text = "READONLY"}, "redis://a");
  EXPECT_EQ(error.holder, std::nullopt);
  EXPECT_EQ(error.message, "READONLY");
}

/// Another library's lock may have such a token: an acquire reads only the value.
TEST(Explain, TakesATokenThatIsAWordForTheWord) {
  EXPECT_EQ(refusal("shared").holder, Holder{Holder::Kind::shared});
  EXPECT_EQ(refusal("shared").holder->token, std::nullopt);
}

/// Three nodes that all store the same: this token, or this owner.
Inspection inspection_of(LockKind kind, const std::string& holder, const std::string& name = {}) {
  Inspection inspection;
  inspection.kind = kind;
  inspection.state = Inspection::State::held;
  if (kind == LockKind::exclusive) inspection.holder = Token::parse(holder);
  if (kind == LockKind::owned) inspection.owner = holder;
  inspection.holder_name = name;
  inspection.quorum = 2;
  inspection.nodes.resize(3);
  for (NodeInspection& node : inspection.nodes) {
    node.kind = kind;
    node.holder = inspection.holder;
    node.owner = inspection.owner;
    node.remaining = seconds(4);
  }
  return inspection;
}

std::string named_in(Errc code, const Inspection& inspection) {
  const std::string token = "0123456789abcdef0123456789abcdef01234567";
  Error error = explain(code, "r", refused_by(token));
  name_holder(error, "r", inspection);
  return error.message;
}

TEST(Explain, NamesWhoHasItIfTheNodesWereAsked) {
  const std::string token = "0123456789abcdef0123456789abcdef01234567";
  const std::string not_held =
      "'r' is not held by this token: the lease expired, or was released or broken; it ";
  EXPECT_EQ(named_in(Errc::held, inspection_of(LockKind::exclusive, token, "alice")),
            "'r' is held by alice (exclusive, 4 s left)");
  EXPECT_EQ(named_in(Errc::not_holder, inspection_of(LockKind::exclusive, token, "al\nice")),
            not_held + "is held by al\\nice (exclusive, 4 s left)");
  EXPECT_EQ(named_in(Errc::not_holder, inspection_of(LockKind::exclusive, token)),
            not_held + "is held by 0123456789ab… (exclusive, 4 s left)");
  EXPECT_EQ(named_in(Errc::not_holder, inspection_of(LockKind::shared, "")),
            not_held + "is held by readers (4 s left)");
  EXPECT_EQ(named_in(Errc::not_holder, inspection_of(LockKind::owned, "nightly")),
            not_held + "is held by owner nightly (4 s left)");
  EXPECT_EQ(named_in(Errc::held, inspection_of(LockKind::interval, "")),
            "'r' is not free: its interval is not over (4 s left)");
  const std::string keeper = "0123456789abcdef" + std::string(24, '0') + ":on call";
  EXPECT_EQ(named_in(Errc::not_holder, inspection_of(LockKind::exclusive, keeper, "on call")),
            not_held + "was broken by on call and is free in 4 s");
}

TEST(Explain, KeepsWhatTheRefusalSaidIfTheResourceIsFreeNow) {
  Inspection nobody;
  nobody.state = Inspection::State::free;
  EXPECT_EQ(named_in(Errc::held, nobody),
            "'r' is held by 0123456789ab… (exclusive, 4 s left); it is free now");
  EXPECT_THAT(named_in(Errc::not_holder, nobody), EndsWith(" or broken; it is free now"));
  const Inspection unknown;
  EXPECT_THAT(named_in(Errc::not_holder, unknown), EndsWith(" or broken"))
      << "too few nodes answered";
  Inspection likely = inspection_of(LockKind::exclusive, "t0k", "alice");
  likely.state = Inspection::State::indeterminate;
  EXPECT_EQ(named_in(Errc::held, likely), "'r' is perhaps held by alice (exclusive, 4 s left)");
  Inspection reserved = inspection_of(LockKind::reserved, "");
  reserved.state = Inspection::State::free;
  reserved.next = NextClient{"", "bob"};
  EXPECT_EQ(named_in(Errc::held, reserved), "'r' is reserved for bob");
}

}  // namespace
}  // namespace redlock::runtime
