// The asynchronous client on its caller's loop.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <uv.h>

#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// An application's own loop.
class AppLoop {
 public:
  AppLoop() { EXPECT_EQ(uv_loop_init(&loop_), 0); }
  ~AppLoop() {
    // The loop runs out only if no handle is left on it.
    EXPECT_EQ(uv_run(&loop_, UV_RUN_DEFAULT), 0);
    EXPECT_EQ(uv_loop_close(&loop_), 0) << "handles were left on the loop";
  }
  AppLoop(const AppLoop&) = delete;
  AppLoop& operator=(const AppLoop&) = delete;

  [[nodiscard]] uv_loop_t* get() { return &loop_; }
  /// Runs the loop until the condition is true; false after a generous time.
  template <typename Condition>
  [[nodiscard]] bool run_until(Condition condition) {
    uv_timer_t tick;
    EXPECT_EQ(uv_timer_init(&loop_, &tick), 0);
    EXPECT_EQ(uv_timer_start(
                  &tick, [](uv_timer_t*) {}, 10, 10),
              0);
    const auto limit = BootClock::now() + seconds(60);
    while (!condition() && BootClock::now() < limit) uv_run(&loop_, UV_RUN_ONCE);
    bool closed = false;
    tick.data = &closed;
    uv_close(reinterpret_cast<uv_handle_t*>(&tick),
             [](uv_handle_t* handle) { *static_cast<bool*>(handle->data) = true; });
    const bool met = condition();
    while (!closed) uv_run(&loop_, UV_RUN_ONCE);
    return met;
  }

 private:
  uv_loop_t loop_;
};

[[nodiscard]] AsyncClient on_loop(AppLoop& loop, ClientOptions options) {
  auto client = AsyncClient::create(std::move(options), loop.get());
  if (!client) throw std::runtime_error(client.error().message);
  return *std::move(client);
}

class AsyncOnCallersLoop : public testing::Test {
 protected:
  [[nodiscard]] AsyncClient client() { return on_loop(loop_, patient(shared_urls(3))); }
  void close(AsyncClient& client) {
    bool closed = false;
    client.close([&](const CloseReport&) { closed = true; });
    EXPECT_TRUE(loop_.run_until([&] { return closed; }));
  }
  AppLoop loop_;
  std::string resource_ = fresh_resource();
};

TEST_F(AsyncOnCallersLoop, ACallAnswersLaterAndNotInside) {
  AsyncClient client = AsyncOnCallersLoop::client();
  Lease lease;
  int answers = 0;
  bool inside = true;
  const auto thread = std::this_thread::get_id();
  client.try_acquire(resource_, {}, [&](Result<Lease> granted) {
    EXPECT_FALSE(inside);
    EXPECT_EQ(std::this_thread::get_id(), thread);
    ASSERT_TRUE(succeeded(granted));
    lease = *std::move(granted);
    ++answers;
  });
  inside = false;
  ASSERT_TRUE(loop_.run_until([&] { return answers == 1; }));

  // Refusals do not call back inside the call either.
  inside = true;
  client.try_acquire("", {}, [&](Result<Lease> refused) {
    EXPECT_FALSE(inside);
    EXPECT_TRUE(failed_with(refused, Errc::invalid_argument));
    ++answers;
  });
  client.extend(lease, seconds(0), [&](Result<Round> refused) {
    EXPECT_FALSE(inside);
    EXPECT_TRUE(failed_with(refused, Errc::invalid_argument));
    ++answers;
  });
  client.extend(lease, seconds(20), [&](Result<Round> extended) {
    EXPECT_TRUE(succeeded(extended));
    ++answers;
  });
  client.inspect(resource_, [&](Result<Inspection> inspection) {
    ASSERT_TRUE(succeeded(inspection));
    EXPECT_EQ(inspection->holder, lease.token());
    ++answers;
  });
  client.ownership(resource_, lease.token(), [&](Result<Ownership> ownership) {
    EXPECT_FALSE(inside);
    EXPECT_EQ(ownership, Ownership::held);
    ++answers;
  });
  client.ownership(resource_, Token(), [&](Result<Ownership> refused) {
    EXPECT_FALSE(inside);
    EXPECT_TRUE(failed_with(refused, Errc::invalid_argument));
    ++answers;
  });
  inside = false;
  ASSERT_TRUE(loop_.run_until([&] { return answers == 7; }));
  client.release(std::move(lease), [&](Result<Round> released) {
    EXPECT_TRUE(succeeded(released));
    ++answers;
  });
  ASSERT_TRUE(loop_.run_until([&] { return answers == 8; }));
  close(client);
  EXPECT_EQ(answers, 8);
}

