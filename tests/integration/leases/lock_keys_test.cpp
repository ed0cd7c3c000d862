// The keys on the servers, as other Redlock clients see them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LockKeys : public testing::Test {
 protected:
  Client client_ = make_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
};

TEST_F(LockKeys, TheKeyIsTheResourceAndItsValueIsThePlainToken) {
  auto lease = client_.try_acquire(resource_);
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 3; }));
  const auto reply = shared_nodes()[0].command({"GET", resource_});
  EXPECT_EQ(reply.kind, Reply::Kind::string);
  EXPECT_EQ(reply.string, lease->token().view());
  EXPECT_EQ(shared_nodes()[0].command({"TYPE", resource_}).string, "string");
  EXPECT_THAT(lease->token().str(), testing::MatchesRegex("[0-9a-f]*"));
}

TEST_F(LockKeys, AForeignClientExcludesUsAndWeExcludeIt) {
  // As redsync, node-redlock, redlock-py … write it.
  const std::string foreign = "9b2f64a5-f4e1-4b4a-8d69-6c1c7a0d2f55";
  const Command set{"SET", resource_, foreign, "NX", "PX", "600000"};
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(shared_nodes()[i].command(set).is_ok());
  auto refused = client_.try_acquire(resource_);
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(client_.ownership(resource_, *Token::parse(foreign)), Ownership::held);

  // The compare-and-delete of those libraries.
  const std::string script =
      "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 "
      "end";
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(shared_nodes()[i].command({"EVAL", script, "1", resource_, foreign}).integer, 1);
  }
  auto lease = client_.try_acquire(resource_);
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 3; }));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(shared_nodes()[i].command(set).is_nil());
  EXPECT_EQ(shared_nodes()[0].command({"EVAL", script, "1", resource_, foreign}).integer, 0);
}

TEST_F(LockKeys, AForeignTokenIsReleasedByUsWithItsToken) {
  for (std::size_t i = 0; i < 3; ++i) {
    shared_nodes()[i].command({"SET", resource_, "theirs", "NX", "PX", "600000"});
  }
  EXPECT_TRUE(succeeded(client_.release(resource_, *Token::parse("theirs"))));
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 0; }));
}

TEST_F(LockKeys, AKeyOfAnotherTypeIsSomebodyElses) {
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"HSET", resource_, "f", "v"});
  EXPECT_TRUE(failed_with(client_.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(failed_with(client_.release(resource_, *Token::parse("f")), Errc::not_holder));
  EXPECT_TRUE(
      failed_with(client_.extend(resource_, *Token::parse("f"), seconds(1)), Errc::not_holder));
  auto inspection = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(inspection));
  EXPECT_NE(inspection->state, Inspection::State::free);
  EXPECT_EQ(inspection->kind, LockKind::other);
  EXPECT_EQ(inspection->holder, std::nullopt);
  EXPECT_EQ(shared_nodes()[0].command({"HGET", resource_, "f"}).string, "v");
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"DEL", resource_});
}

TEST_F(LockKeys, TheEmptyTokenHoldsNothing) {
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"HSET", resource_, "f", "v"});
  EXPECT_TRUE(failed_with(client_.ownership(resource_, Token()), Errc::invalid_argument));
  EXPECT_TRUE(failed_with(client_.release(resource_, Token()), Errc::invalid_argument));
  EXPECT_TRUE(failed_with(client_.extend(resource_, Token(), seconds(1)), Errc::invalid_argument));
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"DEL", resource_});
}

TEST_F(LockKeys, AnOrphanWithoutExpiryIsShownAsSuch) {
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"SET", resource_, "orphan"});
  auto inspection = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(inspection));
  EXPECT_EQ(inspection->state, Inspection::State::held);
  for (const NodeInspection& node : inspection->nodes) EXPECT_FALSE(node.remaining);
  EXPECT_TRUE(failed_with(client_.try_acquire(resource_), Errc::held));
  // Extending a key that never expires leaves it without an expiry.
  EXPECT_TRUE(succeeded(client_.extend(resource_, *Token::parse("orphan"), seconds(1))));
  EXPECT_EQ(shared_nodes()[0].pttl(resource_), -1);
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"DEL", resource_});
}

