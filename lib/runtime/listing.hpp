#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/configuration.hpp"
#include "uv/loop.hpp"

namespace redlock::runtime {

/// Which locks are asked for.
struct LockQuery {
  std::string pattern{};                ///< a glob as Redis has it; empty: all
  std::size_t keys_per_node = 0;        ///< to go through, at least 1
  std::chrono::milliseconds longest{};  ///< expiry of a lock that is not ours
};

/// What one node stores for one resource.
struct StoredLock {
  enum class Form : std::uint8_t {
    none,        ///< nothing that is a lock
    token,       ///< `text`; what is left of an interval too
    holds,       ///< of the group that is `text`
    reserved,    ///< for clients that were queued; nobody holds it
    unreadable,  ///< the user has no right to it
  };
  Form form = Form::none;
  std::string text{};
  std::chrono::milliseconds left{0};
  std::uint32_t holds = 0;
  std::uint32_t waiters = 0;
};

/// The locks of one node, not compared with the others yet.
struct NodeLocks {
  std::string url{};
  std::string problem{};       ///< why it did not answer; empty if it did
  bool stopped_early = false;  ///< it has more keys than the query allows
  std::size_t unread = 0;      ///< keys without a right to them, or too long for one answer
  std::map<std::string, StoredLock> locks{};
};

/// Asks all nodes at once, on a loop and connections of its own: first for the names of what can be
/// a lock, in pages, then every node for all these names, so that a lock that one node was asked
/// about early is not missed there. Changes nothing.
class Listing {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  Listing(const Configuration& configuration, LockQuery query);
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  /// Once. Blocks until all nodes have answered or used up their time.
  [[nodiscard]] std::vector<NodeLocks> run();

 private:
  class Visit;
  struct Walk;

  [[nodiscard]] static std::vector<Walk> walks_for(const std::string& pattern);

  void run_until_idle();

  const LockQuery query_;
  uv::Loop loop_;
  std::vector<std::unique_ptr<Visit>> visits_;  // after the loop they live on
};

}  // namespace redlock::runtime
