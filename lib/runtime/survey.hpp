#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/membership/member_change.hpp"
#include "redlock/deployment.hpp"
#include "runtime/configuration.hpp"
#include "uv/loop.hpp"

namespace redlock::runtime {

/// The answers of one node, not judged and not compared with the others yet.
struct SurveyedNode {
  admin::NodeCheck seen{};               ///< but for clock_offset, which takes all nodes
  std::string denied{};                  ///< what it keeps from us, in its own words
  std::string marker_text{};             ///< as it is kept; empty: none
  std::optional<core::Marker> marker{};  ///< none: nothing that is one of ours
  std::string quarantine_why{};          ///< what began it, as it is kept
  std::string replid{};                  ///< the server's replication id
  bool runs_scripts = true;              ///< knows EVAL, and our user may
  bool can_compare = false;              ///< DELIFEQ or DELEX: locks without scripts
  std::uint64_t tracked = 0;             ///< entries of its table of tracked keys
  std::string forgetting{};        ///< commands that can make it forget, and how often they ran
  std::uint64_t clients = 0;       ///< that are connected
  std::uint64_t most_clients = 0;  ///< that it admits; 0: not known
  std::optional<std::chrono::microseconds> time{};  ///< its own clock, since 1970
  /// The node's clock relative to this machine's; only the differences between nodes matter.
  std::optional<std::chrono::nanoseconds> clock{};
  /// Below which it acknowledges no fencing token: a time since 1970.
  std::optional<std::chrono::nanoseconds> fencing_floor{};
  /// How far that is ahead of its own clock.
  std::optional<std::chrono::nanoseconds> fencing_ahead{};
};

/// The result of a search for locks on one node; both empty: there is none.
struct Search {
  std::string problem{};
  struct Lock {
    std::string key{};  ///< fit to be shown
    std::chrono::milliseconds left{0};
  };
  std::optional<Lock> lock{};
};

/// The result of a compare-and-set of a marker.
struct Marked {
  std::string problem{};  ///< no answer: nobody knows whether it was written
  std::string refused{};  ///< the server's error
  bool written = false;
  std::string text{};  ///< the marker that is there now
};

/// Asks all nodes at once, on a loop and connections of its own, and blocks until all have answered
/// or used up their time. Every step goes down the connections of the first, so that it reaches the
/// very server process that was checked.
class Survey {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  explicit Survey(const Configuration& configuration);
  ~Survey();
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;

  /// The first step. Changes nothing.
  [[nodiscard]] std::vector<SurveyedNode> check();

  /// Strings that expire within `longest`, and are none of ours.
  [[nodiscard]] std::vector<Search> find_locks(std::chrono::milliseconds longest);

  /// Compares and sets the marker of one node.
  [[nodiscard]] Marked mark(std::size_t node, const core::WriteMarker& write);

 private:
  class Visit;

  void run_until_idle();

  uv::Loop loop_;
  std::vector<std::unique_ptr<Visit>> visits_;  // after the loop they live on
};

}  // namespace redlock::runtime