class HandedOnWhileTheLoopIsBusy : public AsyncOnCallersLoop {
 protected:
  /// Another thread hands a lease on before its deadline: the call waits for the loop.
  [[nodiscard]] DetachedLease hand_on(AsyncClient& client) {
    Lease lease;
    client.try_acquire(resource_, {.ttl = seconds(5), .renew = false}, [&](Result<Lease> granted) {
      ASSERT_TRUE(succeeded(granted));
      lease = *std::move(granted);
    });
    EXPECT_TRUE(loop_.run_until([&] { return lease.valid(); }));
    // A node in first contact is asked by the loop, and nobody else runs it.
    EXPECT_TRUE(loop_.run_until([&] { return shared_nodes(3).count_held(resource_) == 3; }));
    deadline_ = lease.valid_until();
    DetachedLease detached;
    std::thread([&] { detached = lease.detach(); }).join();
    EXPECT_EQ(detached.resources, std::vector<std::string>{resource_});
    return detached;
  }
  /// The new owner has it, and a third client does not get it.
  void expect_that_it_stays(const Lease& adopted) {
    const std::string token = adopted.token().str();
    EXPECT_EQ(shared_nodes(3).count_held_by(resource_, token), 3U);
    EXPECT_TRUE(failed_with(taker_.try_acquire(resource_), Errc::held));
    EXPECT_TRUE(adopted.valid());
  }

  Client taker_ = make_client(patient(shared_urls(3)));
  BootClock::time_point deadline_{};
};

TEST_F(HandedOnWhileTheLoopIsBusy, ALeaseIsNotReleasedAtItsDeadline) {
  AsyncClient client = AsyncOnCallersLoop::client();
  const DetachedLease detached = hand_on(client);
  auto adopted = taker_.adopt(detached, {.ttl = seconds(25)});
  ASSERT_TRUE(succeeded(adopted));
  ASSERT_TRUE(eventually([&] { return BootClock::now() > deadline_; }));
  // Timers fire before the call of the other thread is handled.
  close(client);
  expect_that_it_stays(*adopted);
}

TEST_F(HandedOnWhileTheLoopIsBusy, ALeaseIsNotReleasedByAClientThatCloses) {
  AsyncClient client = AsyncOnCallersLoop::client();
  const DetachedLease detached = hand_on(client);
  auto adopted = taker_.adopt(detached, {.ttl = seconds(25)});
  ASSERT_TRUE(succeeded(adopted));
  close(client);
  expect_that_it_stays(*adopted);
}

TEST_F(AsyncOnCallersLoop, AnEmptyFunctionIsNoCallback) {
  AsyncClient client = AsyncOnCallersLoop::client();
  client.try_acquire(resource_, {}, std::function<void(Result<Lease>)>());
  client.release(Lease(), std::function<void(Result<Round>)>());
  client.inspect("", std::function<void(Result<Inspection>)>());
  client.ownership(resource_, *Token::parse(hex_token()), std::function<void(Result<Ownership>)>());
  bool answered = false;
  client.inspect(resource_, [&](Result<Inspection>) { answered = true; });
  EXPECT_TRUE(loop_.run_until([&] { return answered; }));
  close(client);
  client.close(std::function<void(const CloseReport&)>());
}

TEST_F(AsyncOnCallersLoop, HoldsThousandsOfLocksAtOnce) {
  AsyncClient client = AsyncOnCallersLoop::client();
  constexpr int count = 2000;
  std::vector<Lease> leases;
  int released = 0;
  for (int i = 0; i < count; ++i) {
    client.try_acquire(resource_ + std::to_string(i), {}, [&](Result<Lease> granted) {
      ASSERT_TRUE(succeeded(granted));
      leases.push_back(*std::move(granted));
    });
  }
  ASSERT_TRUE(loop_.run_until([&] { return leases.size() == count; }));
  for (Lease& lease : leases) {
    client.release(std::move(lease), [&](Result<Round> report) {
      EXPECT_TRUE(succeeded(report));
      ++released;
    });
  }
  ASSERT_TRUE(loop_.run_until([&] { return released == count; }));
  close(client);
}

