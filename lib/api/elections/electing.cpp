#include "api/elections/electing.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "support/counted.hpp"

namespace redlock::api {
namespace {

std::optional<Leader> leader_in(const Inspection& inspection) {
  if (inspection.state != Inspection::State::held || !inspection.holder) return std::nullopt;
  const Token& token = *inspection.holder;
  // An operator broke the lock of the last one.
  if (token.is_delay()) return std::nullopt;
  return Leader{std::string(token.name()), token};
}

}  // namespace

AcquireOptions terms_of(const ElectionOptions& options) {
  AcquireOptions terms;
  terms.name = options.candidate;
  terms.ttl = options.ttl;
  terms.fencing = true;
  terms.on_at_risk = options.on_at_risk;
  terms.on_lost = options.on_lost;
  return terms;
}

Result<Leadership> lead_with(Result<Lease> lease) {
  if (!lease) return std::move(lease).error();
  return Leadership(*std::move(lease));
}

Result<std::optional<Leader>> judge_leader(std::string_view election,
                                           const Result<Inspection>& inspection) {
  if (!inspection) return inspection.error();
  if (inspection->state != Inspection::State::indeterminate) return leader_in(*inspection);
  const auto silent = std::count_if(inspection->nodes.begin(), inspection->nodes.end(),
                                    [](const NodeInspection& node) { return !node.error.empty(); });
  const std::size_t answered = inspection->nodes.size() - static_cast<std::size_t>(silent);
  return Error{Errc::unavailable,
               "unknown who leads '" + std::string(election) + "': " + std::to_string(answered) +
                   " of " + support::counted(inspection->nodes.size(), "node") + " answered, " +
                   std::to_string(inspection->quorum) + " needed",
               {}};
}

bool LeaderSighting::is_news(const Inspection& inspection) {
  auto now = leader_in(inspection);
  if (changes_ > 0 && now == last_) return false;
  last_ = std::move(now);
  ++changes_;
  return true;
}

}  // namespace redlock::api
