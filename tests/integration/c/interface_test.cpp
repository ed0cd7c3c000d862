// redlock.h against real servers: each outcome of each call.

#include "redlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;

TEST(CInterface, APrefixIsOnTheNodesAndNowhereElse) {
  COptions options(shared_urls(3));
  options.options.prefix = "team:";
  const CClient client = c_client(options);
  const CClient nobodys = c_client();
  const std::string resource = fresh_resource();
  const CLease lease = c_acquire(client, redlock_exclusive(resource.c_str()));
  const CLease bare = c_acquire(nobodys, redlock_exclusive(resource.c_str()));
  EXPECT_TRUE(redlock_lease_valid(lease.get()) && redlock_lease_valid(bare.get()));
  EXPECT_STREQ(redlock_lease_resource(lease.get()), resource.c_str());
  EXPECT_TRUE(eventually([&] {
    return shared_nodes().count_held_by("team:" + resource, redlock_lease_token(lease.get())) == 3;
  }));
  EXPECT_THAT(c_refused(client, redlock_exclusive(resource.c_str()))->message,
              HasSubstr("'" + resource + "'"));
}

TEST(CInterface, ARefusalTellsWhoHoldsTheLock) {
  if (!shared_nodes()[0].is_since(7)) GTEST_SKIP() << "a refusal names no holder: row redis-7.0";
  const CClient holder = c_client();
  COptions options(shared_urls(3));
  options.options.name_holders = true;
  const CClient other = c_client(options);
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  redlock_acquire_options terms = c_terms();
  terms.name = "the holder";
  const CLease lease = c_acquire(holder, target, terms);
  { const CLease connects = c_acquire(other, redlock_exclusive(fresh_resource().c_str())); }
  terms = c_terms();
  const CError error = c_refused(other, target, terms);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->status, REDLOCK_HELD) << error->message;
  EXPECT_STREQ(error->holder_name, "the holder");
  EXPECT_THAT(error->message, HasSubstr("the holder"));
  ASSERT_NE(error->round, nullptr);
  EXPECT_GE(count_votes(error->round, REDLOCK_VOTE_REFUSED), 2U);
  for (std::size_t i = 0; i < error->round->node_count; ++i) {
    const redlock_node_vote* vote = redlock_round_node(error->round, i);
    if (vote->vote != REDLOCK_VOTE_REFUSED) continue;
    EXPECT_EQ(vote->holder_kind, REDLOCK_HOLDER_EXCLUSIVE);
    EXPECT_STREQ(vote->holder, redlock_lease_token(lease.get()));
    EXPECT_EQ(vote->owner, nullptr);
    EXPECT_GT(vote->remaining_ns, 0);
    EXPECT_GT(vote->round_trip_ns, 0);
  }
}

TEST(CInterface, TheHoldsOfAnOwnerAreNamedByTheOwner) {
  const CClient client = c_client();
  const std::string resource = fresh_resource();
  const CLease lease = c_acquire(client, redlock_owned(resource.c_str(), "nightly"));
  const CError error = c_refused(client, redlock_owned(resource.c_str(), "daily"), c_terms());
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->status, REDLOCK_HELD) << error->message;
  for (std::size_t i = 0; i < error->round->node_count; ++i) {
    const redlock_node_vote* vote = redlock_round_node(error->round, i);
    const bool refused = vote->vote == REDLOCK_VOTE_REFUSED;
    EXPECT_EQ(vote->holder_kind, refused ? REDLOCK_HOLDER_OWNED : REDLOCK_HOLDER_NONE);
    EXPECT_STREQ(vote->owner, refused ? "nightly" : nullptr);
    EXPECT_EQ(vote->holder, nullptr);
  }
  redlock_inspection* seen = nullptr;
  ASSERT_EQ(redlock_inspect(client.get(), resource.c_str(), &seen, nullptr), REDLOCK_OK);
  const CInspection inspection(seen);
  EXPECT_EQ(seen->kind, REDLOCK_LOCK_OWNED);
  EXPECT_STREQ(seen->owner, "nightly");
  EXPECT_EQ(seen->holder, nullptr);
}

TEST(CInterface, AWaitEndsAsItsStopIsRequested) {
  const CClient holder = c_client();
  const CClient other = c_client();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  const CLease lease = c_acquire(holder, target);
  const CStop stop(redlock_stop_new());
  EXPECT_FALSE(redlock_stop_requested(stop.get()));
  redlock_error* error = nullptr;
  redlock_lease* none = nullptr;
  std::thread waiter(
      [&] { redlock_acquire(other.get(), &target, nullptr, stop.get(), &none, &error); });
  EXPECT_TRUE(eventually([&] {
    redlock_inspection* seen = nullptr;
    redlock_inspect(holder.get(), resource.c_str(), &seen, nullptr);
    const CInspection owned(seen);
    return seen != nullptr && seen->waiters == 1;
  }));
  redlock_stop_request(stop.get());
  waiter.join();
  const CError owned(error);
  EXPECT_EQ(none, nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->status, REDLOCK_CANCELLED) << error->message;
  EXPECT_TRUE(redlock_stop_requested(stop.get()));
}

