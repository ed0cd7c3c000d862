#include "redis/values/node_url.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "redis/values/url_query.hpp"
#include "redis/values/url_text.hpp"
#include "redis/values/visible.hpp"
#include "uv/address.hpp"

namespace redlock::redis {
namespace {

constexpr std::size_t longest_host = 253;  // RFC 1035
constexpr std::size_t longest_shown = 200;

[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

[[nodiscard]] constexpr bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

[[nodiscard]] std::string percent_encoded_path(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (is_alphanumeric(c) || std::string_view("/-._~:@+,=").find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4U], digits[byte & 0x0fU]};
    }
  }
  return out;
}

/// The part of an authority without '@' that may be shown. A user who forgot the host has written a
/// password in the port's place, so only ports and addresses are shown.
[[nodiscard]] std::string shown_authority(std::string_view authority) {
  if (authority.starts_with('[')) return std::string(authority);
  const auto [host, rest] = split_at(authority, authority.find(':'));
  if (host.size() == authority.size()) return std::string(authority);
  const bool many = rest.find(':') != std::string_view::npos;
  const bool harmless = std::all_of(rest.begin(), rest.end(), [many](char c) {
    return is_digit(c) || (many && (hex_value(c) >= 0 || c == ':' || c == '.'));
  });
  return std::string(host) + ":" + std::string(harmless ? rest : mask);
}

/// The URL, possibly malformed, without anything that may be a password: everything up to the last
/// '@' (it may hold a '/' that should have been encoded), the values of queries, and the fragment.
[[nodiscard]] std::string shown(std::string_view url) {
  std::string out;
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) {
    out = url.substr(0, scheme + 3);
    url.remove_prefix(scheme + 3);
  }
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    out += std::string(mask) + "@";
    url.remove_prefix(at + 1);
  }
  const std::size_t authority_end = std::min(url.find_first_of("/?#"), url.size());
  std::string_view authority = url.substr(0, authority_end);
  for (std::size_t end = authority.find(';'); end != std::string_view::npos;
       end = authority.find(';')) {
    out += shown_authority(authority.substr(0, end)) + ';';
    authority.remove_prefix(end + 1);
  }
  out += shown_authority(authority);
  url.remove_prefix(authority_end);
  const std::size_t fragment = url.find('#');
  const std::string_view before = url.substr(0, fragment);
  const auto [path, query] = split_at(before, before.find('?'));
  out += path;
  if (path.size() != before.size()) out += shown_query(query);
  if (fragment != std::string_view::npos) out += "#" + std::string(mask);
  return visible(out, longest_shown);
}

[[nodiscard]] Complaint read_port(std::string_view text, NodeUrl& url) {
  const auto port = number_in<std::uint32_t>(text, 1, std::numeric_limits<std::uint16_t>::max());
  if (!port) return "the port is not a number from 1 to 65535";
  url.port = static_cast<std::uint16_t>(*port);
  return std::nullopt;
}

[[nodiscard]] bool is_ipv6(const std::string& text) {
  return text.find(':') != std::string::npos && uv::parse_literal(text, 0).has_value();
}

[[nodiscard]] Complaint read_bracketed_host(std::string_view text, NodeUrl& url) {
  const std::size_t bracket = text.find(']');
  if (bracket == std::string_view::npos) return "the bracket is not closed";
  url.host = text.substr(1, bracket - 1);
  // The zone of a link-local address: RFC 6874 writes fe80::1%25eth0, people write fe80::1%eth0.
  const std::size_t zone = url.host.find("%25");
  if (zone != std::string::npos && zone + 3 < url.host.size()) url.host.erase(zone + 1, 2);
  if (!is_ipv6(url.host)) return "there is no IPv6 address between the brackets";
  const std::string_view rest = text.substr(bracket + 1);
  if (rest.empty()) return std::nullopt;
  if (!rest.starts_with(':')) return "something follows the bracket that is no port";
  return read_port(rest.substr(1), url);
}

[[nodiscard]] Complaint read_host_and_port(std::string_view text, NodeUrl& url) {
  if (text.find(',') != std::string_view::npos) {
    return "it has a comma: each node is a string of its own";
  }
  if (text.starts_with('[')) return read_bracketed_host(text, url);
  const std::size_t colon = text.find(':');
  if (colon != text.rfind(':')) return "an IPv6 address needs brackets";
  url.host = text.substr(0, colon);
  if (url.host.empty()) return "there is no host";
  if (url.host.size() > longest_host) return "the host is longer than 253 characters";
  if (!std::all_of(url.host.begin(), url.host.end(),
                   [](char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; })) {
    return "the host has characters that no host name has";
  }
  if (colon == std::string_view::npos) return std::nullopt;
  return read_port(text.substr(colon + 1), url);
}

