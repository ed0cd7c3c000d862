#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "runtime/configuration.hpp"
#include "uv/loop.hpp"

namespace redlock::runtime {

/// Selects the locks of a listing.
struct LockQuery {
  std::string pattern{};                ///< a glob pattern as in Redis; empty: all
  std::size_t keys_per_node = 0;        ///< number of keys to go through, at least 1
  std::chrono::milliseconds longest{};  ///< longest expiry of a lock that is not ours
};

/// One node's record for one resource.
struct StoredLock {
  enum class Form : std::uint8_t {
    none,        ///< nothing that is a lock
    token,       ///< `text` is the token; also the rest of an interval
    holds,       ///< `text` is their group
    reserved,    ///< for clients that were queued; nobody holds it
    unreadable,  ///< the user has no right to the key
  };
  Form form = Form::none;
  std::string text{};
  std::chrono::milliseconds left{0};
  std::uint32_t holds = 0;
  std::uint32_t waiters = 0;
  std::string name{};  ///< the holder's, for people; empty: not known
};

/// The locks of one node, before they are compared with other nodes.
struct NodeLocks {
  std::string url{};
  std::string problem{};       ///< why the node did not answer; empty: it did
  bool stopped_early = false;  ///< whether the node has more keys than the query allows
  std::size_t unread = 0;      ///< number of keys that we may not read, or that fit in no answer
  std::map<std::string, StoredLock> locks{};
  std::optional<core::Marker> marker{};  ///< none: it has none, or we may not read it
};

/// Asks all nodes at once, on a loop and connections of its own, and changes nothing. First it
/// reads the names of keys that can be locks, in pages. Then it asks every node for all these
/// names, so that a lock which came after a node's page is not missed there.
class Listing {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  Listing(const Configuration& configuration, LockQuery query);
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  /// Called once. Blocks until all nodes have answered or used up their time.
  [[nodiscard]] std::vector<NodeLocks> run();

 private:
  class Visit;
  struct Walk;

  [[nodiscard]] static std::vector<Walk> walks_for(const std::string& pattern);

  void run_until_idle();

  const LockQuery query_;
  uv::Loop loop_;
  std::vector<std::unique_ptr<Visit>> visits_;  // they live on loop_: declared after it
};

}  // namespace redlock::runtime
