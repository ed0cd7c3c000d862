#include "common/session/holder_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/session/verdict.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

/// The known holders of a shared lock.
std::string names_text(const Inspection& inspection) {
  std::vector<std::string> names;
  for (const NodeInspection& node : inspection.nodes) {
    for (const std::string& name : node.names) {
      const bool known = std::find(names.begin(), names.end(), name) != names.end();
      if (!name.empty() && !known) names.push_back(name);
    }
  }
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + as_printable(name);
  }
  return text;
}

std::string readers_text(const Inspection& inspection) {
  const std::uint32_t holds = most_holds(inspection);
  if (holds == 0) return "free, but somebody waits";
  const std::string names = names_text(inspection);
  return fmt::format("held by {}{}{}", counted(holds, "reader"), names.empty() ? "" : ": ", names);
}

std::string reservation_text(const Inspection& inspection) {
  const std::string who = who_text(inspection.next);
  if (inspection.waiters == 0) return fmt::format("reserved for {}", who);
  // It is not in the queue any more.
  return fmt::format("reserved for {}, next of {} waiting", who,
                     std::size_t{inspection.waiters} + 1);
}

std::string_view holding_text(Inspection::State state) {
  switch (state) {
    case Inspection::State::held:
      return "held by";
    case Inspection::State::split:
      return "held most of all by";
    case Inspection::State::indeterminate:
      return "perhaps held by";
    case Inspection::State::free:
      break;
  }
  return "left by";
}

}  // namespace

bool is_leading(const Inspection& inspection, const NodeInspection& node) {
  return node.kind == inspection.kind && node.holder == inspection.holder &&
         node.owner == inspection.owner;
}

std::uint32_t most_holds(const Inspection& inspection) {
  std::uint32_t most = 0;
  for (const NodeInspection& node : inspection.nodes) most = std::max(most, node.holds);
  return most;
}

std::string who_text(std::string_view name, std::string_view id) {
  constexpr std::size_t shown = 12;
  if (!name.empty()) return as_printable(name);
  if (id.empty()) return "an unknown client";
  return as_printable(id.substr(0, shown)) + (id.size() > shown ? "…" : "");
}

std::string who_text(const std::optional<NextClient>& next) {
  return next ? who_text(next->name, next->id) : who_text({}, {});
}

std::string delay_text(const std::optional<Token>& holder) {
  if (!holder || !holder->is_delay()) return {};
  return "broken by " + who_text(holder->name(), holder->view());
}

std::optional<Token> delay_next_to_holds(const NodeInspection& node) {
  const auto found = std::find_if(node.tokens.begin(), node.tokens.end(),
                                  [](const Token& token) { return token.is_delay(); });
  return found == node.tokens.end() ? std::nullopt : std::optional(*found);
}

std::optional<Token> delay_next_to_holds(const Inspection& inspection) {
  for (const NodeInspection& node : inspection.nodes) {
    const auto delay = is_leading(inspection, node) ? delay_next_to_holds(node) : std::nullopt;
    if (delay) return delay;
  }
  return std::nullopt;
}

std::string no_more_text(const std::optional<Token>& delay) {
  return delay ? ", no more: " + delay_text(delay) : std::string();
}

std::string waiters_text(std::size_t waiters) {
  return fmt::format("{} wait{}", counted(waiters, "client"), waiters == 1 ? "s" : "");
}

std::string time_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::optional<std::chrono::nanoseconds> longest_left(const Inspection& inspection) {
  std::optional<std::chrono::nanoseconds> longest;
  for (const NodeInspection& node : inspection.nodes) {
    if (!is_leading(inspection, node) || !node.remaining) continue;
    longest = std::max(longest.value_or(*node.remaining), *node.remaining);
  }
  return longest;
}

std::string obstacle_text(const Inspection& inspection) {
  switch (inspection.kind) {
    case LockKind::none:
      return {};
    case LockKind::exclusive: {
      const bool held = inspection.state == Inspection::State::held;
      if (std::string delay = delay_text(inspection.holder); held && !delay.empty()) return delay;
      return fmt::format(
          "{} {}", holding_text(inspection.state),
          who_text(inspection.holder_name, inspection.holder.value_or(Token()).view()));
    }
    case LockKind::shared:
      return readers_text(inspection) + no_more_text(delay_next_to_holds(inspection));
    case LockKind::owned:
      return "held by owner " + as_printable(inspection.owner) +
             no_more_text(delay_next_to_holds(inspection));
    case LockKind::interval:
      return "its interval is not over";
    case LockKind::reserved:
      return reservation_text(inspection);
    case LockKind::other:
      return "blocked by a key that is not a lock";
  }
  return {};
}

std::string holder_text(const Inspection& inspection) {
  const auto left = longest_left(inspection);
  const std::string for_how_long =
      left ? fmt::format("{} left", format_duration(*left)) : std::string("without expiry");
  const bool held = inspection.state == Inspection::State::held;
  if (held && left && !delay_text(inspection.holder).empty()) {
    return fmt::format("{}, free in {}", obstacle_text(inspection), format_duration(*left));
  }
  if (inspection.kind == LockKind::exclusive) {
    return fmt::format("{} (exclusive, {})", obstacle_text(inspection), for_how_long);
  }
  if (inspection.kind == LockKind::other) {
    return fmt::format("{} ({})", obstacle_text(inspection), for_how_long);
  }
  if (inspection.kind == LockKind::interval && left) {
    return fmt::format("kept by its interval, {} left", format_duration(*left));
  }
  return obstacle_text(inspection);
}

std::size_t count_waiters_for_any(Client& client, const std::string& resource) {
  const Result<Inspection> inspection = client.inspect(resource + '#');
  return inspection ? inspection->waiters : 0;
}

std::string describe_permits(Client& client, const std::string& resource, std::size_t permits) {
  std::size_t taken = 0;
  std::size_t waiters = count_waiters_for_any(client, resource);
  for (std::size_t permit = 0; permit < permits; ++permit) {
    const Result<Inspection> inspection = client.inspect(fmt::format("{}#{}", resource, permit));
    if (!inspection || count_answered(*inspection) < inspection->quorum) return {};
    if (inspection->state != Inspection::State::free) ++taken;
    waiters = std::max<std::size_t>(waiters, inspection->waiters);
  }
  return fmt::format("{} of {} taken{}{}", taken, counted(permits, "permit"),
                     waiters == 0 ? "" : ", ", waiters == 0 ? "" : waiters_text(waiters));
}

std::string people_text(const Inspection& inspection) {
  std::string text;
  if (!inspection.holder_name.empty() && delay_text(inspection.holder).empty()) {
    text += fmt::format("  holder {}\n", as_printable(inspection.holder_name));
  }
  if (inspection.kind == LockKind::reserved) {
    text += fmt::format("  {}\n", reservation_text(inspection));
  } else if (inspection.waiters > 0) {
    text += fmt::format("  {}, next is {}\n", waiters_text(inspection.waiters),
                        who_text(inspection.next));
  }
  for (const BrokenLock& broken : inspection.broken) {
    text += fmt::format("  broken {}  by {}  token {}\n", time_text(broken.time),
                        who_text(broken.by, {}), as_printable(broken.token.view()));
  }
  return text;
}

}  // namespace redlock::cli
