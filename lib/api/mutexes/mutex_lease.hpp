#pragma once

#include "core/claim/cohort.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"

/// What the blocking and the asynchronous mutex share beside the Cohort.
namespace redlock::api {

/// Whether each lease must keep to its one holder: if it is not renewed without limits, which are a
/// promise about one hold, and if the resource is held on after the release.
[[nodiscard]] core::Cohort::Terms cohort_terms(const Target& target, const AcquireOptions& options);

/// In a forked child, no lease is its own.
[[nodiscard]] core::Cohort::LeaseState look_at(const Lease& lease) noexcept;

}  // namespace redlock::api
