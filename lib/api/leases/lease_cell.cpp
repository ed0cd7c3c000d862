#include "api/leases/lease_cell.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/client/client_core.hpp"
#include "api/options/groups.hpp"
#include "core/nodes/node_votes.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {

namespace {

/// Stores `what` unless another thread has stored one first. Returns the stored one.
template <typename T>
T& make_once(std::atomic<T*>& where, std::unique_ptr<T> what) {
  T* first = nullptr;
  const bool won = where.compare_exchange_strong(first, what.get(), std::memory_order_acq_rel);
  return won ? *what.release() : *first;
}

}  // namespace

LeaseCell::LeaseCell(std::shared_ptr<ClientCore> core, const core::Acquired& granted,
                     const core::Claim& claim, std::chrono::nanoseconds validity,
                     LeaseCallbacks callbacks, bool observed)
    : core_(std::move(core)),
      claim_(claim.id()),
      label_(claim.label),
      valid_until_(granted.valid_until.time_since_epoch().count()) {
  keep_report(claim.round, granted.elapsed, validity);
  if (claim.fencing() != nullptr) fencing_ = FencingToken(claim.fencing()->number);
  const std::vector<std::string>& more = claim.terms().more_resources;
  if (observed) on_demand().call = granted.request;
  const std::string& group = claim.terms().group;
  if (callbacks.none() && more.empty() && group.empty()) return;
  extra().callbacks = std::move(callbacks);
  extra().more_resources = more;
  core_->keyspace().make_names(extra().more_resources);
  extra().group = group;
}

void LeaseCell::keep_report(const core::Round& round, core::Duration elapsed,
                            core::Duration validity) {
  const bool none_refused = round.denials() == 0;
  if (!none_refused || round.nodes() > most_nodes) {
    extra().granting_round = runtime::report_round(round, core_->urls(), elapsed, validity);
    return;
  }
  urls_ = &core_->urls();
  ttl_ = round.ttl();
  elapsed_ = elapsed;
  validity_ = std::max(validity, core::Duration::zero());
  nodes_ = static_cast<std::uint8_t>(round.nodes());
  quorum_ = static_cast<std::uint8_t>(round.quorum());
  round_trips_.fill(-1);
  round.granted().each([&](core::NodeIndex node) {
    round_trips_[node] = static_cast<float>(round.round_trip(node).count());
  });
}

Round LeaseCell::report() const {
  if (urls_ == nullptr) return *extra().granting_round;
  Round report;
  report.quorum = quorum_;
  report.ttl = ttl_;
  report.elapsed = elapsed_;
  report.remaining = validity_;
  NodeVotes::Plain plain{*urls_, nodes_, {}};
  for (core::NodeIndex node = 0; node < nodes_; ++node) {
    if (round_trips_[node] < 0) continue;
    plain.granted.add(node);
    plain.round_trips[node] = core::Duration(static_cast<core::Duration::rep>(round_trips_[node]));
  }
  report.nodes = NodeVotes(std::move(plain));
  return report;
}

LeaseCell::OnDemand::~OnDemand() {
  const std::unique_ptr<const Words> made_words(words.load(std::memory_order_relaxed));
  const std::unique_ptr<Extra> made_extra(extra.load(std::memory_order_relaxed));
}

LeaseCell::~LeaseCell() {
  const std::unique_ptr<OnDemand> made(on_demand_.load(std::memory_order_relaxed));
}

LeaseCell::OnDemand& LeaseCell::on_demand() const {
  if (OnDemand* made = on_demand_.load(std::memory_order_acquire)) return *made;
  return make_once(on_demand_, std::make_unique<OnDemand>());
}

std::unique_ptr<const LeaseCell::Words> LeaseCell::make_words() const {
  auto words = std::make_unique<Words>();
  words->resource = name();
  words->token = Token::parse(label_.token()).value_or(Token());
  return words;
}

const LeaseCell::Words& LeaseCell::words() const noexcept {
  OnDemand& where = on_demand();
  if (const Words* made = where.words.load(std::memory_order_acquire)) return *made;
  return make_once(where.words, make_words());
}

LeaseCell::Extra& LeaseCell::extra() const {
  OnDemand& where = on_demand();
  if (Extra* made = where.extra.load(std::memory_order_acquire)) return *made;
  return make_once(where.extra, std::make_unique<Extra>());
}

LeaseCell::Extra* LeaseCell::find_extra() const noexcept {
  const OnDemand* const made = on_demand_.load(std::memory_order_acquire);
  return made != nullptr ? made->extra.load(std::memory_order_acquire) : nullptr;
}

std::string_view LeaseCell::name() const noexcept {
  return core_->keyspace().name_of(label_.resource());
}

core::CallId LeaseCell::call() const noexcept {
  const OnDemand* const made = on_demand_.load(std::memory_order_acquire);
  return made != nullptr ? made->call : core::CallId::none;
}

std::vector<std::string> LeaseCell::more_resources() const {
  const Extra* const extra = find_extra();
  return extra != nullptr ? extra->more_resources : std::vector<std::string>();
}

Target::Kind LeaseCell::kind() const noexcept {
  if (is_downgraded()) return Target::Kind::shared;
  const Extra* const extra = find_extra();
  if (extra == nullptr || extra->group.empty()) return Target::Kind::exclusive;
  return extra->group == core::readers_group ? Target::Kind::shared : Target::Kind::owned;
}

std::string LeaseCell::owner() const {
  return kind() == Target::Kind::owned ? find_extra()->group.substr(core::owner_prefix.size())
                                       : std::string();
}

bool LeaseCell::wants_warnings() const noexcept {
  const Extra* const extra = find_extra();
  return extra != nullptr && extra->callbacks.on_at_risk != nullptr;
}

LeaseCallbacks LeaseCell::take_callbacks() noexcept {
  Extra* const extra = find_extra();
  return extra != nullptr ? std::exchange(extra->callbacks, {}) : LeaseCallbacks();
}

LeaseCell::End LeaseCell::end(State in_time) noexcept {
  if (!live()) return End::before;
  const State over = BootClock::now() < valid_until() ? in_time : State::lost;
  State expected = State::live;
  if (!state_.compare_exchange_strong(expected, over, std::memory_order_acq_rel)) {
    return End::before;
  }
  return over == State::lost ? End::too_late : End::in_time;
}

bool LeaseCell::lose() noexcept {
  State expected = State::live;
  return state_.compare_exchange_strong(expected, State::lost, std::memory_order_acq_rel);
}

void LeaseCell::report_risk() const noexcept {
  // The lease may have been renewed, released or lost since.
  const auto left = valid_until() - BootClock::now();
  if (live() && left > std::chrono::nanoseconds::zero()) extra().callbacks.on_at_risk(left);
}

void LeaseCell::report_loss(const Error& error) noexcept {
  std::optional<std::stop_source> source;
  {
    // The Extra is made here if it is missing: a later caller must see, under the same lock, that
    // the lease was lost.
    const std::lock_guard lock(extra().lost_mutex);
    source = extra().lost_source;
    if (!error.message.empty()) extra().loss = std::make_unique<const Error>(error);
  }
  if (source) source->request_stop();  // runs the holder's callbacks, so not under the lock
  LeaseCallbacks callbacks = take_callbacks();
  if (callbacks.on_lost) callbacks.on_lost(error);
}

std::optional<Error> LeaseCell::loss() const {
  Extra* const extra = find_extra();
  if (extra == nullptr) return std::nullopt;
  const std::lock_guard lock(extra->lost_mutex);
  return extra->loss ? std::optional(*extra->loss) : std::nullopt;
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
