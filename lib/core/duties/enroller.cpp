#include "core/duties/enroller.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// How long after a refusal a node is asked to write again.
constexpr Duration after_refusal = std::chrono::seconds(1);

}  // namespace

bool Enroller::want_votes() noexcept {
  const bool first = !std::exchange(wants_votes_, true);
  due_ = due_ || first;
  return first;
}

bool Enroller::is_to_be_marked(NodeIndex node) const {
  const Link& link = nodes_[node];
  return (link.unmarked() || link.outdated()) && !link.mandate->duplicate_of() &&
         link.mandate->ineligible().empty() && may_mark(node);
}

Instant Enroller::deadline() const noexcept {
  if (closing_.has_begun()) return never;
  return std::min(again_at_.value_or(never), waits_until_.value_or(never));
}

void Enroller::act() {
  if (again_at_ && now_ >= *again_at_) {
    again_at_.reset();
    due_ = true;
  }
  if (waits_until_ && now_ >= *waits_until_) {
    waits_until_.reset();
    enrolment_.waited(wait_);
    due_ = true;
  }
  if (!due_ || closing_.is_over()) return;
  if (!closing_.has_begun()) {
    watch_markers();
    learn_members();
  }
  const bool waits = writing_.has_value() || again_at_.has_value();
  if (waits && settings_.restart_guard) return;
  due_ = false;
  if (!settings_.restart_guard || !wants_votes_) return report_unenrolled();
  const Enrolment::Step step = enrolment_.next(nodes_.views(), random_);
  if (const auto* write = std::get_if<Enrolment::Write>(&step)) {
    begin_writing(*write);
  } else if (const auto* confirm = std::get_if<Enrolment::Confirm>(&step)) {
    ask_to_confirm(*confirm);
  } else {
    if (const auto* wait = std::get_if<Enrolment::Wait>(&step)) begin_wait(*wait);
    report_unenrolled();
  }
}

void Enroller::watch_markers() {
  // A vote shows a marker that changed. If no votes are requested, the marker has to be read.
  const Nodes::Ballot ballot = nodes_.ballot();
  std::size_t members = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool counts =
        nodes_[i].up() && nodes_.belongs_to(static_cast<NodeIndex>(i), ballot.deployment);
    members += counts ? 1 : 0;
  }
  const bool closed = members < ballot.quorum;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Link& link = nodes_[i];
    const bool counts = nodes_.belongs_to(static_cast<NodeIndex>(i), ballot.deployment);
    // Without the guard, a node whose marker we cannot read is treated as new.
    const bool has_marker = settings_.restart_guard || link.mandate->marker();
    // `bootstrap` can end the quarantine of a new node, which has no vote that would show the
    // change.
    const bool silent = closed || !counts || link.mandate->may_be_new();
    const bool eligible = link.up() && link.mandate->ineligible().empty();
    link.mandate.by(me).watch_marker(eligible && has_marker && silent, now_);
    link.mandate.by(me).watch_name(
        link.up() && nodes_.lost_its_membership(static_cast<NodeIndex>(i)), now_);
  }
}

void Enroller::learn_members() {
  // A node in first contact may be the unknown member, by another name.
  if (nodes_.is_first_contact()) return;
  for (const std::string& name : unknown_members(nodes_.views(), settings_.quorum)) {
    if (nodes_.size() == limits::nodes) return;
    outbox_.emit(NodeLearned{nodes_.learn(name)});
  }
}

void Enroller::begin_writing(const Enrolment::Write& write) {
  const Link& link = nodes_[write.node];
  writing_ = MarkerWrite{write.node,
                         link.mandate->marker_text(),
                         format_marker(write.marker),
                         write.quarantine,
                         now_.time_since_epoch() + link.clock().offset().value_or(Duration::zero()),
                         write.as_new};
  const bool plain = !link.mandate->can(Capability::run_scripts) &&
                     link.mandate->can(Capability::compare) && link.clock_known();
  const Stamp stamp = Stamp(plain ? Verb::mark_plain : Verb::write_marker);
  // Sent in full: a marker is written once in the life of a node, so the node does not know the
  // script.
  outbox_.send(NodeSet::of(write.node), stamp, ScriptForm::text).marker = &*writing_;
}

