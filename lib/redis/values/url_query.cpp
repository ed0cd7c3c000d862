#include "redis/values/url_query.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace redlock::redis {
namespace {

/// The code that uses a prefix checks which text is allowed.
[[nodiscard]] Complaint read_prefix(std::string_view text, NodeUrl& url) {
  auto decoded = percent_decoded(text);
  if (!decoded) return "a '%' is not followed by two hexadecimal digits";
  if (decoded->empty()) return "the prefix is empty";
  url.prefix = std::move(*decoded);
  return std::nullopt;
}

[[nodiscard]] Complaint read_server_name(std::string_view text, NodeUrl& url) {
  if (!url.tls) return "server_name is for rediss://, which has certificates";
  if (auto why = refuse_server_name(text)) return "server_name: " + *why;
  url.server_name = text;
  return std::nullopt;
}

[[nodiscard]] Complaint read_servers(std::string_view text, NodeUrl& url) {
  constexpr std::uint8_t most = 9;
  const auto servers = number_in<std::uint8_t>(text, 2, most);
  if (!servers) return "servers, of a primary and its replicas, is a number from 2 to 9";
  url.servers = *servers;
  return std::nullopt;
}

[[nodiscard]] Complaint read_decoded(std::string_view text, std::string& into) {
  auto decoded = percent_decoded(text);
  if (!decoded) return "a '%' is not followed by two hexadecimal digits";
  into = std::move(*decoded);
  return std::nullopt;
}
[[nodiscard]] Complaint read_sentinel_user(std::string_view text, NodeUrl& url) {
  return read_decoded(text, url.sentinel_user);
}
[[nodiscard]] Complaint read_sentinel_password(std::string_view text, NodeUrl& url) {
  return read_decoded(text, url.sentinel_password);
}

/// A `name=value` that may follow the '?' of a URL.
struct QueryRow {
  std::string_view name;
  std::string_view kinds;  ///< t: redis:// and rediss://, u: unix://, s: by sentinels, c: a cluster
  bool secret;
  Complaint (*read)(std::string_view value, NodeUrl& url);

  [[nodiscard]] constexpr bool is_of(NodeUrl::Kind kind) const noexcept {
    constexpr std::string_view letters = "tusc";
    return kinds.find(letters[static_cast<std::size_t>(kind)]) != std::string_view::npos;
  }
};
constexpr QueryRow query_rows[] = {
    {"db", "u", false, read_db},
    {"prefix", "tusc", false, read_prefix},
    {"server_name", "tsc", false, read_server_name},
    {"servers", "tusc", false, read_servers},
    {"sentinel_user", "s", false, read_sentinel_user},
    {"sentinel_password", "s", true, read_sentinel_password},
};

[[nodiscard]] std::string queries_of(NodeUrl::Kind kind) {
  switch (kind) {
    case NodeUrl::Kind::unix_socket:
      return "?db=n, ?prefix=TEXT and ?servers=N";
    case NodeUrl::Kind::sentinel:
      return "?servers=N, ?prefix=TEXT, ?sentinel_user=NAME and ?sentinel_password=TEXT";
    case NodeUrl::Kind::cluster:
      return "?servers=N, ?prefix={TAG}: and, of rediss+cluster://, ?server_name=NAME";
    case NodeUrl::Kind::tcp:
      break;
  }
  return "?prefix=TEXT, ?servers=N and, of rediss://, ?server_name=NAME ('?' in a password is "
         "written %3F)";
}

[[nodiscard]] const QueryRow* find_query(std::string_view name) noexcept {
  const auto* const row = std::find_if(std::begin(query_rows), std::end(query_rows),
                                       [&](const QueryRow& each) { return each.name == name; });
  return row != std::end(query_rows) ? row : nullptr;
}

/// The next `name=value` of a query.
[[nodiscard]] std::pair<std::string_view, std::string_view> take_query(std::string_view& query) {
  const auto [first, rest] = split_at(query, query.find('&'));
  query = rest;
  return split_at(first, first.find('='));
}

}  // namespace

Complaint read_db(std::string_view text, NodeUrl& url) {
  const auto db = number_in<int>(text, 0, std::numeric_limits<int>::max());
  if (!db) return "the database is not a number from 0 on";
  url.db = *db;
  return std::nullopt;
}

Complaint read_query(std::string_view query, NodeUrl& url) {
  std::vector<std::string_view> seen;
  do {
    const auto [name, value] = take_query(query);
    const QueryRow* const row = find_query(name);
    if (row == nullptr || !row->is_of(url.kind)) {
      return "the only queries understood are " + queries_of(url.kind);
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return "it has the query " + std::string(name) + "= twice";
    }
    seen.push_back(name);
    if (auto complaint = row->read(value, url)) return complaint;
  } while (!query.empty());
  return std::nullopt;
}

std::string shown_query(std::string_view query) {
  std::string out;
  do {
    const bool has_value = query.substr(0, query.find('&')).find('=') != std::string_view::npos;
    const auto [name, value] = take_query(query);
    out += out.empty() ? '?' : '&';
    const QueryRow* const row = find_query(name);
    // What is no name of ours may be a part of a password.
    out += row != nullptr ? name : mask;
    if (has_value) out += '=' + std::string(row != nullptr && !row->secret ? value : mask);
  } while (!query.empty());
  return out;
}

}  // namespace redlock::redis
