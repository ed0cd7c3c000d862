#include "core/membership/enrolment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/claim/quorum.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;
using State = Marker::State;

constexpr auto max_ttl = 30s;
constexpr auto quarantine = 31s;

class CountingRandomness final : public Randomness {
 public:
  Token token() override { return Token::parse("id" + std::to_string(++last_)).value(); }
  Duration between(Duration from, Duration /*to*/) override { return from; }

 private:
  std::uint64_t last_ = 0;
};

Marker blank_marker(const std::string& run_id, Randomness& random) {
  Marker marker;
  marker.incarnation = random.token().str();
  marker.run_id = run_id;
  marker.replid = "r" + run_id;
  marker.max_ttl = max_ttl;
  return marker;
}

Marker member(const std::string& run_id, const std::string& deployment, const std::string& self,
              std::vector<std::string> members, Randomness& random) {
  Marker marker = blank_marker(run_id, random);
  marker.state = State::active;
  marker.deployment = deployment;
  marker.self = self;
  marker.members = std::move(members);
  return marker;
}

/// Nodes, and a client that sees each of them as it is.
class Enrolling : public testing::Test {
 protected:
  void node(const std::string& name, Marker marker) {
    names_.push_back(name);
    markers_.push_back(std::move(marker));
    usable_.push_back(true);
    known_as_.emplace_back();
  }
  std::vector<NodeView> views() const {
    std::vector<NodeView> views;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      views.push_back({names_[i], usable_[i], &markers_[i], known_as_[i]});
    }
    return views;
  }
  Enrolment::Step next() { return enrolment_.next(views(), random_); }
  void confirm(const Enrolment::Confirm& step) {
    step.nodes.each([&](NodeIndex node) { enrolment_.confirmed(node, step.pass); });
  }
  /// The next write, after every marker to be re-read has been re-read.
  std::optional<Enrolment::Write> next_write_when_confirmed() {
    for (Enrolment::Step step = next(); std::holds_alternative<Enrolment::Confirm>(step);
         step = next()) {
      confirm(std::get<Enrolment::Confirm>(step));
    }
    return next_write();
  }
  /// The next write to a node that is not a member, after the members have its admission.
  std::optional<Enrolment::Write> next_of_no_member() {
    auto write = next_write_when_confirmed();
    while (write && markers_[write->node].state == State::active) {
      EXPECT_EQ(write->quarantine, Duration::zero()) << "it has forgotten nothing";
      markers_[write->node] = write->marker;
      write = next_write_when_confirmed();
    }
    return write;
  }
  std::optional<Enrolment::Wait> next_wait() {
    const Enrolment::Step step = next();
    const auto* wait = std::get_if<Enrolment::Wait>(&step);
    return wait != nullptr ? std::optional(*wait) : std::nullopt;
  }
  Marker opening(const std::string& run_id, const std::string& deployment, const std::string& self,
                 std::vector<std::string> members) {
    Marker marker = member(run_id, deployment, self, std::move(members), random_);
    marker.state = State::opening;
    return marker;
  }
  /// Carries out all remaining writes, none of which waits; then one deployment has all nodes.
  void open_all(const std::vector<std::string>& members) {
    while (const auto write = next_write_when_confirmed()) {
      ASSERT_NE(markers_[write->node].state, State::active);
      markers_[write->node] = write->marker;
    }
    for (const Marker& marker : markers_) {
      EXPECT_EQ(marker.state, State::active);
      EXPECT_EQ(marker.deployment, markers_[0].deployment);
      EXPECT_EQ(marker.members, members);
    }
  }
  std::optional<Enrolment::Write> next_write() {
    const Enrolment::Step step = next();
    const auto* write = std::get_if<Enrolment::Write>(&step);
    return write != nullptr ? std::optional(*write) : std::nullopt;
  }

  CountingRandomness random_;
  std::vector<std::string> names_;
  std::vector<Marker> markers_;
  std::vector<bool> usable_;
  std::vector<std::string> known_as_;
  Enrolment enrolment_{max_ttl, quarantine};
};

