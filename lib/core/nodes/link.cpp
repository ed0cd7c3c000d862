#include "core/nodes/link.hpp"

#include <algorithm>
#include <utility>

#include "support/assert.hpp"
#include "support/overwrite.hpp"

namespace redlock::core {
namespace {

constexpr Duration first_retry = std::chrono::milliseconds(10);
constexpr Duration longest_retry = std::chrono::seconds(1);
constexpr unsigned most_failures = 7;  // from here on, the pause is the longest
constexpr Duration ineligible_look = std::chrono::seconds(5);
constexpr Duration name_look = std::chrono::seconds(5);
constexpr Duration marker_look = std::chrono::seconds(1);

// Each connection that ended with unanswered requests adds a suspect; a node that fails so often
// has long closed the oldest.
constexpr std::size_t most_suspects = 16;

}  // namespace

void Link::connecting(Instant now) noexcept {
  REDLOCK_ASSERT(state_ != State::up);
  connecting_since_ = now;
  retry_at_.reset();
}

std::optional<std::uint64_t> Link::came_up(const NodeUp& event, Instant now) {
  REDLOCK_ASSERT(state_ != State::up && ring_.empty());
  state_ = State::up;
  version_->changed();
  // Connection ids are numbered per server process: the same number on a restarted server is
  // somebody else's connection.
  if (server_ != event.server) suspects_.clear();
  const std::uint64_t evicted_before = evicted_;
  const Evictions evictions =
      server_ == event.server ? evictions_between(evicted_before, event.evicted, event.keeps_keys)
                              : Evictions::none;
  evicted_ = event.evicted;
  evictions_read_at_ = now;
  server_.assign(event.server);
  connection_ = event.connection;
  capabilities_ = event.capabilities;
  ineligible_.assign(event.ineligible);
  role_check_at_.reset();
  replica_ = event.replica;
  // An operator can end either without ending the connection.
  const bool may_evict = !ineligible_.empty() && !event.keeps_keys;
  if (replica_ || may_evict) role_check_at_ = later(now, ineligible_look);
  const bool same_marker = marker_text_ == event.marker;
  const bool same_memory = take_marker(event.marker, now, event.unmarked);
  outdated_ = event.outdated;
  // Another client may have seen evictions before the number was reset: the marker says so.
  const bool reset = evictions == Evictions::unknown;
  if (evictions == Evictions::some || (reset && !same_memory)) lose_keys(event.evicted);
  marker_look_at_.reset();
  name_look_at_.reset();
  if (event.quarantine > Duration::zero()) {
    quarantine_by_node(later(now, event.quarantine), event.quarantine_why);
  } else if (!same_marker) {
    node_quarantine_ = {};  // the client that wrote the marker has ended it
  }
  connecting_since_.reset();
  slow_connections_ = 0;
  returning_ = false;
  up_since_ = now;
  answered_ = event.replica;  // a replica may get no request: its handshake counts
  return reset ? std::optional(evicted_before) : std::nullopt;
}

bool Link::take_marker(std::string_view text, Instant now, bool of_another) {
  marker_text_.assign(text);
  unmarked_ = of_another;
  auto marker = of_another ? std::nullopt : parse_marker(text);
  const bool same_memory = marker && marker_ && marker->run_id == marker_->run_id &&
                           marker->remembers_since == marker_->remembers_since;
  if (!same_memory) remembers_since_ = now;
  marker_ = std::move(marker);
  const bool of_one = marker_ && !marker_->deployment.empty();
  deployment_ = of_one ? deployment_text(*marker_) : std::string();
  vote_denied_.clear();
  version_->changed();
  if (marker_ && marker_->state == Marker::State::active) known_as_ = marker_->self;
  return same_memory;
}

Duration Link::remembers_for(Instant now) const noexcept {
  if (!marker_ || marker_->remembers_since == Marker::always) return Duration::max();
  const Duration known = now - remembers_since_;
  const auto clock = clock_.at_least(now);
  // Compared in microseconds, because a time in a marker can be too large for nanoseconds.
  if (!clock || std::chrono::floor<std::chrono::microseconds>(*clock) < marker_->remembers_since) {
    return known;
  }
  return std::max<Duration>(
      known, std::chrono::floor<std::chrono::microseconds>(*clock) - marker_->remembers_since);
}

void Link::prolong(Quarantine& quarantine, Instant until, std::string_view why) {
  // The quarantine that lasts longer counts.
  if (quarantine.until && *quarantine.until >= until) return;
  quarantine.until = until;
  quarantine.why.assign(why);
  version_->changed();
}

void Link::quarantine(Instant until, std::string_view why) { prolong(own_quarantine_, until, why); }

void Link::quarantine_by_node(Instant until, std::string_view why) {
  prolong(node_quarantine_, until, why);
}

void Link::doubt(Instant until, std::string_view why) { prolong(doubt_, until, why); }

void Link::trust_again() noexcept {
  if (!doubt_.until) return;
  doubt_.until.reset();
  version_->changed();
}

void Link::confirm_doubt(std::string_view why) {
  if (!doubt_.until) return;
  quarantine(*doubt_.until, why);
  trust_again();
}

bool Link::may_be_new() const noexcept {
  return node_quarantine_.until && node_quarantine_.why.starts_with(core::may_be_new);
}

bool Link::end_quarantine(Instant now) noexcept {
  const std::optional<Instant> end = quarantined_until();
  if (!end || now < *end) return false;
  own_quarantine_.until.reset();
  doubt_.until.reset();
  node_quarantine_.until.reset();
  version_->changed();
  return true;
}

void Link::went_down(Instant now, Vote vote, std::string_view why, Randomness& random) {
  if (state_ == State::up && !ring_.empty()) {
    if (suspects_.size() == most_suspects) suspects_.erase(suspects_.begin());
    suspects_.push_back(connection_);
  }
  // A path that became slower than the limit would never be measured again: the next limit is the
  // longest (Karn's algorithm backs off for the same reason).
  if (vote == Vote::timeout) measured_ = false;
  forgive_failures(now);
  // An error is an answer, not a lost connection: the next connection is unlikely to fare better.
  const bool of_use = state_ == State::up && answered_ && failures_ == 0;
  const bool expected = std::exchange(returns_once_more_, false);
  returning_ = retrying_ && (expected || (of_use && vote != Vote::error));
  state_ = State::down;
  held_count_ = held_taken_ = details_held_ = details_taken_ = 0;
  set_duplicate_of(std::nullopt);
  failure_.vote = vote;
  failure_.why.assign(why);
  if (connecting_since_ && vote == Vote::timeout) ++slow_connections_;
  connecting_since_.reset();
  if (expected) {
    if (retrying_) retry_at_ = now;
    return;
  }
  const Duration base = std::min(first_retry * (1 << failures_), longest_retry);
  failures_ = std::min(failures_ + 1, most_failures);
  if (retrying_) retry_at_ = later(now, random.between(base / 2, base));
}

bool Link::idle() const noexcept {
  bool idle = up();
  each_unanswered([&idle](const Stamp& stamp) { idle = idle && is_upkeep(stamp.verb); });
  return idle;
}

void Link::forgive_failures(Instant now) noexcept {
  // Only an answered request shows that the node works: a node that accepts connections and never
  // answers must not be tried at the pace of a healthy one.
  if (state_ != State::up || !answered_) return;
  const auto of_use = static_cast<std::uint64_t>((now - up_since_) / longest_retry);
  failures_ -= static_cast<unsigned>(std::min<std::uint64_t>(failures_, of_use));
}

void Link::retry_soon(Instant now) noexcept {
  // failures_ already counts the connection that has just ended.
  if (retrying_ && failures_ <= 1) retry_at_ = now;
}

void Link::expect_return() noexcept { returning_ = retrying_ && failures_ <= 1; }

void Link::stop_retrying() noexcept {
  retrying_ = returning_ = false;
  retry_at_.reset();
}

void Link::retry_now(Instant now) noexcept {
  failures_ = 0;
  if (retry_at_) retry_at_ = now;
}

void Link::killed() noexcept {
  if (!suspects_.empty()) suspects_.erase(suspects_.begin());
}

Link::HeldBack& Link::hold_back_next(const Stamp& stamp, Instant now) {
  REDLOCK_ASSERT(held_taken_ == 0);
  const Sent& sent = ring_[held_count_];
  REDLOCK_ASSERT(sent.stamp == stamp);
  if (held_.size() == held_count_) held_.emplace_back();
  HeldBack& held = held_[held_count_++];
  held.arrival = {now, now - sent.at};
  measure(held.arrival.took);
  return held;
}

void Link::hold_back(const Answer& answer, Instant now) {
  hold_back_next(answer.stamp, now).has_details = true;
  if (held_details_.size() == details_held_) held_details_.emplace_back();
  HeldDetails& details = held_details_[details_held_++];
  details.answer = answer;
  support::overwrite(details.text, answer.text);
  support::overwrite(details.for_people, answer.for_people);
}

void Link::hold_back(const PlainYes& plain_yes, Instant now) {
  HeldBack& held = hold_back_next(plain_yes.stamp, now);
  held.has_details = false;
  held.plain_yes = plain_yes;
}

const Link::HeldBack* Link::take_held_back() noexcept {
  if (held_count_ == 0) {
    held_taken_ = details_held_ = details_taken_ = 0;
    return nullptr;
  }
  ring_.pop();
  --held_count_;
  return &held_[held_taken_++];
}

Answer Link::take_held_details() noexcept {
  const HeldDetails& details = held_details_[details_taken_++];
  Answer answer = details.answer;
  answer.text = details.text;
  answer.for_people = details.for_people;
  return answer;
}

std::optional<Stamp> Link::take_unanswered() noexcept {
  if (ring_.empty()) return std::nullopt;
  const Stamp stamp = ring_.front().stamp;
  ring_.pop();
  return stamp;
}

std::optional<Instant> Link::deadline_of_all() const noexcept {
  if (state_ == State::up) {
    const std::optional<Instant> next = earlier(
        earlier(earlier(quarantined_until(), role_check_at_), marker_look_at_), name_look_at_);
    return ring_.empty() ? next : earlier(next, later(ring_.front().at, limit()));
  }
  if (connecting_since_) return later(*connecting_since_, connect_limit());
  return retry_at_;
}

bool Link::answer_overdue(Instant now) const noexcept {
  return state_ == State::up && !ring_.empty() && now >= later(ring_.front().at, limit());
}

bool Link::connect_overdue(Instant now) const noexcept {
  return connecting_since_ && now >= later(*connecting_since_, connect_limit());
}

bool Link::role_check_due(Instant now) const noexcept {
  return state_ == State::up && role_check_at_ && now >= *role_check_at_;
}

void Link::watch_marker(bool wanted, Instant now) noexcept {
  if (!wanted || !up()) {
    marker_look_at_.reset();
  } else if (!marker_look_at_) {
    marker_look_at_ = later(now, marker_look);
  }
}

bool Link::marker_look_due(Instant now) noexcept {
  if (state_ != State::up || !marker_look_at_ || now < *marker_look_at_) return false;
  marker_look_at_ = later(now, marker_look);
  return true;
}

void Link::watch_name(bool wanted, Instant now) noexcept {
  if (!wanted || !up()) {
    name_look_at_.reset();
  } else if (!name_look_at_) {
    name_look_at_ = later(now, name_look);
  }
}

bool Link::retry_due(Instant now) const noexcept { return retry_at_ && now >= *retry_at_; }

}  // namespace redlock::core
