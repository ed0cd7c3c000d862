#pragma once

#include <cstdint>
#include <string>

#include "redlock/client.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {

/// The name of the permit that the token holds, among all `permits` of the semaphore. A token never
/// holds two permits. Errors: not_holder, unavailable.
[[nodiscard]] Result<std::string> find_permit(Client& client, const std::string& semaphore,
                                              std::uint64_t permits, const Token& token);

/// An error that says `not_holder` also says who holds the resource instead, as refusals of
/// `acquire` do.
void name_other_holder(Client& client, const std::string& resource, Error& error);

}  // namespace redlock::cli
