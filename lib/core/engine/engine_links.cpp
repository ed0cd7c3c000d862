#include <chrono>
#include <string>

#include "core/engine/engine.hpp"
#include "core/vocabulary/durations.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

std::string in_milliseconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + " ms";
}

}  // namespace

void Engine::tend_links() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    Link& link = nodes_[i];
    if (link.answer_overdue(now_)) {
      // Answers can no longer be matched to requests, so the connection cannot be used again.
      owed_releases_.undo_sets(node);
      outbox_.emit(Disconnect{node});
      drop(node, Vote::timeout, "no answer within " + in_milliseconds(link.limit()));
    } else if (link.connect_overdue(now_)) {
      outbox_.emit(Disconnect{node});
      drop(node, Vote::timeout, no_connection_within(link.connect_limit()));
    }
    if (link.role_check_due(now_)) {
      end_connection(node, Vote::error,
                     link.ineligible().empty() ? counters_were_reset : link.ineligible());
    }
    if (link.name_look_due(now_)) end_connection(node, Vote::error, nodes_.why_not_counted(node));
    if (link.marker_look_due(now_) && !closing_.has_begun()) proof_.read(node);
    if (link.retry_due(now_)) {
      link.connecting(now_);
      outbox_.emit(Connect{node, enroller_.may_mark(node)});
    }
    if (link.end_quarantine(now_)) wake_after_outage();
  }
  if (clocks_.doubt_has_lapsed()) end_doubt({});
  wait_queue_.tend();
  if (!wants_something()) return;
  clocks_.read_again();
  names_.write_again();
}

void Engine::on(const NodeUp& event) {
  const NodeIndex node = event.node;
  const Duration lost = nodes_[node].clock().stepped();
  if (const auto evicted = nodes_[node].came_up(event, now_)) {
    outbox_.emit(CountersReset{node, *evicted});
  }
  if (nodes_[node].clock().stepped() > lost) lower_deadlines();
  names_.came_up(node);
  fencing_.came_up(node);
  meter_.connected(node);
  if (nodes_.find_duplicate(node)) outbox_.emit(NodeExcluded{node});
  nodes_.judge_marker(node);
  const Link& link = nodes_[node];
  const bool no_vote = !link.ineligible().empty() || !link.vote_denied().empty() ||
                       (link.quarantined_until() && !link.only_in_doubt()) ||
                       !nodes_.why_not_counted(node).empty();
  if (!link.vote_denied().empty()) {
    enroller_.note_denied(node);
  } else if (no_vote) {
    outbox_.emit(NodeExcluded{node});
  }
  enroller_.came_up();
  kill_suspects(node);
  clocks_.came_up(node);
  serve_claims_of(node);
  owed_releases_.acknowledged(node);
  tracking_.came_up(node);
  mark_nodes();
  judge_clocks();
  retry_connecting();
  wake_after_outage();
}

void Engine::on(const NodeDown& event) {
  drop(event.node, event.cause == NodeDown::Cause::error ? Vote::error : Vote::unreachable,
       event.why);
}

void Engine::kill_suspects(NodeIndex node) {
  for (const std::int64_t suspect : nodes_[node].suspects()) {
    outbox_.send(NodeSet::of(node), Stamp(Verb::kill_old)).connection = suspect;
  }
}

void Engine::serve_claims_of(NodeIndex node) {
  claims_.each_pending([&](Claim& claim) {
    if (begins_now(claim)) return;
    if (claim.keys.to_release().has(node)) owed_releases_.came_up(claim);
    if (!claim.unasked.has(node)) return;
    const bool votes = is_set(claim.verb);
    if (votes && nodes_.undetermined().has(node)) return;  // asked again when its clock is known
    claim.unasked.remove(node);
    // A lease that was handed on may have ended since.
    const bool is_over = claim.phase == Claim::Phase::cleaning_up && now_ >= claim.valid_until;
    const bool has_vote = voters_.has_vote(claim, node) && !is_over;
    const bool asks = votes ? has_vote : !nodes_[node].duplicate_of();
    // A replica is sent nothing that writes.
    if (!asks || sender_.send(claim, claim.verb, NodeSet::of(node)).empty()) {
      if (claim.purpose == Claim::Purpose::release) claim.keys.owe_release(NodeSet::of(node));
      voters_.record_absent(claim, node);
    }
    agenda_.touch(claim);
  });
}

