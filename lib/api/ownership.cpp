#include "api/ownership.hpp"

#include <cstddef>
#include <string>

namespace redlock::api {

Result<Ownership> judge_ownership(const Result<Inspection>& inspection) {
  if (!inspection) return inspection.error();
  std::size_t votes = 0;
  std::size_t unknown = 0;
  for (const NodeInspection& node : inspection->nodes) {
    votes += node.has_token ? 1U : 0U;
    unknown += node.error.empty() ? 0U : 1U;
  }
  if (votes >= inspection->quorum) return Ownership::held;
  if (votes + unknown < inspection->quorum) return Ownership::not_held;
  return Error{Errc::unavailable,
               "unknown: " + std::to_string(votes) + " nodes have the token, " +
                   std::to_string(unknown) + " did not answer, " +
                   std::to_string(inspection->quorum) + " needed",
               {}};
}

}  // namespace redlock::api
