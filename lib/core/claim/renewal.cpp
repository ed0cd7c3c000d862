#include "core/claim/renewal.hpp"

#include <algorithm>

#include "core/votes/validity.hpp"

namespace redlock::core {
namespace {

constexpr Duration shortest_pause = std::chrono::milliseconds(1);
/// How long the renewals of many leases are gathered: less than an answer takes if the nodes are
/// far away.
constexpr Duration longest_gathering = std::chrono::milliseconds(8);

}  // namespace

void Renewal::begin(const std::optional<Acquire::Renewal>& limits, Instant acquired, Duration ttl) {
  limited_ = limits.has_value();
  wanted_ = warns_ = limits && limits->in_background;
  due_ = never;
  if (!limits) return;
  ttl_ = ttl;
  left_ = std::min(limits->max_renewals, most_renewals) & most_renewals;  // fits: -Wconversion
  hold_until_ = later(acquired, limits->max_hold);
  if (wanted_ && left_ > 0) due_ = later(acquired, ttl / 3);
}

void Renewal::spread(std::uint16_t where) noexcept {
  if (due_ == never) return;
  due_ -= ttl_ / 6 / (UINT16_MAX + 1) * where;
  due_ -= due_.time_since_epoch() % std::min(longest_gathering, ttl_ / 48);
}

std::optional<Duration> Renewal::ask(Instant now, Instant valid_until) noexcept {
  due_ = never;
  Duration ttl = ttl_;
  if (hold_until_ != Instant::max()) ttl = std::min(ttl, hold_until_ - now);
  const bool hold_ends = ttl < ttl_;
  ttl = std::chrono::floor<std::chrono::milliseconds>(ttl);
  if (core::valid_until(now, ttl) > valid_until) return ttl;
  if (hold_ends) {
    wanted_ = false;
  } else {
    follow(valid_until);
  }
  return std::nullopt;
}

std::optional<Instant> Renewal::warn_at(Instant valid_until) const noexcept {
  if (!warns_ || warned_) return std::nullopt;
  return later(valid_until, -(ttl_ / 3));
}

void Renewal::succeeded(Instant round_start) noexcept {
  if (!wanted_) return;
  count();
  if (wanted_) due_ = later(round_start, ttl_ / 3);
}

void Renewal::count() noexcept {
  if (left_ > 0) --left_;
  if (left_ > 0) return;
  wanted_ = false;
  due_ = never;
}

void Renewal::extended_by_hand(Instant valid_until) noexcept {
  if (!limited_) return;
  count();
  follow(valid_until);
}

std::optional<Duration> Renewal::allow(Instant now, Duration ttl) const noexcept {
  if (!limited_) return ttl;
  if (left_ == 0) return std::nullopt;
  if (hold_until_ != Instant::max()) ttl = std::min(ttl, hold_until_ - now);
  ttl = std::chrono::floor<std::chrono::milliseconds>(ttl);
  if (ttl < limits::shortest_ttl) return std::nullopt;
  return ttl;
}

void Renewal::be_due(Instant now) noexcept {
  if (due_ != never) due_ = std::min(due_, now);
}

void Renewal::follow(Instant valid_until) noexcept {
  // A third of the TTL after the renewal that would have given this deadline.
  if (wanted_) due_ = later(valid_until, drift(ttl_) - ttl_ + ttl_ / 3);
}

void Renewal::failed(Instant now, Instant valid_until) noexcept {
  if (!wanted_) return;
  // Often enough to survive a short outage, but never a storm at the end.
  due_ = later(now, std::max((valid_until - now) / 8, shortest_pause));
}

}  // namespace redlock::core
