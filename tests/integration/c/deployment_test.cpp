// Deployments and lists of locks by redlock.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"
#include "redlock.h"

namespace redlock::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

using CDeploymentCheck =
    std::unique_ptr<redlock_deployment_check, CFree<redlock_deployment_check_free>>;
using CMembership = std::unique_ptr<redlock_membership, CFree<redlock_membership_free>>;
using CLocks = std::unique_ptr<redlock_lock_list, CFree<redlock_lock_list_free>>;

/// Options of a deployment whose changes are quick.
struct CDeploymentOptions : COptions {
  explicit CDeploymentOptions(std::vector<std::string> urls) : COptions(std::move(urls)) {
    options.max_ttl_ns = one_second_ns;
  }
};

[[nodiscard]] std::set<std::string> c_findings(const redlock_deployment_check* check) {
  std::set<std::string> kinds;
  for (std::size_t i = 0; i < check->finding_count; ++i) {
    const redlock_finding* finding = redlock_deployment_check_finding(check, i);
    EXPECT_STRNE(finding->node, "");
    EXPECT_STRNE(finding->what, "");
    EXPECT_STRNE(finding->remedy, "");
    kinds.insert(finding->kind);
  }
  return kinds;
}

/// The result, or a failure of the test with the message.
template <typename Owned, typename Call>
[[nodiscard]] Owned c_result(Call&& call) {
  typename Owned::pointer result = nullptr;
  redlock_error* error = nullptr;
  call(&result, &error);
  const CError owned(error);
  EXPECT_EQ(error, nullptr) << error->message;
  return Owned(result);
}

TEST(CDeployment, IsOpenedCheckedAndChanged) {
  NewNodes nodes(4);
  auto urls = nodes.urls();
  const std::string fourth = urls.back();
  urls.pop_back();
  const CDeploymentOptions three(urls);
  const auto check = [&] {
    return c_result<CDeploymentCheck>([&](redlock_deployment_check** out, redlock_error** error) {
      redlock_check(&three.options, out, error);
    });
  };
  const CDeploymentCheck before = check();
  EXPECT_THAT(c_findings(before.get()), Contains("not-bootstrapped"));
  ASSERT_EQ(before->node_count, 3U);
  EXPECT_EQ(redlock_deployment_check_node(before.get(), 3), nullptr);
  EXPECT_EQ(redlock_deployment_check_finding(before.get(), before->finding_count), nullptr);

  const auto opened =
      c_result<CDeploymentCheck>([&](redlock_deployment_check** out, redlock_error** error) {
        redlock_bootstrap(&three.options, nullptr, out, error);
      });
  EXPECT_EQ(before->granted_in_ns, -1);
  EXPECT_EQ(opened->granted_in_ns, 0);
  const redlock_node_check* node = redlock_deployment_check_node(opened.get(), 0);
  EXPECT_EQ(node->url, nodes[0].url());
  EXPECT_TRUE(node->reachable && node->marked);
  EXPECT_STREQ(node->role, "master");
  EXPECT_STREQ(node->membership, "member");
  EXPECT_STRNE(node->version, "");
  EXPECT_GE(node->uptime_ns, 0);
  EXPECT_GT(node->used_memory, 0);
  EXPECT_NE(node->clock_offset_ns, INT64_MIN);

  redlock_change_options change;
  redlock_change_options_init(&change, sizeof(change));
  std::set<std::string> progress;
  change.context = &progress;
  change.on_progress = [](void* context, const redlock_change_progress* seen) {
    static_cast<std::set<std::string>*>(context)->insert(seen->kind);
  };
  const auto replaced = c_result<CMembership>([&](redlock_membership** out, redlock_error** error) {
    redlock_replace_member(&three.options, urls[0].c_str(), fourth.c_str(), &change, out, error);
  });
  EXPECT_THAT(progress, Contains("writing"));
  ASSERT_EQ(replaced->member_count, 3U);
  const std::set<std::string> members(replaced->members, replaced->members + 3);
  EXPECT_EQ(members.count(urls[0]), 0U);

  const CDeploymentOptions changed({urls[1], urls[2], fourth});
  const auto seen = c_result<CMembership>([&](redlock_membership** out, redlock_error** error) {
    redlock_members(&changed.options, out, error);
  });
  EXPECT_STRNE(seen->deployment, "");
  EXPECT_STREQ(seen->resume, "");
  EXPECT_EQ(seen->max_ttl_ns, one_second_ns);
  ASSERT_EQ(seen->node_count, 3U);
  EXPECT_STREQ(redlock_membership_node(seen.get(), 0)->state, "member");
  EXPECT_EQ(redlock_membership_node(seen.get(), 3), nullptr);
}

