#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/membership/enrolment.hpp"
#include "core/vocabulary/commands.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/round.hpp"
#include "redlock/error.hpp"
#include "redlock/inspection.hpp"
#include "redlock/report.hpp"
#include "redlock/result.hpp"

/// The core's decisions, as messages and in public types.
namespace redlock::runtime {

/// The holder that a node named in its refusal, from the core's text. None: it named nobody.
[[nodiscard]] std::optional<Holder> holder_from(std::string_view said);

[[nodiscard]] NodeVote report_node(const core::NodeVote& vote, const std::string& url);

/// The URLs of all nodes. Shared by the reports, which may live longer than the client.
using Urls = std::shared_ptr<const std::vector<std::string>>;

[[nodiscard]] Round report_round(const core::Round& round, const Urls& urls, core::Duration elapsed,
                                 core::Duration validity);

/// One line: "'invoice/42' is held by a91f… (exclusive, 4.2 s left)". `report` has no nodes if
/// nothing was sent. `permits`: the number of permits of the semaphore, if the call was for one.
[[nodiscard]] Error explain(Errc code, std::string_view resource, Round report,
                            std::uint32_t permits = 0);
/// Adds to an error about too few votes what helps, and what does not.
void add_outlook(Error& error, const core::Outlook& outlook);
/// Adds the holder's name to an error about a holder, from an inspection a moment later.
void name_holder(Error& error, std::string_view resource, const Inspection& inspection);
/// Explains a member that only the other nodes name.
[[nodiscard]] std::string explain_unlisted(std::size_t members);
/// Explains what a client leaves on a node when it ends.
[[nodiscard]] std::string explain_undelivered(const core::Undelivered& report);
/// Explains why a lease passed its deadline; `report` is about its last round: a renewal, if there
/// was one.
[[nodiscard]] Error explain_loss(std::string_view resource, Round report);
/// Explains an extend by hand that the lease's limits do not allow.
[[nodiscard]] std::string explain_spent_renewals(std::string_view resource);

/// Fills in the state, the leading kind and the leading holder, from the nodes' contents.
void judge(Inspection& inspection);

/// `urls`: of all known nodes. Those that the client learned after it had asked the others count as
/// silent.
[[nodiscard]] Inspection report_inspection(const core::Round& round,
                                           const std::vector<std::string>& urls);

/// Whether the token, which the nodes were asked about, holds the resource. Unavailable if the
/// answer depends on nodes that did not answer, also those of the `known` ones that were not asked.
[[nodiscard]] Result<Ownership> judge_ownership(const core::Round& round, std::string_view token,
                                                std::size_t known);

}  // namespace redlock::runtime