TEST_F(LockKeys, AnyBytesAreAName) {
  using namespace std::string_literals;
  const auto names = {"nul\0inside"s,      "line\r\nbreak"s, "\0"s, " "s,
                      "*1\r\n$4\r\nPING"s, "\xff\xfe\x80"s,  "☃"s,  "{tag}%s%n"s};
  for (const auto& name : names) {
    const auto resource = resource_ + name;
    auto lease = client_.try_acquire(resource);
    ASSERT_TRUE(succeeded(lease));
    EXPECT_EQ(lease->resource(), resource);
    EXPECT_TRUE(eventually(
        [&] { return shared_nodes().count_held_by(resource, lease->token().str()) == 3; }));
    auto refused = client_.try_acquire(resource);
    ASSERT_TRUE(failed_with(refused, Errc::held));
    EXPECT_THAT(refused.error().message,
                testing::Not(testing::AnyOf(testing::HasSubstr("\n"), testing::HasSubstr("\r"),
                                            testing::HasSubstr("\0"s))));
    EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
    EXPECT_TRUE(succeeded(lease->release()));
    EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource) == 0; }));
  }
}

TEST_F(LockKeys, TheLongestNameHasEightKibibytes) {
  std::string name = resource_;
  name.resize(limits::resource_bytes, 'x');
  auto lease = client_.try_acquire(name);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(name) == 3; }));
  auto refused = client_.try_acquire(name);
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_LT(refused.error().message.size(), 1000U);
  EXPECT_TRUE(succeeded(lease->release()));

  name += 'x';
  EXPECT_TRUE(failed_with(client_.try_acquire(name), Errc::invalid_argument));
}

TEST_F(LockKeys, AHolderWithALongValueIsShownShortened) {
  for (std::size_t i = 0; i < 3; ++i) {
    shared_nodes()[i].command({"SET", resource_, std::string(100'000, 'v'), "PX", "600000"});
  }
  auto refused = client_.try_acquire(resource_);
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_LT(refused.error().message.size(), 1000U);
  if (shared_nodes()[0].is_since(7)) {
    EXPECT_EQ(who_refused(refused), Holder{Holder::Kind::other}) << "no token is so long";
  }
  const auto inspection = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(inspection));
  EXPECT_EQ(inspection->kind, LockKind::other);
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"DEL", resource_});
}

TEST_F(LockKeys, AForeignTokenMayBeAWordThatARefusalTakesForMore) {
  using Kind = Holder::Kind;
  const std::pair<const char*, Kind> words[] = {
      {"shared", Kind::shared}, {"writer", Kind::writer}, {"owner me", Kind::owned}};
  for (const auto& [word, kind] : words) {
    for (std::size_t i = 0; i < 3; ++i) {
      shared_nodes()[i].command({"SET", resource_, word, "NX", "PX", "600000"});
    }
    const auto refused = client_.try_acquire(owned(resource_, "somebody"));
    ASSERT_TRUE(failed_with(refused, Errc::held));
    ASSERT_TRUE(who_refused(refused)) << word;
    EXPECT_EQ(who_refused(refused)->kind, kind) << word;
    EXPECT_EQ(who_refused(refused)->token, std::nullopt) << word;
    // An inspection also reads the type of the key.
    const auto inspection = client_.inspect(resource_);
    ASSERT_TRUE(succeeded(inspection));
    EXPECT_EQ(inspection->state, Inspection::State::held);
    EXPECT_EQ(inspection->kind, LockKind::exclusive);
    EXPECT_EQ(inspection->holder, Token::parse(word));
    EXPECT_EQ(inspection->owner, "");
    EXPECT_EQ(client_.ownership(resource_, inspection->holder.value()), Ownership::held);
    EXPECT_TRUE(succeeded(client_.break_lock(resource_, inspection->holder.value())));
    EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 0; }));
  }
}

TEST_F(LockKeys, TheShortestTtlIsGrantedWithinItsValidityOrExpired) {
  const auto lease = client_.try_acquire(resource_, {.ttl = limits::shortest_ttl});
  if (lease) {
    EXPECT_GT(lease->round().remaining, std::chrono::nanoseconds(0));
  } else {
    EXPECT_TRUE(failed_with(lease, Errc::expired));
  }
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 0; }));
}

TEST_F(LockKeys, FractionsOfAMillisecondAreNotAskedFor) {
  auto lease = client_.try_acquire(resource_, {.ttl = seconds(20) + std::chrono::nanoseconds(999)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(lease->round().ttl, seconds(20));
}

}  // namespace
}  // namespace redlock::test
