// Watching, elections and metrics by redlock.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"
#include "redlock.h"

namespace redlock::test {
namespace {

using testing::HasSubstr;

using CElectionHandle = std::unique_ptr<redlock_election, CFree<redlock_election_free>>;
using CLeadership = std::unique_ptr<redlock_leadership, CFree<redlock_leadership_free>>;

/// The texts that callbacks have reported.
struct CLog {
  std::mutex mutex;
  std::vector<std::string> words;

  void add(std::string word) {
    const std::lock_guard lock(mutex);
    words.push_back(std::move(word));
  }
  [[nodiscard]] bool soon(const std::vector<std::string>& expected) {
    return eventually([&] {
      const std::lock_guard lock(mutex);
      return words == expected;
    });
  }
};

[[nodiscard]] CElectionHandle c_election(const CClient& client, const std::string& name,
                                         const char* candidate) {
  redlock_election_options options;
  redlock_election_options_init(&options, sizeof(options));
  options.candidate = candidate;
  redlock_election* election = nullptr;
  EXPECT_EQ(redlock_election_create(client.get(), name.c_str(), &options, &election, nullptr),
            REDLOCK_OK);
  return CElectionHandle(election);
}

[[nodiscard]] CLeadership c_campaign(const CElectionHandle& election) {
  redlock_leadership* leadership = nullptr;
  redlock_error* error = nullptr;
  redlock_election_try_campaign_for(election.get(), 30 * one_second_ns, nullptr, &leadership,
                                    &error);
  const CError owned(error);
  EXPECT_EQ(error, nullptr) << error->message;
  return CLeadership(leadership);
}

[[nodiscard]] std::string c_leader(const CElectionHandle& election) {
  redlock_leader* leader = nullptr;
  EXPECT_EQ(redlock_election_leader(election.get(), &leader, nullptr), REDLOCK_OK);
  const std::string name = leader == nullptr ? "nobody" : leader->candidate;
  redlock_leader_free(leader);
  return name;
}

TEST(CElection, LeadersFollowEachOtherWithLargerTerms) {
  const CClient client = c_client();
  const CClient other = c_client();
  const std::string name = fresh_resource();
  const CElectionHandle first = c_election(client, name, "first");
  const CElectionHandle second = c_election(other, name, "second");
  EXPECT_EQ(c_leader(first), "nobody");
  const CLeadership leadership = c_campaign(first);
  const std::uint64_t term = redlock_leadership_term(leadership.get());
  EXPECT_GT(term, 0U);
  EXPECT_TRUE(redlock_leadership_valid(leadership.get()));
  EXPECT_FALSE(redlock_leadership_lost(leadership.get()));
  EXPECT_EQ(c_leader(second), "first");

  redlock_leadership* none = nullptr;
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_election_try_campaign(second.get(), &none, &error), REDLOCK_HELD);
  EXPECT_EQ(none, nullptr);
  EXPECT_THAT(error->message, HasSubstr("first"));
  redlock_error_free(error);

