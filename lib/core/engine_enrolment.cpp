#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/engine.hpp"
#include "support/assert.hpp"

/// What Enrolment decides is carried out: one writing at a time, and readings that confirm it.
namespace redlock::core {
namespace {

/// A node that refuses to be written is asked again after so long.
constexpr Duration after_refusal = std::chrono::seconds(1);

}  // namespace

void Engine::enrol() {
  if (enrol_again_at_ && now_ >= *enrol_again_at_) {
    enrol_again_at_.reset();
    enrolment_due_ = true;
  }
  if (enrolment_waits_until_ && now_ >= *enrolment_waits_until_) {
    enrolment_waits_until_.reset();
    enrolment_.waited(enrolment_wait_);
    enrolment_due_ = true;
  }
  if (!enrolment_due_ || closing_.is_over()) return;
  if (!closing_.has_begun()) {
    watch_markers();
    learn_members();
  }
  const bool waits = writing_marker_.has_value() || enrol_again_at_.has_value();
  if (waits && settings_.restart_guard) return;
  enrolment_due_ = false;
  if (!settings_.restart_guard || !wants_votes_) return report_unenrolled();
  const Enrolment::Step step = enrolment_.next(nodes_.views(), *random_);
  if (const auto* write = std::get_if<Enrolment::Write>(&step)) {
    write_marker(*write);
  } else if (const auto* confirm = std::get_if<Enrolment::Confirm>(&step)) {
    confirm_markers(*confirm);
  } else {
    if (const auto* wait = std::get_if<Enrolment::Wait>(&step)) await_opening(*wait);
    report_unenrolled();
  }
}

/// A client that only inspects locks leaves nodes as they are: a marker and a quarantine would come
/// from its own options, which need not be those of the other clients.
void Engine::mark_nodes() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    Link& link = nodes_[i];
    if (!link.unmarked() || link.duplicate_of() || !link.ineligible().empty()) continue;
    if (!may_mark(node)) continue;
    // A handshake does it.
    link.return_once_more();
    end_connection(node, Vote::error, nobody_met_it);
  }
}

void Engine::watch_markers() {
  // Votes show a marker that changed. Where none are asked for, the marker has to be read.
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
    // Without the guard, a node that does not let us read its marker is as good as a new one.
    const bool has_marker = settings_.restart_guard || link.marker();
    // `bootstrap` may end the quarantine of a new node, which has no vote that would show it.
    const bool silent = closed || !counts || link.may_be_new();
    link.watch_marker(has_marker && link.ineligible().empty() && silent, now_);
    link.watch_name(link.up() && nodes_.lost_its_place(static_cast<NodeIndex>(i)), now_);
  }
}

void Engine::learn_members() {
  // It may be the member by another name.
  if (nodes_.is_first_contact()) return;
  for (const std::string& name : unknown_members(nodes_.views(), settings_.quorum)) {
    if (nodes_.size() == limits::nodes) return;
    outbox_.emit(NodeLearned{nodes_.learn(name)});
  }
}

void Engine::write_marker(const Enrolment::Write& write) {
  const Link& link = nodes_[write.node];
  writing_marker_ =
      MarkerWrite{write.node,
                  link.marker_text(),
                  format_marker(write.marker),
                  write.quarantine,
                  now_.time_since_epoch() + link.clock().offset().value_or(Duration::zero()),
                  write.as_new};
  const bool plain = !link.runs_scripts() && link.can_compare() && link.clock_known();
  const Stamp stamp = upkeep(plain ? Verb::mark_plain : Verb::write_marker);
  outbox_.send(SendMarker{{NodeSet::of(write.node), stamp}, &*writing_marker_});
}

void Engine::confirm_markers(const Enrolment::Confirm& confirm) {
  if (confirm.pass != confirming_pass_) {
    confirming_pass_ = confirm.pass;
    confirming_ = NodeSet();
  }
  const NodeSet unread = confirm.nodes - confirming_;
  if (unread.empty()) return;
  confirming_ = confirming_ | unread;
  outbox_.send(SendUpkeep{{unread, upkeep(Verb::read_marker, confirm.pass)}});
}

