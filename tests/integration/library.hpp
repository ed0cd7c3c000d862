#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "redis/values/keys.hpp"
#include "redlock/deployment.hpp"
#include "redlock/redlock.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"

/// Shared by the tests of the library against real servers.
namespace redlock::test {

/// The deployment of `count` nodes that all tests of this process share which do not harm them. The
/// first call starts it.
[[nodiscard]] inline Nodes& shared_nodes(std::size_t count = 3) {
  static std::mutex mutex;
  static std::map<std::size_t, Nodes> deployments;
  const std::lock_guard lock(mutex);
  return deployments.try_emplace(count, count).first->second;
}

[[nodiscard]] inline std::vector<std::string> shared_urls(std::size_t count) {
  return shared_nodes(count).urls();
}

/// Two servers without a marker, which tests use next to a server of another kind that cannot be a
/// member of their deployment.
[[nodiscard]] inline NewNodes& shared_new_nodes() {
  static NewNodes nodes(2);
  return nodes;
}

/// URLs without a server, which a connection finds out at once.
[[nodiscard]] inline std::vector<std::string> dead_urls(std::size_t count) {
  std::vector<std::string> urls;
  for (std::size_t node = 0; node < count; ++node) {
    urls.push_back("unix:///nonexistent/" + std::to_string(node));
  }
  return urls;
}

/// A name that no other test and no earlier run of this one has used.
[[nodiscard]] inline std::string fresh_resource() {
  static std::atomic<int> count{0};
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test != nullptr ? test->name() : "suite") + ":" + std::to_string(++count);
}

/// Node limits that a stalled machine does not reach: for tests that are not about time limits.
[[nodiscard]] inline ClientOptions patient(std::vector<std::string> urls) {
  ClientOptions options;
  options.nodes = std::move(urls);
  options.node.shortest_timeout = std::chrono::seconds(20);
  options.node.longest_timeout = std::chrono::seconds(20);
  return options;
}

/// Node limits for tests that wait for one to pass.
[[nodiscard]] inline ClientOptions impatient(std::vector<std::string> urls) {
  ClientOptions options = patient(std::move(urls));
  options.node.shortest_timeout = std::chrono::milliseconds(250);
  options.node.longest_timeout = std::chrono::milliseconds(500);
  return options;
}

/// Without the restart guard, which is not what users have: each test says why.
[[nodiscard]] inline ClientOptions unguarded(ClientOptions options) {
  options.guards.restart = false;
  return options;
}

/// Options for a fake server, alone or next to real ones: it keeps no marker, so no deployment can
/// be opened.
[[nodiscard]] inline ClientOptions of_fakes(std::vector<std::string> urls) {
  return unguarded(patient(std::move(urls)));
}

/// Makes a new deployment of nodes that have just been started. Throws if that is refused.
inline void open_deployment(const ClientOptions& options) {
  const auto opened = admin::bootstrap(options);
  if (!opened) throw std::runtime_error("bootstrap: " + opened.error().message);
}

template <typename T>
[[nodiscard]] testing::AssertionResult succeeded(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << to_string(result.error().code) << ": " << result.error().message;
}

template <typename T>
[[nodiscard]] testing::AssertionResult failed_with(const Result<T>& result, Errc code) {
  if (result) return testing::AssertionFailure() << "succeeded";
  if (result.error().code == code) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << to_string(result.error().code) << ": " << result.error().message;
}

/// Throws if the options are refused, which ends the test with the message.
[[nodiscard]] inline Client make_client(ClientOptions options) {
  auto client = Client::create(std::move(options));
  if (!client) throw std::runtime_error(client.error().message);
  return *std::move(client);
}

[[nodiscard]] inline AsyncClient make_async_client(ClientOptions options) {
  auto client = AsyncClient::create(std::move(options));
  if (!client) throw std::runtime_error(client.error().message);
  return *std::move(client);
}