[[nodiscard]] Complaint read_credentials(std::string_view text, NodeUrl& url) {
  if (text.find('@') != std::string_view::npos) return "an '@' in a password is written %40";
  const auto [user, password] = split_at(text, text.find(':'));
  auto decoded_user = percent_decoded(user);
  auto decoded_password = percent_decoded(password);
  if (!decoded_user || !decoded_password) return "a '%' is not followed by two hexadecimal digits";
  url.user = std::move(*decoded_user);
  url.password = std::move(*decoded_password);
  return std::nullopt;
}

/// `host[:port];host[:port]`
[[nodiscard]] Complaint read_guides(std::string_view list, NodeUrl& url) {
  while (true) {
    const auto [one, rest] = split_at(list, list.find(';'));
    NodeUrl guide;
    if (url.kind == NodeUrl::Kind::sentinel) guide.port = NodeUrl::default_sentinel_port;
    if (auto complaint = read_host_and_port(one, guide)) return complaint;
    url.guides.push_back({guide.host, guide.port});
    if (one.size() == list.size()) break;
    list = rest;
  }
  std::sort(url.guides.begin(), url.guides.end());
  if (url.servers == 1) {
    return "it needs ?servers=N, how many servers a primary and its replicas are";
  }
  return std::nullopt;
}

/// `service[/db]` after sentinels; nothing after the servers of a cluster
[[nodiscard]] Complaint read_service(std::string_view path, NodeUrl& url) {
  if (url.kind == NodeUrl::Kind::cluster) {
    if (path.empty()) return std::nullopt;
    return "a cluster has neither databases nor a name: nothing but the query follows '/'";
  }
  const auto [service, db] = split_at(path, path.find('/'));
  const bool is_name = std::all_of(service.begin(), service.end(), [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_';
  });
  if (service.empty() || !is_name) {
    return "after the sentinels comes the name that they have for the service: …/mymaster (quote "
           "the URL: a shell ends a command at ';')";
  }
  url.service = service;
  return db.empty() ? std::nullopt : read_db(db, url);
}

[[nodiscard]] Complaint read_tcp(std::string_view rest, NodeUrl& url) {
  if (rest.find('#') != std::string_view::npos) {
    return "a fragment is not understood here (a '#' in a password is written %23)";
  }
  if (const std::size_t question = rest.find('?'); question != std::string_view::npos) {
    const std::string_view query = rest.substr(question + 1);
    if (query.find('@') != std::string_view::npos) return "a '?' in a password is written %3F";
    if (auto complaint = read_query(query, url)) return complaint;
    rest = rest.substr(0, question);
  }
  const std::size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  const std::size_t at = authority.rfind('@');
  if (slash != std::string_view::npos && rest.find('@', slash) != std::string_view::npos) {
    return "a '/' in a password is written %2F";
  }
  if (at != std::string_view::npos) {
    if (auto complaint = read_credentials(authority.substr(0, at), url)) return complaint;
  }
  const std::string_view server =
      at == std::string_view::npos ? authority : authority.substr(at + 1);
  if (url.kind != NodeUrl::Kind::tcp) {
    auto complaint =
        read_service(slash == std::string_view::npos ? "" : rest.substr(slash + 1), url);
    return complaint ? complaint : read_guides(server, url);
  }
  if (auto complaint = read_host_and_port(server, url)) return complaint;
  if (slash == std::string_view::npos || slash + 1 == rest.size()) return std::nullopt;
  return read_db(rest.substr(slash + 1), url);
}

[[nodiscard]] Complaint read_unix(std::string_view rest, NodeUrl& url) {
  url.kind = NodeUrl::Kind::unix_socket;
  if (rest.find('#') != std::string_view::npos) return "a '#' in a path is written %23";
  const std::size_t question = rest.find('?');
  const auto [path, query] = split_at(rest, question);
  if (!path.starts_with('/')) return "a Unix socket is named by its absolute path: unix:///path";
  if (path.find("://") != std::string_view::npos) {
    return "it has a comma: each node is a string of its own";
  }
  auto decoded = percent_decoded(path);
  if (!decoded) return "a '%' is not followed by two hexadecimal digits";
  if (std::any_of(decoded->begin(), decoded->end(), is_control)) {
    return "the path has control characters";
  }
  if (decoded->ends_with('/')) return "the path names a directory";
  url.path = std::move(*decoded);
  return question == std::string_view::npos ? std::nullopt : read_query(query, url);
}

