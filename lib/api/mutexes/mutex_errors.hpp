#pragma once

#include <chrono>

#include "redlock/error.hpp"

namespace redlock::api {

/// Fills in why a lock was not obtained. Without a place for the error, it throws std::system_error
/// if waiting cannot help: an invalid argument, a closed or forked client; and, if the call was to
/// wait for ever, `excluded`, because `lock()` must not return without the lock.
void explain_or_throw(Error&& error, std::chrono::nanoseconds wait, Error* why);

}  // namespace redlock::api