void Enroller::ask_to_confirm(const Enrolment::Confirm& confirm) {
  if (confirm.pass != confirming_pass_) {
    confirming_pass_ = confirm.pass;
    confirming_ = NodeSet();
  }
  const NodeSet unread = confirm.nodes - confirming_;
  if (unread.empty()) return;
  confirming_ = confirming_ | unread;
  outbox_.read_markers(unread, Stamp::of_pass(confirm.pass));
}

void Enroller::begin_wait(const Enrolment::Wait& wait) {
  if (wait.number == wait_) return;
  wait_ = wait.number;
  waits_until_ = later(now_, wait.length);
}

void Enroller::read(NodeIndex node, const Stamp& stamp) noexcept {
  if (stamp.pass() == 0 || stamp.pass() != confirming_pass_) return;
  confirming_.remove(node);
  enrolment_.confirmed(node, stamp.pass());
  due_ = true;
}

Enroller::Written Enroller::written(const Answer& answer) {
  const Link& link = nodes_[answer.node];
  REDLOCK_ASSERT(writing_ && writing_->node == answer.node);
  const bool as_new = writing_->as_new;
  const bool by_us = answer.text.starts_with(writing_->text + ' ');
  writing_.reset();
  due_ = true;
  // Ours or another client's, the marker must be that of the same server; otherwise another
  // handshake is due.
  const std::optional<Marker> marker = parse_marker(answer.text);
  const bool same = marker && link.mandate->marker() &&
                    marker->run_id == link.mandate->marker()->run_id &&
                    marker->replid == link.mandate->marker()->replid;
  // A voter's answers to earlier requests count only if no other client wrote in between.
  const bool voted = same && link.mandate->marker()->state == Marker::State::active;
  return {!same || (voted && !by_us), voted, as_new};
}

void Enroller::take_marker(const Answer& answer, const Written& what) {
  const NodeIndex node = answer.node;
  Link& link = nodes_[node];
  static_cast<void>(link.answered(me, answer.stamp, now_));
  // Votes that the node may have forgotten, or gave as another member, are void.
  if (!what.was_member) lost_votes_.lose(node);
  link.mandate.by(me).take_marker(answer.text, now_);
  if (answer.time > Duration::zero()) {
    const bool known =
        link.mandate->quarantined_until() && now_ < *link.mandate->quarantined_until();
    std::string why = known ? std::string(link.mandate->quarantine_why())
                            : "it became a member just now" + std::string(may_have_forgotten);
    const bool member = link.mandate->marker()->state == Marker::State::active && !what.as_new;
    if (member && link.mandate->may_be_new()) {
      why = std::string(came_without_data) + std::string(may_have_forgotten);
    }
    link.mandate.by(me).quarantine_by_node(later(now_, answer.time), why);
  }
  nodes_.judge_marker(node);
}

void Enroller::report(NodeIndex node) {
  if (!nodes_[node].mandate->vote_denied().empty()) {
    unenrolled_.add(node);
  } else if (!nodes_.may_vote(node)) {
    outbox_.emit(NodeExcluded{node});
  }
}

void Enroller::refused(NodeIndex node) {
  if (!writing_ || writing_->node != node) return;
  writing_.reset();
  again_at_ = later(now_, after_refusal);
  report_unenrolled();
}

bool Enroller::may_still_enrol() const {
  bool waits = false;
  bool denied = false;
  for (const Link& link : nodes_) {
    waits = waits || link.contact->fresh() || link.contact->returning();
    const bool ours = link.up() && link.mandate->marker() && link.mandate->ineligible().empty() &&
                      (link.mandate->marker()->state == Marker::State::blank ||
                       link.mandate->marker()->state == Marker::State::opening);
    denied = denied || ours;
  }
  return settings_.restart_guard && wants_votes_ && waits && denied;
}

void Enroller::dropped(NodeIndex node) noexcept {
  confirming_.remove(node);
  unenrolled_.remove(node);
  if (writing_ && writing_->node == node) writing_.reset();
  due_ = true;
}

void Enroller::report_unenrolled() {
  const NodeSet waiting = std::exchange(unenrolled_, NodeSet());
  waiting.each([&](NodeIndex node) {
    if (nodes_[node].up() && !nodes_[node].mandate->vote_denied().empty()) {
      outbox_.emit(NodeExcluded{node});
    }
  });
}

}  // namespace redlock::core
