#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redlock/deployment.hpp"
#include "runtime/configuration.hpp"
#include "uv/loop.hpp"

namespace redlock::runtime {

/// What a marker says: see guard.lua.
struct Marker {
  std::string run_id{};
  std::uint64_t nodes = 0;
  std::chrono::milliseconds max_ttl{0};
};

/// None: nothing that guard.lua would take for one.
[[nodiscard]] std::optional<Marker> parse_marker(const std::string& text);

/// What one node told, not judged yet and not compared with the others.
struct SurveyedNode {
  NodeExamination seen{};  ///< but for clock_offset, which takes all nodes
  std::string denied{};    ///< what it keeps from us, in its own words
  std::optional<Marker> marker{};
  /// The node's clock, seen from this machine's; of worth only beside those of other nodes.
  std::optional<std::chrono::nanoseconds> clock{};
};

/// What a search for locks came to on one node; both none: there is nothing.
struct Search {
  std::string problem{};
  struct Lock {
    std::string key{};  ///< fit to be shown
    std::chrono::milliseconds left{0};
  };
  std::optional<Lock> lock{};
};

/// Asks all nodes at once, on a loop and connections of its own, and blocks until all have answered
/// or used up their time. Every step goes down the connections of the first, so that it reaches the
/// very server process that was examined.
class Survey {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  explicit Survey(const Configuration& configuration);
  ~Survey();
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;

  /// The first step. Changes nothing.
  [[nodiscard]] std::vector<SurveyedNode> examine();

  /// Strings that expire within `longest`, and are none of ours.
  [[nodiscard]] std::vector<Search> find_locks(std::chrono::milliseconds longest);

  /// Marks every node and ends its quarantine. Per node: empty, or why it could not be done.
  [[nodiscard]] std::vector<std::string> mark(std::size_t nodes, std::chrono::milliseconds max_ttl);

 private:
  class Visit;

  void run_until_idle();

  uv::Loop loop_;
  std::vector<std::unique_ptr<Visit>> visits_;  // after the loop they live on
};

}  // namespace redlock::runtime
