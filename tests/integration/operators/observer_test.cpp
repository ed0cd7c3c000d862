// The notifications of an Observer.

#include "redlock/observer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;

/// Records its notifications, without their numbers.
class Notes final : public Observer {
 public:
  void acquire_began(const AcquireObservation& call) noexcept override {
    begun_ = call.call;
    add("acquire began", call.at);
  }
  void acquire_ended(const AcquireObservation& call) noexcept override {
    EXPECT_EQ(call.call, begun_);
    add(std::string("acquire ended: ") +
            (call.failure ? std::string(to_string(*call.failure)) : std::string("granted")),
        call.at);
  }
  void hold_began(const HoldObservation& hold) noexcept override {
    EXPECT_EQ(hold.call, begun_);
    EXPECT_FALSE(hold.token.empty());
    EXPECT_EQ(hold.end, HoldObservation::End::open);
    add("hold began", hold.at);
  }
  void hold_ended(const HoldObservation& hold) noexcept override {
    add("hold ended: " + std::string(to_string(hold.end)), hold.at);
  }
  void lease_lost(const HoldObservation& hold) noexcept override { add("lost", hold.at); }

  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  void add(std::string note, BootClock::time_point at) {
    const std::lock_guard lock(mutex_);
    EXPECT_GE(at, last_);
    last_ = at;
    notes_.push_back(std::move(note));
  }

  mutable std::mutex mutex_;
  std::vector<std::string> notes_;
  BootClock::time_point last_{};
  std::uint64_t begun_ = 0;
};

class ClientObserver : public ::testing::Test {
 protected:
  ClientOptions options() {
    ClientOptions options;
    options.nodes = shared_urls(3);
    options.observer = notes_;
    return options;
  }
  /// Whether these are the notifications, which may come a little after the answer.
  [[nodiscard]] bool notes_are(const std::vector<std::string>& wanted) const {
    return eventually([&] { return notes_->all() == wanted; });
  }
  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
};

TEST_F(ClientObserver, IsNotifiedOfACallAndItsLease) {
  Result<Client> client = Client::create(options());
  ASSERT_TRUE(client);
  const std::string resource = fresh_resource();
  Result<Lease> lease = client->acquire(resource);
  ASSERT_TRUE(lease);
  EXPECT_TRUE(notes_are({"acquire began", "acquire ended: granted", "hold began"}));
  EXPECT_FALSE(client->try_acquire(resource));
  ASSERT_TRUE(lease->release());
  EXPECT_TRUE(notes_are({"acquire began", "acquire ended: granted", "hold began", "acquire began",
                         "acquire ended: held", "hold ended: released"}));
}

/// Waits in each call for the callers that were granted before it.
class Waiting final : public Observer {
 public:
  void hold_began(const HoldObservation&) noexcept override {
    const int before = granted_++;
    if (!eventually([&] { return returned >= before; })) held_up = true;
  }
  std::atomic<int> returned{0};
  std::atomic<bool> held_up{false};

 private:
  int granted_ = 0;
};

TEST_F(ClientObserver, DoesNotHoldUpACallerThatWasAnsweredBefore) {
  const auto observer = std::make_shared<Waiting>();
  ClientOptions terms = options();
  terms.observer = observer;
  Result<Client> client = Client::create(terms);
  ASSERT_TRUE(client);
  constexpr int each = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < each; ++n) {
        const Result<Lease> lease = client->acquire(fresh_resource());
        ++observer->returned;
        EXPECT_TRUE(succeeded(lease));
        if (observer->held_up) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(observer->held_up);
}

TEST_F(ClientObserver, IsNotifiedOfALossBeforeTheHoldEnds) {
  Result<Client> client = Client::create(options());
  ASSERT_TRUE(client);
  AcquireOptions terms;
  terms.ttl = 50ms;
  terms.renew = false;
  Result<Lease> lease = client->acquire(fresh_resource(), terms);
  ASSERT_TRUE(lease);
  EXPECT_TRUE(notes_are(
      {"acquire began", "acquire ended: granted", "hold began", "lost", "hold ended: lost"}));
  static_cast<void>(lease->release());
}

TEST_F(ClientObserver, IsNotifiedHowElseAHoldEnds) {
  {
    Result<Client> client = Client::create(options());
    ASSERT_TRUE(client);
    Result<Lease> lease = client->acquire(fresh_resource());
    ASSERT_TRUE(lease);
    static_cast<void>(lease->detach());
    EXPECT_TRUE(notes_are(
        {"acquire began", "acquire ended: granted", "hold began", "hold ended: detached"}));
    lease = client->acquire(fresh_resource());
    ASSERT_TRUE(lease);
    ASSERT_TRUE(client->close());
  }
  ASSERT_EQ(notes_->all().size(), 8U);
  EXPECT_EQ(notes_->all().back(), "hold ended: closed");
}

TEST_F(ClientObserver, IsNotifiedOnTheLoopThreadOfAnAsynchronousClient) {
  Result<AsyncClient> client = AsyncClient::create(options());
  ASSERT_TRUE(client);
  client->try_acquire(fresh_resource(), {}, [](Result<Lease> lease) {
    EXPECT_TRUE(lease);  // and is released, when it goes out of scope
  });
  EXPECT_TRUE(
      notes_are({"acquire began", "acquire ended: granted", "hold began", "hold ended: released"}));
}

TEST_F(ClientObserver, IsNotNotifiedOfCallsWithBadArguments) {
  Result<Client> client = Client::create(options());
  ASSERT_TRUE(client);
  EXPECT_FALSE(client->acquire(""));
  ASSERT_TRUE(client->close());
  EXPECT_EQ(notes_->all(), std::vector<std::string>{});
}

}  // namespace
}  // namespace redlock::test
