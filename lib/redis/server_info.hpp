#pragma once

#include <string>
#include <string_view>

namespace redlock::redis {

/// The value of `field` ("run_id") in an INFO, as the server wrote it; empty if it is absent.
/// Points into `info`.
[[nodiscard]] std::string_view info_field(std::string_view info, std::string_view field) noexcept;

/// "standalone", "sentinel" or "cluster"; empty if INFO does not say. Forks of Redis have renamed
/// the field.
[[nodiscard]] std::string_view server_mode(std::string_view info) noexcept;

/// What a server calls itself.
struct Product {
  std::string_view name;     ///< "Redis", "Valkey", "Redict"
  std::string_view version;  ///< its own; `redis_version` is what a fork is compatible with
};

[[nodiscard]] Product product_in(std::string_view info) noexcept;

/// "Valkey 9.1.2"; "Redis" alone where INFO names no version.
[[nodiscard]] std::string product_text(std::string_view info);

}  // namespace redlock::redis
