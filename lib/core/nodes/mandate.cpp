#include "core/nodes/mandate.hpp"

#include <chrono>
#include <utility>

namespace redlock::core {
namespace {

constexpr Duration ineligible_look = std::chrono::seconds(5);
constexpr Duration name_look = std::chrono::seconds(5);
constexpr Duration marker_look = std::chrono::seconds(1);

}  // namespace

bool Mandate::met(const NodeUp& event, Instant now) {
  version_->changed();
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
  marker_look_at_.reset();
  name_look_at_.reset();
  if (event.quarantine > Duration::zero()) {
    quarantine_by_node(later(now, event.quarantine), event.quarantine_why);
  } else if (!same_marker) {
    node_quarantine_ = {};  // the client that wrote the marker has ended it
  }
  return same_memory;
}

bool Mandate::take_marker(std::string_view text, Instant now, bool of_another) {
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

void Mandate::watch_marker(bool wanted, Instant now) noexcept {
  if (!wanted) {
    marker_look_at_.reset();
  } else if (!marker_look_at_) {
    marker_look_at_ = later(now, marker_look);
  }
}

bool Mandate::take_marker_look(Instant now) noexcept {
  if (!marker_look_at_ || now < *marker_look_at_) return false;
  marker_look_at_ = later(now, marker_look);
  return true;
}

void Mandate::watch_name(bool wanted, Instant now) noexcept {
  if (!wanted) {
    name_look_at_.reset();
  } else if (!name_look_at_) {
    name_look_at_ = later(now, name_look);
  }
}

void Mandate::prolong(Quarantine& quarantine, Instant until, std::string_view why) {
  // The quarantine that lasts longer counts.
  if (quarantine.until && *quarantine.until >= until) return;
  quarantine.until = until;
  quarantine.why.assign(why);
  version_->changed();
}

void Mandate::trust_again() noexcept {
  if (!doubt_.until) return;
  doubt_.until.reset();
  version_->changed();
}

void Mandate::confirm_doubt(std::string_view why) {
  if (!doubt_.until) return;
  quarantine(*doubt_.until, why);
  trust_again();
}

bool Mandate::may_be_new() const noexcept {
  return node_quarantine_.until && node_quarantine_.why.starts_with(core::may_be_new);
}

bool Mandate::end_quarantine(Instant now) noexcept {
  const std::optional<Instant> end = quarantined_until();
  if (!end || now < *end) return false;
  own_quarantine_.until.reset();
  doubt_.until.reset();
  node_quarantine_.until.reset();
  version_->changed();
  return true;
}

std::optional<Instant> Mandate::deadline() const noexcept {
  return earlier(earlier(earlier(quarantined_until(), role_check_at_), marker_look_at_),
                 name_look_at_);
}

}  // namespace redlock::core