TEST_F(AsyncOnCallersLoop, ACallbackMayStartTheNextCall) {
  AsyncClient client = AsyncOnCallersLoop::client();
  int cycles = 0;
  std::function<void()> cycle = [&] {
    client.try_acquire_for(resource_, seconds(30), {}, [&](Result<Lease> granted) {
      ASSERT_TRUE(succeeded(granted));
      client.release(*std::move(granted), [&](Result<Round> released) {
        EXPECT_TRUE(succeeded(released));
        if (++cycles < 50) cycle();
      });
    });
  };
  cycle();
  EXPECT_TRUE(loop_.run_until([&] { return cycles == 50; }));
  close(client);
}

TEST_F(AsyncOnCallersLoop, CloseAnswersEverythingAndLeavesTheLoopEmpty) {
  int answered = 0;
  Lease held;
  {
    AsyncClient client = AsyncOnCallersLoop::client();
    client.try_acquire(resource_, {}, [&](Result<Lease> lease) { held = *std::move(lease); });
    ASSERT_TRUE(loop_.run_until([&] { return held.valid(); }));
    for (int i = 0; i < 10; ++i) {
      client.acquire(resource_, {}, [&](Result<Lease> lease) {
        EXPECT_TRUE(failed_with(lease, Errc::closed));
        ++answered;
      });
    }
    int closed = 0;
    client.close([&](const CloseReport&) { ++closed; });
    client.close([&](const CloseReport&) { ++closed; });  // twice is harmless
    client.try_acquire(resource_, {}, [&](Result<Lease> lease) {
      EXPECT_TRUE(failed_with(lease, Errc::closed));
      ++answered;
    });
    ASSERT_EQ(uv_run(loop_.get(), UV_RUN_DEFAULT), 0);  // runs out by itself
    EXPECT_EQ(closed, 2);
    EXPECT_EQ(answered, 11);
    EXPECT_FALSE(held.valid());
    EXPECT_EQ(shared_nodes().count_held(resource_), 0U);

    // After the close no loop could answer later.
    client.try_acquire(resource_, {}, [&](Result<Lease> lease) {
      EXPECT_TRUE(failed_with(lease, Errc::closed));
      ++answered;
    });
    client.inspect(resource_, [&](Result<Inspection> inspection) {
      EXPECT_TRUE(failed_with(inspection, Errc::closed));
      ++answered;
    });
    client.close([&](const CloseReport&) { ++closed; });
    client.cancel(RequestId{1});
    EXPECT_EQ(uv_run(loop_.get(), UV_RUN_DEFAULT), 0);
    EXPECT_EQ(answered, 13);
    EXPECT_EQ(closed, 3);
  }
  EXPECT_TRUE(failed_with(held.release(), Errc::closed));
}

TEST_F(AsyncOnCallersLoop, ADestroyedClientAnswersEverything) {
  int answered = 0;
  {
    AsyncClient client = AsyncOnCallersLoop::client();
    for (int i = 0; i < 3; ++i) {
      client.try_acquire(resource_, {}, [&](Result<Lease> lease) {
        EXPECT_TRUE(failed_with(lease, Errc::closed));
        ++answered;
      });
    }
  }
  EXPECT_EQ(uv_run(loop_.get(), UV_RUN_DEFAULT), 0);
  EXPECT_EQ(answered, 3);
}

