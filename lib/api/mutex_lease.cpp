#include "api/mutex_lease.hpp"

#include <cstdint>

#include "api/client_core.hpp"
#include "api/lease_cell.hpp"
#include "runtime/boot_time.hpp"

namespace redlock::api {

core::Cohort::Terms cohort_terms(const Target& target, const MutexOptions& options) {
  const RenewalOptions& renewal = options.renewal;
  const bool limited = renewal.max_renewals != UINT64_MAX || renewal.max_hold != forever;
  const bool interval = target.hold_at_least() > std::chrono::nanoseconds::zero();
  return {options.ttl, !limited && !interval};
}

AcquireOptions acquire_options(const MutexOptions& options) {
  AcquireOptions terms;
  terms.ttl = options.ttl;
  terms.renewal = options.renewal;
  return terms;
}

core::Cohort::LeaseState look_at(const Lease& lease) noexcept {
  const auto& cell = LeaseCell::of(lease);
  if (!cell || cell->core().forked()) return {};
  return {cell->live(), runtime::to_core(cell->valid_until()), cell->others()};
}

}  // namespace redlock::api
