#include "runtime/prefix.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "redis/values/hash_tag.hpp"
#include "redis/values/visible.hpp"
#include "redlock/limits.hpp"

namespace redlock::runtime {
namespace {

constexpr std::size_t shown_prefix_bytes = 200;

Error refuse_prefixes(std::string why) { return Error{Errc::invalid_argument, std::move(why), {}}; }

std::string quoted_prefix(std::string_view prefix) {
  return "'" + redis::visible(prefix, shown_prefix_bytes) + "'";
}

/// Whether patterns of LIST and of an ACL, URLs and shells all take the character literally, so
/// that no prefix is ever escaped.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:").find(c) != std::string_view::npos;
}

std::optional<std::string> refuse_prefix(const std::string& prefix) {
  const std::string_view tag = redis::hash_tag_of(prefix);
  if (prefix.size() > limits::prefix_bytes) {
    return "prefix: " + std::to_string(prefix.size()) + " bytes; at most " +
           std::to_string(limits::prefix_bytes) + " are allowed";
  }
  const std::string name = "prefix: " + quoted_prefix(prefix);
  const std::string_view in_tag = tag.empty() ? tag : tag.substr(1, tag.size() - 2);
  const std::string_view after_tag = std::string_view(prefix).substr(tag.size());
  if (!std::all_of(in_tag.begin(), in_tag.end(), is_plain) ||
      !std::all_of(after_tag.begin(), after_tag.end(), is_plain)) {
    return name + "; letters, digits and - _ . / : are allowed, and a hash tag in front: {locks}:";
  }
  // Without an end of its own, "team" with "s" and "teams" would be the same key.
  if (!prefix.ends_with(':')) return name + " does not end with ':'; '" + prefix + ":' is allowed";
  if (prefix.starts_with(':')) return name + " begins with ':'; a name before it is needed";
  if (prefix.starts_with("redlock:")) {
    return name + "; prefixes that begin with redlock: are the library's own";
  }
  return std::nullopt;
}

std::string about_prefix(const redis::NodeUrl& url) {
  return url.display() + " has " +
         (url.prefix.empty() ? "no prefix" : "the prefix " + quoted_prefix(url.prefix));
}

}  // namespace

std::optional<std::string> refuse_untagged(const redis::NodeUrl& url, std::string_view prefix) {
  if (url.kind != redis::NodeUrl::Kind::cluster || !redis::hash_tag_of(prefix).empty()) {
    return std::nullopt;
  }
  return "prefix: " + url.display() +
         " is a cluster, which needs a prefix that begins with a hash tag, such as '{locks}:', so "
         "that all keys are on one server";
}

Result<std::string> choose_prefix(const std::string& of_options,
                                  const std::vector<redis::NodeUrl>& urls) {
  const redis::NodeUrl& first = urls.front();
  for (const redis::NodeUrl& url : urls) {
    if (url.prefix == first.prefix) continue;
    return refuse_prefixes("nodes: " + about_prefix(first) + ", and " + about_prefix(url) +
                           "; all nodes of a client have the same");
  }
  if (!of_options.empty() && !first.prefix.empty() && of_options != first.prefix) {
    return refuse_prefixes("prefix: " + quoted_prefix(of_options) + ", and the nodes' URLs have " +
                           quoted_prefix(first.prefix) + "; one of them is needed");
  }
  const std::string& prefix = of_options.empty() ? first.prefix : of_options;
  if (!prefix.empty()) {
    if (auto why = refuse_prefix(prefix)) return refuse_prefixes(*std::move(why));
  }
  for (const redis::NodeUrl& url : urls) {
    if (auto why = refuse_untagged(url, prefix)) return refuse_prefixes(*std::move(why));
  }
  return prefix;
}

}  // namespace redlock::runtime
