// The dispatcher of redlock.h: callbacks run on a thread of the program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"
#include "redlock.h"

namespace redlock::test {
namespace {

using CAsync = std::unique_ptr<redlock_async, CFree<redlock_async_free>>;
using CDispatcher = std::unique_ptr<redlock_dispatcher, CFree<redlock_dispatcher_free>>;

/// The calls of callbacks, and their threads.
struct CReceived {
  std::vector<std::string> words{};
  std::vector<std::thread::id> threads{};
  std::atomic<std::size_t> count{0};
  CLease lease{};

  void add(const char* word) {
    words.emplace_back(word);
    threads.push_back(std::this_thread::get_id());
    ++count;
  }
  static void on_node_event(void* context, const redlock_node_event* event) {
    if (event->kind == REDLOCK_NODE_UP) static_cast<CReceived*>(context)->add("up");
  }
  static void on_observation(void* context, const redlock_observation* seen) {
    constexpr std::array names{"acquire began", "acquire ended", "hold began", "hold ended",
                               "lease lost"};
    static_cast<CReceived*>(context)->add(names.at(static_cast<std::size_t>(seen->kind)));
  }
  static void on_lost(void* context, const redlock_error* error) {
    EXPECT_NE(error->message, std::string());
    static_cast<CReceived*>(context)->add("lost");
  }
  static void on_at_risk(void* context, std::int64_t remaining_ns) {
    EXPECT_GT(remaining_ns, 0);
    static_cast<CReceived*>(context)->add("at risk");
  }
  static void on_lease(void* context, redlock_lease* lease, redlock_error* error) {
    EXPECT_NE(lease == nullptr, error == nullptr);
    redlock_error_free(error);
    static_cast<CReceived*>(context)->lease.reset(lease);
    static_cast<CReceived*>(context)->add("acquired");
  }
  static void on_round(void* context, redlock_round* round, redlock_error* error) {
    redlock_round_free(round);
    redlock_error_free(error);
    static_cast<CReceived*>(context)->add("round");
  }
  static void on_inspection(void* context, redlock_inspection* inspection, redlock_error* error) {
    redlock_inspection_free(inspection);
    redlock_error_free(error);
    static_cast<CReceived*>(context)->add("inspected");
  }
  static void on_ownership(void* context, bool /*holds*/, redlock_error* error) {
    static_cast<CReceived*>(context)->add(error == nullptr ? "holds"
                                                           : redlock_status_name(error->status));
    redlock_error_free(error);
  }
  static void on_close(void* context, redlock_close_report* report, redlock_error* error) {
    redlock_close_report_free(report);
    redlock_error_free(error);
    static_cast<CReceived*>(context)->add("closed");
  }
  /// Waits until `calls` callbacks have been called.
  [[nodiscard]] bool soon(std::size_t calls) const {
    return eventually([&] { return count >= calls; }, std::chrono::seconds(30));
  }
};

[[nodiscard]] CAsync c_async(const CDispatcher& dispatcher, CReceived* received = nullptr) {
  COptions options(shared_urls(3));
  options.options.dispatcher = dispatcher.get();
  options.options.context = received;
  if (received != nullptr) {
    options.options.on_node_event = CReceived::on_node_event;
    options.options.on_observation = CReceived::on_observation;
  }
  redlock_async* client = nullptr;
  redlock_error* error = nullptr;
  redlock_async_create(&options.options, nullptr, &client, &error);
  const CError owned(error);
  EXPECT_EQ(error, nullptr) << error->message;
  return CAsync(client);
}

/// The thread of a program that runs a dispatcher.
class Running {
 public:
  explicit Running(const CDispatcher& dispatcher)
      : dispatcher_(dispatcher.get()),
        thread_([run = dispatcher_] { redlock_dispatcher_run(run); }) {}
  ~Running() {
    redlock_dispatcher_stop(dispatcher_);
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  [[nodiscard]] std::thread::id id() const { return thread_.get_id(); }

 private:
  redlock_dispatcher* dispatcher_;
  std::thread thread_;
};

TEST(CDispatcher, NothingWaitsForTheProgramsThread) {
  const CDispatcher dispatcher(redlock_dispatcher_new());
  CReceived received;
  const CAsync client = c_async(dispatcher, &received);
  const CClient other = c_client();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  redlock_acquire_options terms = c_terms();
  terms.renew = true;
  terms.context = &received;
  terms.on_lost = CReceived::on_lost;
  redlock_async_acquire(client.get(), &target, &terms, CReceived::on_lease, &received);
  // No thread runs the callbacks, and still the lock is acquired.
  const auto state = [&] {
    redlock_inspection* seen = nullptr;
    redlock_inspect(other.get(), resource.c_str(), &seen, nullptr);
    const CInspection owned(seen);
    return seen->state;
  };
  EXPECT_TRUE(eventually([&] { return state() == REDLOCK_STATE_HELD; }));
  EXPECT_EQ(received.count, 0U);

  const Running running(dispatcher);
  ASSERT_TRUE(received.soon(7));
  redlock_async_ownership(client.get(), resource.c_str(), redlock_lease_token(received.lease.get()),
                          CReceived::on_ownership, &received);
  ASSERT_TRUE(received.soon(8));
  redlock_async_inspect(client.get(), resource.c_str(), CReceived::on_inspection, &received);
  ASSERT_TRUE(received.soon(9));
  redlock_async_lease_release(client.get(), received.lease.release(), CReceived::on_round,
                              &received);
  ASSERT_TRUE(received.soon(11));
  redlock_async_close(client.get(), CReceived::on_close, &received);
  ASSERT_TRUE(received.soon(12));
  EXPECT_THAT(received.words,
              testing::UnorderedElementsAre("acquire began", "up", "up", "up", "acquire ended",
                                            "hold began", "acquired", "holds", "inspected",
                                            "hold ended", "round", "closed"));
  EXPECT_THAT(received.threads, testing::Each(running.id()));
}

TEST(CDispatcher, ALossIsReportedThere) {
  const CDispatcher dispatcher(redlock_dispatcher_new());
  CReceived received;
  COptions options(shared_urls(3));
  options.options.dispatcher = dispatcher.get();
  const CClient client = c_client(options);
  redlock_acquire_options terms = c_terms();
  terms.ttl_ns = one_second_ns / 5;
  terms.renew = true;
  terms.max_renewals = 0;
  terms.context = &received;
  terms.on_lost = CReceived::on_lost;
  terms.on_at_risk = CReceived::on_at_risk;
  const Running running(dispatcher);
  const CLease lease = c_acquire(client, redlock_exclusive(fresh_resource().c_str()), terms);
  ASSERT_TRUE(received.soon(2));
  EXPECT_THAT(received.words, testing::ElementsAre("at risk", "lost"));
  EXPECT_THAT(received.threads, testing::Each(running.id()));
  // The callbacks did not run on the loop thread, so a blocking call is allowed.
  EXPECT_NE(running.id(), std::this_thread::get_id());
}

TEST(CDispatcher, WhatIsNeverTakenIsFreedAndReleased) {
  CDispatcher dispatcher(redlock_dispatcher_new());
  const CAsync client = c_async(dispatcher);
  const CClient other = c_client();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  redlock_acquire_options terms = c_terms();
  CReceived received;
  redlock_async_acquire(client.get(), &target, &terms, CReceived::on_lease, &received);
  const auto holds = [&] {
    redlock_inspection* seen = nullptr;
    redlock_inspect(other.get(), resource.c_str(), &seen, nullptr);
    const CInspection owned(seen);
    return seen->state == REDLOCK_STATE_HELD;
  };
  EXPECT_TRUE(eventually(holds));
  dispatcher.reset();
  EXPECT_NE(c_acquire(other, target, terms), nullptr) << "the lease was released";
  // Later callbacks are dropped as well.
  redlock_async_inspect(client.get(), resource.c_str(), CReceived::on_inspection, &received);
  EXPECT_EQ(received.count, 0U);
}

TEST(CDispatcher, AChildOfForkLeavesItAlone) {
  const CDispatcher dispatcher(redlock_dispatcher_new());
  const CAsync client = c_async(dispatcher);
  const Running running(dispatcher);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    CReceived received;
    redlock_async_ownership(client.get(), "r", "t", CReceived::on_ownership, &received);
    redlock_dispatcher_stop(dispatcher.get());
    redlock_dispatcher_free(dispatcher.get());
    _exit(received.words == std::vector<std::string>{"forked"} ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CDispatcher, NullDoesNothing) {
  redlock_dispatcher_run(nullptr);
  redlock_dispatcher_stop(nullptr);
  redlock_dispatcher_free(nullptr);
}

}  // namespace
}  // namespace redlock::test
