#include "chaos/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "chaos/terms.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;

const std::set<FaultKind> every_kind(std::begin(all_fault_kinds), std::end(all_fault_kinds));

ScheduleRequest request_of(std::uint64_t seed, Offset length = 10s) {
  ScheduleRequest request;
  request.seed = seed;
  request.kinds = every_kind;
  request.length = length;
  return request;
}

bool same(const Fault& a, const Fault& b) {
  return a.form == b.form && a.node == b.node && a.contenders == b.contenders &&
         a.begin == b.begin && a.end == b.end && a.amount == b.amount;
}

/// A fault of the server itself, not of the links to it.
bool of_node(const Fault& fault) { return fault.node && fault.contenders == 0; }

bool forgets(const Fault& fault) {
  return fault.form == FaultForm::node_killed_empty ||
         fault.form == FaultForm::node_restarted_empty || fault.form == FaultForm::node_demoted ||
         fault.form == FaultForm::node_flushed;
}

TEST(ChaosSchedule, IsTheSameForTheSameSeed) {
  const auto one = make_schedule(request_of(42));
  const auto two = make_schedule(request_of(42));
  EXPECT_TRUE(std::equal(one.begin(), one.end(), two.begin(), two.end(), same));
  const auto other = make_schedule(request_of(43));
  EXPECT_FALSE(std::equal(one.begin(), one.end(), other.begin(), other.end(), same));
}

TEST(ChaosSchedule, BreaksEveryKindAndHealsItInTime) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::set<FaultKind> kinds;
    Offset before{0};
    for (const Fault& fault : make_schedule(request_of(seed, 9s))) {
      kinds.insert(kind_of(fault.form));
      EXPECT_LE(before, fault.begin);
      EXPECT_LE(fault.begin, fault.end);
      EXPECT_LE(fault.end, 9s);
      before = fault.begin;
    }
    EXPECT_EQ(kinds, every_kind) << "seed " << seed;
  }
}

TEST(ChaosSchedule, BreaksOnlyWhatWasAskedFor) {
  ScheduleRequest request = request_of(5);
  request.kinds = {FaultKind::slow};
  const auto faults = make_schedule(request);
  EXPECT_FALSE(faults.empty());
  for (const Fault& fault : faults) EXPECT_EQ(kind_of(fault.form), FaultKind::slow);
  request.kinds = {};
  EXPECT_TRUE(make_schedule(request).empty());
}

TEST(ChaosSchedule, SparesTheKeysIfRequested) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    ScheduleRequest request = request_of(seed);
    request.forgetting = false;
    std::set<FaultKind> kinds;
    for (const Fault& fault : make_schedule(request)) {
      kinds.insert(kind_of(fault.form));
      EXPECT_FALSE(forgets(fault)) << "seed " << seed << ", " << to_string(fault.form);
    }
    EXPECT_EQ(kinds, (std::set<FaultKind>{FaultKind::kill, FaultKind::pause, FaultKind::partition,
                                          FaultKind::restart, FaultKind::slow, FaultKind::pieces,
                                          FaultKind::load}));
  }
}

TEST(ChaosSchedule, BreaksANodeOnceAtATimeAndAMajorityOnlyByForgetting) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto faults = make_schedule(request_of(seed));
    for (const Fault& fault : faults) {
      if (!of_node(fault)) continue;
      std::set<std::size_t> broken = {*fault.node};
      for (const Fault& other : faults) {
        if (&other == &fault || !of_node(other) || other.end == other.begin) continue;
        if (other.begin > fault.begin || other.end <= fault.begin) continue;
        EXPECT_NE(other.node, fault.node) << "seed " << seed;
        if (!forgets(other)) broken.insert(*other.node);
      }
      if (fault.end > fault.begin && !forgets(fault)) {
        EXPECT_LE(broken.size(), 2U) << "seed " << seed;
      }
    }
  }
}