TEST(CDeployment, HasTheReignAndThePrimaryOfAReplicatedNode) {
  NewNodes servers(2, {.arguments = {"--repl-diskless-sync-delay", "0"}});
  if (!servers[0].is_since(7)) GTEST_SKIP() << "needs Redis 7.0";
  servers[1].command({"REPLICAOF", "127.0.0.1", std::to_string(servers[0].port())});
  const std::string address = "127.0.0.1:" + std::to_string(servers[0].port());
  const CDeploymentOptions options({"redis://" + address + "?servers=2"});
  CDeploymentCheck check;
  const auto is_followed = [&] {
    check = c_result<CDeploymentCheck>([&](redlock_deployment_check** out, redlock_error** error) {
      redlock_check(&options.options, out, error);
    });
    const redlock_reign_check* const reign = redlock_deployment_check_node(check.get(), 0)->reign;
    return reign != nullptr && reign->acknowledged == 1;
  };
  ASSERT_TRUE(eventually(is_followed));
  const redlock_reign_check& reign = *redlock_deployment_check_node(check.get(), 0)->reign;
  EXPECT_EQ(reign.servers, 2U);
  EXPECT_EQ(reign.needed, 1U);
  EXPECT_FALSE(reign.stands);
  EXPECT_STRNE(reign.why_not, "");
  EXPECT_EQ(reign.confirmed_for_ns, -1);
  ASSERT_EQ(reign.seen_count, 2U);
  EXPECT_TRUE(reign.seen[0]->primary);
  EXPECT_EQ(reign.seen[0]->lag_ns, -1);
  EXPECT_FALSE(reign.seen[1]->primary);
  EXPECT_STREQ(reign.seen[1]->state, "online");
  EXPECT_GE(reign.seen[1]->lag_ns, 0);

  const auto members = c_result<CMembership>([&](redlock_membership** out, redlock_error** error) {
    redlock_members(&options.options, out, error);
  });
  EXPECT_EQ(redlock_membership_node(members.get(), 0)->primary, address);

  const CDeploymentOptions plain({servers[0].url()});
  const auto other =
      c_result<CDeploymentCheck>([&](redlock_deployment_check** out, redlock_error** error) {
        redlock_check(&plain.options, out, error);
      });
  EXPECT_EQ(redlock_deployment_check_node(other.get(), 0)->reign, nullptr);
}

TEST(CDeployment, AChangeIsCancelledAndMistakesAreRefused) {
  const CDeploymentOptions options(shared_urls(3));
  redlock_membership* none = nullptr;
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_add_member(&options.options, nullptr, nullptr, &none, &error),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_STREQ(error->message, "entering is NULL");
  redlock_error_free(error);
  EXPECT_EQ(redlock_remove_member(&options.options, nullptr, nullptr, &none, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_check(nullptr, nullptr, nullptr), REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_members(&options.options, nullptr, nullptr), REDLOCK_INVALID_ARGUMENT);

  NewNodes nodes(3);
  const CDeploymentOptions fresh(nodes.urls());
  const CStop stop(redlock_stop_new());
  redlock_stop_request(stop.get());
  redlock_change_options change;
  redlock_change_options_init(&change, sizeof(change));
  change.stop = stop.get();
  redlock_deployment_check* opened = nullptr;
  EXPECT_EQ(redlock_bootstrap(&fresh.options, &change, &opened, nullptr), REDLOCK_CANCELLED);
  EXPECT_EQ(opened, nullptr);
}

TEST(CLockList, ListsTheLocksOfThePattern) {
  const CClient client = c_client();
  const std::string resource = fresh_resource();
  const CLease lease = c_acquire(client, redlock_shared(resource.c_str()));
  const COptions options(shared_urls(3));
  const auto list = c_result<CLocks>([&](redlock_lock_list** out, redlock_error** error) {
    redlock_list_locks(&options.options, (resource + "*").c_str(), 0, out, error);
  });
  EXPECT_TRUE(list->complete);
  EXPECT_EQ(list->quorum, 2U);
  EXPECT_EQ(list->answered, 3U);
  ASSERT_EQ(list->lock_count, 1U);
  const redlock_listed_lock* lock = redlock_lock_list_lock(list.get(), 0);
  EXPECT_STREQ(lock->resource, resource.c_str());
  EXPECT_STREQ(lock->state, "held");
  EXPECT_EQ(lock->kind, REDLOCK_LOCK_SHARED);
  EXPECT_EQ(lock->holder, nullptr);
  EXPECT_EQ(lock->owner, nullptr);
  EXPECT_EQ(lock->holds, 1U);
  EXPECT_EQ(lock->permits, -1);
  EXPECT_GT(lock->remaining_ns, 0);
  EXPECT_EQ(redlock_lock_list_lock(list.get(), 1), nullptr);
  ASSERT_EQ(list->node_count, 3U);
  EXPECT_STREQ(redlock_lock_list_node(list.get(), 0)->error, "");
  EXPECT_EQ(redlock_lock_list_node(list.get(), 3), nullptr);
  redlock_lock_list_free(nullptr);
}

}  // namespace
}  // namespace redlock::test