constexpr std::string_view no_scheme =
    "the scheme is not one of redis, rediss, valkey, valkeys, unix, and, of services, "
    "redis+sentinel and redis+cluster";

[[nodiscard]] Complaint read_url(std::string_view text, NodeUrl& url) {
  if (text.empty()) return "it is empty";
  if (std::any_of(text.begin(), text.end(), is_control)) return "it has control characters";
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) {
    const auto [server, db] = split_at(text, text.find('/'));
    if (server.empty() || text.find_first_of("@?#") != std::string_view::npos) {
      return "it is neither host[:port][/db] nor does it begin with redis://, rediss:// or unix://";
    }
    if (auto complaint = read_host_and_port(server, url)) return complaint;
    return db.empty() ? std::nullopt : read_db(db, url);
  }
  const std::string_view scheme = text.substr(0, scheme_end);
  const std::string_view rest = text.substr(scheme_end + 3);
  if (equal_ignoring_case(scheme, "unix")) return read_unix(rest, url);
  // Valkey has its own names for the schemes. URLs are shown, and members named, with those of
  // Redis.
  const auto [base, found_by] = split_at(scheme, scheme.find('+'));
  if (equal_ignoring_case(found_by, "sentinel")) {
    url.kind = NodeUrl::Kind::sentinel;
  } else if (equal_ignoring_case(found_by, "cluster")) {
    url.kind = NodeUrl::Kind::cluster;
  } else if (base.size() != scheme.size()) {
    return std::string(no_scheme);
  }
  for (const std::string_view plain : {"redis", "valkey"}) {
    url.tls = equal_ignoring_case(base, std::string(plain) + 's');
    if (url.tls || equal_ignoring_case(base, plain)) return read_tcp(rest, url);
  }
  return std::string(no_scheme);
}

}  // namespace

std::optional<std::string> refuse_server_name(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > longest_host) return "it is longer than 253 characters";
  const bool literal = uv::parse_literal(std::string(name), 0).has_value();
  if (literal || std::all_of(name.begin(), name.end(), [](char c) {
        return is_alphanumeric(c) || c == '-' || c == '.' || c == '_';
      })) {
    return std::nullopt;
  }
  return "it is neither the name of a host nor an IP address";
}

Result<NodeUrl> parse_node_url(std::string_view text) {
  NodeUrl url;
  if (const Complaint complaint = read_url(text, url)) {
    return Error{.code = Errc::invalid_argument,
                 .message = "node '" + shown(text) + "': " + *complaint};
  }
  return url;
}

namespace {

std::string host_and_port(const std::string& host, std::uint16_t port) {
  const bool is_address = host.find(':') != std::string::npos;
  return (is_address ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string shown_service(const NodeUrl& url) {
  std::string out = url.tls ? "rediss" : "redis";
  out += url.kind == NodeUrl::Kind::sentinel ? "+sentinel://" : "+cluster://";
  for (const NodeUrl::Guide& guide : url.guides) {
    if (&guide != &url.guides.front()) out += ';';
    out += host_and_port(guide.host, guide.port);
  }
  out += "/" + url.service;
  if (url.db != 0) out += "/" + std::to_string(url.db);
  return out + "?servers=" + std::to_string(url.servers);
}

}  // namespace

std::string NodeUrl::display() const {
  switch (kind) {
    case Kind::tcp: {
      std::string out = tls ? "rediss://" : "redis://";
      out += host_and_port(host, port);
      if (db != 0) out += "/" + std::to_string(db);
      if (servers > 1) out += "?servers=" + std::to_string(servers);
      return out;
    }
    case Kind::sentinel:
    case Kind::cluster:
      return shown_service(*this);
    case Kind::unix_socket: {
      std::string out = "unix://" + percent_encoded_path(path);
      if (db != 0) out += "?db=" + std::to_string(db);
      if (servers > 1) out += (db != 0 ? "&servers=" : "?servers=") + std::to_string(servers);
      return out;
    }
  }
  return {};
}

bool same_server(const NodeUrl& a, const NodeUrl& b) noexcept {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case NodeUrl::Kind::tcp:
      return a.port == b.port && equal_ignoring_case(a.host, b.host);
    case NodeUrl::Kind::unix_socket:
      return a.path == b.path;
    case NodeUrl::Kind::sentinel:
    case NodeUrl::Kind::cluster:
      return a.service == b.service &&
             std::any_of(a.guides.begin(), a.guides.end(), [&](const auto& one) {
               return std::binary_search(b.guides.begin(), b.guides.end(), one);
             });
  }
  return false;
}

}  // namespace redlock::redis
