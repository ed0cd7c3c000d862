#pragma once

#include <array>
#include <cstdint>

#include "core/messages.hpp"
#include "simulation/clock.hpp"
#include "simulation/scenario.hpp"

namespace redlock::simulation {

inline constexpr std::size_t most_resources = 2;

struct Request {
  core::Stamp stamp;
  core::ScriptForm form = core::ScriptForm::digest;
  std::uint8_t resource = 0;
  std::uint64_t token = 0;
  std::int64_t ttl_ms = 0;
  std::int64_t number = 0;  ///< kill_old: which connection
  bool last = false;        ///< a release after which nothing may come for this token
};

struct Response {
  core::Stamp stamp;
  core::Reply reply = core::Reply::error;
  std::uint64_t holder = 0;
  std::int64_t remaining_ms = -1;  ///< negative: not told
};

/// A Redis master as the protocol sees it: keys that expire by its own clock, a run_id, scripts it
/// knows. CLIENT KILL is the network's, which has the connections.
class ModelNode {
 public:
  ModelNode(Clock clock, Mutant mutant) : clock_(clock), mutant_(mutant) {}

  [[nodiscard]] Response execute(const Request& request, True now);

  bool running = true;
  True stopped_until = 0;
  std::uint64_t run = 1;
  std::int64_t connections = 0;

  void start_again() {
    ++run;
    connections = 0;
    knows_ = {};
  }
  void forget() { keys_ = {}; }

  /// Whose key is there now; 0: nobody's.
  [[nodiscard]] std::uint64_t holder(std::size_t resource, True now) const {
    const Key& key = keys_[resource];
    return key.token != 0 && clock_.milliseconds(now) < key.expires ? key.token : 0;
  }

 private:
  struct Key {
    std::uint64_t token = 0;
    std::int64_t expires = 0;  // by the node's clock, milliseconds; gone when that is reached
  };
  enum class Script : std::uint8_t { extend, release, inspect };
  [[nodiscard]] bool knows(Script script, core::ScriptForm form);

  void set(const Request& request, True now, Response& response);
  void extend(const Request& request, True now, Response& response);
  void release(const Request& request, True now, Response& response);
  void inspect(const Request& request, True now, Response& response) const;

  Clock clock_;
  Mutant mutant_;
  std::array<Key, most_resources> keys_{};
  std::array<bool, 3> knows_{};
};

}  // namespace redlock::simulation
