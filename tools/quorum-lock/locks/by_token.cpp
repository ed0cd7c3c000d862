#include "quorum-lock/locks/by_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/session/holder_text.hpp"
#include "common/session/verdict.hpp"

namespace redlock::cli {
namespace {

/// The node's holder, in the form that a refusal has.
std::optional<Holder> holder_in(const NodeInspection& node) {
  switch (node.kind) {
    case LockKind::none:
      return std::nullopt;
    case LockKind::exclusive:
      return Holder{Holder::Kind::exclusive, node.holder};
    case LockKind::shared:
      return Holder{Holder::Kind::shared};
    case LockKind::owned:
      return Holder{Holder::Kind::owned, std::nullopt, node.owner};
    case LockKind::interval:
      return Holder{Holder::Kind::interval};
    case LockKind::reserved:
      return Holder{Holder::Kind::reserved};
    case LockKind::other:
      return Holder{Holder::Kind::other};
  }
  return std::nullopt;
}

/// The error of a call that was not made because too few nodes answered. The inspection's reports
/// become the votes of a round.
Error unavailable(const std::string& resource, const Inspection& inspection) {
  Error error{Errc::unavailable, too_few_answered(resource, inspection), {}};
  error.round.quorum = inspection.quorum;
  std::vector<NodeVote> reports;
  for (const NodeInspection& node : inspection.nodes) {
    NodeVote report;
    report.url = node.url;
    report.vote = node.error.empty() ? Vote::refused : Vote::unreachable;
    report.holder = holder_in(node);
    report.remaining = node.remaining;
    report.message = node.error;
    reports.push_back(std::move(report));
  }
  error.round.nodes = std::move(reports);
  return error;
}

}  // namespace

Result<std::string> find_permit(Client& client, const std::string& semaphore, std::uint64_t permits,
                                const Token& token) {
  std::optional<Error> undecided;
  for (std::uint64_t i = 0; i < permits; ++i) {
    const std::string name = fmt::format("{}#{}", semaphore, i);
    const Result<Inspection> seen = client.inspect(name);
    if (!seen) return seen.error();
    const bool is_it =
        std::any_of(seen->nodes.begin(), seen->nodes.end(), [&](const NodeInspection& node) {
          return node.kind == LockKind::exclusive && node.holder == token;
        });
    if (is_it) return name;
    if (!undecided && count_answered(*seen) < seen->quorum) undecided = unavailable(name, *seen);
  }
  if (undecided) return *std::move(undecided);
  return Error{Errc::not_holder,
               fmt::format("not the holder: this token has none of the permits of '{}', {} in all",
                           semaphore, permits),
               {}};
}

void name_other_holder(Client& client, const std::string& resource, Error& error) {
  if (error.code != Errc::not_holder) return;
  const Result<Inspection> seen = client.inspect(resource);
  if (!seen || count_answered(*seen) < seen->quorum) return;
  const std::string holder = holder_text(*seen);
  if (holder.empty() && seen->state != Inspection::State::free) return;
  error.message += "; " + (holder.empty() ? "nobody holds it" : holder);
}

}  // namespace redlock::cli
