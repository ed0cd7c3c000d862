#pragma once

#include "api/mutexes/cohort.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"

/// The functions that the blocking and the asynchronous mutex share, in addition to the Cohort.
namespace redlock::api {

/// The terms on which leases are passed on. A lease stays with its one holder if its renewal is off
/// or limited, because a limit is a promise about one hold, and if the resource stays taken after
/// the release (an interval).
[[nodiscard]] api::Cohort::Terms cohort_terms(const Target& target, const AcquireOptions& options);

/// The state of the lease. In a forked child, every lease is the parent's: it looks empty.
[[nodiscard]] api::Cohort::LeaseState look_at(const Lease& lease) noexcept;

}  // namespace redlock::api
