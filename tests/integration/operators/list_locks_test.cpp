// list_locks() on real servers: every kind of lock, keys that are not locks, and the limits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "integration/library.hpp"
#include "redlock/listing.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using State = admin::ListedLock::State;

class ListLocks : public testing::Test {
 protected:
  void SetUp() override { shared_nodes(5).clear(); }

  static Nodes& nodes() { return shared_nodes(5); }
  static ClientOptions options() { return patient(nodes().urls()); }
  static admin::LockList list(const admin::ListOptions& terms = {}) {
    auto result = admin::list_locks(options(), terms);
    EXPECT_TRUE(succeeded(result));
    return result ? *std::move(result) : admin::LockList();
  }
  static std::vector<std::string> names(const admin::LockList& list) {
    std::vector<std::string> names;
    for (const admin::ListedLock& lock : list.locks) names.push_back(lock.resource);
    return names;
  }
  static std::vector<std::string> names(const std::string& pattern) {
    return names(list({.pattern = pattern}));
  }
  /// The only lock, after it is on all nodes.
  static admin::ListedLock settled() {
    admin::LockList seen;
    EXPECT_TRUE(eventually([&] {
      seen = list();
      return seen.locks.size() == 1 && seen.locks[0].nodes == 5;
    }));
    return seen.locks.empty() ? admin::ListedLock() : seen.locks[0];
  }
  static void store(std::size_t node, const std::string& resource, const std::string& token) {
    nodes()[node].command({"SET", resource, token, "PX", "20000"});
  }
  /// The number of keys on the first node, without the node's own two.
  static std::int64_t keys_stored() { return nodes()[0].command({"DBSIZE"}).integer - 2; }
  static void store_everywhere(const Command& command) {
    for (const RedisServer& node : nodes()) {
      const Reply reply = node.command(command);
      EXPECT_FALSE(reply.is_error()) << reply;
    }
  }

  Client client_ = make_client(options());
};

TEST_F(ListLocks, OfAnEmptyDeploymentIsEmptyAndComplete) {
  const admin::LockList empty = list();
  EXPECT_TRUE(empty.locks.empty());
  EXPECT_TRUE(empty.complete);
  EXPECT_EQ(empty.answered, 5U);
  EXPECT_EQ(empty.quorum, 3U);
  EXPECT_EQ(empty.nodes.size(), 5U);
}

TEST_F(ListLocks, ShowsAnExclusiveLockWithItsToken) {
  const auto lease = acquire_patiently(client_, "r");
  ASSERT_TRUE(succeeded(lease));
  const admin::ListedLock lock = settled();
  EXPECT_EQ(lock.resource, "r");
  EXPECT_EQ(lock.kind, LockKind::exclusive);
  EXPECT_EQ(lock.state, State::held);
  EXPECT_EQ(lock.holder, lease->token());
  EXPECT_GT(lock.remaining, milliseconds(0));
  EXPECT_LE(lock.remaining, limits::default_ttl);
  EXPECT_EQ(lock.waiters, 0U);
}

TEST_F(ListLocks, CountsReadersAndTheHoldsOfAnOwner) {
  {
    const auto first = acquire_patiently(client_, shared("r"));
    const auto second = acquire_patiently(client_, shared("r"));
    ASSERT_TRUE(first && second);
    const admin::ListedLock lock = settled();
    EXPECT_EQ(lock.kind, LockKind::shared);
    EXPECT_EQ(lock.state, State::held);
    EXPECT_EQ(lock.holds, 2U);
    EXPECT_GT(lock.remaining, milliseconds(0));
    EXPECT_LE(lock.remaining, limits::default_ttl);
  }
  EXPECT_TRUE(eventually([&] { return list().locks.empty(); }));
  const auto hold = acquire_patiently(client_, owned("r", "import"));
  ASSERT_TRUE(hold);
  const admin::ListedLock lock = settled();
  EXPECT_EQ(lock.kind, LockKind::owned);
  EXPECT_EQ(lock.owner, "import");
  EXPECT_EQ(lock.holder, std::nullopt);
  EXPECT_EQ(lock.holds, 1U);
}

