#include "core/activities/answers.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// Whether the server is a replica, is loading its data, or is one of a cluster and keeps the keys
/// no more. The error may come from within a script.
bool says_no_master(std::string_view error) {
  constexpr std::array<std::string_view, 4> codes{"READONLY ", "MASTERDOWN ", "LOADING ", "MOVED "};
  return std::any_of(codes.begin(), codes.end(), [&](std::string_view code) {
    const std::size_t at = error.find(code);
    return at == 0 || (at != std::string_view::npos && error[at - 1] == '-');
  });
}

}  // namespace

void Answers::take(const Answer& answer) {
  REDLOCK_ASSERT(answer.reply != Reply::failed);
  if (answer.reply == Reply::error && says_no_master(answer.text)) {
    // The next handshake finds out whether the node is a master again and has kept its data.
    return contacts_.end_connection(answer.node, Vote::error, answer.text);
  }
  if (is_marker_reading(answer.stamp.verb)) return take_marker_reading(answer);
  if (answer.reply == Reply::marker) return take_marker_written(answer);
  Link& link = nodes_[answer.node];
  if (proof_.holds_back(link, answer.stamp.verb))
    return link.in_flight.by(me).hold_back(answer, now_);
  contacts_.take_answer(answer, Vote::unreachable, link.answered(me, answer.stamp, now_));
}

void Answers::take(const PlainYeses& event) {
  Link& link = nodes_[event.node];
  const std::size_t confirmed = proof_.confirmed(event);
  for (const PlainYes& plain_yes : event.answers.first(confirmed)) {
    if (plain_yes.reply == Reply::marker) {
      take_marker(event.node, plain_yes.stamp, event.marker, 0);
    } else {
      take_counted_plain_yes(event.node, plain_yes, 0, link.answered(me, plain_yes.stamp, now_));
    }
  }
  for (const PlainYes& plain_yes : event.answers.subspan(confirmed)) {
    if (plain_yes.reply == Reply::marker) {
      take_marker(event.node, plain_yes.stamp, event.marker, 0);
      // The marker changed: discard the rest.
      if (!link.up()) return;
    } else if (proof_.holds_back(link, plain_yes.stamp.verb)) {
      link.in_flight.by(me).hold_back(plain_yes, now_);
    } else if (plain_yes.reply == Reply::clock) {
      contacts_.take_time(event.node, plain_yes.time, link.answered(me, plain_yes.stamp, now_));
    } else {
      take_plain_yes(event.node, plain_yes, link.answered(me, plain_yes.stamp, now_));
    }
  }
}

void Answers::take_plain_yes(NodeIndex node, const PlainYes& plain_yes, Arrival arrival) {
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
  contacts_.take_answer(answer, Vote::unreachable, arrival);
}

void Answers::take_fenced_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                                    const Arrival& arrival) {
  Claim* const claim = claims_.find(plain_yes.stamp.claim());
  REDLOCK_ASSERT(claim != nullptr && claim->unanswered > 0);
  const bool stands = nodes_[node].reign->stands();
  if (stands && FencingTokens::acknowledge_at_once(*claim, node, floor)) {
    return rounds_.take_grant(*claim, node, plain_yes.stamp, arrival.took);
  }
  Answer answer;
  answer.node = node;
  answer.stamp = plain_yes.stamp;
  answer.reply = plain_yes.reply;
  answer.text = claim->token();
  FencingTokens::complete(*claim, answer, floor);
  contacts_.take_answer(answer, Vote::unreachable, arrival);
}

void Answers::take_counted_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                                     const Arrival& arrival) {
  if (is_short(plain_yes.stamp.verb)) return take_fenced_plain_yes(node, plain_yes, floor, arrival);
  if (plain_yes.reply == Reply::clock) return contacts_.take_time(node, plain_yes.time, arrival);
  take_plain_yes(node, plain_yes, arrival);
}

// --- markers -------------------------------------------------------------------------------------

void Answers::take_marker_reading(const Answer& answer) {
  if (answer.reply != Reply::marker) {
    const std::string_view command = answer.reign.refused;
    const std::string what =
        command.empty()
            ? "its membership record could not be read"
            : "it does not show whether its servers follow: it refused " + std::string(command);
    return contacts_.end_connection(answer.node, Vote::error,
                                    what + ": " + std::string(answer.text));
  }
  if (answer.stamp.verb == Verb::read_reign) return take_reign(answer);
  take_marker(answer.node, answer.stamp, answer.text, answer.number);
}

void Answers::take_reign(const Answer& answer) {
  Link& link = nodes_[answer.node];
  const bool stood = link.reign->stands();
  const bool was_unread = link.reign->is_unread();
  const auto& marker = link.mandate->marker();
  if (marker && answer.text == link.mandate->marker_text() &&
      !link.reign.by(me).take(answer.reign, *marker, now_)) {
    contacts_.end_connection(answer.node, Vote::error,
                             "its primary has begun to count as new, with a quarantine");
    return link.contact.by(me).expect_return();
  }
  take_marker(answer.node, answer.stamp, answer.text, answer.number);
  if (!link.up()) return;
  const bool looks_elsewhere = reigns_.read(answer.node, answer.reign);
  if (stood != link.reign->stands() || was_unread) contacts_.take_reign(answer.node);
  if (looks_elsewhere) {
    contacts_.end_connection(answer.node, Vote::error, std::string(link.reign->why_not()));
  }
}

void Answers::take_marker(NodeIndex node, const Stamp& stamp, std::string_view text,
                          std::uint64_t floor) {
  Link& link = nodes_[node];
  if (text != link.mandate->marker_text()) {
    contacts_.end_connection(
        node, Vote::error,
        "its membership record changed: it may have forgotten what it was asked just "
        "now");
    return link.contact.by(me).expect_return();
  }
  count_held_back(node, floor);
  if (!link.up()) return;  // one of them ended the connection
  static_cast<void>(link.answered(me, stamp, now_));
  enroller_.read(node, stamp);
}

void Answers::count_held_back(NodeIndex node, std::uint64_t floor) {
  while (const InFlight::HeldBack* const held = nodes_[node].in_flight.by(me).take_held_back()) {
    if (!held->has_details) {
      take_counted_plain_yes(node, held->plain_yes, floor, held->arrival);
      continue;
    }
    Answer answer = nodes_[node].in_flight.by(me).take_held_details();
    if (is_short(answer.stamp.verb)) {
      FencingTokens::complete(*claims_.find(answer.stamp.claim()), answer, floor);
    }
    contacts_.take_answer(answer, Vote::unreachable, held->arrival);
  }
}

void Answers::take_marker_written(const Answer& answer) {
  const NodeIndex node = answer.node;
  const Enroller::Written what = enroller_.written(answer);
  // At a replicated node, votes count only with a reading of the reign after them.
  const Link& link = nodes_[node];
  const bool unproven = link.reign->is_replicated() && link.in_flight->has_held_back();
  if (what.changed || unproven)
    return contacts_.end_connection(node, Vote::error, "its membership record changed");
  count_held_back(node, 0);
  enroller_.take_marker(answer, what);
  contacts_.serve_claims_of(node);
  enroller_.report(node);
  attempts_.wake_after_outage();
}

}  // namespace redlock::core