TEST_F(AsyncOnCallersLoop, AClientMayBeDestroyedInItsOwnCallback) {
  auto client = std::make_unique<AsyncClient>(AsyncOnCallersLoop::client());
  std::vector<Lease> outliving;
  int granted = 0;
  int refused = 0;
  const auto done = [&](Result<Lease> lease) {
    if (!lease) {
      EXPECT_TRUE(failed_with(lease, Errc::closed));
      ++refused;
      return;
    }
    ++granted;
    outliving.push_back(*std::move(lease));
    client.reset();
    // The lease outlives its client and is used at once.
    EXPECT_FALSE(outliving.back().valid());
    EXPECT_FALSE(outliving.back().extend(seconds(1)));
    EXPECT_FALSE(outliving.back().release());
  };
  for (int i = 0; i < 50; ++i) client->try_acquire(resource_ + std::to_string(i), {}, done);
  EXPECT_EQ(uv_run(loop_.get(), UV_RUN_DEFAULT), 0);
  EXPECT_EQ(granted + refused, 50) << granted << " granted, " << refused << " refused";
  EXPECT_GE(granted, 1);
  EXPECT_FALSE(client);
  outliving.clear();
  EXPECT_EQ(granted + refused, 50) << "a callback was called again";
}

TEST_F(AsyncOnCallersLoop, AClientMayBeDestroyedBecauseALeaseIsLost) {
  auto client = std::make_unique<AsyncClient>(AsyncOnCallersLoop::client());
  Lease lease;
  int answers = 0;
  client->try_acquire(resource_, {.ttl = milliseconds(100), .renew = false},
                      [&](Result<Lease> granted) {
                        ASSERT_TRUE(succeeded(granted));
                        lease = *std::move(granted);
                      });
  ASSERT_TRUE(loop_.run_until([&] { return !lease.resource().empty(); }));
  client->acquire(resource_ + ":other", {}, [&](Result<Lease>) { ++answers; });
  const std::stop_callback on_loss(lease.lost(), [&] {
    client.reset();
    lease = Lease();
  });
  EXPECT_EQ(uv_run(loop_.get(), UV_RUN_DEFAULT), 0);
  EXPECT_FALSE(client);
  EXPECT_EQ(answers, 1);
}

TEST_F(AsyncOnCallersLoop, ACallbackMayCloseAndReleaseAtOnce) {
  AsyncClient client = AsyncOnCallersLoop::client();
  int answers = 0;
  bool closed = false;
  client.try_acquire(resource_, {}, [&](Result<Lease> lease) {
    ASSERT_TRUE(succeeded(lease));
    client.close([&](const CloseReport&) { closed = true; });
    client.release(*std::move(lease), [&](Result<Round> report) {
      EXPECT_TRUE(failed_with(report, Errc::closed));
      ++answers;
    });
    ++answers;
  });
  EXPECT_EQ(uv_run(loop_.get(), UV_RUN_DEFAULT), 0);
  EXPECT_TRUE(closed);
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(shared_nodes().count_held(resource_), 0U);
}

TEST_F(AsyncOnCallersLoop, TwoClientsShareALoop) {
  AsyncClient first = client();
  AsyncClient second = client();
  Lease lease;
  bool refused = false;
  first.try_acquire(resource_, {}, [&](Result<Lease> granted) {
    ASSERT_TRUE(succeeded(granted));
    lease = *std::move(granted);
    second.try_acquire(resource_, {},
                       [&](Result<Lease> other) { refused = failed_with(other, Errc::held); });
  });
  ASSERT_TRUE(loop_.run_until([&] { return refused; }));
  // The other client releases it through the lease's own client.
  bool released = false;
  second.release(std::move(lease), [&](Result<Round> report) {
    EXPECT_TRUE(succeeded(report));
    released = true;
  });
  ASSERT_TRUE(loop_.run_until([&] { return released; }));
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 0; }));
  close(first);
  close(second);
}

TEST_F(AsyncOnCallersLoop, AnEmptyLeaseIsRefusedLikeAnyMistake) {
  AsyncClient client = AsyncOnCallersLoop::client();
  int answers = 0;
  bool inside = true;
  client.extend(Lease(), seconds(1), [&](Result<Round> report) {
    EXPECT_FALSE(inside);
    EXPECT_TRUE(failed_with(report, Errc::not_holder));
    ++answers;
  });
  client.release(Lease(), [&](Result<Round> report) {
    EXPECT_FALSE(inside);
    EXPECT_TRUE(failed_with(report, Errc::not_holder));
    ++answers;
  });
  inside = false;
  EXPECT_TRUE(loop_.run_until([&] { return answers == 2; }));
  close(client);
}

