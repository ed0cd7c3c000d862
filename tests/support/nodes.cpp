#include <algorithm>
#include <stdexcept>

#include "redis/values/keys.hpp"
#include "redlock/deployment.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

NewNodes::NewNodes(std::size_t count, const RedisServerOptions& options)
    : NewNodes(count, [&options](std::size_t) { return options; }) {}

NewNodes::NewNodes(std::size_t count,
                   const std::function<RedisServerOptions(std::size_t)>& options) {
  servers_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) servers_.push_back(RedisServer::launch(options(i)));
  for (auto& server : servers_) server.wait_until_ready();
}

std::vector<std::string> NewNodes::urls() const {
  std::vector<std::string> result;
  for (const auto& server : servers_) result.push_back(server.short_url());
  return result;
}

std::string NewNodes::joined_urls() const {
  std::string result;
  for (const auto& server : servers_) {
    if (!result.empty()) result += ',';
    result += server.short_url();
  }
  return result;
}

std::vector<std::optional<std::string>> NewNodes::holders(const std::string& key) const {
  std::vector<std::optional<std::string>> result;
  for (const auto& server : servers_) {
    const bool reachable = server.running() && !server.stopped();
    result.push_back(reachable ? server.get(key) : std::nullopt);
  }
  return result;
}

std::size_t NewNodes::count_held(const std::string& key) const {
  const auto values = holders(key);
  return static_cast<std::size_t>(std::count_if(
      values.begin(), values.end(), [](const auto& value) { return value.has_value(); }));
}

std::size_t NewNodes::count_held_by(const std::string& key, const std::string& value) const {
  const auto values = holders(key);
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), value));
}

void NewNodes::flush() {
  for (auto& server : servers_) {
    if (server.running() && !server.stopped()) server.command({"FLUSHALL"});
  }
}

Nodes::Nodes(std::size_t count, const RedisServerOptions& options,
             std::chrono::milliseconds max_ttl)
    : NewNodes(count, options), max_ttl_(max_ttl) {
  open();
}

void Nodes::open() {
  ClientOptions options;
  options.nodes = urls();
  options.max_ttl = max_ttl_;
  options.node.shortest_timeout = std::chrono::seconds(20);
  options.node.longest_timeout = std::chrono::seconds(20);
  const auto opened = admin::bootstrap(options);
  if (!opened) throw std::runtime_error("bootstrap: " + opened.error().message);
  markers_.clear();
  for (RedisServer& server : *this) {
    markers_.push_back(server.get(std::string(redis::keys::marker)).value_or(""));
  }
}

void Nodes::clear() {
  bool remember = true;
  for (std::size_t node = 0; node < size(); ++node) remember = forget_locks(node) && remember;
  if (remember) return;
  flush();
  open();
}

bool Nodes::forget_locks(std::size_t node) {
  // Fencing numbers are deleted as prune.lua deletes them: without their floor, the node would have
  // lost data.
  constexpr const char* script = R"(
    local marker, numbers, longest_name = unpack(KEYS)
    if redis.call('get', marker) ~= ARGV[1] then return 0 end
    for _, key in ipairs(redis.call('keys', '*')) do
      if key == numbers then
        for _, name in ipairs(redis.call('zrange', key, 0, -1)) do
          if name ~= '' and name ~= longest_name then redis.call('zrem', key, name) end
        end
      elseif key ~= marker then
        redis.call('del', key)
      end
    end
    return 1)";
  const Reply reply =
      (*this)[node].command({"EVAL", script, "3", std::string(redis::keys::marker),
                             std::string(redis::keys::fencing_numbers),
                             std::string(redis::keys::longest_number_name), markers_.at(node)});
  if (reply.is_error()) throw std::runtime_error("clearing a node: " + reply.string);
  return reply.integer == 1;
}

}  // namespace redlock::test
