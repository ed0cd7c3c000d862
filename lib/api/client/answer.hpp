#pragma once

#include "redlock/callback.hpp"
#include "redlock/coroutine.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/metrics.hpp"
#include "redlock/report.hpp"
#include "redlock/result.hpp"

namespace redlock::api {

/// The callback of a call.
template <typename Value>
using Answer = Callback<void(Result<Value>)>;
using AcquireDone = Answer<Lease>;
using RoundDone = Answer<Round>;
using CloseDone = Callback<void(const CloseReport&)>;
using InspectDone = Answer<Inspection>;
using OwnershipDone = Answer<Ownership>;
using MetricsDone = Answer<Metrics>;

/// Something to run on the loop's thread.
using Job = Callback<void()>;

}  // namespace redlock::api
