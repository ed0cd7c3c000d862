// Each kind of lock, contended for by separate clients while nodes are stopped, killed and
// restarted empty. The holds and their times are recorded, and judged afterwards.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A lease as its holder saw it: the holder acts on it from `from`, and no longer from `until` on.
struct Held {
  BootClock::time_point from;
  BootClock::time_point until;
  std::string resource;
  std::string group;  ///< what holders at the same time have in common; empty: it excludes all
  BootClock::time_point began;  ///< no request for it was sent before
  std::chrono::nanoseconds at_least{0};
};

struct FireKind {
  const char* name;
  Target (*draw)(std::minstd_rand& random);
  std::chrono::nanoseconds ttl = seconds(2);
  int grants = 20;  ///< grants that end a fault

  friend void PrintTo(const FireKind& kind, std::ostream* out) { *out << kind.name; }
};

Target as_reader_or_writer(std::minstd_rand& random) {
  return random() % 3 != 0 ? shared("r") : Target("r");
}
Target as_owner(std::minstd_rand& random) { return owned("r", random() % 2 == 0 ? "a" : "b"); }
Target of_several(std::minstd_rand& random) {
  if (random() % 2 == 0) return "r";
  return random() % 2 == 0 ? all_of({"r", "another", "and another"})
                           : all_of({"another", "r", "and another"});
}
Target of_permits(std::minstd_rand& /*random*/) { return permit("r", 2); }
Target of_an_interval(std::minstd_rand& /*random*/) { return interval("r", milliseconds(250)); }

/// What holders that do not exclude each other have in common; empty: the lock excludes all others.
std::string group_of(const Target& target) {
  return target.kind() == Target::Kind::shared ? "readers" : target.owner();
}

class KindsUnderFire : public testing::TestWithParam<FireKind> {
 protected:
  [[nodiscard]] ClientOptions client_options() {
    ClientOptions options = impatient(nodes_.urls());
    options.max_ttl = seconds(3);
    return options;
  }

  void contend(unsigned number) {
    Client client = make_client(client_options());
    std::minstd_rand random(number);
    while (!over_) {
      const Target target = GetParam().draw(random);
      const std::string group = group_of(target);
      const auto ttl = GetParam().ttl;
      const auto at_least = target.interval();
      auto lease = client.try_acquire_for(target, seconds(5), {.ttl = ttl});
      if (!lease) continue;
      const auto from = BootClock::now();
      // No later than the begin of the granting round: drift is subtracted as well.
      const auto began = lease->valid_until() - ttl;
      std::this_thread::yield();
      const auto until = std::min(BootClock::now(), lease->valid_until());
      ++grants_;
      {
        const std::lock_guard lock(mutex_);
        for (const std::string& name : lease->resources()) {
          history_.push_back({from, until, name, group, began, at_least});
        }
      }
      if (at_least > at_least.zero() && random() % 4 == 0) {
        // As if the holder had died.
        static_cast<void>(lease->detach());
      } else {
        static_cast<void>(lease->release());
      }
    }
  }

  /// A fault ends when the contenders have made progress under it.
  void expect_progress(const char* under) {
    const int before = grants_;
    EXPECT_TRUE(eventually([&] { return grants_ >= before + GetParam().grants; }, seconds(60)))
        << under;
  }

  void break_nodes() {
    expect_progress("nothing");
    nodes_[0].stop();
    expect_progress("one node stopped");
    nodes_[1].kill();
    expect_progress("one node stopped, one killed");
    nodes_[0].resume();
    expect_progress("one node killed");
    nodes_[1].restart(Data::wipe);
    expect_progress("one node back, empty");
    nodes_[2].kill();
    nodes_[2].restart(Data::wipe);
    expect_progress("another one back, empty");
  }

  void judge() {
    std::map<std::string, std::vector<Held>> by_resource;
    for (const Held& held : history_) by_resource[held.resource].push_back(held);
    for (auto& [resource, leases] : by_resource) {
      judge_intervals(leases);
      for (const Held& a : leases) {
        for (const Held& b : leases) {
          if (&a == &b || a.from > b.from || b.from >= a.until) continue;
          EXPECT_TRUE(!a.group.empty() && a.group == b.group)
              << resource << ": '" << a.group << "' and '" << b.group << "' at once";
        }
      }
    }
    if (GetParam().draw == of_permits) {
      EXPECT_LE(by_resource.size(), 2U) << "permits";
    }
  }

  /// The nodes keep an interval for its whole length from the time of the request, which is after
  /// `began`, and the holder has it from the answers on, which come before `from`.
  static void judge_intervals(std::vector<Held>& leases) {
    std::sort(leases.begin(), leases.end(),
              [](const Held& a, const Held& b) { return a.began < b.began; });
    for (std::size_t i = 1; i < leases.size(); ++i) {
      EXPECT_GE(leases[i].from - leases[i - 1].began, leases[i - 1].at_least) << "an interval";
    }
  }

  NewNodes nodes_{5};
  std::atomic<bool> over_{false};
  std::atomic<int> grants_{0};
  std::mutex mutex_;
  std::vector<Held> history_;  // guarded by mutex_
};

TEST_P(KindsUnderFire, KeepsItsPromise) {
  const auto opened = admin::bootstrap(client_options());
  ASSERT_TRUE(succeeded(opened));
  {
    std::vector<std::jthread> contenders;
    for (unsigned i = 1; i <= 4; ++i) contenders.emplace_back([this, i] { contend(i); });
    break_nodes();
    over_ = true;
  }
  judge();
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, KindsUnderFire,
    testing::Values(FireKind{"readers_and_writers", as_reader_or_writer},
                    FireKind{"owners", as_owner}, FireKind{"several", of_several},
                    FireKind{"permits", of_permits},
                    // The lease is shorter than the interval: after its holder dies, the interval
                    // still excludes others.
                    FireKind{"interval", of_an_interval, milliseconds(200), 3}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace redlock::test
