// The asynchronous client of redlock.h: every callback exactly once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <uv.h>

#include <atomic>
#include <string>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"
#include "redlock.h"

namespace redlock::test {
namespace {

using CAsync = std::unique_ptr<redlock_async, CFree<redlock_async_free>>;

[[nodiscard]] CAsync c_async(uv_loop_t* loop = nullptr) {
  const COptions options(shared_urls(3));
  redlock_async* client = nullptr;
  redlock_error* error = nullptr;
  redlock_async_create(&options.options, loop, &client, &error);
  const CError owned(error);
  EXPECT_EQ(error, nullptr) << error->message;
  return CAsync(client);
}

/// The answer to one call.
struct CAnswer {
  std::atomic<int> count{0};
  std::atomic<redlock_status> status{-1};
  CLease lease{};
  std::atomic<bool> holds{false};
  std::atomic<redlock_state> state{-1};
  std::atomic<std::uint64_t> granted{0};
  std::string text{};

  void set(redlock_error* error) {
    const CError owned(error);
    status = error == nullptr ? REDLOCK_OK : error->status;
    ++count;
  }
  [[nodiscard]] bool soon(redlock_status expected) const {
    return eventually([&] { return count >= 1; }, std::chrono::seconds(30)) && count == 1 &&
           status == expected;
  }

