#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/membership/enrolment.hpp"

namespace redlock::core::test::enrolment {

using namespace std::chrono_literals;
using State = Marker::State;

inline constexpr auto max_ttl = 30s;
inline constexpr auto quarantine = 31s;

class CountingRandomness final : public Randomness {
 public:
  Token token() override { return Token::parse("id" + std::to_string(++last_)).value(); }
  Duration between(Duration from, Duration /*to*/) override { return from; }

 private:
  std::uint64_t last_ = 0;
};

inline Marker blank_marker(const std::string& run_id, Randomness& random) {
  Marker marker;
  marker.incarnation = random.token().str();
  marker.run_id = run_id;
  marker.replid = "r" + run_id;
  marker.max_ttl = max_ttl;
  return marker;
}

inline Marker member(const std::string& run_id, const std::string& deployment,
                     const std::string& self, std::vector<std::string> members,
                     Randomness& random) {
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

}  // namespace redlock::core::test::enrolment
