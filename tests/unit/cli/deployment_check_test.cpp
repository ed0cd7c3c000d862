#include "quorum-lock/verbs/deployment_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace redlock::cli {
namespace {

using FindingKind = admin::Finding::Kind;

admin::Finding found(FindingKind kind, const std::string& node, std::string what = "It is wrong.") {
  return {node, kind, std::move(what), "A cause.", "A remedy."};
}

std::string quiet_text(std::vector<admin::Finding> findings) {
  Settings settings;
  settings.detail = Settings::Detail::quiet;
  admin::DeploymentCheck check;
  check.findings = std::move(findings);
  return check_text(Style(false), settings, check, {});
}

TEST(CheckText, NamesTheNodesOfOneProblemTogether) {
  EXPECT_EQ(quiet_text({found(FindingKind::unreachable, "a"), found(FindingKind::clock, "b"),
                        found(FindingKind::unreachable, "c")}),
            R"(
unreachable  a, c
  what    It is wrong.
  why     A cause.
  remedy  A remedy.

clock  b
  what    It is wrong.
  why     A cause.
  remedy  A remedy.
)");
}

TEST(CheckText, SaysOfEachNodeWhatDiffers) {
  EXPECT_EQ(quiet_text({found(FindingKind::quarantined, "a", "It votes in 1 s."),
                        found(FindingKind::quarantined, "b", "It votes in 2 s.")}),
            R"(
quarantined  a, b
  what    a: It votes in 1 s.
          b: It votes in 2 s.
  why     A cause.
  remedy  A remedy.
)");
}

TEST(CheckText, KeepsProblemsWithDifferentRemediesApart) {
  admin::Finding socket = found(FindingKind::unreachable, "unix:///run/redis");
  socket.remedy = "Another remedy.";
  EXPECT_THAT(quiet_text({found(FindingKind::unreachable, "a"), socket}),
              testing::HasSubstr("unreachable  unix:///run/redis\n"));
}

TEST(CheckText, CountsProblemsAndNotTheirNodes) {
  admin::DeploymentCheck check;
  check.findings = {found(FindingKind::clock, "a"), found(FindingKind::clock, "b")};
  const std::string text = check_text(Style(false), Settings(), check, {false, "1 of 3 can vote"});
  EXPECT_TRUE(text.ends_with("\n1 problem; 1 of 3 can vote\n")) << text;
}

TEST(ChangeText, NamesTheNodesOfOneProblemTogether) {
  FindingChanges::Change change;
  change.gone = {found(FindingKind::clock, "a"), found(FindingKind::clock, "b")};
  change.appeared = {found(FindingKind::loading, "c"), found(FindingKind::loading, "d")};
  Settings settings;
  settings.detail = Settings::Detail::quiet;
  EXPECT_EQ(change_text(Style(false), settings, {}, {}, change, {}), R"(
clock  a, b
  gone

loading  c, d
  what    It is wrong.
  why     A cause.
  remedy  A remedy.
)");
}

}  // namespace
}  // namespace redlock::cli