  EXPECT_EQ(redlock_leadership_resign(leadership.get(), nullptr, nullptr), REDLOCK_OK);
  EXPECT_FALSE(redlock_leadership_valid(leadership.get()));
  const CLeadership next = c_campaign(second);
  EXPECT_GT(redlock_leadership_term(next.get()), term);
}

TEST(CElection, AnObserverSeesEachLeaderUntilItIsStopped) {
  const CClient client = c_client();
  const std::string name = fresh_resource();
  const CElectionHandle election = c_election(client, name, "me");
  const CStop stop(redlock_stop_new());
  CLog log;
  std::uint64_t changes = 0;
  redlock_status status = -1;
  std::thread observer([&] {
    status = redlock_election_observe(
        election.get(),
        [](void* context, const redlock_leader* leader) {
          static_cast<CLog*>(context)->add(leader == nullptr ? "nobody" : leader->candidate);
        },
        &log, stop.get(), &changes, nullptr);
  });
  EXPECT_TRUE(log.soon({"nobody"}));
  CLeadership leadership = c_campaign(election);
  EXPECT_TRUE(log.soon({"nobody", "me"}));
  leadership.reset();
  EXPECT_TRUE(log.soon({"nobody", "me", "nobody"}));
  redlock_stop_request(stop.get());
  observer.join();
  EXPECT_EQ(status, REDLOCK_OK);
  EXPECT_EQ(changes, 3U);
}

TEST(CElection, MistakesAreRefused) {
  const CClient client = c_client(1);
  const CElectionHandle nameless = c_election(client, "", nullptr);
  redlock_leadership* none = nullptr;
  EXPECT_EQ(redlock_election_try_campaign(nameless.get(), &none, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  redlock_election* election = nullptr;
  EXPECT_EQ(redlock_election_create(client.get(), "e", nullptr, &election, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_election_try_campaign(nullptr, &none, nullptr), REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_election_leader(nullptr, nullptr, nullptr), REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_election_observe(nameless.get(), nullptr, nullptr, nullptr, nullptr, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_watch(client.get(), "r", 0, nullptr, nullptr, nullptr, nullptr, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_leadership_resign(nullptr, nullptr, nullptr), REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_leadership_term(nullptr), 0U);
  EXPECT_FALSE(redlock_leadership_valid(nullptr) || redlock_leadership_lost(nullptr));
  redlock_leadership_free(nullptr);
  redlock_election_free(nullptr);
  redlock_leader_free(nullptr);
}

TEST(CWatch, SeesEachStateUntilItIsStopped) {
  const CClient client = c_client();
  const std::string resource = fresh_resource();
  const CStop stop(redlock_stop_new());
  CLog log;
  std::uint64_t changes = 0;
  std::thread watcher([&] {
    EXPECT_EQ(redlock_watch(
                  client.get(), resource.c_str(), 0,
                  [](void* context, const redlock_inspection* inspection) {
                    static_cast<CLog*>(context)->add(redlock_state_name(inspection->state));
                  },
                  &log, stop.get(), &changes, nullptr),
              REDLOCK_OK);
  });
  EXPECT_TRUE(log.soon({"free"}));
  const CLease lease = c_acquire(client, redlock_exclusive(resource.c_str()));
  EXPECT_TRUE(log.soon({"free", "held"}));
  redlock_stop_request(stop.get());
  watcher.join();
  EXPECT_EQ(changes, 2U);
}

TEST(CObserver, IsNotifiedOfACallAndOfItsHoldInOrder) {
  CLog log;
  COptions options(shared_urls(3));
  options.options.context = &log;
  options.options.on_observation = [](void* context, const redlock_observation* seen) {
    const bool hold = seen->kind == REDLOCK_HOLD_BEGAN || seen->kind == REDLOCK_HOLD_ENDED;
    EXPECT_EQ(std::string(seen->token).empty(), !hold);
    EXPECT_EQ(seen->fencing_token != 0, hold);
    EXPECT_GT(seen->at_ns, 0);
    EXPECT_STRNE(seen->resource, "");
    static_cast<CLog*>(context)->add(std::to_string(seen->kind) + " " +
                                     redlock_status_name(seen->failure) + " " + seen->end);
  };
  const CClient client = c_client(options);
  redlock_acquire_options terms = c_terms();
  terms.fencing = true;
  CLease lease = c_acquire(client, redlock_exclusive(fresh_resource().c_str()), terms);
  lease.reset();
  EXPECT_TRUE(log.soon({"0 ok open", "1 ok open", "2 ok open", "3 ok released"}));
}

TEST(CMetrics, AreTextOfPrometheusWithLabels) {
  const CClient client = c_client();
  const CLease lease = c_acquire(client, redlock_exclusive(fresh_resource().c_str()));
  const char* const names[] = {"job"};
  const char* const values[] = {"c"};
  char* text = nullptr;
  ASSERT_EQ(redlock_client_prometheus(client.get(), names, values, 1, &text, nullptr), REDLOCK_OK);
  EXPECT_THAT(text, HasSubstr("redlock_leases_held{job=\"c\"} 1"));
  redlock_text_free(text);
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_client_prometheus(client.get(), names, nullptr, 1, &text, &error),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_STREQ(error->message, "label_values is NULL");
  EXPECT_EQ(text, nullptr);
  redlock_error_free(error);
  redlock_text_free(nullptr);
}

}  // namespace
}  // namespace redlock::test
