#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/member_change.hpp"
#include "core/quorum.hpp"

/// Model nodes for operators, and a ledger of every lease that clients could have been granted.
namespace redlock::core::test {

using std::chrono::milliseconds;

inline constexpr milliseconds max_ttl{1000};
inline constexpr milliseconds full_quarantine{1012};

using Names = std::vector<std::string>;

inline std::string name_of(std::size_t number) { return "n" + std::to_string(number); }

struct ModelNode {
  bool up = true;
  int process = 1;  // a new one has a new run_id
  int memory = 1;   // what it forgot is of an earlier one
  std::string text{};
  milliseconds quarantined_until{0};
};

/// Nodes n1, n2, … that all have the same clock.
class World {
 public:
  explicit World(std::size_t count) : nodes_(count) {}

  milliseconds now{1'000'000};

  ModelNode& at(const std::string& name) { return nodes_.at(std::stoul(name.substr(1)) - 1); }

  /// Marks nodes as members, so long ago that a change may begin.
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
             std::optional<milliseconds> written_at = {}) {
    ModelNode& node = at(name);
    marker.incarnation = fresh();
    marker.run_id = run_id(name);
    marker.replid = "r";
    if (marker.max_ttl.count() == 0) marker.max_ttl = max_ttl;
    node.text = format_marker(marker) + ' ' + micros(written_at.value_or(now));
    if (quarantine.count() > 0) quarantine_from_now(node, quarantine);
  }

  [[nodiscard]] std::string fresh() { return "i" + std::to_string(++counter_); }

  std::vector<ObservedNode> survey(const std::set<std::string>& names) {
    std::vector<ObservedNode> seen;
    for (const std::string& name : names) {
      const ModelNode& node = at(name);
      ObservedNode& observed = seen.emplace_back();
      observed.name = name;
      if (!node.up) {
        observed.problem = "no answer";
        continue;
      }
      observed.run_id = run_id(name);
      observed.replid = "r";
      observed.clock = now;
      observed.text = node.text;
      observed.marker = parse_marker(node.text);
      observed.quarantine = std::max(milliseconds(0), node.quarantined_until - now);
    }
    return seen;
  }

  /// What mark.lua does. Empty: it has not written.
  std::string compare_and_set(const WriteMarker& write) {
    ModelNode& node = at(write.node);
    if (!node.up || node.text != write.expected) return {};
    if (write.quarantine.count() == 0) node.quarantined_until = milliseconds(0);
    if (write.quarantine.count() > 0) quarantine_from_now(node, write.quarantine);
    node.text = format_marker(write.marker) + ' ' + micros(now);
    note_possible_leases();
    return node.text;
  }

  void restart_empty(const std::string& name) {
    ModelNode& node = at(name);
    node = ModelNode{true, node.process + 1, node.memory + 1, {}, {}};
  }

  /// What clients do by themselves: they mark blank what has forgotten, and the members of a
  /// deployment take a blank one back.
  void let_clients_act() {
    for (std::size_t i = 1; i <= nodes_.size(); ++i) {
      const std::string name = name_of(i);
      const auto seen = survey({name});
      if (!at(name).up) continue;
      if (fresh_marker(seen[0]) == nullptr) write(name, Marker{}, full_quarantine);
      if (parse_marker(at(name).text)->state == Marker::State::blank) adopt(name);
    }
    note_possible_leases();
  }

  [[nodiscard]] Marker marker(const std::string& name) {
    return parse_marker(at(name).text).value_or(Marker{});
  }

  [[nodiscard]] bool serves(const Names& members) {
    std::size_t votes = 0;
    for (const std::string& name : members) {
      const Marker own = marker(name);
      const bool same = own.members == members && own.deployment == marker(members[0]).deployment;
      votes += same && can_vote(name) ? 1U : 0U;
    }
    return votes == members.size();
  }

  [[nodiscard]] std::string describe() {
    std::string text;
    for (std::size_t i = 1; i <= nodes_.size(); ++i) {
      text += name_of(i) + (at(name_of(i)).up ? "  " : " (down)  ") + at(name_of(i)).text + '\n';
    }
    return text;
  }

 private:
  struct Lease {
    std::vector<int> memory;  // by node; 0: no vote of it
    milliseconds until{0};
    std::string id{};
  };

  static std::string micros(milliseconds time) {
    return std::to_string(std::chrono::microseconds(time).count());
  }
  std::string run_id(const std::string& name) {
    return name + "-" + std::to_string(at(name).process);
  }
  void quarantine_from_now(ModelNode& node, milliseconds quarantine) const {
    node.quarantined_until = std::max(node.quarantined_until, now + quarantine);
  }
  bool can_vote(const std::string& name) {
    if (!at(name).up || at(name).quarantined_until > now) return false;
    const auto seen = survey({name});
    const Marker* own = valid_marker(seen[0]);
    return own != nullptr && own->state == Marker::State::active;
  }

  void adopt(const std::string& name) {
    for (std::size_t i = 1; i <= nodes_.size(); ++i) {
      const Marker other = marker(name_of(i));
      if (other.state != Marker::State::active) continue;
      const bool named = std::count(other.members.begin(), other.members.end(), name) > 0;
      std::size_t votes = 0;
      for (std::size_t j = 1; j <= nodes_.size(); ++j) {
        const auto seen = survey({name_of(j)});
        const Marker* own = valid_marker(seen[0]);
        const bool carries = own != nullptr && own->state == Marker::State::active &&
                             own->deployment == other.deployment;
        votes += carries && j != std::stoul(name.substr(1)) ? 1U : 0U;
      }
      if (!named || votes < majority(other.members.size())) continue;
      Marker taken = other;
      taken.self = name;
      write(name, taken, full_quarantine);
      return;
    }
  }

  /// Clients that are granted a lease now, with every possible set of votes, must meet every lease
  /// that was possible before and is valid yet: on a node that remembers it.
  void note_possible_leases() {
    std::map<std::string, std::vector<std::size_t>> voters;
    std::map<std::string, std::size_t> quorum;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::string name = name_of(i + 1);
      if (!can_vote(name)) continue;
      voters[marker(name).deployment].push_back(i);
      quorum[marker(name).deployment] = majority(marker(name).members.size());
    }
    for (const auto& [id, nodes] : voters) {
      for (std::uint32_t set = 0; set < (1U << nodes.size()); ++set) {
        if (static_cast<std::size_t>(std::popcount(set)) != quorum[id]) continue;
        Lease lease{std::vector<int>(nodes_.size()), now + max_ttl, id};
        for (std::size_t k = 0; k < nodes.size(); ++k) {
          if ((set >> k & 1U) != 0) lease.memory[nodes[k]] = nodes_[nodes[k]].memory;
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
      if (other.until <= now) continue;
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

/// One run of the program. A step is a survey with its decision, or the writing that follows.
class Operator {
 public:
  Operator(World& world, MemberWish wish)
      : world_(world), change_(std::move(wish), world.fresh() + "x") {}

  /// False: it has ended.
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

  /// To its end, which must come.
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
  wish.max_ttl = max_ttl;
  return wish;
}

inline Names names_up_to(std::size_t count) {
  Names names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(name_of(i));
  return names;
}

}  // namespace redlock::core::test
