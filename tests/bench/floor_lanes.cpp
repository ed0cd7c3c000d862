#include "floor_lanes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <random>
#include <utility>

namespace redlock::bench {
namespace {

constexpr std::size_t token_length = 40;
constexpr std::size_t counter_length = 16;

using HexPairs = std::array<std::array<char, 2>, 256>;

constexpr HexPairs make_hex_pairs() {
  constexpr std::string_view digits = "0123456789abcdef";
  HexPairs pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {digits[i >> 4U], digits[i & 15U]};
  return pairs;
}

constexpr HexPairs hex_pairs = make_hex_pairs();

void write_hex(std::uint64_t value, char* out) noexcept {
  for (unsigned i = 0; i < sizeof value; ++i) {
    std::memcpy(out + std::size_t{2} * i, hex_pairs[(value >> (56U - 8U * i)) & 0xFFU].data(), 2);
  }
}

std::string hex(std::uint64_t value) {
  std::string digits(counter_length, '0');
  write_hex(value, digits.data());
  return digits;
}

std::uint64_t random_bits() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

void append_length(std::string& command, char kind, std::size_t length) {
  command += kind;
  command += std::to_string(length);
  command += "\r\n";
}

std::string encode(std::initializer_list<std::string_view> arguments) {
  std::string command;
  append_length(command, '*', arguments.size());
  for (const std::string_view argument : arguments) {
    append_length(command, '$', argument.size());
    command += argument;
    command += "\r\n";
  }
  return command;
}

}  // namespace

FloorLanes::FloorLanes(const CycleSettings& settings, std::string_view script_sha)
    : quorum_(static_cast<std::uint32_t>(settings.quorum())),
      tolerable_(static_cast<std::uint32_t>(settings.nodes.size() - settings.quorum())),
      lanes_(settings.in_flight),
      log_(log_mask + 1),
      answered_(settings.nodes.size()),
      duration_(settings.duration) {
  prepare_commands(settings, script_sha);
}

void FloorLanes::prepare_commands(const CycleSettings& settings, std::string_view script_sha) {
  // A lane sends at most one command per loop turn: the next step needs answers to this one.
  const std::string run = hex(random_bits());
  const std::string token = run + hex(random_bits()).substr(0, token_length - 2 * counter_length) +
                            std::string(counter_length, '0');
  const std::string ttl = std::to_string(settings.ttl.count());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const std::string resource = settings.resource_prefix + ":" + run + ":" + hex(i);
    const std::string set = encode({"SET", resource, token, "NX", "PX", ttl});
    const std::string release = encode({"EVALSHA", script_sha, "1", resource, token});
    set_size_ = set.size();
    release_size_ = release.size();
    set_token_at_ = set.find(token) + token_length - counter_length;
    release_token_at_ = set_size_ + release.find(token) + token_length - counter_length;
    commands_.insert(commands_.end(), set.begin(), set.end());
    commands_.insert(commands_.end(), release.begin(), release.end());
  }
  batch_.resize(lanes_.size() * std::max(set_size_, release_size_));
}

void FloorLanes::start() {
  cpu_at_start_ = cpu_use(CpuScope::calling_thread);
  start_ = Clock::now();
  deadline_ = start_ + duration_;
  active_ = lanes_.size();
  for (Lane& lane : lanes_) begin_cycle(lane, start_);
}

void FloorLanes::begin_cycle(Lane& lane, Clock::time_point now) {
  if (now >= deadline_) {
    if (--active_ != 0) return;
    result_.elapsed = now - start_;
    count_cpu(result_, cpu_at_start_, CpuScope::calling_thread);
    return;
  }
  const auto index = static_cast<std::size_t>(&lane - lanes_.data());
  char* const commands = commands_.data() + index * (set_size_ + release_size_);
  write_hex(++token_, commands + set_token_at_);
  std::memcpy(commands + release_token_at_, commands + set_token_at_, counter_length);
  lane.cycle_start = now;
  begin_step(lane, Phase::acquiring);
}

void FloorLanes::begin_step(Lane& lane, Phase phase) {
  const auto index = static_cast<std::size_t>(&lane - lanes_.data());
  ++lane.step;
  lane.good = 0;
  lane.bad = lost_nodes_;
  lane.phase = phase;
  log_[sent_++ & log_mask] = {static_cast<std::uint32_t>(index), lane.step};

  const char* command = commands_.data() + index * (set_size_ + release_size_);
  std::size_t size = set_size_;
  if (phase != Phase::acquiring) {
    command += set_size_;
    size = release_size_;
  }
  std::memcpy(batch_.data() + batch_size_, command, size);
  batch_size_ += size;
}

void FloorLanes::step_won(Lane& lane) {
  ++steps_ended_;
  const Clock::time_point now = Clock::now();
  switch (lane.phase) {
    case Phase::acquiring:
      result_.acquire.record(now - lane.cycle_start);
      begin_step(lane, Phase::releasing);
      return;
    case Phase::releasing:
    case Phase::undoing:
      end_cycle(lane, now);
      return;
  }
}

void FloorLanes::step_lost(Lane& lane) {
  ++steps_ended_;
  switch (lane.phase) {
    case Phase::acquiring:
      begin_step(lane, Phase::undoing);
      return;
    case Phase::releasing:
      lane.phase = Phase::undoing;
      end_cycle(lane, Clock::now());
      return;
    case Phase::undoing:
      end_cycle(lane, Clock::now());
      return;
  }
}

void FloorLanes::end_cycle(Lane& lane, Clock::time_point now) {
  // Later answers to the step that has ended must not decide a step again.
  ++lane.step;
  if (lane.phase == Phase::releasing) {
    ++result_.cycles;
    result_.cycle.record(now - lane.cycle_start);
  } else {
    ++result_.failures;
  }
  begin_cycle(lane, now);
}

void FloorLanes::on_node_lost(std::size_t node) {
  // Steps that begin in this function already count the node as lost: only the answers that it owed
  // before become refusals.
  ++lost_nodes_;
  if (majority_lost()) return;
  const std::uint64_t owed_until = sent_;
  while (answered_[node] != owed_until) on_answer(node, Outcome::bad);
}

CycleResult FloorLanes::take_result() { return std::exchange(result_, CycleResult{}); }

}  // namespace redlock::bench
