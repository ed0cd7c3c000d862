// Many clients, crashes and lost data, in any order.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/votes/quorum.hpp"
#include "unit/core/membership/enrolling.hpp"

namespace redlock::core::test::enrolment {
namespace {

/// Nodes that lose their data, and clients whose lists differ and whose views are out of date. Each
/// client carries out one step at a time, or forgets everything.
class Crowd {
 public:
  static constexpr std::size_t clients = 3;

  /// `spare`: the number of nodes that only some lists have, in place of another node.
  Crowd(std::size_t members, std::size_t spare, std::uint32_t seed) : dice_(seed) {
    for (std::size_t i = 0; i < members + spare; ++i) {
      names_.emplace_back(1, static_cast<char>('a' + i));
      nodes_.emplace_back();
      lose_data(i);
    }
    for (std::size_t i = 0; i < clients; ++i) {
      clients_.emplace_back().names = names_;
      for (std::size_t node = 0; node < members; ++node) lists_[i].push_back(node);
      if (spare > 0 && i > 0) lists_[i].back() = members + draw(spare);
    }
  }

  std::size_t draw(std::size_t below) { return dice_() % below; }
  std::size_t draw_node() { return draw(nodes_.size()); }

  void lose_data(std::size_t node) {
    nodes_[node] = blank_marker(std::to_string(dice_()), random_);
  }
  void look(std::size_t client, std::size_t node) {
    Client& who = clients_[client];
    who.seen[node] = nodes_[node];
    if (nodes_[node].state == State::active) who.known_as[node] = nodes_[node].self;
  }
  void lose_sight(std::size_t client, std::size_t node) { clients_[client].seen.erase(node); }
  void crash(std::size_t client) {
    std::vector<std::string> names = std::move(clients_[client].names);
    clients_[client] = Client();
    clients_[client].names = std::move(names);
  }
  /// Gives each client its own names for the nodes, from now on.
  void rename() {
    for (std::size_t client = 0; client < clients; ++client) {
      for (std::string& name : clients_[client].names) name += std::to_string(client);
    }
  }
  void end_wait(std::size_t client) { clients_[client].enrolment.waited(clients_[client].wait); }

  void act(std::size_t client) {
    Client& who = clients_[client];
    const std::vector<std::size_t>& list = lists_[client];
    std::vector<NodeView> views;
    for (const std::size_t node : list) {
      const auto seen = who.seen.find(node);
      const Marker* marker = seen != who.seen.end() ? &seen->second : nullptr;
      views.push_back({who.names[node], marker != nullptr, marker, who.known_as[node]});
    }
    const Enrolment::Step step = who.enrolment.next(views, random_);
    if (const auto* wait = std::get_if<Enrolment::Wait>(&step)) who.wait = wait->number;
    if (const auto* write = std::get_if<Enrolment::Write>(&step)) {
      const std::size_t node = list[write->node];
      if (nodes_[node] == who.seen[node]) nodes_[node] = write->marker;
      look(client, node);
    } else if (const auto* confirm = std::get_if<Enrolment::Confirm>(&step)) {
      confirm->nodes.each([&](NodeIndex index) {
        who.to_confirm[list[index]] = {index, confirm->pass};
      });
    }
  }
  void confirm_one(std::size_t client, std::size_t node) {
    Client& who = clients_[client];
    const auto found = who.to_confirm.find(node);
    if (found == who.to_confirm.end()) return;
    const auto [index, pass] = found->second;
    who.to_confirm.erase(found);
    const auto seen = who.seen.find(node);
    if (seen != who.seen.end() && nodes_[node] == seen->second) {
      who.enrolment.confirmed(index, pass);
    } else {
      lose_sight(client, node);
    }
  }
  void run_alone(std::size_t client) {
    for (int i = 0; i < 50; ++i) {
      for (std::size_t node = 0; node < nodes_.size(); ++node) look(client, node);
      act(client);
      end_wait(client);
      for (std::size_t node = 0; node < nodes_.size(); ++node) confirm_one(client, node);
    }
  }
  /// Something that can happen at any time, except a loss of data.
  void do_anything() {
    const std::size_t client = draw(clients);
    const std::size_t node = draw_node();
    const std::size_t what = draw(64);
    if (what == 0) {
      crash(client);
    } else if (what < 4) {
      lose_sight(client, node);
    } else if (what < 20) {
      look(client, node);
    } else if (what < 24) {
      end_wait(client);
    } else if (what < 40) {
      confirm_one(client, node);
    } else {
      act(client);
    }
  }

