#include "core/activities/contacts.hpp"

#include <chrono>
#include <string>

#include "core/membership/reign.hpp"
#include "core/vocabulary/durations.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

std::string in_milliseconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + " ms";
}

}  // namespace

void Contacts::tend() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    Link& link = nodes_[i];
    if (link.answer_overdue(now_)) {
      // Answers can no longer be matched to requests, so the connection cannot be used again.
      owed_releases_.undo_sets(node);
      outbox_.emit(Disconnect{node});
      std::string why = "no answer within " + in_milliseconds(link.in_flight->limit());
      if (!link.reign->primary().empty()) why += " from its primary, " + link.reign->primary();
      drop(node, Vote::timeout, why);
    } else if (link.contact->overdue(now_)) {
      outbox_.emit(Disconnect{node});
      std::string why = no_connection_within(link.contact->limit());
      const std::string& primary = link.reign->primary();
      if (!primary.empty()) why += "; its last primary was " + primary;
      drop(node, Vote::timeout, why);
    }
    if (link.role_check_due(now_)) {
      end_connection(
          node, Vote::error,
          link.mandate->ineligible().empty() ? counters_were_reset : link.mandate->ineligible());
    }
    if (link.name_look_due(now_)) end_connection(node, Vote::error, nodes_.why_not_counted(node));
    if (link.take_marker_look(me, now_) && !closing_.has_begun()) {
      proof_.read(node, enroller_.wants_votes());
    }
    if (link.contact->retry_due(now_)) {
      link.contact.by(me).connecting(now_);
      outbox_.emit(Connect{node, enroller_.may_mark(node)});
    }
    if (link.mandate.by(me).end_quarantine(now_)) attempts_.wake_after_outage();
  }
  if (clocks_.doubt_has_lapsed()) end_doubt({});
  wait_queue_.tend();
  if (!want_something()) return;
  clocks_.read_again();
  names_.write_again();
}

void Contacts::came_up(const NodeUp& event) {
  const NodeIndex node = event.node;
  const Duration lost = nodes_[node].clock().stepped();
  if (const auto evicted = nodes_[node].came_up(me, event, now_)) {
    outbox_.emit(CountersReset{node, *evicted});
  }
  if (nodes_[node].clock().stepped() > lost) leases_.lower_deadlines();
  names_.came_up(node);
  fencing_.came_up(node);
  meter_.connected(node);
  if (nodes_.find_duplicate(node)) outbox_.emit(NodeExcluded{node});
  nodes_.judge_marker(node);
  const Link& link = nodes_[node];
  const bool no_vote = !link.mandate->ineligible().empty() ||
                       !link.mandate->vote_denied().empty() ||
                       (link.mandate->quarantined_until() && !link.mandate->only_in_doubt()) ||
                       !nodes_.why_not_counted(node).empty();
  if (!link.mandate->vote_denied().empty()) {
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
  attempts_.retry_connecting();
  attempts_.wake_after_outage();
}

void Contacts::kill_suspects(NodeIndex node) {
  for (const std::int64_t suspect : nodes_[node].contact->suspects()) {
    outbox_.send(NodeSet::of(node), Stamp(Verb::kill_old)).connection = suspect;
  }
}

void Contacts::serve_claims_of(NodeIndex node) {
  claims_.each_pending([&](Claim& claim) {
    if (by_token_.begins_now(claim)) return;
    if (claim.keys->to_release().has(node)) owed_releases_.came_up(claim);
    if (!claim.unasked->has(node)) return;
    const bool votes = is_set(claim.verb);
    if (votes && nodes_.undetermined().has(node)) return;  // asked again when its clock is known
    claim.unasked.by(me).remove(node);
    // A lease that was handed on may have ended since.
    const bool is_over = claim.phase == Claim::Phase::cleaning_up && now_ >= *claim.valid_until;
    const bool has_vote = voters_.has_vote(claim, node) && !is_over;
    const bool asks = votes ? has_vote : !nodes_[node].mandate->duplicate_of();
    // A replica is sent nothing that writes.
    if (!asks || sender_.send(claim, claim.verb, NodeSet::of(node)).empty()) {
      if (claim.purpose == Claim::Purpose::release)
        claim.keys.by(me).owe_release(NodeSet::of(node));
      voters_.record_absent(claim, node);
    }
    agenda_.touch(claim);
  });
}

void Contacts::drop(NodeIndex node, Vote vote, std::string_view why) {
  Link& link = nodes_[node];
  link.went_down(me, now_, vote, why, random_);
  closing_.dropped(node);
  proof_.dropped(node);
  reigns_.dropped(node);
  enroller_.dropped(node);
  // The node's server may be reached by another address of the list, which has the vote from now
  // on. Of several addresses of that server only the first gets the vote; the others become its
  // duplicates.
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].mandate->duplicate_of() != node) continue;
    nodes_[i].mandate.by(me).set_duplicate_of(std::nullopt);
    const auto other = static_cast<NodeIndex>(i);
    if (nodes_.find_duplicate(other)) outbox_.emit(NodeExcluded{other});
  }
  while (const std::optional<Stamp> stamp = link.in_flight.by(me).take()) {
    Answer answer;
    answer.node = node;
    answer.stamp = *stamp;
    answer.reply = Reply::failed;
    answer.text = link.contact->failure().why;
    take_answer(answer, vote, std::nullopt);
  }
  lost_votes_.lose(node);
  claims_.each_pending([&](Claim& claim) {
    if (by_token_.begins_now(claim) || !claim.unasked->has(node)) return;
    claim.unasked.by(me).remove(node);
    if (claim.purpose == Claim::Purpose::release) claim.keys.by(me).owe_release(NodeSet::of(node));
    voters_.record_absent(claim, node);
    agenda_.touch(claim);
  });
  tracking_.dropped(node);
  queue_watch_.node_dropped();
  wait_queue_.dropped(node);
  judge_clocks();
  attempts_.retry_connecting();
}