TEST_F(AsyncOnCallersLoop, CallbacksMayBeLeftOut) {
  AsyncClient client = AsyncOnCallersLoop::client();
  client.try_acquire(resource_, {}, nullptr);  // granted to nobody: released at once
  client.inspect(resource_, nullptr);
  client.release(resource_, *Token::parse("t"), nullptr);
  client.extend(resource_, *Token::parse("t"), seconds(1), nullptr);
  close(client);
  EXPECT_EQ(shared_nodes().count_held(resource_), 0U);
}

TEST_F(AsyncOnCallersLoop, ACallIsCancelledAndAnswersOnce) {
  AsyncClient holder = client();
  AsyncClient client = AsyncOnCallersLoop::client();
  Lease lease;
  holder.try_acquire(resource_, {}, [&](Result<Lease> granted) { lease = *std::move(granted); });
  ASSERT_TRUE(loop_.run_until([&] { return lease.valid(); }));
  int cancelled = 0;
  const RequestId request = client.acquire(resource_, {}, [&](Result<Lease> refused) {
    EXPECT_TRUE(failed_with(refused, Errc::cancelled));
    ++cancelled;
  });
  client.cancel(request);
  EXPECT_EQ(cancelled, 0);
  ASSERT_TRUE(loop_.run_until([&] { return cancelled == 1; }));
  client.cancel(request);
  client.cancel(RequestId{});
  client.cancel(RequestId{123456});
  close(client);
  close(holder);
  EXPECT_EQ(cancelled, 1);
}

TEST_F(AsyncOnCallersLoop, AMutexQueuesItsCallsWithoutOtherThreads) {
  AsyncClient client = AsyncOnCallersLoop::client();
  AsyncMutex mutex(client, resource_);
  const auto thread = std::this_thread::get_id();
  std::vector<AsyncMutexGuard> guards;
  int late = 0;
  int closed = 0;
  const auto done = [&](Result<AsyncMutexGuard> guard) {
    EXPECT_EQ(std::this_thread::get_id(), thread);
    ASSERT_TRUE(succeeded(guard));
    guards.push_back(*std::move(guard));
  };
  mutex.lock(done);
  mutex.lock(done);
  mutex.try_lock_for(milliseconds(20), [&](Result<AsyncMutexGuard> guard) {
    EXPECT_TRUE(failed_with(guard, Errc::held));
    ++late;
  });
  ASSERT_TRUE(loop_.run_until([&] { return guards.size() == 1 && late == 1; }));
  guards.clear();
  ASSERT_TRUE(loop_.run_until([&] { return guards.size() == 1; }));
  mutex.lock([&](Result<AsyncMutexGuard> guard) {
    EXPECT_TRUE(failed_with(guard, Errc::closed));
    ++closed;
  });
  close(client);
  EXPECT_EQ(closed, 1);
}

TEST_F(AsyncOnCallersLoop, ADestroyedClientEndsTheCallsOfItsMutex) {
  std::optional<AsyncMutex> mutex;
  std::vector<AsyncMutexGuard> guards;
  int closed = 0;
  {
    AsyncClient client = AsyncOnCallersLoop::client();
    mutex.emplace(client, resource_);
    for (int i = 0; i < 3; ++i) {
      mutex->lock([&](Result<AsyncMutexGuard> guard) {
        if (guard) return guards.push_back(*std::move(guard));
        EXPECT_TRUE(failed_with(guard, Errc::closed));
        ++closed;
      });
    }
    ASSERT_TRUE(loop_.run_until([&] { return guards.size() == 1; }));
  }
  EXPECT_EQ(closed, 2);
  EXPECT_FALSE(guards.front().valid());
}

TEST_F(AsyncOnCallersLoop, ALeaseIsReleasedFromAnotherThread) {
  AsyncClient client = AsyncOnCallersLoop::client();
  Lease lease;
  client.try_acquire(resource_, {}, [&](Result<Lease> granted) { lease = *std::move(granted); });
  ASSERT_TRUE(loop_.run_until([&] { return lease.valid(); }));
  auto released = std::async(std::launch::async, [&] { return lease.release(); });
  ASSERT_TRUE(
      loop_.run_until([&] { return released.wait_for(seconds(0)) == std::future_status::ready; }));
  EXPECT_TRUE(succeeded(released.get()));
  close(client);
}

}  // namespace
}  // namespace redlock::test
