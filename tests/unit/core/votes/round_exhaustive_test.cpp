#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

enum class Behaviour : std::uint8_t { granted, refused, error, silence };

/// The protocol's rule in its plainest form: recounted from all answers so far.
struct Naive {
  std::size_t nodes;
  std::size_t quorum;
  std::vector<Behaviour> answered;

  [[nodiscard]] bool won() const {
    return static_cast<std::size_t>(
               std::count(answered.begin(), answered.end(), Behaviour::granted)) >= quorum;
  }
  /// Whether a quorum names one holder.
  [[nodiscard]] bool is_held() const {
    return static_cast<std::size_t>(
               std::count(answered.begin(), answered.end(), Behaviour::refused)) >= quorum;
  }
  /// Whether even grants from all nodes that have not answered would not make a quorum.
  [[nodiscard]] bool lost() const {
    const auto granted =
        static_cast<std::size_t>(std::count(answered.begin(), answered.end(), Behaviour::granted));
    return granted + (nodes - answered.size()) < quorum;
  }
};

/// One engine for all cases: every case leaves it as it found it.
class Exhaustive {
 public:
  Exhaustive(std::size_t nodes, std::size_t quorum)
      : nodes_(nodes), quorum_(quorum), harness_(Harness::settings_for(nodes, quorum)) {}

