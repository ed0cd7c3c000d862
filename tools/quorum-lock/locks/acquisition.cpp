#include "quorum-lock/locks/acquisition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/holder_text.hpp"
#include "common/session/verdict.hpp"
#include "common/text/text.hpp"
#include "quorum-lock/locks/by_token.hpp"

namespace redlock::cli {
namespace {

/// Adds the remaining times to the votes: nodes do not state them to a call that does not wait.
void fill_in_remaining(Error& error, const Inspection& inspection) {
  std::vector<NodeVote> votes(error.round.nodes.begin(), error.round.nodes.end());
  for (NodeVote& vote : votes) {
    if (vote.vote != Vote::refused || vote.remaining) continue;
    for (const NodeInspection& node : inspection.nodes) {
      if (node.url == vote.url && node.kind != LockKind::none) vote.remaining = node.remaining;
    }
  }
  error.round.nodes = std::move(votes);
}

/// The obstacle in words. If there is one holder, its name goes into the acquisition.
std::string describe_obstacle(Client& client, const Target& target, Acquisition& acquisition) {
  const std::string name = fmt::format("'{}'", as_printable(target.resource()));
  if (target.permits() > 0) {
    const std::string permits = describe_permits(client, target.resource(), target.permits());
    return permits.empty() ? permits : name + ": " + permits;
  }
  const Result<Inspection> inspection = client.inspect(target.resource());
  if (!inspection || count_answered(*inspection) < inspection->quorum) return {};
  acquisition.holder_name = inspection->holder_name;
  fill_in_remaining(acquisition.lease.error(), *inspection);
  const std::string holder = holder_text(*inspection);
  return holder.empty() ? holder : fmt::format("{} is {}", name, holder);
}

/// The first of several resources that another client holds: "'b' is held by …".
std::string describe_obstacle_of_several(Client& client, const Target& target) {
  std::vector<std::string> resources = target.more_resources();
  resources.insert(resources.begin(), target.resource());
  for (const std::string& resource : resources) {
    const Result<Inspection> seen = client.inspect(resource);
    if (!seen || count_answered(*seen) < seen->quorum) continue;
    if (seen->state == Inspection::State::free && seen->kind == LockKind::none) continue;
    return fmt::format("'{}' is {}", as_printable(resource), holder_text(*seen));
  }
  return {};
}

/// A refusal names the token. People know the holder by its name.
void name_holder(Client& client, const Target& target, Acquisition& acquisition) {
  Error& error = acquisition.lease.error();
  if (error.code != Errc::held && error.code != Errc::split) return;
  // If a semaphore has many permits, each would cost an inspection.
  constexpr std::size_t most_permits = 16;
  if (target.permits() > most_permits) return;
  const std::string text = target.more_resources().empty()
                               ? describe_obstacle(client, target, acquisition)
                               : describe_obstacle_of_several(client, target);
  if (text.empty()) return;
  if (error.code == Errc::held) {
    error.message = text;
  } else {
    error.message += "; " + text;
  }
}

/// Adopts the lock. If it is on a semaphore, the permit that the token holds replaces the
/// semaphore.
Result<Lease> adopt(Client& client, Adoption adoption, AcquireOptions options) {
  std::string& resource = adoption.lease.resources.front();
  if (adoption.permits > 0) {
    Result<std::string> permit =
        find_permit(client, resource, adoption.permits, adoption.lease.token);
    if (!permit) return std::move(permit).error();
    resource = *std::move(permit);
  }
  const std::string first = resource;
  Result<Lease> adopted = client.adopt(std::move(adoption.lease), std::move(options));
  if (!adopted) name_other_holder(client, first, adopted.error());
  return adopted;
}

/// Releases a lease that was granted in the moment when the user gave up: nobody else would release
/// it.
void give_up(Acquisition& acquisition) {
  static_cast<void>(acquisition.lease->release());
  acquisition.lease = Error{Errc::cancelled, "cancelled by a signal"};
}

}  // namespace

int conflict_code_of(const Arguments& given) {
  const auto number = given.number("conflict-exit-code");
  return number ? static_cast<int>(*number) : code(ExitCode::taken);
}

int code_of_refusal(const Error& error, const Target& target, int failed, int conflict_code) {
  if (error.code != Errc::held) return failed;
  const bool is_one_key = target.kind() != Target::Kind::permit && target.more_resources().empty();
  if (!is_one_key) return conflict_code;
  std::map<Token, std::size_t> nodes_of;
  std::size_t most = 0;
  for (const NodeVote& node : error.round.nodes) {
    if (node.vote != Vote::refused || !node.holder || !node.holder->token) continue;
    most = std::max(most, ++nodes_of[*node.holder->token]);
  }
  return nodes_of.size() > 1 && most < error.round.quorum ? failed : conflict_code;
}

Acquisition acquire_until_signal(Client& client, const Target& target,
                                 std::chrono::nanoseconds wait, AcquireOptions options,
                                 const Settings& settings, const Signals& signals) {
  std::stop_source stop;
  auto notice = std::make_unique<WaitNotice>(client, settings, target, wait);
  SignalWatcher watcher(signals, [&stop](int) { stop.request_stop(); });
  Acquisition acquisition{
      .lease = client.try_acquire_for(target, wait, std::move(options), stop.get_token())};
  notice->end();
  acquisition.notice = std::move(notice);
  acquisition.signal = watcher.finish();
  if (acquisition.signal != 0 && acquisition.lease) give_up(acquisition);
  if (acquisition.signal == 0 && !acquisition.lease) {
    name_holder(client, target, acquisition);
  }
  return acquisition;
}

Acquisition adopt_until_signal(Client& client, Adoption adoption, AcquireOptions options,
                               const Signals& signals) {
  SignalWatcher watcher(signals, [](int) {});
  Acquisition acquisition{.lease = adopt(client, std::move(adoption), std::move(options))};
  acquisition.signal = watcher.finish();
  if (acquisition.signal != 0 && acquisition.lease) give_up(acquisition);
  return acquisition;
}

}  // namespace redlock::cli
