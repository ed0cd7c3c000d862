#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redlock::runtime {

/// `user@host:pid program`, in at most `limits::name_bytes` bytes and without control characters.
[[nodiscard]] std::string default_client_name();

/// Why a client cannot have this name; none: it can.
[[nodiscard]] std::optional<std::string> refuse_client_name(std::string_view name);

}  // namespace redlock::runtime
