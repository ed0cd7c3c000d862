#pragma once

#include "core/cohort.hpp"
#include "redlock/lease.hpp"
#include "redlock/mutex.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"

/// What the blocking and the asynchronous mutex share beside the Cohort.
namespace redlock::api {

/// Whether each lease must keep to its one holder: where the limits of its renewal are a promise
/// about one hold, and where the resource is held on after the release.
[[nodiscard]] core::Cohort::Terms cohort_terms(const Target& target, const MutexOptions& options);

[[nodiscard]] AcquireOptions acquire_options(const MutexOptions& options);

/// In a forked child, no lease is its own.
[[nodiscard]] core::Cohort::LeaseState look_at(const Lease& lease) noexcept;

}  // namespace redlock::api
