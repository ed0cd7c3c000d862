#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "integration/guarded.hpp"

/// Clients that want one lock of a replicated node while somebody disturbs its servers, and a judge
/// of what they had.
namespace redlock::test {

/// Needs servers that a primary with replicas can be: rows of the matrix from Redis 7.0 on.
class OfReplicas : public testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer().is_since(7)) GTEST_SKIP() << "needs Redis 7.0";
  }
};

struct Judged {
  std::size_t leases = 0;
  std::size_t overlaps = 0;
  std::size_t wrong_numbers = 0;
};

/// Four clients acquire the resource, extend, release or drop it, again and again. If they keep it,
/// it is renewed.
class Contest {
 public:
  explicit Contest(ClientOptions options, bool fenced = false, bool keeps = false)
      : options_(std::move(options)), fenced_(fenced), keeps_(keeps) {
    for (int i = 0; i < 4; ++i) clients_.emplace_back([this] { hold_again_and_again(); });
  }
  ~Contest() { end(); }
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  [[nodiscard]] std::size_t leases() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  [[nodiscard]] Judged judge() {
    end();
    std::sort(held_.begin(), held_.end(),
              [](const WasHeld& a, const WasHeld& b) { return a.from < b.from; });
    Judged judged;
    judged.leases = held_.size();
    Instant latest{};
    std::uint64_t highest = 0;
    for (const WasHeld& held : held_) {
      if (held.from < latest) ++judged.overlaps;
      if (held.number != 0 && held.number <= highest) ++judged.wrong_numbers;
      latest = std::max(latest, held.until);
      highest = std::max(highest, held.number);
    }
    return judged;
  }

 private:
  using Instant = std::chrono::steady_clock::time_point;
  /// When a lease was held for certain, by the clock of the test.
  struct WasHeld {
    Instant from;
    Instant until;
    std::uint64_t number;  ///< its fencing token; 0: none
  };

  void end() {
    over_ = true;
    for (std::thread& client : clients_) client.join();
    clients_.clear();
  }

  void hold_again_and_again() {
    Client client = make_client(options_);
    std::mt19937 random(std::random_device{}());
    const auto ttl = options_.max_ttl;
    while (!over_) {
      auto lease =
          client.try_acquire_for("r", ttl, {.ttl = ttl, .renew = keeps_, .fencing = fenced_});
      const auto from = std::chrono::steady_clock::now();
      if (!lease) continue;
      const std::uint64_t number = fenced_ ? lease->fencing_token()->value() : 0;
      for (auto end = from + ttl * (random() % 4);
           keeps_ && std::chrono::steady_clock::now() < end;) {
        if (!lease->valid() || over_) break;
        std::this_thread::sleep_for(ttl / 100);
      }
      if (random() % 2 == 0) {
        std::this_thread::sleep_for(ttl / 4);
        static_cast<void>(lease->extend(ttl));
      }
      std::this_thread::sleep_for(ttl / 100 * (random() % 90));
      // If it is valid now, it was at each instant before.
      const auto until = lease->valid() ? std::chrono::steady_clock::now() : from;
      if (random() % 4 != 0) static_cast<void>(lease->release());
      const std::lock_guard lock(mutex_);
      held_.push_back({from, until, number});
    }
  }

  const ClientOptions options_;
  const bool fenced_;
  const bool keeps_;
  std::atomic<bool> over_ = false;
  mutable std::mutex mutex_;
  std::vector<WasHeld> held_;
  std::vector<std::thread> clients_;
};

/// How often servers are disturbed in a contest: REIGN_ROUNDS for longer ones.
[[nodiscard]] inline int contest_rounds() {
  const char* const wanted = std::getenv("REIGN_ROUNDS");
  return wanted != nullptr ? std::atoi(wanted) : 25;
}

inline void expect_one_holder(const Judged& judged, unsigned seed) {
  EXPECT_EQ(judged.overlaps, 0U) << "of " << judged.leases << ", seed " << seed;
  EXPECT_EQ(judged.wrong_numbers, 0U) << "of " << judged.leases << ", seed " << seed;
  EXPECT_GE(judged.leases, 1U);
  testing::Test::RecordProperty("leases", static_cast<int>(judged.leases));
}

}  // namespace redlock::test