TEST(ChaosSchedule, MovesOneClockAtATimeAndLetsEveryLeaseEndFirst) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Offset until{0};
    for (const Fault& fault : make_schedule(request_of(seed, 30s))) {
      if (kind_of(fault.form) != FaultKind::clock) continue;
      EXPECT_GE(fault.begin, until) << "seed " << seed;
      until = fault.end;
      if (fault.form != FaultForm::clock_leaps) continue;
      EXPECT_GE(fault.end - fault.begin, max_ttl);
      // A new client must notice the leap; fencing tokens survive only leaps shorter than a
      // quarantine.
      EXPECT_GT(fault.amount, 2 * clock_bound);
      EXPECT_LT(fault.amount, max_ttl);
    }
  }
}

TEST(ChaosSchedule, MovesNoClockOfANodeThatMayStillBeQuarantined) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto faults = make_schedule(request_of(seed, 30s));
    for (const Fault& clock : faults) {
      if (kind_of(clock.form) != FaultKind::clock) continue;
      for (const Fault& loss : faults) {
        const FaultKind kind = kind_of(loss.form);
        const bool forgets =
            kind == FaultKind::kill || kind == FaultKind::role ||
            (kind == FaultKind::restart && loss.form != FaultForm::scripts_flushed);
        if (!forgets || loss.node != clock.node || loss.begin > clock.begin) continue;
        EXPECT_GE(clock.begin, loss.end + max_ttl) << "seed " << seed;
      }
    }
  }
}

TEST(ChaosSchedule, LeadsOneNameAwayAtATimeAndLetsThatNodeBecomeAMemberAgain) {
  std::size_t count = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    ScheduleRequest request = request_of(seed, 30s);
    request.nodes = 3;
    Offset until{0};
    for (const Fault& fault : make_schedule(request)) {
      if (kind_of(fault.form) == FaultKind::name) {
        EXPECT_GE(fault.begin, until) << "seed " << seed;
        EXPECT_NE(fault.contenders, 0U);
        until = fault.end + 5s;
        ++count;
      } else if (forgets(fault) && !fault.needs_operator) {
        EXPECT_GE(fault.begin, until) << "seed " << seed;
      }
    }
    request.nodes = 2;
    for (const Fault& fault : make_schedule(request)) {
      EXPECT_NE(kind_of(fault.form), FaultKind::name);
      EXPECT_NE(kind_of(fault.form), FaultKind::evict);
    }
  }
  EXPECT_GE(count, 100U);
}

/// Whether the fault ends the vote of its node for a while.
bool costs_vote(const Fault& fault) {
  return of_node(fault) &&
         (forgets(fault) || fault.form == FaultForm::node_killed_with_data ||
          fault.form == FaultForm::node_restarted || fault.form == FaultForm::node_evicts ||
          kind_of(fault.form) == FaultKind::clock);
}

TEST(ChaosSchedule, LeavesAMajorityThatVouchesForANodeWhoseNameLedAway) {
  // Clients, which reconnect every 5 s, take the node back.
  constexpr Offset no_member = 5s + 2 * max_ttl;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const auto faults = make_schedule(request_of(seed, 30s));
    for (const Fault& name : faults) {
      if (kind_of(name.form) != FaultKind::name) continue;
      for (const Fault& fault : faults) {
        const bool meanwhile = fault.begin >= name.begin && fault.begin < name.end + no_member;
        if (!meanwhile || !costs_vote(fault) || fault.needs_operator) continue;
        std::set<std::size_t> without_vote = {*name.node, *fault.node};
        for (const Fault& other : faults) {
          const bool goes_on = other.begin <= fault.begin && fault.begin < other.end + max_ttl;
          if (goes_on && costs_vote(other) && !other.needs_operator) {
            without_vote.insert(*other.node);
          }
        }
        EXPECT_LE(without_vote.size(), 2U) << "seed " << seed << ", " << to_string(fault.form);
      }
    }
  }
}

TEST(ChaosSchedule, SeldomEvicts) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Offset until{0};
    for (const Fault& fault : make_schedule(request_of(seed, 30s))) {
      if (kind_of(fault.form) != FaultKind::evict) continue;
      EXPECT_GE(fault.begin, until) << "seed " << seed;
      until = fault.end + 5s;
    }
  }
}

