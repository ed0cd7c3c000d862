#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/cycle_result.hpp"

namespace redlock::bench {

/// Bytes kept for a node that does not read; beyond, the node is given up.
inline constexpr std::size_t floor_backlog_limit = std::size_t{16} * 1024 * 1024;
/// How often the floor checks its progress, and after which time without progress it gives up.
inline constexpr std::chrono::milliseconds floor_watch_interval{250};
inline constexpr std::chrono::seconds floor_stall_limit{5};
/// How long the answers of slow nodes are awaited after the last cycle.
inline constexpr std::chrono::seconds floor_drain_limit{1};

/// The answers that each lane waits for, and the bytes to send next.
///
/// A lane is one lock in flight that runs one cycle after the other. Every live node gets the same
/// commands in the same order, so one batch of bytes and one log of the commands serve all nodes.
/// Each node has a position in that log, which matches its answers to lanes.
///
/// In each turn of the loop, the owner writes `batch()` to every node and calls `clear_batch()`.
/// Only then it reports the nodes that are lost or `too_far_behind`, because `on_node_lost` starts
/// a new batch. At last it feeds each answer to `on_answer`. This goes on until `finished()`. Only
/// the constructor allocates.
class FloorLanes {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Outcome : std::uint8_t { good, bad };

  FloorLanes(const CycleSettings& settings, std::string_view script_sha);

  void start();

  /// An answer to a step that its lane has already left only advances the node's position.
  void on_answer(std::size_t node, Outcome outcome) {
    std::uint64_t& position = answered_[node];
    if (position == sent_) return;
    const Sent sent = log_[position++ & log_mask];
    Lane& lane = lanes_[sent.lane];
    if (lane.step != sent.step) return;
    if (outcome == Outcome::good) {
      if (++lane.good == quorum_) step_won(lane);
    } else if (++lane.bad > tolerable_) {
      step_lost(lane);
    }
  }

  /// From now on the node counts as a refusal in every step.
  void on_node_lost(std::size_t node);

  [[nodiscard]] std::string_view batch() const noexcept { return {batch_.data(), batch_size_}; }
  void clear_batch() noexcept { batch_size_ = 0; }

  /// Whether the node owes more answers than the log can hold.
  [[nodiscard]] bool too_far_behind(std::size_t node) const noexcept {
    return sent_ - answered_[node] > log_mask + 1 - 2 * lanes_.size();
  }
  [[nodiscard]] bool owes_answers(std::size_t node) const noexcept {
    return answered_[node] != sent_;
  }

  [[nodiscard]] bool finished() const noexcept { return active_ == 0; }
  [[nodiscard]] bool majority_lost() const noexcept { return lost_nodes_ > tolerable_; }
  /// Grows with every step that ends; a floor whose value does not change is stuck.
  [[nodiscard]] std::uint64_t progress() const noexcept { return steps_ended_; }
  [[nodiscard]] CycleResult take_result();

 private:
  enum class Phase : std::uint8_t { acquiring, releasing, undoing };

  struct Lane {
    std::uint32_t step = 0;
    std::uint32_t good = 0;
    std::uint32_t bad = 0;
    Phase phase = Phase::acquiring;
    Clock::time_point cycle_start;
  };
  struct Sent {
    std::uint32_t lane;
    std::uint32_t step;
  };

  static constexpr std::uint64_t log_mask = (std::uint64_t{1} << 18) - 1;

  void prepare_commands(const CycleSettings& settings, std::string_view script_sha);
  void begin_cycle(Lane& lane, Clock::time_point now);
  void begin_step(Lane& lane, Phase phase);
  void step_won(Lane& lane);
  void step_lost(Lane& lane);
  void end_cycle(Lane& lane, Clock::time_point now);

  std::uint32_t quorum_;
  std::uint32_t tolerable_;
  std::uint32_t lost_nodes_ = 0;

  std::vector<Lane> lanes_;
  std::vector<Sent> log_;
  std::vector<std::uint64_t> answered_;
  std::uint64_t sent_ = 0;

  /// Per lane the SET followed by the EVALSHA, all of one length, both with the token to patch.
  std::vector<char> commands_;
  std::size_t set_size_ = 0;
  std::size_t release_size_ = 0;
  std::size_t set_token_at_ = 0;
  std::size_t release_token_at_ = 0;
  std::uint64_t token_ = 0;

  std::vector<char> batch_;
  std::size_t batch_size_ = 0;

  std::size_t active_ = 0;
  std::uint64_t steps_ended_ = 0;
  std::chrono::nanoseconds duration_;
  Clock::time_point start_;
  Clock::time_point deadline_;
  CpuUse cpu_at_start_{};
  CycleResult result_;
};

}  // namespace redlock::bench
