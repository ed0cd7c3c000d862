#include "fenced-storage/storage_url.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::fenced {
namespace {

constexpr std::string_view unix_scheme = "unix://";
constexpr std::string_view tcp_scheme = "redis://";

std::optional<std::uint16_t> parse_number(std::string_view text) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.front() != '%') {
      decoded += text.front();
      continue;
    }
    if (text.size() < 3) return std::nullopt;
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
    if (error != std::errc{} || end != text.data() + 3) return std::nullopt;
    decoded += static_cast<char>(byte);
    text.remove_prefix(2);
  }
  return decoded;
}

bool take_credentials(std::string_view& rest, StorageUrl& url) {
  const std::size_t at = rest.rfind('@');
  if (at == std::string_view::npos) return true;
  const std::string_view credentials = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  const std::size_t colon = credentials.find(':');
  const auto user = percent_decoded(credentials.substr(0, colon));
  const auto password = colon == std::string_view::npos
                            ? std::string()
                            : percent_decoded(credentials.substr(colon + 1));
  if (!user || !password) return false;
  url.user = *user;
  url.password = *password;
  return true;
}

bool take_database(std::string_view& rest, std::string_view mark, StorageUrl& url) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) return true;
  const std::string_view text = rest.substr(at + mark.size());
  rest = rest.substr(0, at);
  const auto number = text.empty() && mark == "/" ? 0 : parse_number(text);
  if (!number) return false;
  url.db = *number;
  return true;
}

bool take_host_and_port(std::string_view rest, StorageUrl& url) {
  std::string_view port;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return false;
    url.host = rest.substr(1, end - 1);
    port = rest.substr(end + 1);
  } else {
    const std::size_t colon = rest.find(':');
    url.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) port = rest.substr(colon);
  }
  if (!port.empty()) {
    const auto number = port.front() == ':' ? parse_number(port.substr(1)) : std::nullopt;
    if (!number || *number == 0) return false;
    url.port = *number;
  }
  return !url.host.empty() && url.host.find_first_of("/?#%") == std::string::npos;
}

bool parse_into(std::string_view rest, StorageUrl& url) {
  if (rest.starts_with(unix_scheme)) {
    rest.remove_prefix(unix_scheme.size());
    if (!take_database(rest, "?db=", url)) return false;
    url.path = rest;
    return rest.starts_with('/');
  }
  if (rest.starts_with(tcp_scheme)) rest.remove_prefix(tcp_scheme.size());
  return take_credentials(rest, url) && take_database(rest, "/", url) &&
         take_host_and_port(rest, url);
}

}  // namespace

StorageUrl parse_storage_url(std::string_view text) {
  StorageUrl url;
  if (text.starts_with("rediss://")) {
    throw cli::UsageError("--storage: TLS is not spoken here: redis:// or unix:// is allowed");
  }
  if (!parse_into(text, url)) {
    throw cli::UsageError(fmt::format(
        "--storage: '{}' is no URL of a storage: allowed are "
        "redis://[user[:password]@]host[:port][/db], unix:///path[?db=n] and host[:port]",
        cli::as_printable(cli::without_password(text))));
  }
  return url;
}

}  // namespace redlock::fenced
