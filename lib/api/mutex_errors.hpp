#pragma once

#include "redlock/error.hpp"

namespace redlock::api {

/// The mutex-like classes throw std::system_error for what waiting can not mend: an invalid
/// argument, a closed or forked client. Everything else is a lock that was not obtained.
void raise_unless_waiting_mends(const Error& error);

}  // namespace redlock::api