void Contacts::end_connection(NodeIndex node, Vote vote, std::string_view why) {
  outbox_.emit(Disconnect{node});
  drop(node, vote, why);
  nodes_[node].contact.by(me).retry_soon(now_);
}

void Contacts::mark_nodes() {
  // One after the other: when one node goes, the quorum that the next one needs may go with it.
  nodes_.all().each([&](NodeIndex node) {
    if (!enroller_.is_to_be_marked(node)) return;
    nodes_[node].contact.by(me).return_once_more();
    end_connection(node, Vote::error,
                   nodes_[node].outdated() ? counters_were_reset : nobody_met_it);
  });
}

void Contacts::serve_all() {
  nodes_.up().each([&](NodeIndex node) { serve_claims_of(node); });
  attempts_.retry_connecting();
  attempts_.wake_after_outage();
}

// --- answers -------------------------------------------------------------------------------------

void Contacts::take_answer(const Answer& answer, Vote failure,
                           const std::optional<Arrival>& arrival) {
  if (is_upkeep(answer.stamp.verb)) return take_upkeep(answer, arrival);
  Claim* const claim = claims_.find(answer.stamp.claim());
  // A claim outlives every request sent for it, so every answer finds its claim.
  REDLOCK_ASSERT(claim != nullptr);
  rounds_.take(*claim, answer, failure, arrival ? std::optional(arrival->took) : std::nullopt);
}

void Contacts::take_upkeep(const Answer& answer, const std::optional<Arrival>& arrival) {
  const bool answered = answer.reply != Reply::failed;
  switch (answer.stamp.verb) {
    case Verb::kill_old:
      if (!answered) return;
      nodes_[answer.node].contact.by(me).killed();
      return owed_releases_.acknowledged(answer.node);
    case Verb::read_clock:
      return take_clock(answer, arrival);
    case Verb::read_evictions:
      if (answer.reply == Reply::done && clocks_.evicted(answer.node, answer.number)) {
        leases_.lower_deadlines();
      }
      return;
    case Verb::write_name:
      return names_.answered(answer);
    case Verb::write_reign:
      if (answered) take_reign_written(answer);
      return;
    case Verb::join_queue:
    case Verb::leave_queue:
    case Verb::check_queue:
      return wait_queue_.answered(answer.node, answer.stamp, answer);
    case Verb::track:
      return take_tracked(answer);
    case Verb::write_marker:
    case Verb::mark_plain:
      return enroller_.refused(answer.node);
    default:
      return;
  }
}

void Contacts::take_tracked(const Answer& answer) {
  const bool of_queue = answer.stamp.tracked() == Tracked::queue;
  if (of_queue) return queue_watch_.answered(answer);
  const auto [entry, is_news] = tracking_.resources().answered(answer);
  if (entry == nullptr) return;
  wait_queue_.tracked(entry->first, answer.node, answer.reply == Reply::gone);
  if (is_news) inspections_.observe(observers_.changed(*entry, answer.node));
}

void Contacts::take_reign_written(const Answer& answer) {
  Link& link = nodes_[answer.node];
  if (reigns_.written(answer.node, answer.reply)) {
    link.contact.by(me).return_once_more();
    return end_connection(answer.node, Vote::error, primary_is_new);
  }
  if (answer.reply != Reply::error) return;
  const bool is_news = !link.reign->cannot_be_recorded();
  link.reign.by(me).refused_to_write(answer.text);
  if (is_news) outbox_.emit(NodeExcluded{answer.node});
}

void Contacts::take_reign(NodeIndex node) {
  const Reign& reign = *nodes_[node].reign;
  if (!reign.stands() && !reign.is_unread()) outbox_.emit(NodeExcluded{node});
  serve_claims_of(node);
  attempts_.retry_connecting();
  attempts_.wake_after_outage();
}

// --- clocks --------------------------------------------------------------------------------------

void Contacts::take_clock(const Answer& answer, const std::optional<Arrival>& arrival) {
  if (answer.reply == Reply::clock) return take_time(answer.node, answer.time, *arrival);
  if (answer.reply == Reply::failed || !clocks_.refused(answer.node, answer.text)) return;
  serve_claims_of(answer.node);
  attempts_.retry_connecting();
}

void Contacts::take_time(NodeIndex node, Duration time, const Arrival& arrival) {
  switch (clocks_.showed(node, time, arrival)) {
    case Clocks::Shown::as_before:
      return;
    case Clocks::Shown::first:
      return serve_all();
    case Clocks::Shown::in_doubt:
      return judge_clocks();
    case Clocks::Shown::stepped:
      leases_.lower_deadlines();
      return judge_clocks();
    case Clocks::Shown::opened:
      leases_.lower_deadlines();
      clocks_.ask_witnesses();
      return judge_clocks();
  }
}

void Contacts::judge_clocks() {
  const std::optional<Clocks::Verdict> verdict = clocks_.judge();
  if (!verdict) return;
  if (verdict->ours) leases_.lower_deadlines();
  end_doubt(verdict->excluded);
}

void Contacts::end_doubt(NodeSet excluded) {
  clocks_.end_doubt(excluded);
  serve_all();
}

void Contacts::went_down(const NodeDown& event) {
  drop(event.node, event.cause == NodeDown::Cause::error ? Vote::error : Vote::unreachable,
       event.why);
}

}  // namespace redlock::core