TEST(CInterface, MistakesAreRefusedWithTheArgument) {
  redlock_client* none = nullptr;
  redlock_error* error = nullptr;
  const COptions nowhere({"not a node"});
  EXPECT_EQ(redlock_client_create(&nowhere.options, &none, &error), REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_THAT(error->message, HasSubstr("not a node"));
  redlock_error_free(error);

  const CClient client = c_client(1);
  redlock_acquire_options terms = c_terms();
  terms.ttl_ns = -1;
  const CError ttl = c_refused(client, redlock_exclusive("r"), terms);
  EXPECT_EQ(ttl->status, REDLOCK_INVALID_ARGUMENT);
  EXPECT_THAT(ttl->message, HasSubstr("TTL"));
  EXPECT_EQ(ttl->round, nullptr);
  const CError empty = c_refused(client, redlock_exclusive(""));
  EXPECT_EQ(empty->status, REDLOCK_INVALID_ARGUMENT);
  bool holds = true;
  EXPECT_EQ(redlock_ownership(client.get(), "r", "", &holds, nullptr), REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_ownership(client.get(), nullptr, "t", &holds, nullptr),
            REDLOCK_INVALID_ARGUMENT);
}

TEST(CInterface, AnOutageIsUnavailable) {
  Nodes nodes(3);
  COptions options(nodes.urls());
  options.options.node_shortest_timeout_ns = one_second_ns / 4;
  options.options.node_longest_timeout_ns = one_second_ns / 2;
  struct Seen {
    std::atomic<int> up{0};
    std::atomic<int> down{0};
    std::atomic<int> warnings{0};
    std::atomic<int> freed{0};
  } seen;
  options.options.context = &seen;
  options.options.on_node_event = [](void* context, const redlock_node_event* event) {
    auto& counts = *static_cast<Seen*>(context);
    if (event->kind == REDLOCK_NODE_UP) ++counts.up;
    if (event->kind == REDLOCK_NODE_DOWN && event->url[0] != '\0') ++counts.down;
  };
  options.options.on_log = [](void* context, const redlock_node_event* event) {
    const bool down = event->kind == REDLOCK_NODE_DOWN && event->times == 1;
    if (down && event->level == REDLOCK_LEVEL_WARNING) ++static_cast<Seen*>(context)->warnings;
  };
  options.options.free_context = [](void* context) { ++static_cast<Seen*>(context)->freed; };
  CClient client = c_client(options);
  EXPECT_TRUE(eventually([&] { return seen.up == 3; }));
  nodes[0].kill();
  nodes[1].kill();
  EXPECT_TRUE(eventually([&] { return seen.down >= 2; }));
  EXPECT_TRUE(eventually([&] { return seen.warnings == 2; })) << "they cannot be reached again";
  const CError error = c_refused(client, redlock_exclusive("r"));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->status, REDLOCK_UNAVAILABLE) << error->message;
  ASSERT_NE(error->round, nullptr);
  EXPECT_EQ(count_votes(error->round, REDLOCK_VOTE_UNREACHABLE), 2U) << error->message;

  redlock_close_report* report = nullptr;
  EXPECT_EQ(redlock_client_close(client.get(), &report, nullptr), REDLOCK_OK);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(redlock_close_report_undelivered(report, report->undelivered_count), nullptr);
  redlock_close_report_free(report);
  const CError closed = c_refused(client, redlock_exclusive("r"));
  EXPECT_EQ(closed->status, REDLOCK_CLOSED);
  client.reset();
  EXPECT_EQ(seen.freed, 1);
}

TEST(CInterface, ACloseNamesANodeThatHangsAndSaysForHowLongItKeepsALock) {
  Nodes nodes(3);
  COptions options(nodes.urls());
  options.options.node_shortest_timeout_ns = options.options.node_longest_timeout_ns =
      one_second_ns / 4;
  const CClient client = c_client(options);
  redlock_acquire_options terms = c_terms();
  terms.ttl_ns = 20 * one_second_ns;
  const CLease lease = c_acquire(client, redlock_exclusive("r"), terms);
  ASSERT_TRUE(eventually([&] { return nodes.count_held("r") == 3; }));
  nodes[1].stop();
  redlock_close_report* report = nullptr;
  ASSERT_EQ(redlock_client_close(client.get(), &report, nullptr), REDLOCK_OK);
  ASSERT_EQ(report->undelivered_count, 1U);
  const redlock_undelivered* node = redlock_close_report_undelivered(report, 0);
  EXPECT_EQ(node->url, nodes[1].url());
  EXPECT_EQ(node->node, 1U);
  EXPECT_GT(node->left_ns, 0);
  EXPECT_LE(node->left_ns, 21 * one_second_ns);
  EXPECT_FALSE(node->may_write_late);
  redlock_close_report_free(report);
}