TEST_F(ListLocks, PutsThePermitsOfASemaphoreTogether) {
  const auto first = acquire_patiently(client_, permit("s", 5));
  const auto second = acquire_patiently(client_, permit("s", 5));
  const auto third = acquire_patiently(client_, permit("s", 5));
  ASSERT_TRUE(first && second && third);
  admin::ListedLock lock;
  EXPECT_TRUE(eventually([&] {
    lock = settled();
    return lock.permits == 3U;
  }));
  EXPECT_EQ(lock.resource, "s");
  EXPECT_EQ(lock.state, State::held);
  // A pattern of the semaphore's name finds it, and so does one of its permits.
  EXPECT_THAT(names("s"), ElementsAre("s"));
  EXPECT_THAT(names("s#*"), ElementsAre("s"));
}

TEST_F(ListLocks, ShowsAnIntervalWithoutAHolder) {
  auto lease = acquire_patiently(client_, interval("r", seconds(20)));
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(succeeded(lease->release()));
  admin::ListedLock lock;
  EXPECT_TRUE(eventually([&] {
    lock = settled();
    return lock.kind == LockKind::interval;
  }));
  EXPECT_EQ(lock.state, State::held);
  EXPECT_EQ(lock.holder, std::nullopt);
}

TEST_F(ListLocks, ComparesTheNodes) {
  for (const std::size_t node : {0U, 1U}) store(node, "split", "a");
  for (const std::size_t node : {2U, 3U}) store(node, "split", "b");
  for (const std::size_t node : {0U, 1U}) store(node, "minority", "a");
  for (const std::size_t node : {0U, 1U, 2U}) store(node, "held", "a");
  for (const std::size_t node : {0U, 1U, 2U, 3U}) store(node, "reserved", "redlock:next:client");
  const admin::LockList seen = list();
  ASSERT_THAT(names(seen), ElementsAre("held", "minority", "reserved", "split"));
  EXPECT_EQ(seen.locks[0].state, State::held);
  EXPECT_EQ(seen.locks[0].nodes, 3U);
  EXPECT_EQ(seen.locks[1].state, State::minority);
  EXPECT_EQ(seen.locks[1].nodes, 2U);
  EXPECT_EQ(seen.locks[2].state, State::reserved);
  EXPECT_EQ(seen.locks[2].nodes, 4U);
  EXPECT_EQ(seen.locks[3].state, State::split);
}

TEST_F(ListLocks, CountsWhoIsQueued) {
  auto lease = acquire_patiently(client_, "r", {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  Client other = make_client(options());
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    return other.try_acquire_for("r", seconds(60), {}, stop.get_token());
  });
  EXPECT_TRUE(eventually([&] { return settled().waiters == 1; }, seconds(30)));
  EXPECT_THAT(names("r*"), ElementsAre("r"));
  stop.request_stop();
  EXPECT_FALSE(waiting.get());
}

TEST_F(ListLocks, ShowsAFreeResourceForWhichClientsAreQueued) {
  store_everywhere({"ZADD", "redlock:node:queue:app:r", "1", "+client", "2", ""});
  for (const char* pattern : {"", "*", "app:*", "app:r"}) {
    const admin::LockList seen = list({.pattern = pattern});
    ASSERT_EQ(seen.locks.size(), 1U) << pattern;
    EXPECT_EQ(seen.locks[0].resource, "app:r");
    EXPECT_EQ(seen.locks[0].state, State::free);
    EXPECT_EQ(seen.locks[0].waiters, 1U);
  }
  EXPECT_THAT(names("redlock:*"), IsEmpty());
}

TEST_F(ListLocks, ShowsReservationsForReaders) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string ends = std::to_string((now + seconds(20)) / milliseconds(1));
  store_everywhere({"ZADD", "r", "0", "group:shared", ends, "next"});
  store_everywhere({"PEXPIREAT", "r", ends});
  EXPECT_EQ(settled().state, State::reserved);
  const std::string reader = std::to_string((now + seconds(10)) / milliseconds(1));
  store_everywhere({"ZADD", "r", reader, "hold:" + hex_token()});
  const admin::ListedLock lock = settled();
  EXPECT_EQ(lock.state, State::held);
  EXPECT_EQ(lock.holds, 1U);
  EXPECT_LT(lock.remaining, seconds(11)) << "of the reader, not of the reservation";
}