TEST(ChaosSchedule, LeavesLongRunsCalmNowAndThen) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Offset broken_until{0};
    Offset longest_calm{0};
    for (const Fault& fault : make_schedule(request_of(seed, 30s))) {
      longest_calm = std::max(longest_calm, fault.begin - broken_until);
      broken_until = std::max(broken_until, fault.end);
    }
    EXPECT_GE(longest_calm, 3s) << "seed " << seed;
  }
}

TEST(ChaosSchedule, FitsAnyNumberOfNodesAndContenders) {
  for (const std::size_t nodes : {1U, 2U, 3U, 15U}) {
    for (const std::size_t contenders : {1U, 2U, 32U}) {
      ScheduleRequest request = request_of(nodes * 100 + contenders);
      request.nodes = nodes;
      request.contenders = contenders;
      for (const Fault& fault : make_schedule(request)) {
        EXPECT_LT(fault.node.value_or(0), nodes);
        EXPECT_EQ(fault.contenders >> contenders, 0U);
      }
    }
  }
}

/// The forms of all faults of a service.
std::set<FaultForm> broken_in_one_place_at_a_time(Manager manager) {
  std::set<FaultForm> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    ScheduleRequest request = request_of(seed, 60s);
    request.nodes = 3;
    request.manager = manager;
    request.kinds = kinds_of_service();
    const auto faults = make_service_schedule(request);
    const auto again = make_service_schedule(request);
    EXPECT_TRUE(std::equal(faults.begin(), faults.end(), again.begin(), again.end(), same));
    Offset server_until{0};
    Offset links_until{0};
    for (const Fault& fault : faults) {
      seen.insert(fault.form);
      EXPECT_LE(fault.end, 60s);
      EXPECT_TRUE(request.kinds.contains(kind_of(fault.form)));
      EXPECT_EQ(fault.contenders >> request.contenders, 0U);
      if (fault.part == Part::replica) {
        EXPECT_LT(*fault.node, 2U);
      }
      Offset& until = fault.contenders == 0 ? server_until : links_until;
      const bool of_links = fault.part && fault.contenders != 0;
      if (!fault.part) continue;
      EXPECT_GE(fault.begin, of_links ? links_until : until) << "seed " << seed;
      until = fault.end;
    }
  }
  return seen;
}

TEST(ChaosSchedule, BreaksAServiceInOnePlaceAtATime) {
  const std::set<FaultForm> of_both = {FaultForm::failover_ordered, FaultForm::replicas_cut,
                                       FaultForm::primary_cut_off};
  const std::set<FaultForm> of_sentinels = {FaultForm::replica_exchanged};
  const std::set<FaultForm> of_cluster = {FaultForm::primary_taken_over, FaultForm::slot_moved};
  const auto with_sentinels = broken_in_one_place_at_a_time(Manager::sentinels);
  const auto in_cluster = broken_in_one_place_at_a_time(Manager::cluster);
  for (const FaultForm form : of_both) {
    EXPECT_TRUE(with_sentinels.contains(form) && in_cluster.contains(form));
  }
  for (const FaultForm form : of_sentinels) {
    EXPECT_TRUE(with_sentinels.contains(form) && !in_cluster.contains(form));
  }
  for (const FaultForm form : of_cluster) {
    EXPECT_TRUE(!with_sentinels.contains(form) && in_cluster.contains(form));
  }
}

TEST(ChaosSchedule, KnowsItsKindsByName) {
  for (const FaultKind kind : all_fault_kinds) EXPECT_EQ(fault_kind(to_string(kind)), kind);
  EXPECT_EQ(fault_kind("fire"), std::nullopt);
  EXPECT_EQ(list_of(every_kind),
            "kill,pause,partition,clock,restart,slow,role,pieces,evict,name,load");
}

}  // namespace
}  // namespace redlock::chaos
