#include <algorithm>
#include <array>

#include "core/admission.hpp"
#include "core/engine.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

// So old may a reading be that a vote relies on: a step since then is not noticed.
constexpr Duration reading_for_votes = std::chrono::microseconds(500);
// And so old while there are leases and nothing else is sent.
constexpr Duration reading_for_leases = std::chrono::seconds(1);

}  // namespace

bool Engine::may_vote_but_for_clock(NodeIndex node) const {
  const Link& link = links_[node];
  if (!link.up() || link.twin || !link.unfit().empty() || !link.vote_denied().empty()) return false;
  return !link.quarantined_until() || now_ >= *link.quarantined_until();
}

bool Engine::may_vote(NodeIndex node) const {
  if (!may_vote_but_for_clock(node)) return false;
  if (!settings_.clock_guard) return true;
  return clocks_compared_ && links_[node].clock_known() && !links_[node].clock_far;
}

bool Engine::extend_counts(const Claim& claim, NodeIndex node) const {
  // What a node has forgotten may be somebody's vote, and counted yet: a key that was set there in
  // its quarantine, by a repair or a late SET, is a new vote and no old one.
  const Link& link = links_[node];
  const bool quarantined = link.quarantined_until() && now_ < *link.quarantined_until();
  return counts_for(claim, node) && (!quarantined || claim.keys.has_vote_of(node));
}

NodeSet Engine::candidates() const {
  NodeSet set;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    if (links_[i].fresh() || may_vote_but_for_clock(node)) set.add(node);
  }
  return set;
}

std::string Engine::exclusion(NodeIndex node) const {
  const Link& link = links_[node];
  if (link.twin) return "the same server as " + settings_.nodes[*link.twin];
  if (!link.unfit().empty()) return link.unfit();
  if (link.quarantined_until() && now_ < *link.quarantined_until()) {
    std::string why = "quarantined for " + spoken(*link.quarantined_until() - now_) +
                      " more: " + link.quarantine_why();
    if (!link.vote_denied().empty()) why += "; " + link.vote_denied();
    return why;
  }
  if (!link.vote_denied().empty()) return link.vote_denied();
  if (std::string why = why_not_counted(node); !why.empty()) return why;
  if (link.clock_far) {
    return "its clock is more than " + spoken(settings_.clock_bound) +
           " from the median of the nodes' clocks";
  }
  return "its clock is not known yet";
}

void Engine::read_clock(NodeIndex node) {
  Link& link = links_[node];
  if (!settings_.clock_guard || !link.up() || link.congested() || !link.unfit().empty()) return;
  link.reading_clock(now_);
  outbox_.send(NodeSet::of(node), Verb::read_clock);
}

void Engine::read_clocks_before(NodeSet nodes) {
  if (!settings_.clock_guard) return;
  // In the same write and ahead of the request: its answer is there before the vote is counted.
  nodes.each([&](NodeIndex node) {
    if (now_ >= later(links_[node].clock_read_at(), reading_for_votes)) read_clock(node);
  });
}

NodeSet Engine::can_number(std::uint64_t number) const {
  NodeSet set;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (!link.up() || !link.numbers() || !link.clock_known()) continue;
    const Duration clock = now_.time_since_epoch() + *link.clock.offset();
    if (number <= fence_number(clock + fence_lead)) set.add(static_cast<NodeIndex>(i));
  }
  return set;
}

void Engine::tend_numbers(NodeSet asked) {
  NodeSet due;
  asked.each([&](NodeIndex node) {
    if (!links_[node].congested() && links_[node].tending_due()) due.add(node);
  });
  if (due.empty()) return;
  // So seldom that it is not worth another round trip where the digest is not known.
  outbox_.send(due, Verb::tend_numbers).form = ScriptForm::text;
}

std::optional<Instant> Engine::next_clock_reading() const {
  if (!settings_.clock_guard || drain_until_) return std::nullopt;
  if (claims_.size() == 0 && acquisitions_.size() == 0) return std::nullopt;
  std::optional<Instant> next;
  for (const Link& link : links_) {
    // A node that owes too many answers is asked nothing; the limit of the oldest one is what comes
    // next there.
    if (!link.up() || !link.unfit().empty() || link.congested()) continue;
    next = earlier(next, later(link.clock_read_at(), reading_for_leases));
  }
  return next;
}

void Engine::read_clocks_due() {
  if (const auto next = next_clock_reading(); !next || now_ < *next) return;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (now_ < later(links_[i].clock_read_at(), reading_for_leases)) continue;
    read_clock(static_cast<NodeIndex>(i));
  }
}

void Engine::take_clock(NodeIndex node, const Answer& answer, const Arrival& arrival) {
  Link& link = links_[node];
  if (answer.reply != Reply::clock) {
    // BUSY or LOADING pass, and it is asked again.
    const bool for_good = answer.text.starts_with("NOPERM") ||
                          answer.text.find("unknown command") != std::string_view::npos;
    if (!for_good) return;
    link.declare_unfit("its clock can not be read: " + std::string(answer.text));
    report_exclusion(node);
    serve_claims_of(node);
    return wake_gathering();
  }
  const bool first = !link.clock_known();
  const Duration step = link.clock.observe(arrival.at - arrival.took, arrival.at, answer.time);
  compare_clocks();
  if (step > Duration::zero()) step_forward(node, step);
  if (!first) return;
  // With this one, the clocks of others may be comparable for the first time.
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].up()) serve_claims_of(static_cast<NodeIndex>(i));
  }
  wake_gathering();
  wake_after_outage();
}

void Engine::compare_clocks() {
  if (!settings_.clock_guard) return;
  std::array<Duration, limits::nodes> offsets{};
  std::size_t known = 0;
  for (const Link& link : links_) {
    const bool counts = link.up() && link.clock_known() && !link.twin && link.unfit().empty();
    if (counts) offsets[known++] = *link.clock.offset();
  }
  clocks_compared_ = clocks_compared_ || known >= settings_.quorum;
  if (known == 0) return;
  std::sort(offsets.begin(), offsets.begin() + static_cast<std::ptrdiff_t>(known));
  const Duration low = offsets[(known - 1) / 2];
  const Duration median = low + (offsets[known / 2] - low) / 2;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    if (!link.up() || !link.clock_known()) continue;
    const Duration distance = *link.clock.offset() - median;
    const bool far = distance > settings_.clock_bound || distance < -settings_.clock_bound;
    if (far == link.clock_far) continue;
    link.clock_far = far;
    if (far && clocks_compared_) report_exclusion(static_cast<NodeIndex>(i));
  }
}

StepMarks Engine::steps() const {
  StepMarks marks{};
  for (std::size_t i = 0; i < links_.size(); ++i) marks[i] = links_[i].clock.stepped();
  return marks;
}

void Engine::step_forward(NodeIndex node, Duration step) {
  const bool told = links_[node].clock_far;
  links_[node].quarantine(
      later(now_, settings_.quarantine),
      "its clock stepped forward by up to " + spoken(step) + ", so keys there expire early");
  if (!told) report_exclusion(node);
  const StepMarks marks = steps();
  claims_.each([&](Claim& claim) {
    if (claim.finished || claim.state != Claim::State::held) return;
    const Instant until = claim.worth.deadline(marks, claim.worth.votes_needed);
    if (until >= claim.valid_until) return;
    claim.valid_until = until;
    claim.renewal.hurry(now_);
    Command& command = outbox_.emit(Command::Kind::extended);
    command.stamp.claim = claim.id();
    command.round = &claim.round;
    command.valid_until = until;
    retime(claim);
  });
}

}  // namespace redlock::core
