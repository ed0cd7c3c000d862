#include "quorum-lock/locks/lock_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/session/holder_text.hpp"
#include "common/session/table.hpp"
#include "common/text/duration.hpp"
#include "common/text/json_line.hpp"
#include "common/text/reasons.hpp"
#include "common/text/text.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {
namespace {

using Json = nlohmann::ordered_json;
using Colour = Style::Colour;
using LockState = admin::ListedLock::State;

constexpr std::array<Column, 7> lock_columns{
    {{"RESOURCE", 16}, {"KIND"}, {"STATE"}, {"HOLDER", 12}, {"LEFT"}, {"WAITERS"}, {"NODES"}}};

std::string_view kind_word(const admin::ListedLock& lock) {
  return lock.permits ? "semaphore" : to_string(lock.kind);
}

/// The holder's name; empty: not known. A name in the token, such as that of a candidate or of an
/// operator who broke the lock, says more than the name of the client.
std::string_view name_of(const admin::ListedLock& lock) {
  const std::string_view own = lock.holder ? lock.holder->name() : std::string_view();
  return own.empty() ? std::string_view(lock.holder_name) : own;
}

std::string holder_text(const admin::ListedLock& lock) {
  if (lock.permits) return counted(*lock.permits, "permit") + " held";
  if (lock.state == LockState::reserved) return "next waiter";
  if (lock.kind == LockKind::shared) return counted(lock.holds, "reader");
  if (lock.kind == LockKind::owned) {
    return fmt::format("owner {}, {}", as_printable(lock.owner), counted(lock.holds, "hold"));
  }
  if (!lock.holder) return "-";
  if (std::string delay = delay_text(lock.holder); !delay.empty()) return delay;
  const std::string_view name = name_of(lock);
  return as_printable(name.empty() ? lock.holder->view() : name);
}

Colour colour_of(LockState state) {
  switch (state) {
    case LockState::held:
    case LockState::reserved:
      return Colour::plain;
    case LockState::split:
      return Colour::bad;
    case LockState::minority:
    case LockState::indeterminate:
      return Colour::warning;
    case LockState::free:
      return Colour::good;
  }
  return Colour::plain;
}

std::vector<Cell> lock_row(const admin::ListedLock& lock, std::size_t nodes,
                           const std::string& name) {
  const bool nothing = lock.nodes == 0;
  return {{as_printable(lock.resource)},
          {lock.kind == LockKind::none && !lock.permits ? "-" : std::string(kind_word(lock))},
          {std::string(to_string(lock.state)), colour_of(lock.state)},
          {name.empty() ? holder_text(lock) : as_printable(name)},
          {nothing ? "-" : format_duration(lock.remaining)},
          {lock.waiters == 0 ? "-" : std::to_string(lock.waiters)},
          {fmt::format("{}/{}", lock.nodes, nodes)}};
}

Json lock_json(const admin::ListedLock& lock) {
  Json json{{"resource", as_utf8(lock.resource)},
            {"kind", std::string(kind_word(lock))},
            {"state", std::string(to_string(lock.state))}};
  const Token token = lock.holder.value_or(Token());
  json["holder"] = text_or_null(token.view());
  json["owner"] = text_or_null(lock.owner);
  json["holder_name"] = text_or_null(name_of(lock));
  json["delay"] = !delay_text(lock.holder).empty();
  if (lock.permits) json["permits_held"] = *lock.permits;
  if (lock.holds > 0) json["holds"] = lock.holds;
  json["remaining_ms"] = std::chrono::floor<std::chrono::milliseconds>(lock.remaining).count();
  json["waiters"] = lock.waiters;
  json["nodes_count"] = lock.nodes;
  return json;
}

}  // namespace

std::vector<std::string> lock_lines(const Style& style, const admin::LockList& list,
                                    std::optional<std::size_t> width,
                                    const std::vector<std::string>& names) {
  std::vector<std::vector<Cell>> rows;
  rows.reserve(list.locks.size());
  for (std::size_t i = 0; i < list.locks.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : std::string();
    rows.push_back(lock_row(list.locks[i], list.nodes.size(), name));
  }
  return table_lines(style, lock_columns, rows, width);
}

std::string lock_summary(const admin::LockList& list) {
  std::string text = counted(list.locks.size(), "resource");
  std::string_view before = ": ";
  for (const LockState state : {LockState::held, LockState::split, LockState::indeterminate,
                                LockState::minority, LockState::reserved, LockState::free}) {
    const auto count =
        std::count_if(list.locks.begin(), list.locks.end(),
                      [state](const admin::ListedLock& lock) { return lock.state == state; });
    if (count == 0) continue;
    fmt::format_to(std::back_inserter(text), "{}{} {}", before, count, to_string(state));
    before = ", ";
  }
  return text;
}

std::vector<std::string> list_warnings(const admin::LockList& list, std::size_t limit) {
  std::vector<std::string> lines;
  for (const admin::ListedNode& node : list.nodes) {
    if (!node.error.empty()) lines.push_back(fmt::format("{}: {}", node.url, node.error));
    if (node.stopped_early) {
      lines.push_back(fmt::format(
          "{}: the list is not complete: it ends after {} keys; see --limit", node.url, limit));
    }
    if (node.unread > 0) {
      lines.push_back(fmt::format(
          "{}: the list is not complete: {} cannot be read, for want of a right to them or of room",
          node.url, counted(node.unread, "key")));
    }
  }
  return lines;
}

std::string too_few_answered(const admin::LockList& list) {
  Reasons reasons;
  for (const admin::ListedNode& node : list.nodes) {
    if (!node.error.empty()) reasons.add(node.url, node.error);
  }
  return fmt::format("unavailable: {} of {} answered, {} needed; {}", list.answered,
                     counted(list.nodes.size(), "node"), list.quorum, reasons.text());
}

std::string list_json(const admin::LockList& list) {
  Json json{{"locks", Json::array()}, {"complete", list.complete}, {"quorum", list.quorum}};
  for (const admin::ListedLock& lock : list.locks) json["locks"].push_back(lock_json(lock));
  json["nodes"] = Json::array();
  for (const admin::ListedNode& node : list.nodes) {
    Json one{{"url", as_utf8(node.url)},
             {"complete", node.error.empty() && !node.stopped_early && node.unread == 0}};
    if (!node.error.empty()) one["message"] = as_utf8(node.error);
    json["nodes"].push_back(std::move(one));
  }
  return json_line(json);
}

}  // namespace redlock::cli
