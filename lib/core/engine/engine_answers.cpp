#include <algorithm>
#include <array>

#include "core/engine/engine.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// Whether the server is a replica or is loading its data. The error may come from within a script.
bool says_no_master(std::string_view error) {
  constexpr std::array<std::string_view, 3> codes{"READONLY ", "MASTERDOWN ", "LOADING "};
  return std::any_of(codes.begin(), codes.end(), [&](std::string_view code) {
    const std::size_t at = error.find(code);
    return at == 0 || (at != std::string_view::npos && error[at - 1] == '-');
  });
}

}  // namespace

void Engine::on(const Answer& answer) {
  REDLOCK_ASSERT(answer.reply != Reply::failed);
  if (answer.reply == Reply::error && says_no_master(answer.text)) {
    // The next handshake finds out whether the node is a master again and has kept its data.
    return end_connection(answer.node, Vote::error, answer.text);
  }
  if (is_marker_reading(answer.stamp.verb)) return take_marker_reading(answer);
  if (answer.reply == Reply::marker) return take_marker_written(answer);
  Link& link = nodes_[answer.node];
  if (proof_.holds_back(link, answer.stamp.verb)) return link.hold_back(answer, now_);
  take_answer(answer, Vote::unreachable, link.answered(answer.stamp, now_));
}

void Engine::on(const PlainYeses& event) {
  Link& link = nodes_[event.node];
  const std::size_t confirmed = proof_.confirmed(event);
  for (const PlainYes& plain_yes : event.answers.first(confirmed)) {
    if (plain_yes.reply == Reply::marker) {
      take_marker(event.node, plain_yes.stamp, event.marker, 0);
    } else {
      take_counted_plain_yes(event.node, plain_yes, 0, link.answered(plain_yes.stamp, now_));
    }
  }
  for (const PlainYes& plain_yes : event.answers.subspan(confirmed)) {
    if (plain_yes.reply == Reply::marker) {
      take_marker(event.node, plain_yes.stamp, event.marker, 0);
      // The marker changed: discard the rest.
      if (!link.up()) return;
    } else if (proof_.holds_back(link, plain_yes.stamp.verb)) {
      link.hold_back(plain_yes, now_);
    } else if (plain_yes.reply == Reply::clock) {
      take_time(event.node, plain_yes.time, link.answered(plain_yes.stamp, now_));
    } else {
      take_plain_yes(event.node, plain_yes, link.answered(plain_yes.stamp, now_));
    }
  }
}

void Engine::take_fenced_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                                   const Arrival& arrival) {
  Claim* const claim = claims_.find(plain_yes.stamp.claim());
  REDLOCK_ASSERT(claim != nullptr && claim->unanswered > 0);
  if (FencingTokens::acknowledge_at_once(*claim, node, floor)) {
    return rounds_.take_grant(*claim, node, plain_yes.stamp, arrival.took);
  }
  Answer answer;
  answer.node = node;
  answer.stamp = plain_yes.stamp;
  answer.reply = plain_yes.reply;
  answer.text = claim->token();
  FencingTokens::complete(*claim, answer, floor);
  take_answer(answer, Vote::unreachable, arrival);
}

void Engine::take_plain_yes(NodeIndex node, const PlainYes& plain_yes, Arrival arrival) {
  const Stamp& stamp = plain_yes.stamp;
  Claim* const claim = claims_.find(stamp.claim());
  REDLOCK_ASSERT(claim != nullptr && claim->unanswered > 0);
  if (plain_yes.reply == Reply::granted && stamp.verb == Verb::set) {
    return rounds_.take_grant(*claim, node, stamp, arrival.took);
  }
  if (plain_yes.reply == Reply::released && !claim->by_operator) {
    return rounds_.take_release(*claim, node, stamp, arrival.took);
  }
  Answer answer;
  answer.node = node;
  answer.stamp = stamp;
  answer.reply = plain_yes.reply;
  take_answer(answer, Vote::unreachable, arrival);
}

void Engine::take_answer(const Answer& answer, Vote failure,
                         const std::optional<Arrival>& arrival) {
  if (is_upkeep(answer.stamp.verb)) return take_upkeep(answer, arrival);
  Claim* const claim = claims_.find(answer.stamp.claim());
  // A claim outlives every request sent for it, so every answer finds its claim.
  REDLOCK_ASSERT(claim != nullptr);
  rounds_.take(*claim, answer, failure, arrival ? std::optional(arrival->took) : std::nullopt);
}

void Engine::take_upkeep(const Answer& answer, const std::optional<Arrival>& arrival) {
  const bool answered = answer.reply != Reply::failed;
  switch (answer.stamp.verb) {
    case Verb::kill_old:
      if (!answered) return;
      nodes_[answer.node].killed();
      return owed_releases_.acknowledged(answer.node);
    case Verb::read_clock:
      return take_clock(answer, arrival);
    case Verb::read_evictions:
      if (answer.reply == Reply::done && clocks_.evicted(answer.node, answer.number)) {
        lower_deadlines();
      }
      return;
    case Verb::write_name:
      return names_.answered(answer);
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

void Engine::judge(Claim& claim) {
  switch (claim.task) {
    case Claim::Task::none:
    case Claim::Task::meet_nodes:
      return;
    case Claim::Task::acquire:
      return judge_attempt(claim);
    case Claim::Task::fence:
      return judge_fencing(claim);
    case Claim::Task::extend:
      return judge_extend(claim);
    case Claim::Task::release:
      return judge_release(claim);
    case Claim::Task::release_by_token:
      return judge_release_by_token(claim);
    case Claim::Task::inspect:
      return judge_inspect(claim);
  }
}

}  // namespace redlock::core
