// Teams that share nodes: ClientOptions::prefix, as users have it, on five nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "redlock/listing.hpp"
#include "redlock/observer.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Records the resource names that an observer receives.
class Heard final : public Observer {
 public:
  void acquire_began(const AcquireObservation& call) noexcept override { add(call.resource); }
  void acquire_ended(const AcquireObservation& call) noexcept override { add(call.resource); }
  void hold_began(const HoldObservation& hold) noexcept override { add(hold.resource); }
  void hold_ended(const HoldObservation& hold) noexcept override { add(hold.resource); }

  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.push_back(name);
  }
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
};

class Prefix : public testing::Test {
 protected:
  [[nodiscard]] ClientOptions of_team(const std::string& team) const {
    ClientOptions options = patient(nodes_.urls());
    options.name = team;
    options.prefix = team + ':';
    options.name_holders = true;
    return options;
  }
  [[nodiscard]] Client client_of(const std::string& team) const {
    return make_client(of_team(team));
  }
  /// The resources that this team sees in a list.
  [[nodiscard]] std::vector<std::string> listed(const std::string& team,
                                                const std::string& pattern = {}) const {
    const auto list = admin::list_locks(of_team(team), {.pattern = pattern});
    EXPECT_TRUE(succeeded(list));
    std::vector<std::string> names;
    for (const admin::ListedLock& lock : list->locks) names.push_back(lock.resource);
    return names;
  }
  [[nodiscard]] bool on_all_nodes(const std::string& key) const {
    return eventually([&] { return nodes_.count_held(key) == nodes_.size(); });
  }

  Nodes nodes_{5};
  Client billing_ = client_of("billing");
  Client shipping_ = client_of("shipping");
};

TEST_F(Prefix, TeamsWithOneNameForTwoLocksDoNotMeet) {
  auto ours = billing_.try_acquire_for("job", 60s);
  auto theirs = shipping_.try_acquire_for("job", 60s);
  ASSERT_TRUE(succeeded(ours));
  ASSERT_TRUE(succeeded(theirs));
  EXPECT_EQ(ours->resource(), "job");
  EXPECT_THAT(ours->resources(), ElementsAre("job"));
  EXPECT_TRUE(on_all_nodes("billing:job"));
  EXPECT_TRUE(on_all_nodes("shipping:job"));
  EXPECT_EQ(nodes_.count_held("job"), 0U);

  EXPECT_EQ(billing_.inspect("job")->holder_name, "billing");
  EXPECT_EQ(billing_.ownership("job", ours->token()), Ownership::held);
  EXPECT_EQ(billing_.ownership("job", theirs->token()), Ownership::not_held);
  // Other clients of the team are refused; the message has the name that they use.
  Client colleague = client_of("billing");
  const auto refused = colleague.try_acquire("job");
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_THAT(refused.error().message, HasSubstr("'job'"));
  EXPECT_EQ(refused.error().holder_name, "billing");
  EXPECT_TRUE(succeeded(ours->release()));
  EXPECT_TRUE(succeeded(colleague.try_acquire_for("job", 60s)));
  EXPECT_TRUE(theirs->valid());
}

TEST_F(Prefix, HoldsForLocksOfEveryKind) {
  auto reader = billing_.try_acquire_for(shared("index"), 60s);
  ASSERT_TRUE(succeeded(reader));
  EXPECT_EQ(reader->resource(), "index");
  EXPECT_TRUE(succeeded(shipping_.try_acquire_for("index", 60s)));

  auto owner = billing_.try_acquire_for(owned("ledger", "nightly"), 60s);
  ASSERT_TRUE(succeeded(owner));
  EXPECT_TRUE(succeeded(shipping_.try_acquire_for(owned("ledger", "daily"), 60s)));

  auto only = billing_.try_acquire_for(permit("encoders", 1), 60s);
  ASSERT_TRUE(succeeded(only));
  EXPECT_EQ(only->resource(), "encoders#0");
  EXPECT_TRUE(on_all_nodes("billing:encoders#0"));
  EXPECT_TRUE(succeeded(shipping_.try_acquire_for(permit("encoders", 1), 60s)));
  const auto full = billing_.try_acquire(permit("encoders", 1));
  ASSERT_TRUE(failed_with(full, Errc::held));
  EXPECT_THAT(full.error().message, HasSubstr("'encoders'"));

  auto both = billing_.try_acquire_for(all_of({"to", "from", "to"}), 60s);
  ASSERT_TRUE(succeeded(both));
  EXPECT_THAT(both->resources(), ElementsAre("to", "from"));
  EXPECT_TRUE(on_all_nodes("billing:from"));
  EXPECT_TRUE(succeeded(shipping_.try_acquire_for(all_of({"from", "to"}), 60s)));
  const auto one_is_taken = billing_.try_acquire(all_of({"another", "from"}));
  ASSERT_TRUE(failed_with(one_is_taken, Errc::held));
  EXPECT_THAT(one_is_taken.error().message, HasSubstr("'from'"));

  auto once = billing_.try_acquire_for(interval("hourly", 10min), 60s);
  ASSERT_TRUE(succeeded(once));
  EXPECT_TRUE(succeeded(once->release()));
  EXPECT_TRUE(failed_with(billing_.try_acquire("hourly"), Errc::held));
  EXPECT_TRUE(succeeded(shipping_.try_acquire_for(interval("hourly", 10min), 60s)));
}

