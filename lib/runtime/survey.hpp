#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/membership/member_change.hpp"
#include "core/membership/node_memory.hpp"
#include "redlock/deployment.hpp"
#include "runtime/configuration.hpp"
#include "uv/loop.hpp"

namespace redlock::runtime {

/// What a replicated node's primary says about its reign, as a vote reads it. The texts are the
/// server's own.
struct SurveyedReign {
  std::string record{};  ///< empty: there is none
  std::uint64_t acknowledged = 0;
  std::uint64_t attachments = 0;
  std::uint64_t in_step = 0;  ///< replicas that are attached and have had a first copy
  std::vector<admin::ServerCheck> seen{};
  std::string refused{};  ///< the command that the server refused; empty: none
  std::string error{};    ///< its error
};

/// The answers of one node, before they are judged and compared with other nodes.
struct SurveyedNode {
  admin::NodeCheck seen{};               ///< everything but clock_offset, which needs all nodes
  std::string denied{};                  ///< the right that the node denies us, in its own words
  std::string refuses_writes{};          ///< the error that answered a write; empty: none did
  std::string marker_text{};             ///< the stored marker; empty: none
  std::string marker_problem{};          ///< why it cannot be read; empty: it can, or there is none
  std::optional<core::Marker> marker{};  ///< none: there is no marker of ours
  std::string quarantine_why{};          ///< the stored reason for the quarantine
  std::optional<SurveyedReign> reign{};  ///< none: it is no replicated node, or it did not answer
  bool migrates_replicas = false;        ///< it is a cluster's, which may move replicas
  core::NodeMemory memory{};
  /// Whether it is a server of a cluster, and is not named as one.
  bool unnamed_cluster = false;
  bool runs_scripts = true;   ///< whether the server knows EVAL and our user may call it
  bool can_compare = false;   ///< whether it knows DELIFEQ or DELEX: locks without scripts
  std::uint64_t tracked = 0;  ///< number of entries in its table of tracked keys
  std::string forgetting{};   ///< commands that can make the node forget, and how often they ran
  std::uint64_t clients = 0;  ///< number of connected clients
  std::uint64_t most_clients = 0;  ///< number of clients that it admits; 0: not known
  std::optional<std::chrono::microseconds> time{};  ///< the time of the node's clock, since 1970
  /// The node's clock relative to this machine's; only the differences between nodes matter.
  std::optional<std::chrono::nanoseconds> clock{};
  /// The floor below which the node acknowledges no fencing token: a time since 1970.
  std::optional<std::chrono::nanoseconds> fencing_floor{};
  /// The floor minus the time of the node's own clock.
  std::optional<std::chrono::nanoseconds> fencing_ahead{};
};

/// The result of a search for locks on one node; both empty: there is none.
struct Search {
  std::string problem{};
  struct Lock {
    std::string key{};  ///< printable
    std::chrono::milliseconds left{0};
  };
  std::optional<Lock> lock{};
};

/// The result of a compare-and-set of a marker.
struct Marked {
  std::string problem{};  ///< why there is no answer, so that it is not known whether the marker
                          ///< was written
  std::string refused{};  ///< the server's error
  bool written = false;
  std::string text{};  ///< the marker that is there now
};

/// Asks all nodes at once, on a loop and connections of its own, and blocks until all have answered
/// or used up their time. Every step uses the connections of the first, so that it reaches the very
/// server process that was checked.
class Survey {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  explicit Survey(const Configuration& configuration);
  ~Survey();
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;

  /// The first step: reads the facts about each node. Changes nothing.
  [[nodiscard]] std::vector<SurveyedNode> check();

  /// Searches for strings that expire within `longest` and are not keys of ours.
  [[nodiscard]] std::vector<Search> find_locks(std::chrono::milliseconds longest);

  /// Compares and sets the marker of one node.
  [[nodiscard]] Marked mark(std::size_t node, const core::WriteMarker& write);

 private:
  class Visit;

  void run_until_idle();

  uv::Loop loop_;
  std::vector<std::unique_ptr<Visit>> visits_;  // they live on loop_: declared after it
};

}  // namespace redlock::runtime