void Engine::await_opening(const Enrolment::Wait& wait) {
  if (wait.number == enrolment_wait_) return;
  enrolment_wait_ = wait.number;
  enrolment_waits_until_ = later(now_, wait.length);
}

void Engine::take_confirmation(NodeIndex node, const Stamp& stamp) {
  if (stamp.round == 0 || stamp.round != confirming_pass_) return;
  confirming_.remove(node);
  enrolment_.confirmed(node, stamp.round);
  enrolment_due_ = true;
}

void Engine::take_marker_written(const Answer& answer) {
  const NodeIndex node = answer.node;
  Link& link = nodes_[node];
  REDLOCK_ASSERT(writing_marker_ && writing_marker_->node == node);
  const bool as_new = writing_marker_->as_new;
  const bool written = answer.text.starts_with(writing_marker_->text + ' ');
  writing_marker_.reset();
  enrolment_due_ = true;
  // Ours or that of another client: it is the marker of the same server, or another handshake is
  // due.
  const std::optional<Marker> marker = parse_marker(answer.text);
  const bool same = marker && link.marker() && marker->run_id == link.marker()->run_id &&
                    marker->replid == link.marker()->replid;
  // What a voter was asked before counts only if nobody else has written meanwhile.
  const bool voted = same && link.marker()->state == Marker::State::active;
  if (!same || (voted && !written)) {
    return end_connection(node, Vote::error, "its membership record changed");
  }
  count_held_back(node, 0);
  static_cast<void>(link.answered(answer.stamp, now_));
  // What it may have forgotten, or was asked as another member, is worth nothing any more.
  if (!voted) lost_votes_.lose(node);
  link.take_marker(answer.text, now_);
  if (answer.time > Duration::zero()) {
    const bool known = link.quarantined_until() && now_ < *link.quarantined_until();
    std::string why = known ? std::string(link.quarantine_why())
                            : "it became a member just now" + std::string(may_have_forgotten);
    const bool member = link.marker()->state == Marker::State::active && !as_new;
    if (member && link.may_be_new()) {
      why = std::string(came_without_data) + std::string(may_have_forgotten);
    }
    link.quarantine_by_node(later(now_, answer.time), why);
  }
  nodes_.judge_marker(node);
  serve_claims_of(node);
  if (!link.vote_denied().empty()) {
    unenrolled_.add(node);
  } else if (!nodes_.may_vote(node)) {
    report_exclusion(node);
  }
  wake_after_outage();
}

void Engine::note_marker_refused(NodeIndex node) {
  if (!writing_marker_ || writing_marker_->node != node) return;
  writing_marker_.reset();
  enrol_again_at_ = later(now_, after_refusal);
  report_unenrolled();
}

bool Engine::may_still_enrol() const {
  // A client that closes at once leaves no opening half done: the next one may be as quick.
  bool waits = false;
  bool denied = false;
  for (const Link& link : nodes_) {
    waits = waits || link.fresh() || link.returning();
    const bool ours = link.up() && link.marker() && link.ineligible().empty() &&
                      (link.marker()->state == Marker::State::blank ||
                       link.marker()->state == Marker::State::opening);
    denied = denied || ours;
  }
  return settings_.restart_guard && wants_votes_ && waits && denied;
}

void Engine::note_enrolment(NodeIndex node) {
  unenrolled_.add(node);
  enrolment_due_ = true;
}

void Engine::forget_enrolment(NodeIndex node) {
  confirming_.remove(node);
  unenrolled_.remove(node);
  if (writing_marker_ && writing_marker_->node == node) writing_marker_.reset();
  enrolment_due_ = true;
}

void Engine::report_unenrolled() {
  const NodeSet waiting = std::exchange(unenrolled_, NodeSet());
  waiting.each([&](NodeIndex node) {
    if (nodes_[node].up() && !nodes_[node].vote_denied().empty()) report_exclusion(node);
  });
}

}  // namespace redlock::core