TEST_F(ListLocks, ShowsLocksOfOtherLibrariesAndNoOtherData) {
  store_everywhere({"SET", "foreign", "9f0c2a7e-uuid", "PX", "20000"});
  store_everywhere({"SET", "ours", hex_token(), "PX", "600000"});
  // None of these keys is a lock.
  store_everywhere({"SET", "plain", "value"});
  store_everywhere({"SET", "token without expiry", hex_token()});
  store_everywhere({"SET", "lasting", "session", "PX", "600000"});
  store_everywhere({"SET", "long", std::string(129, 'x'), "PX", "20000"});
  store_everywhere({"SET", "large", std::string(100'000, 'x'), "PX", "20000"});
  store_everywhere({"SET", "empty", "", "PX", "20000"});
  store_everywhere({"HSET", "hash", "f", "v"});
  store_everywhere({"PEXPIRE", "hash", "20000"});
  store_everywhere({"ZADD", "scores", "1", "somebody"});
  store_everywhere({"PEXPIRE", "scores", "20000"});
  store_everywhere({"SET", "redlock:node:quarantine", "x", "PX", "20000"});
  store_everywhere({"SET", std::string(8193, 'k'), "token", "PX", "20000"});
  EXPECT_THAT(names(""), ElementsAre("foreign", "ours"));
  EXPECT_EQ(keys_stored(), 12);
}

TEST_F(ListLocks, TakesAPatternAsRedisDoes) {
  for (const char* name : {"app:1", "app:2", "application", "b*d", "bad", "s#1"}) {
    store_everywhere({"SET", name, "token", "PX", "20000"});
  }
  EXPECT_THAT(names("app:*"), ElementsAre("app:1", "app:2"));
  EXPECT_THAT(names("app:[2-9]"), ElementsAre("app:2"));
  EXPECT_THAT(names("b?d"), ElementsAre("b*d", "bad"));
  EXPECT_THAT(names("b\\*d"), ElementsAre("b*d"));
  EXPECT_THAT(names("bad"), ElementsAre("bad"));
  EXPECT_THAT(names("s"), ElementsAre("s"));
  EXPECT_THAT(names("s\\#1"), ElementsAre("s"));
  EXPECT_THAT(names("b\\*"), IsEmpty());
  EXPECT_THAT(names("[a"), IsEmpty()) << "a class that is not finished";
  EXPECT_THAT(names(std::string("app:1\0", 6)), IsEmpty());
  EXPECT_THAT(names("x' OR 1=1 \r\n*1\r\n$8\r\nFLUSHALL\r\n"), IsEmpty());
  EXPECT_EQ(keys_stored(), 6);
}

TEST_F(ListLocks, StopsAtItsLimitAndSaysSo) {
  store_everywhere({"EVAL", "for i = 1, 20000 do redis.call('set', 'data:' .. i, i) end", "0"});
  const admin::LockList part = list();
  EXPECT_FALSE(part.complete);
  for (const admin::ListedNode& node : part.nodes) EXPECT_TRUE(node.stopped_early) << node.url;
  // If one node lists a lock, all nodes are asked for it.
  store_everywhere({"SET", "r", "token", "PX", "29000"});
  const admin::LockList all = list({.keys_per_node = 30'000});
  EXPECT_TRUE(all.complete);
  ASSERT_EQ(all.locks.size(), 1U);
  EXPECT_EQ(all.locks[0].nodes, 5U);
  const admin::LockList few = list({.pattern = "r", .keys_per_node = 1});
  EXPECT_FALSE(few.complete);
  EXPECT_EQ(keys_stored(), 20'001);
}

TEST_F(ListLocks, ShowsThousandsOfLocks) {
  store_everywhere(
      {"EVAL", "for i = 1, 3000 do redis.call('set', 'r' .. i, 'token', 'px', 29000) end", "0"});
  const admin::LockList seen = list();
  EXPECT_TRUE(seen.complete);
  EXPECT_EQ(seen.locks.size(), 3000U);
  EXPECT_TRUE(std::all_of(seen.locks.begin(), seen.locks.end(), [](const admin::ListedLock& lock) {
    return lock.state == State::held && lock.nodes == 5;
  }));
}

TEST_F(ListLocks, KeepsItsAnswersSmall) {
  // More than a megabyte of names.
  store_everywhere({"EVAL",
                    "for i = 1, 200 do redis.call('set', i .. string.rep('x', 8000), 'token', "
                    "'px', 29000) end",
                    "0"});
  const admin::LockList seen = list();
  EXPECT_EQ(seen.answered, 5U);
  EXPECT_FALSE(seen.complete);
  EXPECT_GT(seen.locks.size(), 90U);
  // Names that had room on one node were looked up on all nodes.
  for (const admin::ListedNode& node : seen.nodes) EXPECT_GT(node.unread, 0U) << node.url;
}

TEST_F(ListLocks, ReadsTheDatabaseOfTheUrl) {
  store_everywhere({"SET", "r", "token", "PX", "20000"});
  ClientOptions elsewhere = options();
  for (std::size_t i = 0; i < elsewhere.nodes.size(); ++i) {
    elsewhere.nodes[i] = nodes()[i].url() + "/3";
  }
  const auto seen = admin::list_locks(elsewhere);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_TRUE(seen->locks.empty());
  EXPECT_TRUE(seen->complete);
}

TEST_F(ListLocks, RefusesBadTerms) {
  EXPECT_TRUE(
      failed_with(admin::list_locks(options(), {.keys_per_node = 0}), Errc::invalid_argument));
  EXPECT_TRUE(failed_with(admin::list_locks(options(), {.pattern = std::string(20'000, 'x')}),
                          Errc::invalid_argument));
  EXPECT_TRUE(failed_with(admin::list_locks({}), Errc::invalid_argument));
}

TEST(ListLocksBesideOutages, NamesNodesThatDoNotAnswer) {
  Nodes nodes(3);
  for (const RedisServer& node : nodes) node.command({"SET", "r", "token", "PX", "29000"});
  nodes[1].kill();
  auto seen = admin::list_locks(patient(nodes.urls()));
  ASSERT_TRUE(succeeded(seen));
  EXPECT_TRUE(seen->complete) << "a quorum answers";
  ASSERT_EQ(seen->locks.size(), 1U);
  EXPECT_EQ(seen->locks[0].state, State::held);
  EXPECT_EQ(seen->locks[0].nodes, 2U);
  EXPECT_EQ(seen->nodes[0].error, "");
  EXPECT_NE(seen->nodes[1].error, "");

  nodes[2].stop();
  seen = admin::list_locks(impatient(nodes.urls()));
  ASSERT_TRUE(succeeded(seen));
  EXPECT_FALSE(seen->complete);
  EXPECT_EQ(seen->answered, 1U);
  ASSERT_EQ(seen->locks.size(), 1U);
  EXPECT_EQ(seen->locks[0].state, State::indeterminate);
  EXPECT_NE(seen->nodes[2].error.find("no answer within"), std::string::npos);
}

TEST(ListLocksBesideOutages, CountsKeysThatTheUserMayNotRead) {
  Nodes nodes(1);
  const RedisServer& node = nodes[0];
  for (const char* key : {"app:r", "other:r"}) node.command({"SET", key, "token", "PX", "29000"});
  node.command({"ACL", "SETUSER", "limited", "on", ">secret", "~app:*", "~redlock:*", "+@all"});
  ClientOptions options = patient(nodes.urls());
  options.user = "limited";
  options.password = "secret";
  auto seen = admin::list_locks(options);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_FALSE(seen->complete);
  EXPECT_EQ(seen->nodes[0].unread, 1U);
  ASSERT_EQ(seen->locks.size(), 1U);
  EXPECT_EQ(seen->locks[0].resource, "app:r");
  seen = admin::list_locks(options, {.pattern = "app:*"});
  ASSERT_TRUE(succeeded(seen));
  EXPECT_TRUE(seen->complete) << "a pattern needs rights to what it names only";

  node.command({"ACL", "SETUSER", "limited", "-scan"});
  seen = admin::list_locks(options);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->answered, 0U);
  EXPECT_NE(seen->nodes[0].error, "");
}

}  // namespace
}  // namespace redlock::test
