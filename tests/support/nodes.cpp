#include <algorithm>

#include "support/redis_server.hpp"

namespace redlock::test {

Nodes::Nodes(std::size_t count, const RedisServerOptions& options)
    : Nodes(count, [&options](std::size_t) { return options; }) {}

Nodes::Nodes(std::size_t count, const std::function<RedisServerOptions(std::size_t)>& options) {
  servers_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) servers_.push_back(RedisServer::launch(options(i)));
  for (auto& server : servers_) server.wait_until_ready();
}

std::vector<std::string> Nodes::urls() const {
  std::vector<std::string> result;
  for (const auto& server : servers_) result.push_back(server.url());
  return result;
}

std::string Nodes::joined_urls() const {
  std::string result;
  for (const auto& server : servers_) {
    if (!result.empty()) result += ',';
    result += server.url();
  }
  return result;
}

std::vector<std::optional<std::string>> Nodes::holders(const std::string& key) const {
  std::vector<std::optional<std::string>> result;
  for (const auto& server : servers_) {
    const bool reachable = server.running() && !server.stopped();
    result.push_back(reachable ? server.get(key) : std::nullopt);
  }
  return result;
}

std::size_t Nodes::count_held(const std::string& key) const {
  const auto values = holders(key);
  return static_cast<std::size_t>(std::count_if(
      values.begin(), values.end(), [](const auto& value) { return value.has_value(); }));
}

std::size_t Nodes::count_held_by(const std::string& key, const std::string& value) const {
  const auto values = holders(key);
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), value));
}

Nodes& Nodes::flush() {
  for (auto& server : servers_) {
    if (server.running() && !server.stopped()) server.command({"FLUSHALL"});
  }
  return *this;
}

}  // namespace redlock::test
