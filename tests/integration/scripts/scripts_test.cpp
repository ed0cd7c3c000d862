// The effects of the Lua scripts on the key of a lock.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "integration/scripts/scripts.hpp"
#include "redis/scripts_embedded.hpp"
#include "redlock/limits.hpp"

namespace redlock::test {
namespace {

using core::ScriptForm;
using core::Verb;
using std::chrono::milliseconds;

TEST_F(Scripts, TheServerComputesTheDigestThatTheBuildComputed) {
  for (const auto& script : redis::scripts::all_scripts) {
    const Reply digest = server_->command({"SCRIPT", "LOAD", std::string(script.text)});
    EXPECT_EQ(digest.string, script.sha1) << script.name;
  }
}

TEST_F(Scripts, AreFoundByTheirDigestOnceLoadedAndNotAfterAFlush) {
  server_->command({"SCRIPT", "LOAD", std::string(redis::scripts::release.text)});
  EXPECT_EQ(ask(Verb::release, "me", milliseconds(1), ScriptForm::digest).integer, 0);
  server_->command({"SCRIPT", "FLUSH"});
  const Reply missing = ask(Verb::release, "me", milliseconds(1), ScriptForm::digest);
  EXPECT_TRUE(missing.string.starts_with("NOSCRIPT")) << missing;
}

TEST_F(Scripts, ReleaseDeletesOurKeyAndNoOther) {
  hold("me");
  EXPECT_EQ(number(Verb::release, "other"), -1);
  EXPECT_EQ(server_->get("r"), "me");
  EXPECT_EQ(number(Verb::release, "me"), 1);
  EXPECT_EQ(server_->get("r"), std::nullopt);
  EXPECT_EQ(number(Verb::release, "me"), 0);
}

TEST_F(Scripts, ExtendRaisesTheExpiryOfOurKey) {
  hold("me", "1000");
  EXPECT_EQ(number(Verb::extend, "me", milliseconds(500'000)), 1);
  EXPECT_GT(server_->pttl("r"), 400'000);
}

TEST_F(Scripts, ExtendNeverLowersAnExpiry) {
  hold("me", "500000");
  EXPECT_EQ(number(Verb::extend, "me", milliseconds(1000)), 1);
  EXPECT_GT(server_->pttl("r"), 400'000);
}

TEST_F(Scripts, ExtendLeavesAKeyWithoutExpiryAsItIs) {
  server_->command({"SET", "r", "me"});
  EXPECT_EQ(number(Verb::extend, "me"), 1);
  EXPECT_EQ(server_->pttl("r"), -1);
}

TEST_F(Scripts, ExtendDoesNotTouchSomebodyElsesKeyNorMakesOne) {
  EXPECT_EQ(number(Verb::extend, "me"), 0);
  EXPECT_EQ(server_->get("r"), std::nullopt);
  hold("other", "1000");
  EXPECT_EQ(number(Verb::extend, "me", milliseconds(500'000)), -1);
  EXPECT_EQ(number(Verb::extend_or_set, "me", milliseconds(500'000)), -1);
  EXPECT_EQ(server_->get("r"), "other");
  EXPECT_LE(server_->pttl("r"), 1000);
}

TEST_F(Scripts, ExtendOrSetGivesALostKeyBackWithItsExpiry) {
  EXPECT_EQ(number(Verb::extend_or_set, "me", milliseconds(500'000)), 2);
  EXPECT_EQ(server_->get("r"), "me");
  EXPECT_GT(server_->pttl("r"), 400'000);
  EXPECT_LE(server_->pttl("r"), 500'000);
  EXPECT_EQ(number(Verb::extend_or_set, "me", milliseconds(600'000)), 1);
}

TEST_F(Scripts, ExtendTakesTheLongestTtlThatADeploymentMayHave) {
  hold("me", "1");
  const Reply reply = ask(Verb::extend_or_set, "me", limits::longest_max_ttl);
  EXPECT_TRUE(reply.integer == 1 || reply.integer == 2) << reply;
  EXPECT_GT(server_->pttl("r"), 86'400'000LL * 364);
}

TEST_F(Scripts, DowngradeMakesAReadersHoldOfOurKeyAndTouchesNothingElse) {
  EXPECT_EQ(number(Verb::downgrade, "me"), 0);
  EXPECT_EQ(server_->command({"EXISTS", "r"}).integer, 0);
  hold("another");
  EXPECT_EQ(number(Verb::downgrade, "me"), -1);
  EXPECT_EQ(server_->get("r"), "another");
  server_->command({"DEL", "r"});
  hold("me", "50000");
  for (int time = 0; time < 2; ++time) {
    const Reply holds = ask(Verb::downgrade, "me", milliseconds(500'000));
    ASSERT_EQ(holds.elements.size(), 2U) << holds;
    EXPECT_EQ(holds.elements[0].integer, 1);
    EXPECT_EQ(holds.elements[1].integer, 1);
    EXPECT_FALSE(server_->command({"ZSCORE", "r", "hold:me"}).is_nil());
    EXPECT_FALSE(server_->command({"ZSCORE", "r", "group:shared"}).is_nil());
    EXPECT_LE(server_->pttl("r"), 50'001) << "the expiry stays";
    EXPECT_GT(server_->pttl("r"), 30'000);
  }
}

TEST_F(Scripts, DowngradeOfAKeyWithoutExpiryLeavesItForLongerThanAnyLock) {
  server_->command({"SET", "r", "me"});
  EXPECT_EQ(ask(Verb::downgrade, "me").elements.size(), 2U);
  EXPECT_GT(server_->pttl("r"), 31'000'000'000);
}

TEST_F(Scripts, DowngradeByAUserWhoMayNotHaveHoldsLeavesTheWritersKey) {
  hold("me");
  server_->command({"ACL", "SETUSER", "default", "-zadd"});
  const Reply denied = ask(Verb::downgrade, "me");
  server_->command({"ACL", "SETUSER", "default", "+zadd"});
  EXPECT_TRUE(denied.is_error()) << denied;
  EXPECT_EQ(server_->get("r"), "me");
  EXPECT_GT(server_->pttl("r"), 30'000);
}

TEST_F(Scripts, AKeyOfAnotherTypeIsSomebodyElsesAndNoError) {
  server_->command({"HSET", "r", "field", "value"});
  EXPECT_EQ(number(Verb::release, "me"), -1);
  EXPECT_EQ(number(Verb::extend, "me"), -1);
  EXPECT_EQ(number(Verb::extend_or_set, "me"), -1);
  EXPECT_EQ(server_->command({"HGET", "r", "field"}).string, "value");
  const Reply inspected = ask(Verb::inspect, "me");
  ASSERT_EQ(inspected.elements.size(), 6U) << inspected;
  EXPECT_TRUE(inspected.elements[0].is_nil());
  EXPECT_EQ(inspected.elements[1].integer, -1);
  EXPECT_EQ(inspected.elements[2].string, "hash");
}

TEST_F(Scripts, InspectTellsHolderTimeAndType) {
  const Reply nothing = ask(Verb::inspect, "me");
  ASSERT_EQ(nothing.elements.size(), 6U) << nothing;
  EXPECT_TRUE(nothing.elements[0].is_nil());
  EXPECT_EQ(nothing.elements[1].integer, -2);
  EXPECT_EQ(nothing.elements[2].string, "none");
  hold("other", "60000");
  const Reply held = ask(Verb::inspect, "me");
  ASSERT_EQ(held.elements.size(), 6U) << held;
  EXPECT_EQ(held.elements[0].string, "other");
  EXPECT_GT(held.elements[1].integer, 0);
  EXPECT_EQ(held.elements[2].string, "string");
}

TEST_F(Scripts, ErrorsOtherThanTheWrongTypeReachTheCaller) {
  hold("me");
  server_->command({"ACL", "SETUSER", "default", "-del"});
  const Reply denied = ask(Verb::release, "me");
  server_->command({"ACL", "SETUSER", "default", "+del"});
  EXPECT_TRUE(denied.is_error()) << denied;
  EXPECT_EQ(server_->get("r"), "me");
}

TEST_F(Scripts, AReleaseDoesWithoutMget) {
  hold("me");
  server_->command({"ACL", "SETUSER", "default", "-mget"});
  const std::int64_t others = number(Verb::release, "another");
  const std::int64_t mine = number(Verb::release, "me");
  server_->command({"ACL", "SETUSER", "default", "+mget"});
  EXPECT_EQ(others, -1);
  EXPECT_EQ(mine, 1);
}

TEST_F(Scripts, AReaderThatOnlyTheMarkOfAWriterKeepsOutPassesTheResourceOn) {
  // The writer that kept new readers out is gone, and so are the readers that it waited for.
  const std::int64_t now = std::stoll(server_->command({"TIME"}).elements.at(0).string);
  server_->command({"ZADD", "r", "0", "group:shared", std::to_string((now + 60) * 1000), "writer"});
  server_->command({"ZADD", "redlock:node:queue:r", "1", "successor", "2", ""});
  RespClient successor = RespClient::unix_socket(server_->unix_path());
  successor.call({"SUBSCRIBE", "redlock:wake:successor"});
  const Reply refused = server_->command({"EVAL", std::string(redis::scripts::enter.text), "1", "r",
                                          "me", "1000", "shared", "reader", "0", "60000"});
  ASSERT_EQ(refused.elements.size(), 3U) << refused;
  EXPECT_EQ(refused.elements[1].string, "writer");
  EXPECT_EQ(server_->get("r"), "redlock:next:successor");
  const Reply notification = successor.read();
  ASSERT_EQ(notification.elements.size(), 3U) << notification;
  EXPECT_EQ(notification.elements[2].string, "0r");
}

TEST_F(Scripts, TokensAreComparedByteForByte) {
  const std::string token("a\0b\xff\r\n1e3", 9);
  ASSERT_TRUE(server_->command({"SET", "r", token, "PX", "60000"}).is_ok());
  EXPECT_EQ(number(Verb::release, std::string("a\0c", 3)), -1);
  EXPECT_EQ(number(Verb::extend, token), 1);
  EXPECT_EQ(number(Verb::release, token), 1);
}

}  // namespace
}  // namespace redlock::test