TEST_F(Enrolling, new_nodes_are_opened_as_new_by_the_one_client_that_draws_their_id) {
  for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
  std::size_t as_new = 0;
  while (const auto write = next_write_when_confirmed()) {
    EXPECT_EQ(write->as_new, write->marker.state == State::active);
    as_new += write->as_new ? 1U : 0U;
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(as_new, 3U);
}

TEST_F(Enrolling, a_node_that_anybody_else_has_written_meanwhile_is_not_opened_as_new) {
  for (std::size_t steps = 0; steps < 6; ++steps) {
    for (const bool lost : {false, true}) {
      SCOPED_TRACE(std::to_string(steps) + (lost ? " lost" : " marked by another client"));
      enrolment_ = Enrolment{max_ttl, quarantine};
      names_.clear();
      markers_.clear();
      known_as_.clear();
      usable_.clear();
      for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
      for (std::size_t i = 0; i < steps; ++i) {
        const auto write = next_write_when_confirmed();
        ASSERT_TRUE(write);
        markers_[write->node] = write->marker;
      }
      if (markers_[1].state == State::active) continue;
      markers_[1].incarnation = "another";
      if (lost) markers_[1] = blank_marker("b", random_);
      const bool drawn_later = steps == 0;
      while (const auto write = next_write_when_confirmed()) {
        const bool active = write->marker.state == State::active;
        if (write->node == 1) {
          EXPECT_EQ(write->as_new, active && drawn_later);
        }
        markers_[write->node] = write->marker;
      }
    }
  }
}

TEST_F(Enrolling, nodes_of_a_new_deployment_remember_always_unless_one_says_otherwise) {
  for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
  markers_[1].remembers_since = 5us;
  open_all({"a", "b", "c"});
  EXPECT_EQ(markers_[0].remembers_since, Marker::always);
  EXPECT_EQ(markers_[1].remembers_since, 5us);
}

TEST_F(Enrolling, nodes_that_were_members_before_are_not_opened_as_new) {
  for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
  known_as_[1] = "b";
  while (const auto write = next_write_when_confirmed()) {
    EXPECT_FALSE(write->as_new);
    EXPECT_NE(write->marker.remembers_since, Marker::always);
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(markers_[1].state, State::active);
}

TEST_F(Enrolling, a_blank_node_is_adopted_by_a_quorum_of_others_that_name_it) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  EXPECT_FALSE(next_write_when_confirmed()) << "one of three proves nothing";
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  Enrolment::Step confirm = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(confirm)) << "it may be back meanwhile";
  EXPECT_EQ(std::get<Enrolment::Confirm>(confirm).nodes, NodeSet::of(1));
  this->confirm(std::get<Enrolment::Confirm>(confirm));
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    markers_[write->node] = write->marker;
  }
  confirm = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(confirm)) << "they may have moved on";
  EXPECT_EQ(std::get<Enrolment::Confirm>(confirm).nodes, NodeSet::of(0) | NodeSet::of(2));
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 1);
  EXPECT_EQ(write->marker.state, State::active);
  EXPECT_EQ(write->marker.deployment, "d");
  EXPECT_EQ(write->marker.self, "b");
  EXPECT_EQ(write->marker.run_id, "2");
  EXPECT_NE(write->marker.incarnation, markers_[1].incarnation);
  EXPECT_EQ(write->marker.remembers_since, Marker::from_its_writing);
  EXPECT_EQ(markers_[0].remembers_since, Marker::always) << "the others have forgotten nothing";
  EXPECT_GE(write->quarantine, quarantine);
}

