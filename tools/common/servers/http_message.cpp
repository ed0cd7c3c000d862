#include "common/servers/http_message.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";

/// `more`: further lines of the head.
std::string head_of(const HttpPage& page, std::string_view more) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n",
      page.status, page.type, more, page.body.size());
}

std::string http_error(std::string_view status, std::string_view more = {}) {
  const HttpPage page{status, "text/plain; charset=utf-8", fmt::format("{}\n", status)};
  return head_of(page, more) + page.body;
}

}  // namespace

ListenAddress parse_listen_address(std::string_view option, std::string_view text) {
  const auto refuse = [&] {
    return UsageError(
        fmt::format("--{}: '{}': allowed is HOST:PORT, as in 127.0.0.1:9464 or [::1]:9464", option,
                    as_printable(text)));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) throw refuse();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    throw refuse();
  }
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_number = error == std::errc{} && end == port.data() + port.size();
  if (host.empty() || !is_number) throw refuse();
  return {std::string(host), std::to_string(number)};
}

std::string show_listen_address(const ListenAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
               : fmt::format("{}:{}", address.host, address.port);
}

bool is_complete_http_request(std::string_view request) noexcept {
  return request.size() > longest_http_request ||
         request.find(end_of_head) != std::string_view::npos;
}

std::string answer_http(std::string_view request, const HttpPages& pages) {
  if (request.size() > longest_http_request) {
    return http_error("431 Request Header Fields Too Large");
  }
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || !line.substr(second + 1).starts_with("HTTP/1.")) {
    return http_error("400 Bad Request");
  }
  const std::string_view method = line.substr(0, first);
  if (method != "GET" && method != "HEAD") {
    return http_error("405 Method Not Allowed", "Allow: GET, HEAD\r\n");
  }
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::optional<HttpPage> page = pages(target.substr(0, target.find('?')));
  if (!page) return http_error("404 Not Found");
  std::string answer = head_of(*page, "Cache-Control: no-store\r\n");
  if (method == "GET") answer += page->body;
  return answer;
}

}  // namespace redlock::cli