TEST(CInterface, AnInspectionShowsHoldersAndBrokenLocks) {
  const CClient client = c_client();
  const std::string resource = fresh_resource();
  redlock_acquire_options terms = c_terms();
  terms.name = "reader";
  const CLease lease = c_acquire(client, redlock_shared(resource.c_str()), terms);
  redlock_inspection* seen = nullptr;
  ASSERT_EQ(redlock_inspect(client.get(), resource.c_str(), &seen, nullptr), REDLOCK_OK);
  EXPECT_EQ(seen->state, REDLOCK_STATE_HELD);
  EXPECT_EQ(seen->kind, REDLOCK_LOCK_SHARED);
  EXPECT_EQ(seen->holder, nullptr);
  EXPECT_EQ(seen->owner, nullptr);
  EXPECT_EQ(seen->quorum, 2U);
  ASSERT_EQ(seen->node_count, 3U);
  const redlock_node_inspection* node = redlock_inspection_node(seen, 0);
  EXPECT_STREQ(node->error, "");
  EXPECT_EQ(redlock_inspection_node(seen, 3), nullptr);
  if (node->kind == REDLOCK_LOCK_SHARED) {
    EXPECT_EQ(node->holds, 1U);
    ASSERT_EQ(node->token_count, 1U);
    EXPECT_STREQ(node->tokens[0], redlock_lease_token(lease.get()));
    ASSERT_EQ(node->name_count, 1U);
    EXPECT_STREQ(node->names[0], "reader");
  }
  EXPECT_EQ(redlock_inspection_broken(seen, 0), nullptr);
  redlock_inspection_free(seen);

  ASSERT_EQ(redlock_break(client.get(), resource.c_str(), redlock_lease_token(lease.get()),
                          5 * one_second_ns, nullptr, nullptr),
            REDLOCK_OK);
  CInspection after;
  EXPECT_TRUE(eventually([&] {
    redlock_inspect(client.get(), resource.c_str(), &seen, nullptr);
    after.reset(seen);
    return seen != nullptr && seen->broken_count == 1;
  }));
  ASSERT_EQ(after->broken_count, 1U);
  EXPECT_EQ(after->state, REDLOCK_STATE_HELD) << "the delay";
  EXPECT_STREQ(redlock_inspection_broken(after.get(), 0)->token, redlock_lease_token(lease.get()));
  EXPECT_GT(redlock_inspection_broken(after.get(), 0)->time_ns, 0);
}

TEST(CInterface, AllKindsAreGranted) {
  const CClient client = c_client();
  const std::string name = fresh_resource();
  const std::string other = name + "+";
  const char* const both[] = {name.c_str(), other.c_str()};
  {
    const CLease lease = c_acquire(client, redlock_all_of(both, 2));
    EXPECT_EQ(redlock_lease_resource_count(lease.get()), 2U);
    EXPECT_STREQ(redlock_lease_resource_at(lease.get(), 1), other.c_str());
  }
  const CLease first = c_acquire(client, redlock_owned(name.c_str(), "me"));
  const CLease second = c_acquire(client, redlock_owned(name.c_str(), "me"));
  redlock_round* round = nullptr;
  EXPECT_EQ(redlock_lease_release(first.get(), &round, nullptr), REDLOCK_OK);
  EXPECT_EQ(round->holds_left, 1);
  redlock_round_free(round);
  const CLease permit = c_acquire(client, redlock_permit("encoders", 2));
  EXPECT_THAT(redlock_lease_resource(permit.get()), HasSubstr("encoders#"));
  const std::string hourly = fresh_resource();
  c_acquire(client, redlock_interval(hourly.c_str(), 20 * one_second_ns)).reset();
  EXPECT_EQ(c_refused(client, redlock_exclusive(hourly.c_str()))->status, REDLOCK_HELD);
}

TEST(CInterface, ProgramsInCRun) {
  for (const std::string& program : {c_interface_program(), c_example_program()}) {
    if (program.empty()) GTEST_SKIP() << "there is no C compiler";
    std::vector<std::string> words{program};
    for (const std::string& url : shared_urls(3)) words.push_back(url);
    const ProcessResult result = run_process(words);
    EXPECT_EQ(result.exit_code, 0) << program << result.errors;
    EXPECT_THAT(result.output, HasSubstr("released"));
  }
}

TEST(CInterface, HalfOfTheNodesAreNoMajority) {
  const CClient client = c_client(4);
  { const CLease connects = c_acquire(client, redlock_exclusive(fresh_resource().c_str())); }
  const std::string resource = fresh_resource();
  for (std::size_t i = 0; i < 2; ++i) {
    shared_nodes(4)[i].command({"SET", resource, "foreign", "PX", "20000"});
  }
  const CError error = c_refused(client, redlock_exclusive(resource.c_str()));
  ASSERT_NE(error, nullptr);
  // The order of the answers decides between the two.
  EXPECT_THAT(error->status, testing::AnyOf(REDLOCK_SPLIT, REDLOCK_HELD)) << error->message;
  EXPECT_GE(count_votes(error->round, REDLOCK_VOTE_REFUSED), 1U);
}

}  // namespace
}  // namespace redlock::test
