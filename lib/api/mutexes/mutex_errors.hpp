#pragma once

#include "redlock/error.hpp"

namespace redlock::api {

/// Fills in why a lock was not obtained. Without a place for the error, it throws std::system_error
/// if waiting cannot help: an invalid argument, a closed or forked client.
void explain_or_throw(Error&& error, Error* why);

}  // namespace redlock::api
