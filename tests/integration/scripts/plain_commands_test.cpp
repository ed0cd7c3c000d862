// Plain commands in place of scripts, on servers that have them: Valkey 9.1 of the matrix
// (tests/servers). On other servers these tests are skipped.

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PlainCommands : public testing::Test {
 protected:
  void SetUp() override {
    const Reply known = nodes_[0].command({"COMMAND", "LIST", "FILTERBY", "PATTERN", "delifeq"});
    if (known.elements.empty()) GTEST_SKIP() << "needs DELIFEQ: row valkey-9.1 of the matrix";
    for (const RedisServer& node : nodes_) {
      forbid_scripts(node);
      node.command({"CONFIG", "RESETSTAT"});
    }
  }
  /// Makes the user "plain", who may not run scripts.
  static void forbid_scripts(const RedisServer& node) {
    node.command({"ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-eval",
                  "-evalsha", "-script", "-fcall"});
  }
  /// Opens the deployment as a user with all rights.
  void open() {
    open_deployment(guarded(nodes_.urls()));
    for (const RedisServer& node : nodes_) node.command({"CONFIG", "RESETSTAT"});
  }
  /// Options for the user "plain".
  [[nodiscard]] ClientOptions options() const {
    ClientOptions options = guarded(nodes_.urls());
    options.user = "plain";
    options.password = "secret";
    return options;
  }
  [[nodiscard]] int all_calls(const std::string& command) const {
    int all = 0;
    for (std::size_t i = 0; i < 3; ++i) all += calls(nodes_[i], command);
    return all;
  }
  [[nodiscard]] bool everywhere_free(const std::string& resource) const {
    return eventually([&] { return nodes_.count_held(resource) == 0; }, seconds(30));
  }

  NewNodes nodes_{3};
};

TEST_F(PlainCommands, AreAllThatAnExclusiveLockNeeds) {
  open();
  Client client = make_client(options());
  // After this, the client is connected to all nodes.
  ASSERT_TRUE(eventually([&] {
    const auto probe = client.try_acquire("probe", {.ttl = short_max_ttl});
    return probe && eventually([&] { return nodes_.count_held("probe") == 3; }, milliseconds(200));
  }));
  auto lease = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(succeeded(lease->extend(short_max_ttl)));
  EXPECT_TRUE(succeeded(lease->extend(seconds(1)))) << "never for less than before";
  EXPECT_TRUE(eventually([&] {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const RedisServer& node) { return node.pttl("r") > 1000; });
  }));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(everywhere_free("r"));
  EXPECT_EQ(all_calls("eval") + all_calls("evalsha"), 0);
}

TEST_F(PlainCommands, GiveFencingTokens) {
  open();
  Client client = make_client(options());
  FencingToken last;
  for (int i = 0; i < 3; ++i) {
    auto lease = client.try_acquire("r", {.ttl = short_max_ttl, .fencing = true});
    ASSERT_TRUE(succeeded(lease));
    EXPECT_GT(*lease->fencing_token(), last);
    last = *lease->fencing_token();
    // The stored number is above what the client proposes, so the next one has to be raised.
    for (const RedisServer& node : nodes_) {
      node.command({"ZINCRBY", std::string(redis::keys::fencing_numbers), "60000000", "r"});
    }
    EXPECT_TRUE(succeeded(lease->release()));
  }
  EXPECT_EQ(all_calls("eval") + all_calls("evalsha"), 0);
}

TEST_F(PlainCommands, RenewALease) {
  open();
  Client client = make_client(options());
  auto lease = client.try_acquire("r", {.ttl = milliseconds(600)});
  ASSERT_TRUE(succeeded(lease));
  const auto began = lease->valid_until();
  EXPECT_TRUE(eventually([&] { return lease->valid_until() > began + seconds(1); }, seconds(60)));
  EXPECT_TRUE(lease->valid());
}

TEST_F(PlainCommands, GiveTheKeyBackToANodeThatLostIt) {
  open();
  Client client = make_client(options());
  auto lease = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return nodes_.count_held("r") == 3; }, seconds(30)));
  nodes_[0].command({"DEL", "r"});
  EXPECT_TRUE(succeeded(lease->extend(short_max_ttl)));
  EXPECT_TRUE(eventually([&] { return nodes_.count_held("r") == 3; }, seconds(30)));
}

TEST_F(PlainCommands, WaitWithoutNotifications) {
  open();
  Client holder = make_client(options());
  Client waiter = make_client(options());
  auto lease = holder.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = std::async(std::launch::async,
                            [&] { return acquire_patiently(waiter, "r", {.ttl = short_max_ttl}); });
  EXPECT_TRUE(eventually([&] { return all_calls("set") > 6; }, seconds(30))) << "it tries again";
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(PlainCommands, NotifyThoseThatAreQueued) {
  open();
  Client holder = make_client(guarded(nodes_.urls()));
  Client waiter = make_client(guarded(nodes_.urls()));
  auto lease = holder.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = std::async(std::launch::async,
                            [&] { return acquire_patiently(waiter, "r", {.ttl = short_max_ttl}); });
  // The waiter joins the queue of a node that it was not connected to at its next try.
  const auto is_queued = [&](const RedisServer& node) {
    return node.command({"EXISTS", std::string(redis::keys::queue_prefix) + "r"}).integer == 1;
  };
  ASSERT_TRUE(eventually(
      [&] { return std::count_if(nodes_.begin(), nodes_.end(), is_queued) >= 2; }, seconds(30)));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  EXPECT_GT(all_calls("delifeq"), 0);
  EXPECT_GT(all_calls("publish"), 0);
}

TEST_F(PlainCommands, TakeSeveralResources) {
  open();
  Client client = make_client(guarded(nodes_.urls()));
  auto lease = client.try_acquire(all_of({"a", "b"}), {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_GT(all_calls("msetex"), 0);
  Client other = make_client(guarded(nodes_.urls()));
  const auto refused = other.try_acquire(all_of({"c", "b"}), {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(nodes_.count_held("c"), 0U) << "all or none";
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(everywhere_free("a"));
  EXPECT_TRUE(everywhere_free("b"));
}

TEST_F(PlainCommands, GuardANodeThatRestarted) {
  open();
  Client client = make_client(options());
  ASSERT_TRUE(succeeded(client.try_acquire("r", {.ttl = seconds(1)})));
  nodes_[2].restart(Data::wipe);
  forbid_scripts(nodes_[2]);
  ASSERT_TRUE(soon_met(nodes_[2]));
  // The node is blank, or already enrolled again.
  EXPECT_TRUE(nodes_[2].get(std::string(redis::keys::marker))->starts_with("redlock3 "));
  EXPECT_EQ(calls(nodes_[2], "eval") + calls(nodes_[2], "evalsha"), 0);
  EXPECT_GT(calls(nodes_[2], "exec"), 0);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "s", {.ttl = short_max_ttl})))
      << "two of three have a vote";
}

TEST_F(PlainCommands, OpenANewDeployment) {
  Client client = make_client(options());
  const auto lease = acquire_patiently(client, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease)) << "when the quarantine is over";
  for (const RedisServer& node : nodes_) EXPECT_TRUE(is_member(node));
  EXPECT_EQ(all_calls("eval") + all_calls("evalsha"), 0);
}

}  // namespace
}  // namespace redlock::test
