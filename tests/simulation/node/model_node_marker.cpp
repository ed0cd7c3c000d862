#include "simulation/node/model_node.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/membership/marker.hpp"

namespace redlock::simulation {

using core::Reply;

GuardResponse ModelNode::guard(const GuardRequest& request, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  const std::optional<core::Marker> there = core::parse_marker(memory_.marker);
  const bool own = there && there->run_id == request.run_id && there->replid == request.replid;
  if (!own && request.marks) {
    core::Marker marker = there.value_or(core::Marker{});
    const bool keeps = there && there->run_id != request.run_id && request.trusted &&
                       marker.durable && !marker.self.empty() && marker.self == request.name;
    if (!keeps) {
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
    }
    marker.incarnation = request.incarnation;
    marker.run_id = request.run_id;
    marker.replid = request.replid;
    marker.durable = request.trusted;
    memory_.marker = core::format_marker(marker) + ' ' + std::to_string(clock.local(now) / 1000);
  }
  return {memory_.marker, std::max<std::int64_t>(0, memory_.quarantine_until - millis),
          !own && !request.marks};
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

}  // namespace redlock::simulation
