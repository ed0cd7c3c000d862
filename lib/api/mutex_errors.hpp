#pragma once

#include "redlock/error.hpp"

namespace redlock::api {

/// The mutex-like classes throw std::system_error where waiting cannot help: an invalid argument, a
/// closed or forked client. Every other error is a lock that was not obtained.
void raise_unless_waiting_helps(const Error& error);

}  // namespace redlock::api