void Engine::drop(NodeIndex node, Vote vote, std::string_view why) {
  Link& link = nodes_[node];
  link.went_down(now_, vote, why, random_);
  closing_.dropped(node);
  proof_.dropped(node);
  enroller_.dropped(node);
  // The node's server may be reached by another address of the list, which has the vote from now
  // on. Of several addresses of that server only the first gets the vote; the others become its
  // duplicates.
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].duplicate_of() != node) continue;
    nodes_[i].set_duplicate_of(std::nullopt);
    const auto other = static_cast<NodeIndex>(i);
    if (nodes_.find_duplicate(other)) outbox_.emit(NodeExcluded{other});
  }
  while (const std::optional<Stamp> stamp = link.take_unanswered()) {
    Answer answer;
    answer.node = node;
    answer.stamp = *stamp;
    answer.reply = Reply::failed;
    answer.text = link.failure().why;
    take_answer(answer, vote, std::nullopt);
  }
  lost_votes_.lose(node);
  claims_.each_pending([&](Claim& claim) {
    if (begins_now(claim) || !claim.unasked.has(node)) return;
    claim.unasked.remove(node);
    if (claim.purpose == Claim::Purpose::release) claim.keys.owe_release(NodeSet::of(node));
    voters_.record_absent(claim, node);
    agenda_.touch(claim);
  });
  tracking_.dropped(node);
  queue_watch_.node_dropped();
  wait_queue_.dropped(node);
  judge_clocks();
  retry_connecting();
}

void Engine::serve_all_claims() {
  nodes_.up().each([&](NodeIndex node) { serve_claims_of(node); });
  retry_connecting();
  wake_after_outage();
}

// --- clocks -------------------------------------------------------------------------------------

void Engine::take_clock(const Answer& answer, const std::optional<Arrival>& arrival) {
  if (answer.reply == Reply::clock) return take_time(answer.node, answer.time, *arrival);
  if (answer.reply == Reply::failed || !clocks_.refused(answer.node, answer.text)) return;
  serve_claims_of(answer.node);
  retry_connecting();
}

void Engine::take_time(NodeIndex node, Duration time, const Arrival& arrival) {
  switch (clocks_.showed(node, time, arrival)) {
    case Clocks::Shown::as_before:
      return;
    case Clocks::Shown::first:
      return serve_all_claims();
    case Clocks::Shown::in_doubt:
      return judge_clocks();
    case Clocks::Shown::stepped:
      lower_deadlines();
      return judge_clocks();
    case Clocks::Shown::opened:
      lower_deadlines();
      clocks_.ask_witnesses();
      return judge_clocks();
  }
}

void Engine::judge_clocks() {
  const std::optional<Clocks::Verdict> verdict = clocks_.judge();
  if (!verdict) return;
  if (verdict->ours) lower_deadlines();
  end_doubt(verdict->excluded);
}

void Engine::end_doubt(NodeSet excluded) {
  clocks_.end_doubt(excluded);
  serve_all_claims();
}

void Engine::lower_deadlines() {
  nodes_.note_step();
  const SharedMarks& marks = nodes_.steps();
  claims_.each([&](Claim& claim) {
    if (claim.finished || claim.phase != Claim::Phase::held) return;
    Claim::Lease& lease = claim.lease();
    const Instant until = lease.basis.deadline(marks, lease.basis.votes_needed);
    if (until >= claim.valid_until) return;
    claim.move_deadline(until);
    lease.renewal.hurry(now_);
    outbox_.emit(Extended{CallId::none, claim.id(), &claim.round, Duration::zero(), until});
    agenda_.retime(claim);
  });
}

// --- acquisitions that wait for nodes -----------------------------------------------------------

void Engine::retry_connecting() {
  acquisitions_.each_kept_from_nodes([&](Acquisition& acquisition) {
    if (acquisition.state == Acquisition::State::connecting) try_again(acquisition);
  });
}

void Engine::wake_after_outage() {
  const Nodes::Ballot ballot = nodes_.ballot();
  if (nodes_.voters_of(ballot).size() < ballot.quorum) return;
  acquisitions_.each_kept_from_nodes([&](Acquisition& acquisition) {
    if (acquisition.state != Acquisition::State::backing_off) return;
    const Errc why = acquisition.refusal.why;
    if (why == Errc::unavailable || why == Errc::excluded) try_again(acquisition);
  });
}

}  // namespace redlock::core
