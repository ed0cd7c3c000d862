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
struct CTold {
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
    if (event->kind == REDLOCK_NODE_UP) static_cast<CTold*>(context)->add("up");
  }
  static void on_observation(void* context, const redlock_observation* seen) {
    constexpr std::array names{"acquire began", "acquire ended", "hold began", "hold ended",
                               "lease lost"};
    static_cast<CTold*>(context)->add(names.at(static_cast<std::size_t>(seen->kind)));
  }
  static void on_lost(void* context, const redlock_error* error) {
    EXPECT_NE(error->message, std::string());
    static_cast<CTold*>(context)->add("lost");
  }
  static void on_at_risk(void* context, std::int64_t remaining_ns) {
    EXPECT_GT(remaining_ns, 0);
    static_cast<CTold*>(context)->add("at risk");
  }
  static void on_lease(void* context, redlock_lease* lease, redlock_error* error) {
    EXPECT_NE(lease == nullptr, error == nullptr);
    redlock_error_free(error);
    static_cast<CTold*>(context)->lease.reset(lease);
    static_cast<CTold*>(context)->add("acquired");
  }
  static void on_round(void* context, redlock_round* round, redlock_error* error) {
    redlock_round_free(round);
    redlock_error_free(error);
    static_cast<CTold*>(context)->add("round");
  }
  static void on_inspection(void* context, redlock_inspection* inspection, redlock_error* error) {
    redlock_inspection_free(inspection);
    redlock_error_free(error);
    static_cast<CTold*>(context)->add("inspected");
  }
  static void on_ownership(void* context, bool /*holds*/, redlock_error* error) {
    static_cast<CTold*>(context)->add(error == nullptr ? "holds"
                                                       : redlock_status_name(error->status));
    redlock_error_free(error);
  }
  static void on_close(void* context, redlock_close_report* report, redlock_error* error) {
    redlock_close_report_free(report);
    redlock_error_free(error);
    static_cast<CTold*>(context)->add("closed");
  }
  /// Waits until `calls` callbacks have been called.
  [[nodiscard]] bool soon(std::size_t calls) const {
    return eventually([&] { return count >= calls; }, std::chrono::seconds(30));
  }
};

[[nodiscard]] CAsync c_async(const CDispatcher& dispatcher, CTold* told = nullptr) {
  COptions options(shared_urls(3));
  options.options.dispatcher = dispatcher.get();
  options.options.context = told;
  if (told != nullptr) {
    options.options.on_node_event = CTold::on_node_event;
    options.options.on_observation = CTold::on_observation;
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
  CTold told;
  const CAsync client = c_async(dispatcher, &told);
  const CClient other = c_client();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  redlock_acquire_options terms = c_terms();
  terms.renew = true;
  terms.context = &told;
  terms.on_lost = CTold::on_lost;
  redlock_async_acquire(client.get(), &target, &terms, CTold::on_lease, &told);
  // No thread runs the callbacks, and still the lock is acquired.
  const auto state = [&] {
    redlock_inspection* seen = nullptr;
    redlock_inspect(other.get(), resource.c_str(), &seen, nullptr);
    const CInspection owned(seen);
    return seen->state;
  };
  EXPECT_TRUE(eventually([&] { return state() == REDLOCK_STATE_HELD; }));
  EXPECT_EQ(told.count, 0U);

  const Running running(dispatcher);
  ASSERT_TRUE(told.soon(7));
  redlock_async_ownership(client.get(), resource.c_str(), redlock_lease_token(told.lease.get()),
                          CTold::on_ownership, &told);
  ASSERT_TRUE(told.soon(8));
  redlock_async_inspect(client.get(), resource.c_str(), CTold::on_inspection, &told);
  ASSERT_TRUE(told.soon(9));
  redlock_async_lease_release(client.get(), told.lease.release(), CTold::on_round, &told);
  ASSERT_TRUE(told.soon(11));
  redlock_async_close(client.get(), CTold::on_close, &told);
  ASSERT_TRUE(told.soon(12));
  EXPECT_THAT(told.words, testing::UnorderedElementsAre(
                              "acquire began", "up", "up", "up", "acquire ended", "hold began",
                              "acquired", "holds", "inspected", "hold ended", "round", "closed"));
  EXPECT_THAT(told.threads, testing::Each(running.id()));
}

TEST(CDispatcher, ALossIsToldThere) {
  const CDispatcher dispatcher(redlock_dispatcher_new());
  CTold told;
  COptions options(shared_urls(3));
  options.options.dispatcher = dispatcher.get();
  const CClient client = c_client(options);
  redlock_acquire_options terms = c_terms();
  terms.ttl_ns = one_second_ns / 5;
  terms.renew = true;
  terms.max_renewals = 0;
  terms.context = &told;
  terms.on_lost = CTold::on_lost;
  terms.on_at_risk = CTold::on_at_risk;
  const Running running(dispatcher);
  const CLease lease = c_acquire(client, redlock_exclusive(fresh_resource().c_str()), terms);
  ASSERT_TRUE(told.soon(2));
  EXPECT_THAT(told.words, testing::ElementsAre("at risk", "lost"));
  EXPECT_THAT(told.threads, testing::Each(running.id()));
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
  CTold told;
  redlock_async_acquire(client.get(), &target, &terms, CTold::on_lease, &told);
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
  redlock_async_inspect(client.get(), resource.c_str(), CTold::on_inspection, &told);
  EXPECT_EQ(told.count, 0U);
}

TEST(CDispatcher, AChildOfForkLeavesItAlone) {
  const CDispatcher dispatcher(redlock_dispatcher_new());
  const CAsync client = c_async(dispatcher);
  const Running running(dispatcher);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    CTold told;
    redlock_async_ownership(client.get(), "r", "t", CTold::on_ownership, &told);
    redlock_dispatcher_stop(dispatcher.get());
    redlock_dispatcher_free(dispatcher.get());
    _exit(told.words == std::vector<std::string>{"forked"} ? 0 : 1);
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
