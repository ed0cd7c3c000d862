#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/membership/member_change.hpp"
#include "core/votes/quorum.hpp"

/// Model nodes for operators, and a ledger of every lease that clients could have been granted.
namespace redlock::core::test {

using std::chrono::milliseconds;

inline constexpr milliseconds world_max_ttl{1000};
inline constexpr milliseconds full_quarantine{1012};

using Names = std::vector<std::string>;

inline std::string name_of(std::size_t number) { return "n" + std::to_string(number); }

struct ModelNode {
  bool up = true;
  int process = 1;  // a new process has a new run_id
  int memory = 1;   // a node that forgets gets a new memory
  milliseconds quarantined_until{0};
  /// The survey's result without times. Kept parsed, because there are many more surveys than
  /// writes.
  ObservedNode seen{};
};

/// Nodes n1, n2, … that all have the same clock.
class World {
 public:
  explicit World(std::size_t count) : nodes_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      nodes_[i].seen.name = name_of(i + 1);
      nodes_[i].seen.memory.history = "r";
      nodes_[i].seen.run_id = run_id(nodes_[i]);
    }
  }

  milliseconds now{1'000'000};

  ModelNode& at(const std::string& name) { return nodes_.at(std::stoul(name.substr(1)) - 1); }

  /// Marks nodes as members, long enough ago for a change to begin.
  void found(const Names& members, const std::string& id) {
    for (const std::string& name : members) {
      Marker marker;
      marker.state = Marker::State::active;
      marker.deployment = id;
      marker.members = members;
      marker.self = name;
      write(name, marker, milliseconds(-1), now - 2 * full_quarantine);
    }
    note_possible_leases();
  }

  /// Writes a marker of the node's process; its time and incarnation are added.
  void write(const std::string& name, Marker marker, milliseconds quarantine,
             std::optional<milliseconds> written_at = {}, std::string_view why = {}) {
    ModelNode& node = at(name);
    marker.incarnation = fresh();
    marker.run_id = node.seen.run_id;
    marker.replid = node.seen.memory.history;
    if (marker.max_ttl.count() == 0) marker.max_ttl = world_max_ttl;
    keep(node, format_marker(marker) + ' ' + micros(written_at.value_or(now)));
    if (quarantine.count() > 0) quarantine_from_now(node, quarantine, why);
  }

  [[nodiscard]] std::string fresh() { return "i" + std::to_string(++counter_); }

  std::vector<ObservedNode> survey(const std::set<std::string>& names) {
    std::vector<ObservedNode> seen;
    seen.reserve(names.size());
    for (const std::string& name : names) {
      const ModelNode& node = at(name);
      if (!node.up) {
        ObservedNode& observed = seen.emplace_back();
        observed.name = name;
        observed.problem = "no answer";
        continue;
      }
      ObservedNode& observed = seen.emplace_back(node.seen);
      observed.clock = now;
      observed.quarantine = std::max(milliseconds(0), node.quarantined_until - now);
      if (observed.quarantine.count() == 0) observed.quarantine_why.clear();
    }
    return seen;
  }

  /// The effect of mark.lua. Empty: nothing was written.
  std::string compare_and_set(const WriteMarker& write) {
    ModelNode& node = at(write.node);
    if (!node.up || node.seen.text != write.expected) return {};
    if (write.quarantine.count() == 0) node.quarantined_until = milliseconds(0);
    if (write.quarantine.count() > 0) quarantine_from_now(node, write.quarantine, "membership");
    keep(node, format_marker(write.marker) + ' ' + micros(now));
    note_possible_leases();
    return node.seen.text;
  }

  void restart_empty(const std::string& name) {
    ModelNode& node = at(name);
    node.up = true;
    ++node.process;
    ++node.memory;
    node.quarantined_until = milliseconds(0);
    node.seen.run_id = run_id(node);
    keep(node, {});
  }

  /// The writes that clients make on their own: they mark nodes that have forgotten as blank, and
  /// take a blank node back into the deployment of the other members.
  void let_clients_act() {
    for (ModelNode& node : nodes_) {
      if (!node.up) continue;
      if (fresh_marker(node.seen) == nullptr) {
        write(node.seen.name, Marker{}, full_quarantine, {}, met_unmarked);
      }
      if (node.seen.marker->state == Marker::State::blank) adopt(node);
    }
    note_possible_leases();
  }

  /// One client, which has just met the nodes, opens them.
  void let_a_client_open(const Names& members) {
    const std::string id = fresh();
    for (const std::string& name : members) {
      Marker marker;
      marker.state = Marker::State::active;
      marker.deployment = id;
      marker.members = members;
      marker.self = name;
      write(name, marker, full_quarantine, {}, opened_as_new);
    }
    note_possible_leases();
  }

  [[nodiscard]] Marker marker(const std::string& name) {
    return at(name).seen.marker.value_or(Marker{});
  }

  [[nodiscard]] bool serves(const Names& members) {
    return std::all_of(members.begin(), members.end(), [&](const std::string& name) {
      const Marker own = marker(name);
      return own.members == members && own.deployment == marker(members[0]).deployment &&
             can_vote(at(name));
    });
  }

  [[nodiscard]] std::string describe() {
    std::string text;
    for (std::size_t i = 1; i <= nodes_.size(); ++i) {
      const ModelNode& node = nodes_[i - 1];
      text += name_of(i) + (node.up ? "  " : " (down)  ") + node.seen.text + '\n';
    }
    return text;
  }

 private:
  struct Lease {
    std::array<int, 8> memory{};  // the memory that voted, by node; 0: no vote from the node
    milliseconds until{0};
    std::string id{};
  };

  static std::string micros(milliseconds time) {
    return std::to_string(std::chrono::microseconds(time).count());
  }
  static std::string run_id(const ModelNode& node) {
    return node.seen.name + "-" + std::to_string(node.process);
  }
  static void keep(ModelNode& node, std::string text) {
    node.seen.text = std::move(text);
    node.seen.marker = parse_marker(node.seen.text);
  }
  void quarantine_from_now(ModelNode& node, milliseconds quarantine, std::string_view why) const {
    if (!why.empty()) node.seen.quarantine_why = why;
    node.quarantined_until = std::max(node.quarantined_until, now + quarantine);
  }
  /// The node's marker, if it is active.
  static const Marker* active_marker(const ModelNode& node) {
    const Marker* own = node.up ? valid_marker(node.seen) : nullptr;
    return own != nullptr && own->state == Marker::State::active ? own : nullptr;
  }
  [[nodiscard]] bool can_vote(const ModelNode& node) const {
    return node.quarantined_until <= now && active_marker(node) != nullptr;
  }

  void adopt(const ModelNode& node) {
    const std::string& name = node.seen.name;
    for (const ModelNode& carrier : nodes_) {
      if (!carrier.seen.marker || carrier.seen.marker->state != Marker::State::active) continue;
      const Marker& other = *carrier.seen.marker;
      const bool named = std::count(other.members.begin(), other.members.end(), name) > 0;
      const auto votes = std::count_if(nodes_.begin(), nodes_.end(), [&](const ModelNode& voter) {
        const Marker* own = active_marker(voter);
        return own != nullptr && own->deployment == other.deployment && &voter != &node;
      });
      if (!named || static_cast<std::size_t>(votes) < majority(other.members.size())) continue;
      Marker taken = other;
      taken.self = name;
      set_admission(taken, name,
                    next_admission(admission_of(other, name), node.seen.marker->incarnation));
      for (const ModelNode& voter : nodes_) {
        const Marker* own = active_marker(voter);
        if (own == nullptr || own->deployment != other.deployment || &voter == &node) continue;
        Marker raised = *own;
        raised.admissions = taken.admissions;
        write(voter.seen.name, raised, milliseconds(-1));
      }
      write(name, taken, full_quarantine);
      return;
    }
  }

  /// Notes the leases that clients could be granted now, with every possible set of votes. Each
  /// must share a node that remembers with every earlier lease that is still valid.
  void note_possible_leases() {
    std::erase_if(leases_, [this](const Lease& lease) { return lease.until <= now; });
    struct Voters {
      std::vector<std::size_t> nodes;
      std::size_t quorum = 0;
    };
    std::map<std::string, Voters> voters;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!can_vote(nodes_[i])) continue;
      const Marker& own = *nodes_[i].seen.marker;
      voters[deployment_text(own)].nodes.push_back(i);
      voters[deployment_text(own)].quorum = majority(own.members.size());
    }
    for (const auto& [id, of_id] : voters) {
      const auto& [nodes, quorum] = of_id;
      for (std::uint32_t set = 0; set < (1U << nodes.size()); ++set) {
        if (static_cast<std::size_t>(std::popcount(set)) != quorum) continue;
        Lease lease{{}, now + world_max_ttl, id};
        for (std::size_t k = 0; k < nodes.size(); ++k) {
          if ((set >> k & 1U) != 0) lease.memory.at(nodes[k]) = nodes_[nodes[k]].memory;
        }
        note(lease);
      }
    }
  }

  void note(const Lease& lease) {
    for (Lease& other : leases_) {
      if (other.memory == lease.memory && other.id == lease.id) {
        other.until = lease.until;
        return;
      }
    }
    for (const Lease& other : leases_) {
      bool meet = false;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        meet = meet || (lease.memory[i] != 0 && lease.memory[i] == other.memory[i]);
      }
      EXPECT_TRUE(meet) << "two leases at once, of " << other.id << " and " << lease.id << '\n'
                        << describe();
    }
    leases_.push_back(lease);
  }

  std::vector<ModelNode> nodes_;
  std::vector<Lease> leases_;
  int counter_ = 0;
};

