#pragma once

#include <string>
#include <string_view>

#include "redis/values/node_url.hpp"
#include "redis/values/url_text.hpp"

namespace redlock::redis {

/// The database, which URLs of Unix sockets name in their query.
[[nodiscard]] Complaint read_db(std::string_view text, NodeUrl& url);

/// Reads the text after the '?' of a URL, `name=value[&…]`. The kind of the URL must be known.
[[nodiscard]] Complaint read_query(std::string_view query, NodeUrl& url);

/// The query, possibly malformed, with its '?' and without values that may be a password.
[[nodiscard]] std::string shown_query(std::string_view query);

}  // namespace redlock::redis