TEST_F(Enrolling, a_blank_node_that_the_members_do_not_name_is_not_adopted) {
  node("a", member("1", "d", "a", {"a", "c", "e"}, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", {"a", "c", "e"}, random_));
  EXPECT_FALSE(next_write_when_confirmed());
  // Its own marker once said that the node at this address is a member: it is adopted.
  known_as_[1] = "e";
  const auto write = next_of_no_member();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->marker.self, "e");
}

TEST_F(Enrolling, a_name_that_another_node_claims_is_not_given_twice) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  node("z", member("3", "d", "b", {"a", "b", "c"}, random_));
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, of_two_nodes_none_is_adopted) {
  // a may have been left out of the deployment that b has forgotten.
  node("a", member("1", "d", "a", {"a", "b"}, random_));
  node("b", blank_marker("2", random_));
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, the_quarantine_is_that_of_the_deployment_whatever_client_met_the_node) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  markers_[1].max_ttl = 3600s;
  const auto write = next_of_no_member();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->quarantine, quarantine);
  EXPECT_EQ(write->marker.max_ttl, max_ttl);
}

TEST_F(Enrolling, a_node_that_an_operator_adds_is_left_alone) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "d", "b", {"a", "b", "c"}, random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  markers_[2].state = State::joining;
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, what_a_node_once_was_counts_for_more_than_its_url) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  known_as_[1] = "e";
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, a_local_url_is_a_name_only_where_all_members_are_local) {
  const std::string local = "redis://127.0.0.1:7002";
  node("a", member("1", "d", "a", {"a", "b", local}, random_));
  node(local, blank_marker("2", random_));
  node("b", member("3", "d", "b", {"a", "b", local}, random_));
  EXPECT_FALSE(next_write_when_confirmed());
  const std::vector<std::string> all = {local, "redis://localhost:7003", "unix:///a"};
  markers_[0] = member("1", "d", all[1], all, random_);
  markers_[2] = member("3", "d", all[2], all, random_);
  EXPECT_TRUE(next_write_when_confirmed());
}

TEST_F(Enrolling, a_deployment_is_opened_only_when_every_node_is_there_and_blank) {
  node("a", blank_marker("2", random_));
  node("b", blank_marker("1", random_));
  usable_[0] = false;
  EXPECT_FALSE(next_write());
  usable_[0] = true;
  const auto first = next_write();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->node, 1) << "by run_id";
  EXPECT_EQ(first->marker.state, State::opening);
  EXPECT_EQ(first->marker.self, "b");
  EXPECT_EQ(first->marker.members, (std::vector<std::string>{"a", "b"}));
  markers_[0] = member("2", "d", "a", {"a", "c", "e"}, random_);
  EXPECT_FALSE(next_write());
}

TEST_F(Enrolling, nodes_are_activated_only_after_all_were_read_again) {
  node("a", blank_marker("1", random_));
  node("b", blank_marker("2", random_));
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->quarantine, Duration::zero());
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(markers_[0].deployment, markers_[1].deployment);
  const Enrolment::Step confirm = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(confirm));
  EXPECT_EQ(std::get<Enrolment::Confirm>(confirm).nodes, NodeSet::first(2));
  const std::uint16_t pass = std::get<Enrolment::Confirm>(confirm).pass;
  enrolment_.confirmed(0, pass);
  const Enrolment::Step rest = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(rest));
  EXPECT_EQ(std::get<Enrolment::Confirm>(rest).nodes, NodeSet::of(1));
  enrolment_.confirmed(1, pass);
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->marker.state, State::active);
    EXPECT_GE(write->quarantine, quarantine);
    markers_[write->node] = write->marker;
  }
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

TEST_F(Enrolling, a_pass_of_confirmation_begins_anew_when_a_marker_changed_in_it) {
  node("a", blank_marker("1", random_));
  node("b", blank_marker("2", random_));
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    markers_[write->node] = write->marker;
  }
  const Enrolment::Step first = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(first));
  const std::uint16_t pass = std::get<Enrolment::Confirm>(first).pass;
  enrolment_.confirmed(0, pass);
  markers_[0].incarnation = "another";
  enrolment_.confirmed(1, pass);
  Enrolment::Step again = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(again));
  EXPECT_EQ(std::get<Enrolment::Confirm>(again).nodes, NodeSet::first(2));
  // This read belongs to the pass before, and proves nothing about the present marker.
  enrolment_.confirmed(1, pass);
  again = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(again));
  EXPECT_EQ(std::get<Enrolment::Confirm>(again).nodes, NodeSet::first(2));
}

