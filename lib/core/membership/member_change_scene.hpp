#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/membership/member_change.hpp"

/// Types and functions that the files of MemberChange share.
namespace redlock::core {

/// One survey, and the deployments that its markers name.
struct ChangeScene {
  const std::vector<ObservedNode>& nodes;
  std::string incarnation;
  std::vector<Deployment> all;
  std::vector<Deployment> alive;  ///< without_ended()
};

/// The compare-and-set of the marker that the survey saw on the node. The node remembers as it did
/// before.
[[nodiscard]] WriteMarker mark_node(const ChangeScene& scene, const Deployment& deployment,
                                    const std::string& name, Marker::State state,
                                    std::chrono::milliseconds quarantine);

/// `write`, for a node that enters, or enters again: it may not know what was before.
[[nodiscard]] WriteMarker remembering_from_now(WriteMarker write);

[[nodiscard]] ChangeRefused refuse_change(std::string why, std::string remedy);

/// How to go on if no change can be resumed.
inline constexpr const char* open_anew =
    "Stop all clients, wait until no lock is left, and run quorum-lock bootstrap";

/// How far the change that is under way has come, and how to resume it.
[[nodiscard]] std::string resume_by(const ChangeScene& scene);

[[nodiscard]] WaitFor await_missing(const ChangeScene& scene, const std::string& name);

}  // namespace redlock::core
