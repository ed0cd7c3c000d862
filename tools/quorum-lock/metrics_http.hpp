#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace redlock::cli {

/// A listener as --metrics-listen names it.
struct ListenAddress {
  std::string host;  ///< without brackets
  std::string port;  ///< 0 to 65535; 0: any that is free
};

/// HOST:PORT, where an IPv6 address is in brackets. Throws UsageError.
[[nodiscard]] ListenAddress parse_listen_address(std::string_view text);

/// More than that is no request for metrics.
inline constexpr std::size_t longest_http_request = 8192;

/// Whether all of a request's head has arrived, or so much that it is refused.
[[nodiscard]] bool is_complete_http_request(std::string_view request) noexcept;

/// The whole answer to a request. `page` is called for GET /metrics only.
[[nodiscard]] std::string answer_http(std::string_view request,
                                      const std::function<std::string()>& page);

}  // namespace redlock::cli