TEST_F(Enrolling, a_half_done_opening_is_not_gone_on_with_beside_a_node_that_forgot) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "d", "b", {"a", "b", "c"}, random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  markers_[2].state = State::opening;
  EXPECT_TRUE(next_write_when_confirmed()) << "two of three are active";
  markers_[1].state = State::opening;
  EXPECT_TRUE(next_write_when_confirmed()) << "all are here, and of one opening";
  markers_[1] = blank_marker("4", random_);
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, a_node_of_an_opening_that_came_to_nothing_is_taken_back) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "d", "b", {"a", "b", "c"}, random_));
  node("c", member("3", "x", "c", {"a", "b", "c"}, random_));
  markers_[2].state = State::opening;
  const auto write = next_of_no_member();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 2);
  EXPECT_EQ(write->marker.state, State::active);
  EXPECT_EQ(write->marker.deployment, "d");
  // An opening with other members may have been completed with those members.
  markers_[2] = member("3", "x", "c", {"c", "e", "f"}, random_);
  markers_[2].state = State::opening;
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, of_two_openings_that_met_one_is_gone_on_with) {
  node("a", member("1", "y", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "x", "b", {"a", "b", "c"}, random_));
  node("c", blank_marker("3", random_));
  markers_[0].state = markers_[1].state = State::opening;
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->marker.deployment, "x") << "which all clients choose";
    EXPECT_EQ(write->marker.state, State::opening);
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(next_write_when_confirmed().value().marker.state, State::active);
}

TEST_F(Enrolling, an_opening_of_another_list_is_waited_for_and_then_replaced) {
  node("a", opening("1", "x", "a", {"a", "b", "c"}));
  node("b", opening("2", "x", "b", {"a", "b", "c"}));
  node("d", blank_marker("4", random_));
  const auto wait = next_wait();
  ASSERT_TRUE(wait);
  EXPECT_GE(wait->length, 2s);
  EXPECT_LE(wait->length, 3s);
  EXPECT_EQ(next_wait().value().number, wait->number) << "asking again does not prolong it";
  enrolment_.waited(wait->number);
  EXPECT_TRUE(std::holds_alternative<Enrolment::Confirm>(next())) << "the view may be old";
  open_all({"a", "b", "d"});
}

TEST_F(Enrolling, of_two_lists_the_other_client_being_dead_the_own_id_is_kept) {
  // Two clients with two names for each node marked one node each.
  node("a", opening("1", "x", "a", {"a", "b", "c"}));
  node("b", opening("2", "w", "proxy-b", {"proxy-a", "proxy-b", "proxy-c"}));
  node("c", blank_marker("3", random_));
  enrolment_.waited(next_wait().value().number);
  open_all({"a", "b", "c"});
  EXPECT_EQ(markers_[0].deployment, "x");
}

TEST_F(Enrolling, a_wait_begins_again_when_a_marker_changes) {
  node("a", opening("1", "x", "proxy-a", {"proxy-a", "proxy-b", "proxy-c"}));
  node("b", blank_marker("2", random_));
  node("c", blank_marker("3", random_));
  const auto first = next_wait();
  ASSERT_TRUE(first);
  markers_[1] = opening("2", "x", "proxy-b", {"proxy-a", "proxy-b", "proxy-c"});
  enrolment_.waited(first->number);
  const auto second = next_wait();
  ASSERT_TRUE(second);
  EXPECT_NE(second->number, first->number);
  // A wait for the earlier markers proves nothing either.
  enrolment_.waited(first->number);
  EXPECT_TRUE(next_wait());
  enrolment_.waited(second->number);
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  markers_[write->node] = write->marker;
  // The other client is still alive, and begins again.
  markers_[0] = opening("1", "y", "proxy-a", {"proxy-a", "proxy-b", "proxy-c"});
  EXPECT_TRUE(next_wait());
}

