#include "api/mutexes/mutex_lease.hpp"

#include <cstdint>

#include "api/client/client_core.hpp"
#include "api/leases/lease_cell.hpp"
#include "runtime/boot_time.hpp"

namespace redlock::api {

api::Cohort::Terms cohort_terms(const Target& target, const AcquireOptions& options) {
  const bool limited =
      !options.renew || options.max_renewals != UINT64_MAX || options.max_hold != forever;
  const bool interval = target.interval() > std::chrono::nanoseconds::zero();
  return {options.ttl, !limited && !interval};
}

api::Cohort::LeaseState look_at(const Lease& lease) noexcept {
  const auto& cell = LeaseCell::of(lease);
  // A reader's lease is not passed on: the next thread would take it for a writer's.
  if (!cell || cell->core().forked() || cell->is_downgraded()) return {};
  return {cell->live(), runtime::to_core(cell->valid_until()), cell->others()};
}

}  // namespace redlock::api
