#include "redlock/lease.hpp"

#include <algorithm>
#include <utility>

#include "api/client/blocking.hpp"
#include "api/leases/lease_cell.hpp"

namespace redlock {
namespace {

const std::string no_resource;
const Token no_token;

Error no_lease() { return Error{Errc::not_holder, "there is no lease", {}}; }

}  // namespace

Lease::Lease() noexcept = default;
Lease::Lease(std::shared_ptr<api::LeaseCell> cell) noexcept : cell_(std::move(cell)) {}
Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    const Lease old = std::move(*this);  // released when it goes out of scope
    cell_ = std::move(other.cell_);
  }
  return *this;
}

Lease::~Lease() {
  if (cell_ && cell_->end() != api::LeaseCell::End::before) cell_->core().release(cell_, {});
}

const std::string& Lease::resource() const noexcept {
  return cell_ ? cell_->resource() : no_resource;
}

std::vector<std::string> Lease::resources() const {
  if (!cell_) return {};
  std::vector<std::string> all = cell_->more_resources();
  all.insert(all.begin(), cell_->resource());
  return all;
}

const Token& Lease::token() const noexcept { return cell_ ? cell_->token() : no_token; }

std::optional<FencingToken> Lease::fencing_token() const noexcept {
  return cell_ ? cell_->fencing_token() : std::nullopt;
}

BootClock::time_point Lease::valid_until() const noexcept {
  return cell_ ? cell_->valid_until() : BootClock::time_point{};
}

std::chrono::nanoseconds Lease::remaining() const noexcept {
  // The parent may have released it since the fork.
  if (!cell_ || !cell_->live() || cell_->core().forked()) return std::chrono::nanoseconds::zero();
  return std::max(cell_->valid_until() - BootClock::now(), std::chrono::nanoseconds::zero());
}

bool Lease::valid() const noexcept { return remaining() > std::chrono::nanoseconds::zero(); }

std::stop_token Lease::lost() const { return cell_ ? cell_->lost() : std::stop_token(); }

std::optional<Error> Lease::loss() const { return cell_ ? cell_->loss() : std::nullopt; }

Round Lease::round() const { return cell_ ? cell_->report() : Round{}; }

Result<Round> Lease::extend(std::chrono::nanoseconds ttl) const {
  if (!cell_) return no_lease();
  return api::block<&api::Calls::extend>(cell_->shared_core(), cell_, ttl);
}

Result<Round> Lease::downgrade() const {
  if (!cell_) return no_lease();
  return api::block<&api::Calls::downgrade>(cell_->shared_core(), cell_);
}

Result<Round> Lease::release() {
  if (!cell_) return no_lease();
  const auto core = cell_->shared_core();
  if (auto why = api::refuse(core)) return *std::move(why);
  const auto cell = std::exchange(cell_, nullptr);
  return api::wait_for<Round>(*core,
                              [&](api::RoundDone done) { core->release(cell, std::move(done)); });
}

void Lease::reset() noexcept { *this = Lease(); }

DetachedLease Lease::detach() {
  if (!cell_ || cell_->core().forked()) return {};
  DetachedLease detached;
  detached.resources = resources();
  detached.token = token();
  detached.fencing_token = fencing_token();
  detached.kind = cell_->kind();
  detached.owner = cell_->owner();
  const auto cell = std::exchange(cell_, nullptr);
  switch (cell->hand_on()) {
    case api::LeaseCell::End::in_time:
      cell->core().detach(cell);
      return detached;
    case api::LeaseCell::End::too_late:
      cell->core().release(cell, {});
      break;
    case api::LeaseCell::End::before:
      break;
  }
  return {};
}

}  // namespace redlock
