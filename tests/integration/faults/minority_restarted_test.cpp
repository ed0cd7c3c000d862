// A cohort and a watcher continue while two of five nodes are killed, and depend on these after
// their restart, when two others are killed.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class MinorityRestarted : public testing::Test {
 protected:
  void SetUp() override { open_deployment(options()); }
  [[nodiscard]] ClientOptions options() const {
    ClientOptions options = impatient(nodes_.urls());
    options.max_ttl = short_max_ttl;
    return options;
  }
  void kill_two() {
    nodes_[0].kill();
    nodes_[3].kill();
  }
  /// Restarts two nodes without their data: they vote again after their quarantine.
  void restart_two() {
    for (const std::size_t node : {0U, 3U}) nodes_[node].start(Data::wipe);
    for (const std::size_t node : {0U, 3U}) {
      ASSERT_TRUE(soon_out_of_quarantine(nodes_[node]));
      ASSERT_TRUE(eventually([&] { return is_member(nodes_[node]); }, seconds(60)));
    }
  }
  void kill_two_others() {
    nodes_[1].kill();
    nodes_[4].kill();
  }

  NewNodes nodes_{5};
};

TEST_F(MinorityRestarted, ACohortPassesItsLeaseOn) {
  Client one = make_client(options());
  Client other = make_client(options());
  const AcquireOptions ttl{.ttl = seconds(2)};
  std::array<Mutex, 2> mutexes{Mutex(one, "r", ttl), Mutex(other, "r", ttl)};
  std::array<std::atomic<int>, 2> turns{};
  std::atomic<int> inside{0};
  std::atomic<bool> over{false};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < 6; ++i) {
    threads.emplace_back([&, half = i % 2] {
      while (!over) {
        const std::unique_lock lock(mutexes.at(half));
        // A lease may be lost while nodes are killed; this turn does not count.
        if (!mutexes.at(half).valid()) continue;
        EXPECT_EQ(++inside, 1);
        std::this_thread::yield();
        --inside;
        ++turns.at(half);
      }
    });
  }
  const auto both_go_on = [&](const char* when) {
    for (std::atomic<int>& count : turns) {
      const int before = count;
      EXPECT_TRUE(eventually([&] { return count >= before + 50; }, seconds(60))) << when;
    }
  };
  both_go_on("with all nodes");
  kill_two();
  both_go_on("without two");
  restart_two();
  both_go_on("with all again");
  kill_two_others();
  both_go_on("with those that were restarted");
  over = true;
}

TEST_F(MinorityRestarted, AWatcherSeesEveryChange) {
  if (!nodes_[0].is_since(7)) GTEST_SKIP() << "keys are tracked: row redis-7.0 of the matrix";
  Client holder = make_client(options());
  Client observer = make_client(options());
  std::mutex guard;
  std::string last;  // guarded by `guard`
  std::jthread watcher([&](const std::stop_token& stop) {
    const auto seen = [&](const Inspection& inspection) {
      const std::lock_guard lock(guard);
      last = inspection.state == Inspection::State::held ? inspection.holder.value().str()
                                                         : std::string(to_string(inspection.state));
    };
    // The watcher must not depend on polls.
    EXPECT_TRUE(succeeded(observer.watch("r", seen, stop, {.poll_interval = hours(1)})));
  });
  const auto sees = [&](const std::string& what) {
    return eventually(
        [&] {
          const std::lock_guard lock(guard);
          return last == what;
        },
        seconds(60));
  };
  const auto sees_a_lease = [&](const char* when) {
    auto lease = holder.try_acquire_for("r", seconds(60), {.ttl = seconds(2)});
    ASSERT_TRUE(succeeded(lease)) << when;
    EXPECT_TRUE(sees(lease->token().str())) << when;
    ASSERT_TRUE(succeeded(lease->release())) << when;
    EXPECT_TRUE(sees("free")) << when;
  };
  sees_a_lease("with all nodes");
  kill_two();
  sees_a_lease("without two");
  restart_two();
  sees_a_lease("with all again");
  kill_two_others();
  sees_a_lease("with those that were restarted");
}

}  // namespace
}  // namespace redlock::test
