// P18: observers, and callers that wait for another library's lock, learn of changes by
// notification.

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr const char* needs_tracking = "keys are tracked: row redis-7.0 of the matrix";

/// Nodes of an opened deployment: with the restart guard, they track keys.
class TrackingNodes : public testing::Test {
 protected:
  void SetUp() override {
    if (!nodes_[0].is_since(7)) GTEST_SKIP() << needs_tracking;
    open_deployment(options());
  }
  [[nodiscard]] ClientOptions options() const {
    ClientOptions options = guarded(nodes_.urls());
    options.max_ttl = seconds(60);
    return options;
  }
  /// Sets the key of another library's lock.
  void lock(const std::string& ttl_ms) {
    for (const RedisServer& node : nodes_) {
      node.command({"SET", "r", "theirs", "PX", ttl_ms});
    }
  }
  void unlock() {
    for (const RedisServer& node : nodes_) node.command({"DEL", "r"});
  }

  NewNodes nodes_{3};
};

/// The inspections that a watcher received, one line each.
class Sightings {
 public:
  void add(const Inspection& inspection) {
    const std::lock_guard lock(mutex_);
    const bool held = inspection.state == Inspection::State::held;
    lines_.push_back(held ? "held by " + inspection.holder.value_or(Token()).str()
                          : std::string(to_string(inspection.state)));
  }
  [[nodiscard]] std::string last() const {
    const std::lock_guard lock(mutex_);
    return lines_.empty() ? "" : lines_.back();
  }
  [[nodiscard]] std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

class Watch : public TrackingNodes {
 protected:
  void SetUp() override {
    TrackingNodes::SetUp();
    if (IsSkipped()) return;
    holder_.emplace(make_client(options()));
    observer_.emplace(make_client(options()));
    // The watcher must not depend on polls.
    watcher_ = std::jthread([this](const std::stop_token& stop) {
      const auto calls =
          observer_->watch("r", [this](const Inspection& seen) { sightings_.add(seen); }, stop,
                           {.poll_interval = hours(1)});
      EXPECT_TRUE(succeeded(calls));
    });
    ASSERT_TRUE(eventually([this] { return sightings_.count() == 1; }));
    EXPECT_EQ(sightings_.last(), "free");
  }
  [[nodiscard]] bool sees(const std::string& what) {
    return eventually([&] { return sightings_.last() == what; });
  }

  std::optional<Client> holder_;
  std::optional<Client> observer_;
  Sightings sightings_;
  std::jthread watcher_;
};

TEST_F(Watch, SeesALeaseComeAndGo) {
  auto lease = holder_->try_acquire("r", {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(sees("held by " + lease->token().str()));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(sees("free"));
  EXPECT_EQ(sightings_.count(), 3U);
}

TEST_F(Watch, SeesALeaseExpire) {
  auto lease = holder_->try_acquire("r", {.ttl = std::chrono::milliseconds(500), .renew = false});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(sees("held by " + lease->token().str()));
  EXPECT_TRUE(sees("free"));
}

TEST_F(Watch, SeesWhatComesBehindALeaseThatExpired) {
  for (int i = 0; i < 3; ++i) {
    auto lease = holder_->try_acquire("r", {.ttl = std::chrono::milliseconds(300)});
    ASSERT_TRUE(succeeded(lease));
    ASSERT_TRUE(sees("held by " + lease->token().str()));
    static_cast<void>(lease->detach());
    // The watcher inspects in the millisecond of the expiry, so the servers delete the key while
    // they answer.
    ASSERT_TRUE(sees("free"));
  }
  const std::size_t seen = sightings_.count();
  lock("60000");
  ASSERT_TRUE(sees("held by theirs"));
  unlock();
  ASSERT_TRUE(sees("free"));
  EXPECT_EQ(sightings_.count(), seen + 2);
}

TEST_F(Watch, SeesLeasesOfItsOwnClient) {
  auto lease = observer_->try_acquire("r", {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(sees("held by " + lease->token().str()));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(sees("free"));
}

TEST_F(Watch, SeesAHandOverAsOne) {
  auto lease = holder_->try_acquire("r", {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(sees("held by " + lease->token().str()));
  auto next = std::async(std::launch::async,
                         [this] { return observer_->acquire("r", {.ttl = seconds(30)}); });
  ASSERT_TRUE(eventually([this] { return calls(nodes_[0], "zadd") > 0; }));
  ASSERT_TRUE(succeeded(lease->release()));
  auto second = next.get();
  ASSERT_TRUE(succeeded(second));
  EXPECT_TRUE(sees("held by " + second->token().str()));
}

TEST_F(Watch, SeesOtherLibrariesLocks) {
  lock("30000");
  EXPECT_TRUE(sees("held by theirs"));
  unlock();
  EXPECT_TRUE(sees("free"));
}

TEST_F(Watch, GoesOnOverANodeThatRestarts) {
  nodes_[1].restart();
  auto lease = holder_->try_acquire_for("r", seconds(20), {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(sees("held by " + lease->token().str()));
}

TEST_F(Watch, OfAnAsyncClientEndsByCancelWithOneAnswer) {
  auto client = AsyncClient::create(options());
  ASSERT_TRUE(succeeded(client));
  std::mutex mutex;
  std::vector<std::string> answers;
  const auto changed = [&](const Result<Inspection>& seen) {
    const std::lock_guard lock(mutex);
    answers.emplace_back(seen ? to_string(seen->state) : to_string(seen.error().code));
  };
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return answers.size();
  };
  const RequestId watch = client->watch("r", {.poll_interval = hours(1)}, changed);
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  lock("30000");
  ASSERT_TRUE(eventually([&] { return count() == 2; }));
  client->cancel(watch);
  ASSERT_TRUE(eventually([&] { return count() == 3; }));
  EXPECT_EQ(answers, (std::vector<std::string>{"free", "held", "cancelled"}));
}

TEST_F(TrackingNodes, AWatchRefusesWhatIsNoResource) {
  Client client = make_client(options());
  const auto refused = client.watch("", [](const Inspection&) {}, {});
  EXPECT_TRUE(failed_with(refused, Errc::invalid_argument));
  EXPECT_TRUE(failed_with(client.watch("r", {}, {}), Errc::invalid_argument));
  const auto never = client.watch("r", [](const Inspection&) {}, {}, {.poll_interval = seconds(0)});
  EXPECT_TRUE(failed_with(never, Errc::invalid_argument));
}

/// A caller that waits for another library's lock.
class ForeignLock : public TrackingNodes {
 protected:
  /// Whether the caller does not poll: a client that polls asks about twenty times per second.
  [[nodiscard]] bool sleeps() {
    return eventually([this] {
      const auto before = asked();
      std::this_thread::sleep_for(seconds(1));
      return asked() - before <= 2;
    });
  }
  [[nodiscard]] int asked() { return calls(nodes_[0], "set") + calls(nodes_[0], "evalsha"); }
};

TEST_F(ForeignLock, IsWaitedForWithoutPolling) {
  lock("60000");
  Client client = make_client(options());
  auto waiting = std::async(std::launch::async,
                            [&client] { return client.acquire("r", {.ttl = seconds(30)}); });
  ASSERT_TRUE(eventually([this] { return calls(nodes_[0], "zadd") > 0; }));
  EXPECT_TRUE(sleeps());
  unlock();
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(ForeignLock, IsObtainedWhenItExpires) {
  lock("700");
  Client client = make_client(options());
  EXPECT_TRUE(succeeded(client.acquire("r", {.ttl = seconds(30)})));
}

}  // namespace
}  // namespace redlock::test
