#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "redlock/election.hpp"
#include "redlock/inspection.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"

/// What the blocking and the asynchronous election share.
namespace redlock::api {

/// Of the lease that a leader holds.
[[nodiscard]] AcquireOptions terms_of(const ElectionOptions& options);
[[nodiscard]] Result<Leadership> lead_with(Result<Lease> lease);

/// Unavailable where the nodes that did not answer decide who leads.
[[nodiscard]] Result<std::optional<Leader>> judge_leader(std::string_view election,
                                                         const Result<Inspection>& inspection);

/// What an observer has seen: decides which inspections are another leader.
class LeaderSighting {
 public:
  [[nodiscard]] bool is_news(const Inspection& inspection);
  [[nodiscard]] const std::optional<Leader>& leader() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

 private:
  std::uint64_t changes_ = 0;
  std::optional<Leader> last_;
};

}  // namespace redlock::api
