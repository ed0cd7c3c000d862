#include "api/lease_cell.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/client_core.hpp"
#include "core/node_reports.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {

namespace {

/// Makes what is not there yet. Of two threads that do, one is first.
template <typename T>
T& make_once(std::atomic<T*>& where, std::unique_ptr<T> what) {
  T* first = nullptr;
  const bool won = where.compare_exchange_strong(first, what.get(), std::memory_order_acq_rel);
  return won ? *what.release() : *first;
}

}  // namespace

LeaseCell::LeaseCell(std::shared_ptr<ClientCore> core, const core::Acquired& granted,
                     const core::Claim& claim, std::chrono::nanoseconds validity,
                     LeaseCallbacks callbacks)
    : core_(std::move(core)),
      claim_(claim.id()),
      call_(granted.request),
      label_(claim.label),
      valid_until_(granted.valid_until.time_since_epoch().count()) {
  keep_report(claim.round, granted.elapsed, validity);
  if (claim.fencing() != nullptr) fencing_ = FencingToken(claim.fencing()->number);
  const std::vector<std::string>& more = claim.terms().more_resources;
  if (callbacks.none() && more.empty()) return;
  extra().callbacks = std::move(callbacks);
  extra().more_resources = more;
}

void LeaseCell::keep_report(const core::Round& round, core::Duration elapsed,
                            core::Duration validity) {
  const bool none_refused = (round.granted() | round.pending()).size() == round.nodes();
  if (!none_refused || round.nodes() > Granted::most_nodes) {
    extra().granting_round = runtime::report_round(round, core_->urls(), elapsed, validity);
    return;
  }
  granted_ = {core_->urls(),
              round.ttl(),
              elapsed,
              std::max(validity, core::Duration::zero()),
              {},
              round.granted(),
              static_cast<std::uint8_t>(round.nodes()),
              static_cast<std::uint8_t>(round.quorum())};
  round.granted().each([&](core::NodeIndex node) {
    granted_.round_trips[node] = static_cast<float>(round.round_trip(node).count());
  });
}

RoundReport LeaseCell::report() const {
  if (!granted_.urls) return *extra().granting_round;
  RoundReport report;
  report.quorum = granted_.quorum;
  report.ttl = granted_.ttl;
  report.elapsed = granted_.elapsed;
  report.validity = granted_.validity;
  NodeReports::Plain plain{granted_.urls, granted_.nodes, granted_.granted};
  for (std::size_t node = 0; node < granted_.nodes; ++node) {
    plain.round_trips[node] =
        core::Duration(static_cast<core::Duration::rep>(granted_.round_trips[node]));
  }
  report.nodes = NodeReports(std::move(plain));
  return report;
}

LeaseCell::~LeaseCell() {
  const std::unique_ptr<const Words> words(words_.load(std::memory_order_relaxed));
  const std::unique_ptr<Extra> extra(extra_.load(std::memory_order_relaxed));
}

std::unique_ptr<const LeaseCell::Words> LeaseCell::make_words() const {
  auto words = std::make_unique<Words>();
  words->resource = label_.resource();
  words->token = Token::parse(label_.token()).value_or(Token());
  return words;
}

const LeaseCell::Words& LeaseCell::words() const noexcept {
  if (const Words* made = words_.load(std::memory_order_acquire)) return *made;
  return make_once(words_, make_words());
}

LeaseCell::Extra& LeaseCell::extra() const {
  if (Extra* made = extra_.load(std::memory_order_acquire)) return *made;
  return make_once(extra_, std::make_unique<Extra>());
}

std::vector<std::string> LeaseCell::more_resources() const {
  const Extra* const extra = extra_.load(std::memory_order_acquire);
  return extra != nullptr ? extra->more_resources : std::vector<std::string>();
}

bool LeaseCell::wants_warnings() const noexcept {
  const Extra* const extra = extra_.load(std::memory_order_acquire);
  return extra != nullptr && extra->callbacks.on_at_risk != nullptr;
}

LeaseCallbacks LeaseCell::take_callbacks() noexcept {
  Extra* const extra = extra_.load(std::memory_order_acquire);
  return extra != nullptr ? std::exchange(extra->callbacks, {}) : LeaseCallbacks();
}

bool LeaseCell::end() noexcept {
  State live = State::live;
  return state_.compare_exchange_strong(live, State::ended, std::memory_order_acq_rel);
}

bool LeaseCell::lose() noexcept {
  State live = State::live;
  return state_.compare_exchange_strong(live, State::lost, std::memory_order_acq_rel);
}

void LeaseCell::tell_risk() const noexcept {
  // It may have been renewed, released or lost since.
  const auto left = valid_until() - BootClock::now();
  if (live() && left > std::chrono::nanoseconds::zero()) extra().callbacks.on_at_risk(left);
}

void LeaseCell::tell_loss(const Error& error) noexcept {
  std::optional<std::stop_source> source;
  {
    // Made here if need be: who asks later must see under the same lock that it was lost.
    const std::lock_guard lock(extra().lost_mutex);
    source = extra().lost_source;
  }
  if (source) source->request_stop();  // runs the holder's callbacks: not under the lock
  LeaseCallbacks callbacks = take_callbacks();
  if (callbacks.on_lost) callbacks.on_lost(error);
}

std::stop_token LeaseCell::lost() const {
  Extra& extra = this->extra();
  const std::lock_guard lock(extra.lost_mutex);
  if (!extra.lost_source) {
    extra.lost_source.emplace();
    if (was_lost()) extra.lost_source->request_stop();
  }
  return extra.lost_source->get_token();
}

}  // namespace redlock::api