TEST_F(Enrolling, a_foreign_opening_on_all_its_members_is_finished_at_once) {
  const std::vector<std::string> members = {"proxy-a", "proxy-b", "proxy-c"};
  node("a", opening("1", "x", "proxy-a", members));
  node("b", opening("2", "x", "proxy-b", members));
  node("c", opening("3", "x", "proxy-c", members));
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->marker.state, State::active);
  EXPECT_EQ(write->marker.members, members);
}

TEST_F(Enrolling, a_rival_that_finishes_during_the_wait_is_left_alone) {
  const std::vector<std::string> members = {"proxy-a", "proxy-b", "proxy-c"};
  node("a", opening("1", "x", "proxy-a", members));
  node("b", blank_marker("2", random_));
  node("c", blank_marker("3", random_));
  const auto wait = next_wait();
  ASSERT_TRUE(wait);
  markers_[0] = member("1", "x", "proxy-a", members, random_);
  markers_[1] = member("2", "x", "proxy-b", members, random_);
  markers_[2] = member("3", "x", "proxy-c", members, random_);
  enrolment_.waited(wait->number);
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

TEST_F(Enrolling, the_same_names_for_other_nodes_are_another_list) {
  node("a", opening("1", "x", "b", {"a", "b"}));
  node("b", blank_marker("2", random_));
  enrolment_.waited(next_wait().value().number);
  open_all({"a", "b"});
  EXPECT_NE(markers_[0].deployment, "x");
}

TEST_F(Enrolling, clients_that_disagree_on_max_ttl_open_nothing) {
  node("a", opening("1", "x", "a", {"a", "b"}));
  node("b", blank_marker("2", random_));
  for (const std::size_t met_by_another : {0U, 1U}) {
    for (Marker& marker : markers_) marker.max_ttl = max_ttl;
    markers_[met_by_another].max_ttl = 3600s;
    EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next())) << met_by_another;
  }
}

TEST_F(Enrolling, a_foreign_opening_is_not_replaced_beside_active_or_joining_nodes) {
  node("a", opening("1", "x", "a", {"a", "d", "e"}));
  node("b", member("2", "y", "b", {"b", "d", "e"}, random_));
  node("c", blank_marker("3", random_));
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
  markers_[1].state = State::joining;
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

TEST_F(Enrolling, members_that_the_list_does_not_have_are_found_by_a_majority_of_markers) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  EXPECT_TRUE(unknown_members(views(), 1).empty());
  node("alias", member("2", "d", "b", {"a", "b", "c"}, random_));
  EXPECT_EQ(unknown_members(views(), 2), std::vector<std::string>{"c"});
  EXPECT_TRUE(unknown_members(views(), 3).empty()) << "fewer than this client's quorum";
  node("c", blank_marker("3", random_));
  EXPECT_TRUE(unknown_members(views(), 2).empty());
}