/// One run of the operator's program. A step is a survey with its decision, or the write that
/// follows.
class Operator {
 public:
  Operator(World& world, MemberWish wish)
      : world_(world), change_(std::move(wish), world.fresh() + "x") {}

  /// False: the run has ended.
  bool step() {
    if (writing_) {
      const WriteMarker write = *std::exchange(writing_, std::nullopt);
      const std::string text = world_.compare_and_set(write);
      if (!text.empty()) change_.wrote(write.node, text);
      return true;
    }
    if (end_) return false;
    const MemberStep step = change_.next(world_.survey(names_), world_.fresh());
    if (const auto* again = std::get_if<SurveyAgain>(&step)) {
      names_.insert(again->nodes.begin(), again->nodes.end());
    } else if (const auto* write = std::get_if<WriteMarker>(&step)) {
      writing_ = *write;
      writes.push_back(*write);
    } else if (std::holds_alternative<SearchLocks>(step)) {
      change_.searched(held, {});
    } else if (const auto* wait = std::get_if<WaitFor>(&step)) {
      waits.push_back(*wait);
      if (wait->cause == WaitFor::Cause::missing) end_ = step;
      world_.now += wait->left;
    } else {
      end_ = step;
    }
    return true;
  }

  /// Runs to the end, which must come.
  const MemberStep& run() {
    for (int steps = 0; step(); ++steps) {
      if (steps > 300) {
        ADD_FAILURE() << "goes on and on\n" << world_.describe();
        end_ = ChangeRefused{};
      }
    }
    return *end_;
  }

