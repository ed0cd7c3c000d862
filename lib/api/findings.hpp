#pragma once

#include <string_view>
#include <vector>

#include "redlock/deployment.hpp"
#include "runtime/survey.hpp"

namespace redlock::api {

/// What all nodes told, compared and judged. Pure.
[[nodiscard]] Examination judge(std::vector<runtime::SurveyedNode> nodes,
                                const ClientOptions& options);

/// Whether a node with this finding can be opened: of what no quarantine and no waiting mends, all
/// must be gone, because an opened node votes at once.
[[nodiscard]] bool forbids_opening(std::string_view finding) noexcept;

}  // namespace redlock::api