[[nodiscard]] inline std::size_t votes(const Round& report, Vote vote) {
  return static_cast<std::size_t>(
      std::count_if(report.nodes.begin(), report.nodes.end(),
                    [vote](const NodeVote& node) { return node.vote == vote; }));
}

/// The number of lock keys on a node: without the node's own keys and the names of clients, which
/// outlive them.
[[nodiscard]] inline std::size_t count_lock_keys(const RedisServer& server) {
  const Reply keys = server.command({"KEYS", "*"});
  return static_cast<std::size_t>(
      std::count_if(keys.elements.begin(), keys.elements.end(), [](const Reply& key) {
        return key.string != redis::keys::marker && key.string != redis::keys::fencing_numbers &&
               !key.string.starts_with(redis::keys::client_prefix);
      }));
}

/// The holder that the first refusing node reported: not all nodes have answered.
template <typename T>
[[nodiscard]] std::optional<Holder> who_refused(const Result<T>& refused) {
  for (const NodeVote& node : refused.error().round.nodes) {
    if (node.vote == Vote::refused) return node.holder;
  }
  return std::nullopt;
}

[[nodiscard]] inline std::string hex_token(char digit = 'f') { return std::string(40, digit); }

/// Node events, collected from the loop's thread.
class EventLog {
 public:
  [[nodiscard]] std::function<void(const NodeEvent&)> listener() const {
    return [state = state_](const NodeEvent& event) {
      const std::lock_guard lock(state->mutex);
      state->events.push_back(event);
    };
  }

  [[nodiscard]] std::vector<NodeEvent> all() const {
    const std::lock_guard lock(state_->mutex);
    return state_->events;
  }
  [[nodiscard]] std::size_t count(NodeEvent::Kind kind, std::size_t node) const {
    const auto events = all();
    return static_cast<std::size_t>(std::count_if(
        events.begin(), events.end(),
        [&](const NodeEvent& event) { return event.kind == kind && event.node == node; }));
  }
  [[nodiscard]] bool wait_for(NodeEvent::Kind kind, std::size_t node, std::size_t times = 1) const {
    return eventually([&] { return count(kind, node) >= times; }, std::chrono::seconds(30));
  }
  [[nodiscard]] std::string last_message(NodeEvent::Kind kind, std::size_t node) const {
    std::string message;
    for (const NodeEvent& event : all()) {
      if (event.kind == kind && event.node == node) message = event.message;
    }
    return message;
  }

 private:
  // Shared, because the client may outlive the log when a test fails.
  struct State {
    std::mutex mutex;
    std::vector<NodeEvent> events;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Waits until one lease is on all of the first `count` servers, which are the client's nodes: only
/// then is the client connected to each of them, knows its clock and lets it vote. Before that it
/// sends no SET to a node, so a test that disturbs the node would disturb nothing.
[[nodiscard]] inline bool all_nodes_vote(Client& client, const NewNodes& nodes, std::size_t count) {
  return eventually(
      [&] {
        const std::string resource = fresh_resource();
        const auto lease = client.try_acquire(resource);
        // A node that was left out of this lease may be part of the next one.
        return lease && eventually([&] { return nodes.count_held(resource) == count; },
                                   std::chrono::milliseconds(200));
      },
      std::chrono::seconds(30));
}

/// Whether `clients` clients are in the queue of `key` on every node.
[[nodiscard]] inline bool are_queued(const NewNodes& nodes, const std::string& key,
                                     std::int64_t clients) {
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    // One member more is the next ticket.
    const Reply members = nodes[node].command({"ZCARD", "redlock:node:queue:" + key});
    if (members.integer != clients + 1) return false;
  }
  return true;
}

/// Acquires with retries: for a client whose connections are still being made again.
[[nodiscard]] inline Result<Lease> acquire_patiently(Client& client, const Target& target,
                                                     AcquireOptions options = {}) {
  return client.try_acquire_for(target, std::chrono::seconds(30), std::move(options));
}

}  // namespace redlock::test
