// URLs of nodes: whatever is not refused is a server that can be shown and read back, and no
// complaint repeats a password.

#include "redis/values/node_url.hpp"

#include <string>

#include "fuzz/fuzz.hpp"

namespace redlock::fuzz {
namespace {

constexpr std::string_view secret = "Pa55w0rd";

void check_accepted(const redis::NodeUrl& url) {
  using Kind = redis::NodeUrl::Kind;
  REDLOCK_ASSERT(url.kind == Kind::unix_socket || (!url.host.empty() && url.port != 0));
  REDLOCK_ASSERT(url.kind == Kind::tcp || (url.path.starts_with('/') && !url.tls));
  REDLOCK_ASSERT(url.db >= 0);
  const std::string shown = url.display();
  REDLOCK_ASSERT(harmless(shown));
  const auto again = redis::parse_node_url(shown);
  REDLOCK_ASSERT(again);
  REDLOCK_ASSERT(same_server(url, *again));
  REDLOCK_ASSERT(again->user.empty() && again->password.empty());
  REDLOCK_ASSERT(again->db == url.db && again->tls == url.tls);
  REDLOCK_ASSERT(again->display() == shown);
}

void check_complaint(const std::string& message) {
  REDLOCK_ASSERT(!message.empty() && message.size() < 1000);
  REDLOCK_ASSERT(harmless(message));
}

void keeps_the_secret(const std::string& text) {
  const auto url = redis::parse_node_url(text);
  const std::string told = url ? url->display() : url.error().message;
  REDLOCK_ASSERT(told.find(secret) == std::string::npos);
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redlock;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto url = redis::parse_node_url(text)) {
    fuzz::check_accepted(*url);
  } else {
    fuzz::check_complaint(url.error().message);
  }
  if (text.find(fuzz::secret) != std::string::npos) return 0;
  const std::string hidden(fuzz::secret);
  fuzz::keeps_the_secret("redis://user:" + hidden + text + "@host");
  fuzz::keeps_the_secret("rediss://:" + text + hidden + "@host:6379/0");
  fuzz::keeps_the_secret("redis://user:" + hidden + "@" + text);
  return 0;
}
