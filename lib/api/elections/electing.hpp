#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "redlock/election.hpp"
#include "redlock/inspection.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"

/// The functions that the blocking and the asynchronous election share.
namespace redlock::api {

/// The options of the lease that a leader holds.
[[nodiscard]] AcquireOptions terms_of(const ElectionOptions& options);
[[nodiscard]] Result<Leadership> lead_with(Result<Lease> lease);

/// Error `unavailable` if the nodes that did not answer decide who leads.
[[nodiscard]] Result<std::optional<Leader>> judge_leader(std::string_view election,
                                                         const Result<Inspection>& inspection);

/// The leader that an observer has seen last. It decides which inspections show another leader.
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