TEST_F(Prefix, HoldsForWhateverTakesAResource) {
  Election election(billing_, "leader", {.candidate = "a"});
  Election elsewhere(shipping_, "leader", {.candidate = "b"});
  auto leader = election.campaign();
  ASSERT_TRUE(succeeded(leader));
  EXPECT_EQ(leader->lease().resource(), "leader");
  const auto none = elsewhere.leader();
  ASSERT_TRUE(succeeded(none));
  EXPECT_FALSE(*none);

  Mutex mutex(billing_, "mutex");
  mutex.lock();
  EXPECT_TRUE(on_all_nodes("billing:mutex"));
  mutex.unlock();

  AcquireOptions fenced;
  fenced.fencing = true;
  auto first = billing_.try_acquire_for("storage", 60s, fenced);
  ASSERT_TRUE(succeeded(first));
  EXPECT_TRUE(succeeded(shipping_.try_acquire_for("storage", 60s, fenced)));
  EXPECT_TRUE(nodes_[0].command({"ZSCORE", "redlock:node:numbers", "storage"}).is_nil());

  // The lease is handed on, and used by its token.
  const DetachedLease detached = first->detach();
  EXPECT_THAT(detached.resources, ElementsAre("storage"));
  EXPECT_TRUE(failed_with(shipping_.adopt(detached), Errc::not_holder));
  Client colleague = client_of("billing");
  auto adopted = colleague.adopt(detached);
  ASSERT_TRUE(succeeded(adopted));
  EXPECT_EQ(adopted->resource(), "storage");
  const Token token = adopted->detach().token;
  EXPECT_TRUE(succeeded(colleague.extend("storage", token, 20s)));
  EXPECT_TRUE(failed_with(shipping_.release("storage", token), Errc::not_holder));
  EXPECT_TRUE(succeeded(colleague.break_lock("storage", token)));
  // The record of the break is written after the release.
  EXPECT_TRUE(eventually([&] {
    const auto seen = billing_.inspect("storage");
    return seen && seen->broken.size() == 1 && seen->broken[0].by == "billing";
  }));
  EXPECT_TRUE(shipping_.inspect("storage")->broken.empty());
}

TEST_F(Prefix, AWatchAndAnObserverAreGivenNames) {
  ClientOptions options = of_team("billing");
  const auto heard = std::make_shared<Heard>();
  options.observer = heard;
  Client observed = make_client(options);
  std::stop_source stop;
  std::atomic<int> ours{0};
  std::atomic<int> theirs{0};
  const auto watch = [&](Client& client, std::atomic<int>& count) {
    return std::jthread([&] {
      const auto changes = client.watch(
          "job", [&](const Inspection&) { ++count; }, stop.get_token());
      EXPECT_TRUE(succeeded(changes));
    });
  };
  {
    const std::jthread at_ours = watch(billing_, ours);
    const std::jthread at_theirs = watch(shipping_, theirs);
    EXPECT_TRUE(eventually([&] { return ours == 1 && theirs == 1; }, 60s));
    auto lease = observed.try_acquire_for("job", 60s);
    EXPECT_TRUE(succeeded(lease));
    EXPECT_TRUE(eventually([&] { return ours == 2; }, 60s));
    EXPECT_TRUE(succeeded(lease->release()));
    EXPECT_TRUE(eventually([&] { return ours == 3; }, 60s));
    EXPECT_EQ(theirs, 1);
    stop.request_stop();
  }
  EXPECT_TRUE(eventually([&] { return heard->all() == std::vector<std::string>(4, "job"); }));
}

TEST_F(Prefix, AListShowsTheTeamItsOwn) {
  auto ours = billing_.try_acquire_for("invoice/1", 60s);
  auto more = billing_.try_acquire_for(permit("jobs", 3), 60s);
  auto theirs = shipping_.try_acquire_for("parcel", 60s);
  Client nobodys = make_client(patient(nodes_.urls()));
  auto bare = nobodys.try_acquire_for("bare", 60s);
  ASSERT_TRUE(ours && more && theirs && bare);
  EXPECT_TRUE(on_all_nodes("billing:invoice/1") && on_all_nodes("shipping:parcel"));
  EXPECT_THAT(listed("billing"), ElementsAre("invoice/1", "jobs"));
  EXPECT_THAT(listed("billing", "*"), ElementsAre("invoice/1", "jobs"));
  EXPECT_THAT(listed("billing", "invoice/?"), ElementsAre("invoice/1"));
  EXPECT_THAT(listed("billing", "job[r-t]"), ElementsAre("jobs"));
  EXPECT_THAT(listed("billing", "parcel"), ElementsAre());
  EXPECT_THAT(listed("billing", "*:*"), ElementsAre()) << "the prefix is not a part of the name";
  EXPECT_THAT(listed("shipping"), ElementsAre("parcel"));
  const auto all = admin::list_locks(patient(nodes_.urls()));
  ASSERT_TRUE(succeeded(all));
  EXPECT_EQ(all->locks.size(), 4U) << "without a prefix, all keys are resources";
}

