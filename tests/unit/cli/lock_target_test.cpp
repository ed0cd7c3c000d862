#include "quorum-lock/locks/lock_target.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/settings.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

struct GivenOption {
  std::string name;
  std::string value{};  // empty: a flag
};

Arguments given_with(std::vector<std::string> words, const std::vector<GivenOption>& options = {}) {
  Arguments given;
  given.words = std::move(words);
  for (const GivenOption& option : options) {
    if (option.value.empty()) {
      given.set_flag(option.name, true, "--" + option.name);
    } else {
      given.set(option.name, {option.value, "--" + option.name});
    }
  }
  return given;
}

template <typename Read>
std::string refusal_of(Read read) {
  try {
    static_cast<void>(read());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(CliTarget, IsOfTheKindThatTheOptionsName) {
  EXPECT_EQ(target_of(given_with({"r"})).kind(), Target::Kind::exclusive);
  EXPECT_EQ(target_of(given_with({"r"}, {{"shared"}})).kind(), Target::Kind::shared);
  EXPECT_EQ(target_of(given_with({"r"}, {{"owner", "me"}})).owner(), "me");
  EXPECT_EQ(target_of(given_with({"r"}, {{"permits", "4"}})).permits(), 4U);
  EXPECT_EQ(target_of(given_with({"r"}, {{"interval", "1h"}})).interval(), 1h);
  const Target several = target_of(given_with({"r", "s"}, {{"interval", "1h"}, {"fencing"}}));
  EXPECT_EQ(several.more_resources(), std::vector<std::string>{"s"});
  EXPECT_EQ(several.interval(), 1h);
}

TEST(CliTarget, IsRefusedWhereTheOptionsDoNotGoTogether) {
  const auto refusal = [](std::vector<std::string> words, const std::vector<GivenOption>& options) {
    return refusal_of([&] { return target_of(given_with(std::move(words), options)); });
  };
  EXPECT_EQ(refusal({"r"}, {{"shared"}, {"owner", "me"}}), "--owner: not together with --shared");
  EXPECT_EQ(refusal({"r"}, {{"permits", "4"}, {"fencing"}}),
            "--fencing: not together with --permits");
  EXPECT_EQ(refusal({"r"}, {{"owner", "me"}, {"interval", "1s"}}),
            "--interval: not together with --owner");
  EXPECT_EQ(refusal({"r", "s"}, {{"permits", "4"}}),
            "--permits: not with several resources ('s' is a second one)");
}

TEST(CliWait, HasAnEndOrNone) {
  EXPECT_EQ(wait_of(given_with({"r"})), std::nullopt);
  EXPECT_EQ(wait_of(given_with({"r"}, {{"wait", "2m"}})), 2min);
  EXPECT_EQ(wait_of(given_with({"r"}, {{"wait", "forever"}})), forever);
  const std::string refusal = refusal_of([] {
    return wait_of(given_with({"r"}, {{"wait", "for ever"}}));
  });
  EXPECT_TRUE(refusal.starts_with("--wait: 'for ever' is no duration")) << refusal;
  EXPECT_TRUE(refusal.ends_with(", or forever")) << refusal;
}

TEST(CliToken, HasNoBlankAndNoControlCharacter) {
  const auto refusal = [](const std::string& token) {
    Arguments given;
    given.set("token", {token, "--token"});
    return refusal_of([&] { return token_of(given); });
  };
  EXPECT_EQ(refusal("t 1"), "--token: has a blank: none is allowed");
  EXPECT_EQ(refusal(std::string(40, 'a') + " "), "--token: has a blank: none is allowed");
  for (const char control : {'\t', '\n', '\x01', '\x7f'}) {
    EXPECT_EQ(refusal(std::string("t") + control),
              "--token: has a control character: none is allowed");
  }
  EXPECT_EQ(refusal(""), "--token: has 0 bytes: 1 to 128 are allowed");
  EXPECT_EQ(refusal(std::string(129, 't')), "--token: has 129 bytes: 1 to 128 are allowed");
  EXPECT_EQ(refusal("é-of-another-client"), "no refusal");
  EXPECT_EQ(refusal(std::string(40, 'a') + ":the nightly report"), "no refusal")
      << "of a candidate with such a name";
}

TEST(CliSubject, NamesAllResourcesAndThePermit) {
  const Subject one = subject_of({"r"});
  EXPECT_EQ(one.resource, "r");
  EXPECT_TRUE(one.resources.empty());
  const Round round;
  EXPECT_EQ(round_json("released", one, std::nullopt, round, RoundKind::release),
            R"({"outcome":"released","resource":"r","elapsed_us":0,"quorum":0,"nodes":[]})"
            "\n");
  EXPECT_EQ(round_json("released", subject_of({"a", "b"}), std::nullopt, round, RoundKind::release),
            R"({"outcome":"released","resource":"a b","resources":["a","b"],"elapsed_us":0,)"
            R"("quorum":0,"nodes":[]})"
            "\n");
  Subject permit = one;
  permit.permit = "r#3";
  EXPECT_EQ(round_json("held", permit, std::nullopt, round, RoundKind::release),
            R"({"outcome":"held","resource":"r","permit":"r#3","elapsed_us":0,"quorum":0,)"
            R"("nodes":[]})"
            "\n");
  Subject refused = one;
  refused.holder_name = "nightly";
  EXPECT_EQ(round_json("held", refused, std::nullopt, round, RoundKind::release),
            R"({"outcome":"held","resource":"r","holder_name":"nightly","elapsed_us":0,"quorum":0,)"
            R"("nodes":[]})"
            "\n");
  EXPECT_EQ(round_text(Style(false), Settings{}, "released", permit, round),
            "released r  permit r#3  (0 of 0 nodes)\n");
}

}  // namespace
}  // namespace redlock::cli