  [[nodiscard]] std::size_t active() const {
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(),
                      [](const Marker& marker) { return marker.state == State::active; }));
  }
  /// The number of deployments that a majority of their own members carries.
  [[nodiscard]] std::size_t ids_with_a_quorum() const {
    std::map<std::string, std::size_t> votes;
    std::size_t found = 0;
    for (const Marker& marker : nodes_) {
      if (marker.state != State::active) continue;
      if (++votes[deployment_text(marker)] == majority(marker.members.size())) ++found;
    }
    return found;
  }
  /// Whether two servers are one member of one deployment.
  [[nodiscard]] bool has_duplicates() const {
    std::set<std::string> known;
    return std::any_of(nodes_.begin(), nodes_.end(), [&](const Marker& marker) {
      return marker.state == State::active &&
             !known.insert(deployment_text(marker) + ' ' + marker.self).second;
    });
  }
  /// Gives the last two nodes one name, which leads each client to one of them.
  void share_a_name() {
    names_.back() = names_[names_.size() - 2];
    for (std::size_t i = 0; i < clients; ++i) {
      clients_[i].names = names_;
      lists_[i].back() = names_.size() - 1 - i % 2;
    }
  }

 private:
  struct Client {
    std::map<std::size_t, Marker> seen;
    std::map<std::size_t, std::string> known_as;
    std::map<std::size_t, std::pair<NodeIndex, std::uint16_t>> to_confirm;
    std::vector<std::string> names;
    std::uint16_t wait = 0;
    Enrolment enrolment{max_ttl, quarantine};
  };
  std::mt19937 dice_;
  CountingRandomness random_;
  std::vector<std::string> names_;
  std::vector<Marker> nodes_;
  std::vector<Client> clients_;
  std::array<std::vector<std::size_t>, clients> lists_;
};

TEST(EnrolmentOfManyClients, OpensTheDeploymentWhoeverCrashedOnTheWay) {
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    const std::size_t nodes = 1 + seed % 5;
    Crowd crowd(nodes, 0, seed);
    for (int i = 0; i < 100; ++i) {
      crowd.do_anything();
      ASSERT_LE(crowd.ids_with_a_quorum(), 1U) << "seed " << seed;
    }
    crowd.run_alone(0);
    EXPECT_EQ(crowd.active(), nodes) << "seed " << seed;
  }
}

TEST(EnrolmentOfManyClients, OpensItWhateverNamesThoseHadWhoCrashed) {
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    const std::size_t nodes = 1 + seed % 5;
    Crowd crowd(nodes, 0, seed);
    crowd.rename();
    for (int i = 0; i < 200; ++i) {
      crowd.do_anything();
      ASSERT_LE(crowd.ids_with_a_quorum(), 1U) << "seed " << seed;
    }
    crowd.run_alone(0);
    EXPECT_EQ(crowd.active(), nodes) << "seed " << seed;
  }
}

TEST(EnrolmentOfManyClients, WithDifferentListsNeverGivesTwoDeploymentsAQuorum) {
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    Crowd crowd(3 + seed % 3, 1, seed);
    if (seed % 2 == 0) crowd.rename();
    for (int i = 0; i < 200; ++i) {
      if (crowd.draw(24) == 0) crowd.lose_data(crowd.draw_node());
      crowd.do_anything();
      ASSERT_LE(crowd.ids_with_a_quorum(), 1U) << "seed " << seed;
    }
  }
}

TEST(EnrolmentOfManyClients, TakesNoTwoServersForOneMemberWhereANameLeadsToBoth) {
  std::size_t open = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    Crowd crowd(3 + seed % 3, 1, seed);
    crowd.share_a_name();
    crowd.run_alone(0);
    for (int i = 0; i < 300; ++i) {
      if (crowd.draw(48) == 0) crowd.lose_data(crowd.draw_node());
      crowd.do_anything();
      ASSERT_LE(crowd.ids_with_a_quorum(), 1U) << "seed " << seed;
      ASSERT_FALSE(crowd.has_duplicates()) << "seed " << seed;
      open += crowd.ids_with_a_quorum();
    }
  }
  EXPECT_GT(open, 50'000U);
}

}  // namespace
}  // namespace redlock::core::test::enrolment
