#include "core/duties/reigns.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "core/membership/node_memory.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// How long after a reading a node is asked again.
constexpr Duration ask_again_after = std::chrono::seconds(1);
/// How long too few servers follow before the client looks for another primary.
constexpr Duration alone_for = std::chrono::seconds(1);

}  // namespace

bool Reigns::may_be_asked(NodeIndex node) const {
  const Link& link = nodes_[node];
  const auto& marker = link.mandate->marker();
  return link.reign->is_replicated() && link.up() && link.mandate->ineligible().empty() &&
         !link.mandate->duplicate_of() && !link.unmarked() && marker &&
         !replication_id(marker->replid).empty() && marker->max_ttl == settings_.max_ttl &&
         (!link.reign->stands() || link.reign->moved() > 0);
}

void Reigns::grow() {
  // Requests of this step refer to what is in them.
  works_.reserve(limits::nodes);
  works_.resize(nodes_.size());
}

void Reigns::read_due() {
  if (!enroller_.wants_votes() || closing_.has_begun()) return;
  grow();
  nodes_.all().each([&](NodeIndex node) {
    Work& work = works_[node];
    if (work.asked || work.write || now_ < work.next || !may_be_asked(node)) return;
    work.asked = true;
    outbox_.read_markers(NodeSet::of(node), Stamp(Verb::read_marker), true);
  });
}

Instant Reigns::deadline() const noexcept {
  Instant next = never;
  if (!enroller_.wants_votes() || closing_.has_begun()) return next;
  for (std::size_t i = 0; i < works_.size(); ++i) {
    const Work& work = works_[i];
    if (work.asked || work.write || !may_be_asked(static_cast<NodeIndex>(i))) continue;
    next = std::min(next, work.next);
  }
  return next;
}

bool Reigns::read(NodeIndex node, const ReignReading& reading) {
  grow();
  Work& work = works_[node];
  work.asked = false;
  work.next = later(now_, ask_again_after);
  if (work.write) return false;
  const Reign& reign = *nodes_[node].reign;
  if (reign.stands()) {
    work.alone_since.reset();
    refresh(node, reading);
    return false;
  }
  work.first_reading.reset();
  if (reign.is_unread()) {
    work.next = now_;
    return false;
  }
  if (!reign.has_enough(reading)) {
    work.broken_since.reset();
    if (!work.alone_since) work.alone_since = now_;
    return now_ >= later(*work.alone_since, alone_for);
  }
  work.alone_since.reset();
  // A replica that has just come back may need a moment for its acknowledgement.
  if (!work.broken_since) work.broken_since = now_;
  const bool may_change = reign.record() && reading.acknowledged + 1 < reign.servers();
  if (may_change && now_ < later(*work.broken_since, settings_.longest_limit)) return false;
  write(node, reading, true);
  return false;
}

void Reigns::refresh(NodeIndex node, const ReignReading& reading) {
  Work& work = works_[node];
  work.broken_since.reset();
  if (nodes_[node].reign->moved() == 0) return work.first_reading.reset();
  // The followers of this reading, which began with a write, followed at the instant of the reading
  // before, if the attachments have not moved since.
  if (work.first_reading == reading.attachments) return write(node, reading, false);
  work.first_reading = reading.attachments;
  work.next = now_;
}

void Reigns::write(NodeIndex node, const ReignReading& reading, bool confirms) {
  const Link& link = nodes_[node];
  if (!may_be_asked(node) || !enroller_.wants_votes() || closing_.has_begun()) return;
  Work& work = works_[node];
  work.first_reading.reset();
  work.broken_since.reset();
  const Reign& reign = *link.reign;
  work.write =
      ReignWrite{link.mandate->marker_text(),
                 reign.record_text(),
                 head_of(reign_of(*link.mandate->marker())),
                 confirms ? std::string() : std::to_string(reign.record()->confirmed_at.count()),
                 reading.attachments,
                 settings_.quarantine};
  // Sent in full: a record is rarely written.
  outbox_.send(NodeSet::of(node), Stamp(Verb::write_reign), ScriptForm::text).reign = &*work.write;
}

bool Reigns::written(NodeIndex node, Reply reply) {
  REDLOCK_ASSERT(works_.at(node).write);
  Work& work = works_[node];
  const bool confirmed = work.write->confirmed.empty() && reply != Reply::error;
  work.write.reset();
  work.next = later(now_, ask_again_after);
  return confirmed;
}

}  // namespace redlock::core
