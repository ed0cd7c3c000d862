#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

/// A listener as --metrics-listen and --status-listen name it.
struct ListenAddress {
  std::string host;  ///< without brackets
  std::string port;  ///< 0 to 65535; 0: any free port
};

/// HOST:PORT, with brackets around an IPv6 address. Throws UsageError, which names the option.
[[nodiscard]] ListenAddress parse_listen_address(std::string_view option, std::string_view text);

/// The address as text again.
[[nodiscard]] std::string show_listen_address(const ListenAddress& address);

/// A longer head is refused.
inline constexpr std::size_t longest_http_request = 8192;

/// Whether a request's head is complete, or longer than `longest_http_request` and so refused.
[[nodiscard]] bool is_complete_http_request(std::string_view request) noexcept;

struct HttpPage {
  std::string_view status{};
  std::string_view type{};
  std::string body{};
};

/// The page of a path, without its query; none: there is no such page.
using HttpPages = std::function<std::optional<HttpPage>(std::string_view path)>;

/// The whole answer to a request. `pages` is called for GET and HEAD only.
[[nodiscard]] std::string answer_http(std::string_view request, const HttpPages& pages);

}  // namespace redlock::cli