TEST_F(Prefix, OfTheNodesUrlsIsTheSame) {
  ClientOptions by_url = patient({});
  for (const RedisServer& node : nodes_) {
    by_url.nodes.push_back(node.url() + "?prefix=billing:");
  }
  Client client = make_client(by_url);
  auto lease = client.try_acquire_for("job", 60s);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(failed_with(billing_.try_acquire("job"), Errc::held));
  EXPECT_TRUE(on_all_nodes("billing:job"));
  for (const NodeVote& node : lease->round().nodes) EXPECT_THAT(node.url, Not(HasSubstr("?")));
  const auto check = admin::check(by_url);
  ASSERT_TRUE(succeeded(check));
  EXPECT_TRUE(check->findings.empty()) << check->findings[0].what;
}

TEST_F(Prefix, CountsForTheLengthOfAName) {
  const std::string longest(limits::resource_bytes - std::string_view("billing:").size(), 'x');
  EXPECT_TRUE(succeeded(billing_.try_acquire_for(longest, 60s)));
  const auto refused = billing_.try_acquire(longest + "x");
  ASSERT_TRUE(failed_with(refused, Errc::invalid_argument));
  EXPECT_EQ(refused.error().message, "resource: 8185 bytes; 1 to 8184 are allowed");
  EXPECT_TRUE(failed_with(billing_.inspect(longest + "x"), Errc::invalid_argument));
  EXPECT_TRUE(failed_with(billing_.try_acquire(""), Errc::invalid_argument));
}

/// Each team's clients wait for a lock that all teams call the same.
class TeamsInACrowd : public Prefix {
 protected:
  static constexpr int clients = 8;
  static constexpr int turns = 6;

  struct Team {
    ClientOptions options{};
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};
    std::atomic<int> grants{0};
  };

  void take_turns(Team& team) {
    Client client = make_client(team.options);
    for (int turn = 0; turn < turns; ++turn) {
      auto lease = client.acquire("the lock");
      ASSERT_TRUE(succeeded(lease));
      if (team.inside++ != 0) ++team.overlaps;
      std::this_thread::yield();
      --team.inside;
      ++team.grants;
      // With dead nodes, a release may reach too few; the lock is passed on all the same.
      static_cast<void>(lease->release());
    }
  }
};

TEST_F(TeamsInACrowd, EveryClientGetsItsTurnsWhileAMinorityIsKilled) {
  std::array<Team, 2> teams;
  teams[0].options = of_team("billing");
  teams[1].options = of_team("shipping");
  {
    std::vector<std::jthread> threads;
    for (Team& team : teams) {
      team.options.node.shortest_timeout = 250ms;
      team.options.node.longest_timeout = 500ms;
      for (int i = 0; i < clients; ++i) threads.emplace_back([this, &team] { take_turns(team); });
    }
    EXPECT_TRUE(eventually([&] { return teams[0].grants > 0 && teams[1].grants > 0; }, 60s));
    nodes_[1].kill();
    nodes_[4].kill();
  }
  for (const Team& team : teams) {
    EXPECT_EQ(team.grants, clients * turns) << team.options.prefix;
    EXPECT_EQ(team.overlaps, 0) << team.options.prefix;
  }
}

TEST_F(TeamsInACrowd, WhoWaitsIsServedByTheTeamsQueue) {
  auto ours = billing_.try_acquire_for("job", 60s);
  auto theirs = shipping_.try_acquire_for("job", 60s);
  ASSERT_TRUE(ours && theirs);
  Client colleague = client_of("billing");
  Result<Lease> next = Error{Errc::held, "not yet", {}};
  {
    const std::jthread waiter([&] { next = colleague.acquire("job"); });
    EXPECT_TRUE(eventually([&] { return billing_.inspect("job")->waiters == 1; }, 60s));
    EXPECT_EQ(shipping_.inspect("job")->waiters, 0U);
    EXPECT_THAT(listed("billing"), ElementsAre("job"));
    EXPECT_TRUE(succeeded(theirs->release()));
    EXPECT_EQ(billing_.inspect("job")->waiters, 1U);
    EXPECT_TRUE(succeeded(ours->release()));
  }
  ASSERT_TRUE(succeeded(next));
  EXPECT_EQ(next->resource(), "job");
}

}  // namespace
}  // namespace redlock::test
