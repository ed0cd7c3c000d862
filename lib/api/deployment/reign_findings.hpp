#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "redlock/deployment.hpp"
#include "runtime/survey.hpp"

/// The reign of a replicated node's primary, as a vote judges it: tools/docs/design/reigns.md.
namespace redlock::api {

/// None: the node is no replicated one, or its primary did not say who follows.
[[nodiscard]] std::optional<admin::ReignCheck> check_reign(const runtime::SurveyedNode& node);

/// What is wrong with the reign that check_reign() found. None: it stands, or other findings say
/// why the node has no vote.
[[nodiscard]] std::optional<admin::Finding> judge_reign(const runtime::SurveyedNode& node);

/// How long until the node's first vote at least, as far as its reign decides, if a client asks for
/// a lock now; max(): not before other servers follow.
[[nodiscard]] std::chrono::milliseconds until_reign(const runtime::SurveyedNode& node);

/// "its primary, 10.0.0.7:6379,"
[[nodiscard]] std::string primary_of(const runtime::SurveyedNode& node);

/// The remedy while a majority follows, and not all servers: it names those that are there.
[[nodiscard]] std::string bring_others_back(const runtime::SurveyedNode& node);

}  // namespace redlock::api
