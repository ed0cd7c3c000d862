#include "bench/measure/endpoint.hpp"

#include <charconv>

namespace redlock::cli {

std::optional<bench::Endpoint> plain_endpoint(std::string_view url) {
  constexpr std::string_view unix_scheme = "unix://";
  constexpr std::string_view tcp_scheme = "redis://";
  bench::Endpoint endpoint;
  if (url.starts_with(unix_scheme)) {
    endpoint.unix_path = url.substr(unix_scheme.size());
    if (endpoint.unix_path.find_first_of("?%") != std::string::npos) return std::nullopt;
    return endpoint;
  }
  if (url.starts_with(tcp_scheme)) url.remove_prefix(tcp_scheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t at = url.find('@');
  if (at != std::string_view::npos) {
    if (!url.starts_with(':') || url.substr(0, at).find('%') != std::string_view::npos) {
      return std::nullopt;
    }
    endpoint.password = url.substr(1, at - 1);
    url.remove_prefix(at + 1);
  }
  if (url.empty() || url.find_first_of("/@?%") != std::string_view::npos) return std::nullopt;

  std::string_view port;
  if (url.front() == '[') {
    const std::size_t end = url.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    endpoint.host = url.substr(1, end - 1);
    port = url.substr(end + 1);
  } else {
    const std::size_t colon = url.find(':');
    endpoint.host = url.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : url.substr(colon);
  }
  if (port.empty()) return endpoint;
  port.remove_prefix(1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  return endpoint;
}

std::vector<bench::Endpoint> plain_endpoints(const std::vector<std::string>& urls) {
  std::vector<bench::Endpoint> endpoints;
  endpoints.reserve(urls.size());
  for (const std::string& url : urls) endpoints.push_back(plain_endpoint(url).value());
  return endpoints;
}

}  // namespace redlock::cli