  static void on_lease(void* context, redlock_lease* lease, redlock_error* error) {
    auto& answer = *static_cast<CAnswer*>(context);
    answer.lease.reset(lease);
    EXPECT_NE(lease == nullptr, error == nullptr);
    answer.set(error);
  }
  static void on_round(void* context, redlock_round* round, redlock_error* error) {
    auto& answer = *static_cast<CAnswer*>(context);
    EXPECT_NE(round == nullptr, error == nullptr);
    answer.granted = count_votes(round, REDLOCK_VOTE_GRANTED);
    redlock_round_free(round);
    answer.set(error);
  }
  static void on_text(void* context, char* text, redlock_error* error) {
    auto& answer = *static_cast<CAnswer*>(context);
    EXPECT_NE(text == nullptr, error == nullptr);
    if (text != nullptr) answer.text = text;
    redlock_text_free(text);
    answer.set(error);
  }
  static void on_inspection(void* context, redlock_inspection* inspection, redlock_error* error) {
    auto& answer = *static_cast<CAnswer*>(context);
    EXPECT_NE(inspection == nullptr, error == nullptr);
    if (inspection != nullptr) answer.state = inspection->state;
    redlock_inspection_free(inspection);
    answer.set(error);
  }
  static void on_ownership(void* context, bool holds, redlock_error* error) {
    auto& answer = *static_cast<CAnswer*>(context);
    answer.holds = holds;
    answer.set(error);
  }
  static void on_close(void* context, redlock_close_report* report, redlock_error* error) {
    redlock_close_report_free(report);
    static_cast<CAnswer*>(context)->set(error);
  }
};

TEST(CAsyncClient, EachCallAnswersOnce) {
  const CAsync client = c_async();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  CAnswer acquired;
  redlock_acquire_options terms = c_terms();
  EXPECT_NE(redlock_async_acquire(client.get(), &target, &terms, CAnswer::on_lease, &acquired), 0U);
  ASSERT_TRUE(acquired.soon(REDLOCK_OK));
  EXPECT_TRUE(redlock_lease_valid(acquired.lease.get()));

  CAnswer refused;
  redlock_async_try_acquire(client.get(), &target, nullptr, CAnswer::on_lease, &refused);
  EXPECT_TRUE(refused.soon(REDLOCK_HELD));
  CAnswer extended;
  redlock_async_lease_extend(client.get(), acquired.lease.get(), 20 * one_second_ns,
                             CAnswer::on_round, &extended);
  EXPECT_TRUE(extended.soon(REDLOCK_OK));
  EXPECT_GE(extended.granted, 2U);
  CAnswer inspected;
  redlock_async_inspect(client.get(), resource.c_str(), CAnswer::on_inspection, &inspected);
  EXPECT_TRUE(inspected.soon(REDLOCK_OK));
  EXPECT_EQ(inspected.state, REDLOCK_STATE_HELD);
  CAnswer metrics;
  const char* const names[] = {"job"};
  const char* const values[] = {"c"};
  redlock_async_prometheus(client.get(), names, values, 1, CAnswer::on_text, &metrics);
  ASSERT_TRUE(metrics.soon(REDLOCK_OK));
  EXPECT_THAT(metrics.text, testing::HasSubstr("redlock_leases_held{job=\"c\"} 1"));
  CAnswer unlabelled;
  redlock_async_prometheus(client.get(), names, nullptr, 1, CAnswer::on_text, &unlabelled);
  EXPECT_TRUE(unlabelled.soon(REDLOCK_INVALID_ARGUMENT));
  const std::string token = redlock_lease_token(acquired.lease.get());
  CAnswer holds;
  redlock_async_ownership(client.get(), resource.c_str(), token.c_str(), CAnswer::on_ownership,
                          &holds);
  EXPECT_TRUE(holds.soon(REDLOCK_OK));
  EXPECT_TRUE(holds.holds);
  CAnswer by_token;
  redlock_async_extend(client.get(), &target, token.c_str(), 20 * one_second_ns, CAnswer::on_round,
                       &by_token);
  EXPECT_TRUE(by_token.soon(REDLOCK_OK));
  CAnswer downgraded;
  redlock_async_lease_downgrade(client.get(), acquired.lease.get(), CAnswer::on_round, &downgraded);
  EXPECT_TRUE(downgraded.soon(REDLOCK_OK));
  CAnswer downgraded_by_token;
  redlock_async_downgrade(client.get(), resource.c_str(), token.c_str(), CAnswer::on_round,
                          &downgraded_by_token);
  EXPECT_TRUE(downgraded_by_token.soon(REDLOCK_OK));
  CAnswer released;
  redlock_async_lease_release(client.get(), acquired.lease.release(), CAnswer::on_round, &released);
  EXPECT_TRUE(released.soon(REDLOCK_OK));
  CAnswer gone;
  redlock_async_release(client.get(), &target, token.c_str(), CAnswer::on_round, &gone);
  EXPECT_TRUE(gone.soon(REDLOCK_NOT_HOLDER));
}

TEST(CAsyncClient, AnAcquireThatWaitsIsCancelled) {
  const CAsync client = c_async();
  const CClient holder = c_client();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  const CLease lease = c_acquire(holder, target);
  CAnswer waiting;
  const redlock_request request =
      redlock_async_acquire(client.get(), &target, nullptr, CAnswer::on_lease, &waiting);
  EXPECT_EQ(waiting.count, 0);
  redlock_async_cancel(client.get(), request);
  EXPECT_TRUE(waiting.soon(REDLOCK_CANCELLED));
  redlock_async_cancel(client.get(), request);
}

TEST(CAsyncClient, AWatchAnswersAtEveryChangeAndOnceAtItsEnd) {
  const CAsync client = c_async();
  const CClient holder = c_client();
  const std::string resource = fresh_resource();
  CAnswer watched;
  const redlock_request request =
      redlock_async_watch(client.get(), resource.c_str(), 0, CAnswer::on_inspection, &watched);
  EXPECT_TRUE(eventually([&] { return watched.state == REDLOCK_STATE_FREE; }));
  const CLease lease = c_acquire(holder, redlock_exclusive(resource.c_str()));
  EXPECT_TRUE(eventually([&] { return watched.state == REDLOCK_STATE_HELD; }));
  EXPECT_EQ(watched.status, REDLOCK_OK);
  redlock_async_cancel(client.get(), request);
  EXPECT_TRUE(eventually([&] { return watched.status == REDLOCK_CANCELLED; }));
}

TEST(CAsyncClient, MistakesAreAnsweredInsideTheCall) {
  CAnswer answers[11];
  redlock_async_acquire(nullptr, nullptr, nullptr, CAnswer::on_lease, &answers[0]);
  redlock_async_try_acquire(nullptr, nullptr, nullptr, CAnswer::on_lease, &answers[1]);
  redlock_async_lease_extend(nullptr, nullptr, 1, CAnswer::on_round, &answers[2]);
  redlock_async_lease_release(nullptr, nullptr, CAnswer::on_round, &answers[3]);
  redlock_async_extend(nullptr, nullptr, nullptr, 1, CAnswer::on_round, &answers[4]);
  redlock_async_release(nullptr, nullptr, nullptr, CAnswer::on_round, &answers[5]);
  redlock_async_ownership(nullptr, nullptr, nullptr, CAnswer::on_ownership, &answers[6]);
  redlock_async_inspect(nullptr, nullptr, CAnswer::on_inspection, &answers[7]);
  redlock_async_close(nullptr, CAnswer::on_close, &answers[8]);
  redlock_async_lease_downgrade(nullptr, nullptr, CAnswer::on_round, &answers[9]);
  redlock_async_downgrade(nullptr, nullptr, nullptr, CAnswer::on_round, &answers[10]);
  for (const CAnswer& answer : answers) {
    EXPECT_EQ(answer.count, 1);
    EXPECT_EQ(answer.status, REDLOCK_INVALID_ARGUMENT);
  }
  redlock_async_cancel(nullptr, 1);
  EXPECT_EQ(redlock_async_watch(nullptr, "r", 0, nullptr, nullptr), 0U);
}

TEST(CAsyncClient, WithoutACallbackAllIsFreedAndReleased) {
  CAsync client = c_async();
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  redlock_acquire_options terms = c_terms();
  redlock_async_acquire(client.get(), &target, &terms, nullptr, nullptr);
  CAnswer next;
  redlock_async_acquire(client.get(), &target, &terms, CAnswer::on_lease, &next);
  EXPECT_TRUE(next.soon(REDLOCK_OK)) << "the lease that nobody took was released";
  redlock_async_inspect(client.get(), resource.c_str(), nullptr, nullptr);
  redlock_async_ownership(client.get(), resource.c_str(), "t", nullptr, nullptr);
  redlock_async_release(client.get(), &target, "t", nullptr, nullptr);
  CAnswer closed;
  redlock_async_close(client.get(), CAnswer::on_close, &closed);
  EXPECT_TRUE(closed.soon(REDLOCK_OK));
  CAnswer late;
  redlock_async_inspect(client.get(), resource.c_str(), CAnswer::on_inspection, &late);
  EXPECT_TRUE(late.soon(REDLOCK_CLOSED));
  client.reset();
}

TEST(CAsyncClient, RunsOnTheLoopOfItsCaller) {
  uv_loop_t loop;
  ASSERT_EQ(uv_loop_init(&loop), 0);
  CAsync client = c_async(&loop);
  const std::string resource = fresh_resource();
  const redlock_target target = redlock_exclusive(resource.c_str());
  redlock_acquire_options terms = c_terms();
  CAnswer acquired;
  redlock_async_acquire(client.get(), &target, &terms, CAnswer::on_lease, &acquired);
  EXPECT_EQ(acquired.count, 0) << "answered inside the call";
  while (acquired.count == 0) uv_run(&loop, UV_RUN_ONCE);
  EXPECT_EQ(acquired.status, REDLOCK_OK);
  CAnswer released;
  redlock_async_lease_release(client.get(), acquired.lease.release(), CAnswer::on_round, &released);
  CAnswer closed;
  redlock_async_close(client.get(), CAnswer::on_close, &closed);
  EXPECT_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  EXPECT_EQ(released.count, 1);
  EXPECT_EQ(closed.count, 1);
  client.reset();
  EXPECT_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  EXPECT_EQ(uv_loop_close(&loop), 0) << "handles were left on the loop";
}

}  // namespace
}  // namespace redlock::test