  [[nodiscard]] std::optional<ChangeDone> done() { return ended_as<ChangeDone>(); }
  [[nodiscard]] std::optional<ChangeRefused> refused() { return ended_as<ChangeRefused>(); }
  [[nodiscard]] bool has_ended() const { return end_.has_value(); }
  [[nodiscard]] bool is_under_way() const { return change_.is_under_way(); }

  std::vector<WriteMarker> writes{};
  std::vector<WaitFor> waits{};
  std::string held{};

 private:
  template <typename End>
  std::optional<End> ended_as() {
    const auto* end = std::get_if<End>(&run());
    return end == nullptr ? std::nullopt : std::optional(*end);
  }

  World& world_;
  MemberChange change_;
  std::set<std::string> names_{};
  std::optional<WriteMarker> writing_{};
  std::optional<MemberStep> end_{};
};

inline MemberWish wish_of(MemberWish::Kind kind, std::string leaving, std::string entering,
                          Names members) {
  MemberWish wish;
  wish.kind = kind;
  wish.leaving = std::move(leaving);
  wish.entering = std::move(entering);
  wish.members = std::move(members);
  wish.max_ttl = world_max_ttl;
  return wish;
}

inline Names names_up_to(std::size_t count) {
  Names names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(name_of(i));
  return names;
}

}  // namespace redlock::core::test