  void every_assignment() {
    std::vector<Behaviour> behaviour(nodes_, Behaviour::granted);
    std::size_t assignments = 1;
    for (std::size_t i = 0; i < nodes_; ++i) assignments *= 4;
    for (std::size_t number = 0; number < assignments; ++number) {
      for (std::size_t i = 0, rest = number; i < nodes_; ++i, rest /= 4) {
        behaviour[i] = static_cast<Behaviour>(rest % 4);
      }
      std::vector<NodeIndex> order(nodes_);
      std::iota(order.begin(), order.end(), NodeIndex{0});
      do {
        one_case(behaviour, order);
        if (::testing::Test::HasFailure()) return describe(behaviour, order);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }

  [[nodiscard]] std::size_t cases() const { return cases_; }

 private:
  void describe(const std::vector<Behaviour>& behaviour, const std::vector<NodeIndex>& order) {
    std::string text = "order and behaviour:";
    for (const NodeIndex node : order) {
      constexpr std::array<const char*, 4> names{"granted", "refused", "error", "silence"};
      text += " " + std::to_string(node) + "=" + names[static_cast<std::size_t>(behaviour[node])];
    }
    ADD_FAILURE() << text;
  }

  void step(const Event& event) {
    out_.clear();
    harness_.engine().step(harness_.now(), event, out_);
    for (const Command& command : out_) {
      const auto* send = request_for_claim_in(command);
      if (send == nullptr) continue;
      send->nodes.each([&](NodeIndex node) { open_[node].push_back(send->stamp); });
    }
  }
  void answer(NodeIndex node, Reply reply, std::string_view text = {}) {
    const Stamp stamp = open_[node].front();
    open_[node].erase(open_[node].begin());
    step(Answer{node, stamp, reply, text, {}});
  }
  void answer(NodeIndex node, Behaviour behaviour) {
    switch (behaviour) {
      case Behaviour::granted:
        return answer(node, Reply::granted);
      case Behaviour::refused:
        return answer(node, Reply::taken, "somebody");
      case Behaviour::error:
        return answer(node, Reply::error, "ERR");
      case Behaviour::silence:
        return;
    }
  }
  [[nodiscard]] const Command* decision() const {
    for (const Command& command : out_) {
      const bool decides =
          std::holds_alternative<Acquired>(command) || std::holds_alternative<Failed>(command);
      if (decides) return &command;
    }
    return nullptr;
  }
  [[nodiscard]] NodeSet released_in_step() const {
    NodeSet nodes;
    for (const Command& command : out_) {
      const auto* send = request_for_claim_in(command);
      if (send != nullptr && send->stamp.verb == Verb::release) nodes = nodes | send->nodes;
    }
    return nodes;
  }

  void one_case(const std::vector<Behaviour>& behaviour, const std::vector<NodeIndex>& order) {
    ++cases_;
    Acquire acquire;
    acquire.request = CallId{1};
    acquire.resource = "r";
    acquire.ttl = 10s;
    step(acquire);
    ASSERT_EQ(decision(), nullptr);

    Naive naive{nodes_, quorum_, {}};
    NodeSet may_hold = NodeSet::first(nodes_);
    NodeSet expected_to_refuse;
    std::optional<bool> granted;
    ClaimId lease;
    for (const NodeIndex node : order) {
      if (behaviour[node] == Behaviour::silence) continue;
      naive.answered.push_back(behaviour[node]);
      if (behaviour[node] != Behaviour::granted) may_hold.remove(node);
      answer(node, behaviour[node]);
      const Command* decided = decision();
      if (granted) {
        ASSERT_EQ(decided, nullptr) << "a verdict is final";
        const bool is_late = behaviour[node] == Behaviour::granted && expected_to_refuse.has(node);
        ASSERT_EQ(released_in_step(), is_late ? NodeSet::of(node) : NodeSet());
        continue;
      }
      ASSERT_EQ(decided != nullptr, naive.won() || naive.lost()) << "decided when it can be";
      if (decided == nullptr) continue;
      const auto* acquired = std::get_if<Acquired>(decided);
      ASSERT_EQ(acquired != nullptr, naive.won());
      ASSERT_EQ(acquired == nullptr, naive.lost());
      granted = naive.won();
      if (acquired != nullptr) lease = acquired->claim;
      // On a connection that has not answered the SET, the release follows it. No release is sent
      // to a node that is expected to refuse the SET in favour of the holder that a quorum names.
      if (naive.is_held()) expected_to_refuse = unanswered_sets();
      const NodeSet expected = naive.won() ? NodeSet() : may_hold - expected_to_refuse;
      ASSERT_EQ(released_in_step(), expected);
      check_order(expected);
    }
    if (granted == true) {
      step(Release{CallId{2}, lease});
      ASSERT_EQ(released_in_step(), may_hold);
      check_order(may_hold);
    }
    if (!granted) {
      step(Cancel{CallId{1}});
      ASSERT_EQ(released_in_step(), may_hold);
    }
    tidy_up();
  }

  [[nodiscard]] NodeSet unanswered_sets() const {
    NodeSet nodes;
    for (NodeIndex node = 0; node < nodes_; ++node) {
      if (!open_[node].empty() && open_[node].front().verb == Verb::set) nodes.add(node);
    }
    return nodes;
  }

  void check_order(NodeSet released) {
    released.each([&](NodeIndex node) {
      ASSERT_FALSE(open_[node].empty());
      ASSERT_EQ(open_[node].back().verb, Verb::release);
      for (std::size_t i = 0; i + 1 < open_[node].size(); ++i) {
        ASSERT_EQ(open_[node][i].verb, Verb::set);
      }
    });
  }

  void tidy_up() {
    for (NodeIndex node = 0; node < nodes_; ++node) {
      while (!open_[node].empty()) {
        const bool set = open_[node].front().verb == Verb::set;
        answer(node, set ? Reply::granted : Reply::released);
      }
    }
    step(TimePassed{});
    ASSERT_EQ(harness_.engine().claims(), 0U) << "nothing is left of a finished claim";
  }

  std::size_t nodes_;
  std::size_t quorum_;
  Connected harness_;
  std::array<std::vector<Stamp>, limits::nodes> open_;
  std::vector<Command> out_;
  std::size_t cases_ = 0;
};

class EveryOrderOfAnswers : public ::testing::TestWithParam<std::pair<std::size_t, std::size_t>> {};

TEST_P(EveryOrderOfAnswers, DecidesAtTheFirstMomentAndReleasesWhereAKeyMayBe) {
  const auto [nodes, quorum] = GetParam();
  Exhaustive exhaustive(nodes, quorum);
  exhaustive.every_assignment();
  std::size_t expected = 1;
  for (std::size_t i = 1; i <= nodes; ++i) expected *= 4 * i;
  if (HasFailure()) return;
  EXPECT_EQ(exhaustive.cases(), expected);
}

INSTANTIATE_TEST_SUITE_P(Nodes, EveryOrderOfAnswers,
                         ::testing::Values(std::pair{1U, 1U}, std::pair{2U, 2U}, std::pair{3U, 2U},
                                           std::pair{3U, 3U}, std::pair{4U, 3U}, std::pair{4U, 4U},
                                           std::pair{5U, 3U}, std::pair{5U, 4U}),
                         [](const auto& instance) {
                           return std::to_string(instance.param.first) + "_with_quorum_" +
                                  std::to_string(instance.param.second);
                         });

}  // namespace
}  // namespace redlock::core::test
