#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "bench/floor/floor_link.hpp"
#include "bench/measure/cycle_result.hpp"
#include "bench/measure/handoff_lock.hpp"

namespace redlock::bench {

/// A contender without lock logic, the floor of a hand-over: it waits on a channel of its own on
/// every node, and tries with SET NX PX when a node published there. Its release is a prepared
/// compare-and-delete and a bare PUBLISH to the next contender's channel, in one write for each
/// node. The order of the holders is known in advance: nobody queues, and no two compete.
class FloorContender final : public HandoffLock {
 public:
  struct Place {
    std::string resource{};
    std::string channel{};       ///< empty: the contender never waits
    std::string next_channel{};  ///< the channel of the contender that it hands over to
  };

  /// Throws std::runtime_error.
  FloorContender(const std::vector<Endpoint>& nodes, const Place& place);

  void acquire(Entry entry) override;
  bool release(Next next) override;

 private:
  struct Node {
    FileDescriptor commands;
    FileDescriptor channel;
    std::deque<std::uint64_t> sent{};  ///< the step of each unanswered command
    std::string input{};
    std::size_t heard = 0;  ///< how many bytes of messages have arrived
  };

  void subscribe(const std::string& channel);
  [[nodiscard]] std::size_t nodes_that_woke() const noexcept;
  [[nodiscard]] bool attempt();
  /// Sends a command whose answers decide a step, followed by `unimportant` commands whose answers
  /// do not matter.
  void begin_step(const std::string& bytes, std::size_t unimportant);
  [[nodiscard]] bool end_step();
  void take_part();
  void read_answers(Node& node);

  std::vector<Node> nodes_;
  std::size_t quorum_;
  std::size_t message_size_ = 0;
  std::string set_{};
  std::string release_{};
  std::string release_and_publish_{};

  /// The number of the turn. Each turn is one message on every node; a late message belongs to a
  /// turn that is over.
  std::size_t turn_ = 0;
  std::uint64_t step_ = 0;
  std::size_t good_ = 0;
  std::size_t bad_ = 0;
};

}  // namespace redlock::bench
