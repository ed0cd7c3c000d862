#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "integration/library.hpp"

/// Shared by the tests of passwords that change.
namespace redlock::test {

/// Nodes of a deployment whose password changes while clients use them.
class RotatingNodes {
 public:
  explicit RotatingNodes(std::size_t count) : nodes_(count), urls_(nodes_.urls()) {}

  /// The URLs without a password, for clients that have it from elsewhere.
  [[nodiscard]] const std::vector<std::string>& urls() const { return urls_; }
  [[nodiscard]] std::string joined_urls() const {
    std::string joined;
    for (const std::string& url : urls_) joined += (joined.empty() ? "" : ",") + url;
    return joined;
  }
  [[nodiscard]] Nodes& nodes() { return nodes_; }

  /// Makes new connections need this password, and ends all others.
  void rotate(const std::string& password) {
    for (RedisServer& server : nodes_) {
      if (!server.running()) continue;
      server.command({"CONFIG", "SET", "requirepass", password});
      server.options().password = password;
      for (const char* kind : {"normal", "pubsub"})
        server.command({"CLIENT", "KILL", "TYPE", kind});
    }
  }

 private:
  Nodes nodes_;
  std::vector<std::string> urls_;
};

/// A provider of passwords that a test sets, and the count of its calls.
class Vault {
 public:
  explicit Vault(std::string password) { set(std::move(password)); }
  void set(std::string password) {
    const std::lock_guard lock(state_->mutex);
    state_->password = std::move(password);
  }
  /// Makes the first call return this password, and later calls the current one.
  void set_stale(std::string password) {
    const std::lock_guard lock(state_->mutex);
    state_->stale = std::move(password);
  }
  [[nodiscard]] int calls() const {
    const std::lock_guard lock(state_->mutex);
    return state_->calls;
  }
  [[nodiscard]] CredentialsProvider provider() const {
    return [state = state_](const std::string&) -> Result<Credentials> {
      const std::lock_guard lock(state->mutex);
      ++state->calls;
      return Credentials{{},
                         state->stale.empty() ? state->password : std::exchange(state->stale, {})};
    };
  }

 private:
  // Shared, because a call may outlive the test.
  struct State {
    std::mutex mutex;
    std::string password;
    std::string stale;
    int calls = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace redlock::test
