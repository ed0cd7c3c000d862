#pragma once

#include "redlock/language.hpp"

/// Includes all that a program needs to use locks. For operators there are `redlock/deployment.hpp`
/// and `redlock/listing.hpp`, in a namespace of their own, `redlock::admin`; `redlock/asio.hpp` is
/// for programs with Asio. Each header can be included alone, and compiles without exceptions and
/// without run-time type information.
///
/// Binary interface: classes with behaviour (Client, Lease, Target, Mutex, …) hold one pointer, so
/// that the shared library can change what it points to. Options and reports are plain structs, and
/// Token, FencingToken, Result and Callback are values: their layout is part of the interface.
///
/// Errors: functions return a Result, and every function's comment lists its errors. Only the
/// mutex-like classes throw, because the standard's lock guards need it. Callbacks run on the
/// client's loop thread unless their comment names another one.
#include "redlock/async_client.hpp"     // IWYU pragma: export
#include "redlock/async_election.hpp"   // IWYU pragma: export
#include "redlock/async_mutex.hpp"      // IWYU pragma: export
#include "redlock/callback.hpp"         // IWYU pragma: export
#include "redlock/client.hpp"           // IWYU pragma: export
#include "redlock/clock.hpp"            // IWYU pragma: export
#include "redlock/coroutine.hpp"        // IWYU pragma: export
#include "redlock/credentials.hpp"      // IWYU pragma: export
#include "redlock/detached_lease.hpp"   // IWYU pragma: export
#include "redlock/election.hpp"         // IWYU pragma: export
#include "redlock/error.hpp"            // IWYU pragma: export
#include "redlock/inspection.hpp"       // IWYU pragma: export
#include "redlock/lease.hpp"            // IWYU pragma: export
#include "redlock/limits.hpp"           // IWYU pragma: export
#include "redlock/metrics.hpp"          // IWYU pragma: export
#include "redlock/mutex.hpp"            // IWYU pragma: export
#include "redlock/observer.hpp"         // IWYU pragma: export
#include "redlock/options.hpp"          // IWYU pragma: export
#include "redlock/recursive_mutex.hpp"  // IWYU pragma: export
#include "redlock/report.hpp"           // IWYU pragma: export
#include "redlock/result.hpp"           // IWYU pragma: export
#include "redlock/shared_mutex.hpp"     // IWYU pragma: export
#include "redlock/target.hpp"           // IWYU pragma: export
#include "redlock/token.hpp"            // IWYU pragma: export
#include "redlock/version.hpp"          // IWYU pragma: export