TEST_F(Enrolling, one_marker_that_names_other_members_is_not_believed) {
  const std::vector<std::string> members = {"a", "b", "c"};
  node("a", member("1", "d", "a", {"a", "evil"}, random_));
  node("b", member("2", "d", "b", members, random_));
  node("c", member("3", "d", "c", members, random_));
  EXPECT_TRUE(unknown_members(views(), 2).empty());
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
  // A marker that makes a deployment of its own is not believed.
  markers_[0] = member("1", "e", "evil", {"evil"}, random_);
  EXPECT_TRUE(unknown_members(views(), 2).empty());
  // A marker that says that the others were replaced is not believed.
  markers_[0] = member("1", "d", "a", members, random_);
  set_admission(markers_[0], "b", "9.x");
  set_admission(markers_[0], "c", "9.x");
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

TEST_F(Enrolling, a_node_is_taken_back_under_a_new_admission_that_the_others_are_given_first) {
  const std::vector<std::string> members = {"a", "b", "c"};
  node("a", member("1", "d", "a", members, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", members, random_));
  const std::string admission = next_admission(first_admission, markers_[1].incarnation);
  for (const NodeIndex other : {NodeIndex{0}, NodeIndex{2}}) {
    const auto write = next_write_when_confirmed();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->node, other);
    EXPECT_EQ(write->marker.state, State::active);
    EXPECT_EQ(write->quarantine, Duration::zero()) << "it has forgotten nothing";
    EXPECT_EQ(admission_of(write->marker, "b"), admission);
    markers_[other] = write->marker;
  }
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 1);
  EXPECT_EQ(deployment_text(write->marker), deployment_text(markers_[0]));
  EXPECT_GE(write->quarantine, quarantine);
  // The node's old data return with their marker. That does not make it a member.
  markers_[1] = member("2", "d", "b", members, random_);
  const auto wait = next_wait();
  ASSERT_TRUE(wait);
  EXPECT_GE(wait->length, quarantine);
  // A new connection to the node does not begin the wait again.
  usable_[1] = false;
  static_cast<void>(next());
  usable_[1] = true;
  EXPECT_EQ(next_wait().value_or(Enrolment::Wait()).number, wait->number);
  // After the wait, the node is taken back like any node that forgot.
  enrolment_.waited(wait->number);
  const std::string once_more = next_admission(admission, markers_[1].incarnation);
  while (const auto next = next_write_when_confirmed()) {
    EXPECT_EQ(admission_of(next->marker, "b"), once_more);
    EXPECT_EQ(next->quarantine >= quarantine, next->node == 1);
    markers_[next->node] = next->marker;
  }
  EXPECT_EQ(deployment_text(markers_[1]), deployment_text(markers_[0]));
}

TEST_F(Enrolling, a_member_that_was_away_gets_the_admissions_that_it_lacks) {
  const std::vector<std::string> members = {"a", "b", "c", "e", "f"};
  for (const char* name : {"a", "b", "c", "e"}) {
    node(name, member(name, "d", name, members, random_));
    if (names_.size() < 4) set_admission(markers_.back(), "f", "1.x");
  }
  const auto write = next_write();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 3);
  EXPECT_EQ(admission_of(write->marker, "f"), "1.x");
  // While a server is still the member f, a quorum must have the new admission.
  node("f", member("f", "d", "f", members, random_));
  EXPECT_TRUE(next_write());
  markers_[2].admissions.clear();
  EXPECT_FALSE(next_write()) << "two of five do not suffice";
}

// --- many clients, crashes and lost data, in any order ----------------------------------------

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

TEST(EnrolmentOfManyClients, opens_the_deployment_whoever_crashed_on_the_way) {
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

TEST(EnrolmentOfManyClients, opens_it_whatever_names_those_had_who_crashed) {
  for (std::uint32_t seed = 0; seed < 2'000; ++seed) {
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

TEST(EnrolmentOfManyClients, with_different_lists_never_gives_two_deployments_a_quorum) {
  for (std::uint32_t seed = 0; seed < 2'000; ++seed) {
    Crowd crowd(3 + seed % 3, 1, seed);
    if (seed % 2 == 0) crowd.rename();
    for (int i = 0; i < 200; ++i) {
      if (crowd.draw(24) == 0) crowd.lose_data(crowd.draw_node());
      crowd.do_anything();
      ASSERT_LE(crowd.ids_with_a_quorum(), 1U) << "seed " << seed;
    }
  }
}

TEST(EnrolmentOfManyClients, takes_no_two_servers_for_one_member_where_a_name_leads_to_both) {
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
}  // namespace redlock::core::test
