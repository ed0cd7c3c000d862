#include "simulation/node/model_node.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/membership/marker.hpp"

namespace redlock::simulation {

using core::Reply;

namespace {

/// The replication id and the number of evictions in a history.
std::pair<std::string, std::string> halves(const std::string& history) {
  const std::size_t at = history.find('+');
  if (at == std::string::npos) return {history, {}};
  return {history.substr(0, at), history.substr(at + 1)};
}

/// Whether a node, marked with the history `marked`, may have forgotten keys since; none: nothing
/// changed that its marker holds.
std::optional<bool> has_forgotten(const std::string& marked, const core::NodeMemory& memory) {
  const auto [old_id, before] = halves(marked);
  const auto [id, evicted] = halves(memory.history);
  if (old_id != id && !memory.own_data) return true;
  if (before == evicted) return std::nullopt;
  return !(evicted.empty() && memory.keeps_keys);
}

}  // namespace

GuardResponse ModelNode::guard(const GuardRequest& request, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  const std::optional<core::Marker> there = core::parse_marker(memory_.marker);
  core::Marker marker = there.value_or(core::Marker{});
  const bool same_process = there && there->run_id == request.run_id;
  const bool is_trusted =
      request.trusted && marker.durable && !marker.self.empty() && marker.self == request.name;
  const std::optional<bool> forgot = !there         ? std::optional(true)
                                     : same_process ? has_forgotten(there->replid, request.memory)
                                                    : std::optional(!is_trusted);
  if (forgot && request.marks) {
    if (*forgot) {
      const std::int64_t old = there ? there->max_ttl.count() : request.max_ttl_ms;
      quarantine(old != request.max_ttl_ms ? old + (old + 99) / 100 + 2 : request.quarantine_ms,
                 now);
      marker.state = core::Marker::State::blank;
      marker.deployment.clear();
      marker.members.clear();
      marker.admissions.clear();
      marker.self = request.name;
      marker.max_ttl = std::chrono::milliseconds(old);
      marker.remembers_since = there ? core::Marker::from_its_writing : core::Marker::always;
      marker.durable = request.trusted;
    }
    marker.incarnation = request.incarnation;
    marker.run_id = request.run_id;
    marker.replid = request.memory.history;
    memory_.marker = core::format_marker(marker) + ' ' + std::to_string(clock.local(now) / 1000);
  }
  return {memory_.marker, std::max<std::int64_t>(0, memory_.quarantine_until - millis),
          !request.marks && (!same_process || forgot.value_or(false)),
          !request.marks && same_process && forgot == false};
}

void ModelNode::quarantine(std::int64_t milliseconds, True now) {
  memory_.quarantine_until =
      std::max(memory_.quarantine_until, clock.milliseconds(now) + milliseconds);
  const std::int64_t end = clock.local(now) / 1000 + milliseconds * 1000;
  const std::int64_t floor = mutant_ == Mutant::no_floor ? 0 : end;
  memory_.floor = std::max(memory_.floor.value_or(0), floor);
}

void ModelNode::pretend_to_remember() {
  core::Marker marker = core::parse_marker(memory_.marker).value();
  marker.remembers_since = core::Marker::always;
  memory_.marker = core::format_marker(marker) + ' ' + std::to_string(marker.written_at.count());
}

void ModelNode::write_marker(const core::MarkerWrite& write, True now, Response& response) {
  if (memory_.marker == write.expected) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(write.quarantine);
    if (write.quarantine > core::Duration::zero()) quarantine(milliseconds.count(), now);
    memory_.marker = write.text + ' ' + std::to_string(clock.local(now) / 1000);
    if (mutant_ == Mutant::memory_is_not_asked_for) pretend_to_remember();
  }
  response.reply = Reply::marker;
  response.marker = memory_.marker;
  response.time =
      ms * std::max<std::int64_t>(0, memory_.quarantine_until - clock.milliseconds(now));
}

/// reign.lua
void ModelNode::write_reign(const core::ReignWrite& write, True now, Response& response) {
  response.reply = Reply::done;
  if (memory_.marker != write.marker || memory_.reign != write.expected) return;
  std::string confirmed = write.confirmed;
  if (confirmed.empty()) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(write.quarantine);
    if (write.quarantine > core::Duration::zero()) quarantine(milliseconds.count(), now);
    confirmed = std::to_string(clock.local(now) / 1000);
  }
  memory_.reign = write.head + ' ' + confirmed + ' ' + std::to_string(write.attachments);
}

}  // namespace redlock::simulation
