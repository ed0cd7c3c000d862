#include "quorum-lock/verbs/deployment_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/text/duration.hpp"
#include "common/text/json_line.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {

namespace {

std::string member_text(const admin::NodeCheck& node) {
  std::string text(to_string(node.membership));
  if (!node.member.empty() && node.member != node.url) text += " as " + node.member;
  return text;
}

}  // namespace

std::string state_of(const admin::NodeCheck& node) {
  if (!node.reachable) return "unreachable";
  if (node.run_id.empty()) return "no access";
  if (node.cluster && node.url.find("+cluster://") == std::string::npos) return "cluster";
  if (node.role == admin::NodeCheck::Role::sentinel) return "no data server";
  if (node.loading) return "loading";
  if (node.forgot) return "has lost its data";
  if (node.quarantine == forever) return "quarantine without end";
  if (node.quarantine.count() > 0) return "quarantine " + format_duration(node.quarantine);
  const bool replicated = node.reign.has_value();
  if (node.restarted && !replicated) return "restarted: quarantine when a lock is asked for";
  if (node.membership == admin::MemberReport::State::unreachable) return "no vote";
  if (replicated && node.marked && !node.reign->stands) return "reign does not stand";
  return node.marked ? member_text(node) : "new";
}

std::string server_text(const admin::NodeCheck& node) {
  return node.server.empty() ? std::string() : node.server + ' ' + node.server_version;
}

namespace {

using Json = nlohmann::ordered_json;
using Colour = Style::Colour;

/// The role in a word; empty: the node did not say.
std::string role_word(admin::NodeCheck::Role role) {
  if (role == admin::NodeCheck::Role::unknown) return {};
  return std::string(to_string(role));
}

std::string persistence_word(admin::NodeCheck::Persistence persistence) {
  const bool unknown = persistence == admin::NodeCheck::Persistence::unknown;
  return unknown ? std::string() : std::string(to_string(persistence));
}

Json granted_in_ms(const admin::DeploymentCheck& check) {
  return check.granted_in ? Json(wait_ms(*check.granted_in)) : Json(nullptr);
}

Json reign_json(const std::optional<admin::ReignCheck>& reign) {
  if (!reign) return nullptr;
  Json json{{"servers", reign->servers}, {"stands", reign->stands}};
  json["why_not"] = text_or_null(reign->why_not);
  json["confirmed_for_ms"] =
      reign->confirmed_for
          ? Json(std::chrono::floor<std::chrono::milliseconds>(*reign->confirmed_for).count())
          : Json(nullptr);
  json["acknowledged"] = reign->acknowledged;
  json["needed"] = reign->needed;
  json["attached"] = reign->attached;
  json["seen"] = Json::array();
  for (const admin::ServerCheck& server : reign->seen) {
    Json& seen = json["seen"].emplace_back(Json{{"address", text_or_null(server.address)}});
    seen["primary"] = server.primary;
    seen["state"] = text_or_null(server.state);
    seen["offset"] = server.offset;
    seen["behind"] = server.behind;
    seen["lag_s"] = server.lag ? Json(server.lag->count()) : Json(nullptr);
  }
  return json;
}

Json node_json(const admin::NodeCheck& node) {
  Json json{{"url", as_utf8(node.url)}, {"reachable", node.reachable}};
  const bool measured = node.round_trip.count() > 0;
  json["rtt_us"] =
      measured ? Json(std::chrono::round<std::chrono::microseconds>(node.round_trip).count())
               : Json(nullptr);
  json["version"] = text_or_null(node.version);
  json["server"] = text_or_null(node.server);
  json["server_version"] = text_or_null(node.server_version);
  json["role"] = text_or_null(role_word(node.role));
  json["run_id"] = text_or_null(node.run_id);
  json["maxmemory_policy"] = text_or_null(node.maxmemory_policy);
  json["cluster"] = node.run_id.empty() ? Json(nullptr) : Json(node.cluster);
  json["clock_offset_ms"] =
      node.clock_offset
          ? Json(std::chrono::round<std::chrono::milliseconds>(*node.clock_offset).count())
          : Json(nullptr);
  json["quarantine_ms"] = wait_ms(node.quarantine);
  json["membership"] = to_string(node.membership);
  json["member"] = text_or_null(node.member);
  json["votes"] = node.votes;
  json["replicas"] = node.run_id.empty() ? Json(nullptr) : Json(node.replicas);
  json["reign"] = reign_json(node.reign);
  if (!node.problem.empty()) json["message"] = as_utf8(node.problem);
  return json;
}

std::string signed_duration(std::chrono::nanoseconds duration) {
  return duration.count() < 0 ? "-" + format_duration(-duration) : "+" + format_duration(duration);
}

std::string uptime_text(std::chrono::seconds uptime) {
  using std::chrono::floor;
  // In whole units: exact times do not matter, only whether it is minutes or months.
  if (uptime >= std::chrono::hours(48)) {
    return fmt::format("{} d", floor<std::chrono::hours>(uptime).count() / 24);
  }
  if (uptime >= std::chrono::hours(2)) {
    return fmt::format("{} h", floor<std::chrono::hours>(uptime).count());
  }
  if (uptime >= std::chrono::minutes(2)) {
    return fmt::format("{} min", floor<std::chrono::minutes>(uptime).count());
  }
  return fmt::format("{} s", uptime.count());
}

constexpr std::size_t check_columns = 10;
using Row = std::array<std::string, check_columns>;

Row row_of(const admin::NodeCheck& node) {
  constexpr std::size_t enough_of_a_run_id = 8;
  Row row{node.url,
          node.round_trip.count() > 0 ? format_duration(node.round_trip) : "",
          server_text(node),
          role_word(node.role),
          node.run_id.substr(0, enough_of_a_run_id),
          node.uptime ? uptime_text(*node.uptime) : "",
          persistence_word(node.persistence),
          node.maxmemory_policy,
          node.clock_offset ? signed_duration(*node.clock_offset) : "",
          state_of(node)};
  for (std::string& cell : row) cell = cell.empty() ? "-" : as_printable(cell);
  return row;
}

/// The servers of a replicated node, and its reign; empty: it is none.
std::string servers_text(const admin::NodeCheck& node) {
  if (!node.reign) return {};
  const admin::ReignCheck& reign = *node.reign;
  std::string out;
  for (const admin::ServerCheck& server : reign.seen) {
    const std::string address = server.address.empty() ? "-" : as_printable(server.address);
    if (server.primary) {
      out += fmt::format("  {}  primary  offset {}\n", address, server.offset);
      continue;
    }
    out += fmt::format("  {}  replica  {}, {} bytes behind", address,
                       server.state.empty() ? "-" : as_printable(server.state), server.behind);
    if (server.lag) out += fmt::format(", acknowledged {} s ago", server.lag->count());
    out += '\n';
  }
  out += "  reign ";
  if (!reign.stands) return out + "does not stand: " + as_printable(reign.why_not) + '\n';
  out += "confirmed " + format_duration(reign.confirmed_for.value_or(std::chrono::nanoseconds(0))) +
         " ago; ";
  out += fmt::format("acknowledged by {} of {}, {} needed", reign.acknowledged,
                     counted(reign.servers - 1, "replica"), reign.needed);
  if (reign.attached > 0) out += fmt::format("; attached since: {}", reign.attached);
  return out + '\n';
}

/// The columns are as wide as their contents.
std::string table(const Style& style, const admin::DeploymentCheck& check) {
  std::vector<Row> rows{{"NODE", "RTT", "SERVER", "ROLE", "RUN ID", "UPTIME", "PERSISTENCE",
                         "EVICTION", "CLOCK", "STATE"}};
  for (const admin::NodeCheck& node : check.nodes) rows.push_back(row_of(node));
  std::array<std::size_t, check_columns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < check_columns; ++i)
      widths.at(i) = std::max(widths.at(i), width_of(row.at(i)));
  }
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string text;
    for (std::size_t column = 0; column + 1 < check_columns; ++column) {
      const std::string& cell = rows[i].at(column);
      text += cell + std::string(widths.at(column) - width_of(cell) + 2, ' ');
    }
    text += rows[i].back();
    const bool broken = i > 0 && !check.nodes[i - 1].reachable;
    out += style.paint(i == 0 ? Colour::faint : broken ? Colour::bad : Colour::plain, text) + '\n';
    if (i > 0) out += servers_text(check.nodes[i - 1]);
  }
  return out;
}

/// The findings of several nodes that have one cause and one remedy. Never empty.
using Problem = std::vector<const admin::Finding*>;

/// In the order of their first findings.
std::vector<Problem> problems_of(const std::vector<admin::Finding>& findings) {
  std::vector<Problem> problems;
  for (const admin::Finding& finding : findings) {
    const auto same =
        std::find_if(problems.begin(), problems.end(), [&finding](const Problem& problem) {
          const admin::Finding& first = *problem.front();
          return first.kind == finding.kind && first.why == finding.why &&
                 first.remedy == finding.remedy;
        });
    if (same == problems.end()) {
      problems.push_back({&finding});
    } else {
      same->push_back(&finding);
    }
  }
  return problems;
}

std::string nodes_of(const Problem& problem) {
  std::string nodes;
  for (const admin::Finding* finding : problem) {
    nodes += (nodes.empty() ? "" : ", ") + as_printable(finding->node);
  }
  return nodes;
}

/// What was found: once, if it is the same on all nodes.
std::string what_text(const Problem& problem, std::size_t column) {
  const std::string& first = problem.front()->what;
  const bool same = std::all_of(problem.begin(), problem.end(),
                                [&first](const auto* finding) { return finding->what == first; });
  if (same) return wrapped(as_printable(first), column);
  std::string lines;
  for (const admin::Finding* finding : problem) {
    if (!lines.empty()) lines += std::string(column, ' ');
    lines += wrapped(as_printable(finding->node + ": " + finding->what), column);
  }
  return lines;
}

std::string problem_text(const Style& style, const Problem& problem) {
  constexpr std::size_t column = 10;
  const admin::Finding& first = *problem.front();
  std::string out =
      fmt::format("\n{}  {}\n", style.paint(Colour::bad, to_string(first.kind)), nodes_of(problem));
  out += "  what    " + what_text(problem, column);
  out += "  why     " + wrapped(as_printable(first.why), column);
  out += "  remedy  " + wrapped(as_printable(first.remedy), column);
  return out;
}

std::string verdict_text(const Style& style, const admin::DeploymentCheck& check,
                         const Grants& grants) {
  const std::size_t count = problems_of(check.findings).size();
  if (count == 0) return style.paint(Colour::good, "all is well");
  return style.paint(Colour::bad, fmt::format("{}; {}", counted(count, "problem"), grants.text));
}

}  // namespace

std::string check_json(const admin::DeploymentCheck& check) {
  Json json{{"verdict", check.findings.empty() ? "ok" : "problems"}};
  json["nodes"] = Json::array();
  for (const admin::NodeCheck& node : check.nodes) json["nodes"].push_back(node_json(node));
  json["members"] = check.members;
  json["quorum"] = check.quorum;
  json["granted_in_ms"] = granted_in_ms(check);
  json["problems"] = Json::array();
  for (const admin::Finding& finding : check.findings) {
    json["problems"].push_back({{"node", as_utf8(finding.node)},
                                {"id", std::string(to_string(finding.kind))},
                                {"what", as_utf8(finding.what)},
                                {"why", as_utf8(finding.why)},
                                {"remedy", as_utf8(finding.remedy)}});
  }
  return json_line(json);
}

std::string check_text(const Style& style, const Settings& settings,
                       const admin::DeploymentCheck& check, const Grants& grants) {
  const bool quiet = settings.detail == Settings::Detail::quiet;
  std::string out = quiet ? std::string() : table(style, check);
  for (const Problem& problem : problems_of(check.findings)) out += problem_text(style, problem);
  if (quiet) return out;
  return out + '\n' + verdict_text(style, check, grants) + '\n';
}

std::string change_text(const Style& style, const Settings& settings,
                        const admin::DeploymentCheck& check, const Grants& grants,
                        const FindingChanges::Change& change,
                        std::chrono::system_clock::time_point time) {
  const bool quiet = settings.detail == Settings::Detail::quiet;
  std::string out;
  if (!quiet) out = fmt::format("\n{}  {}\n", utc_text(time), verdict_text(style, check, grants));
  for (const Problem& problem : problems_of(change.gone)) {
    out +=
        fmt::format("\n{}  {}\n  gone\n",
                    style.paint(Colour::good, to_string(problem.front()->kind)), nodes_of(problem));
  }
  for (const Problem& problem : problems_of(change.appeared)) out += problem_text(style, problem);
  return out;
}

std::string opened_json(const admin::DeploymentCheck& check) {
  Json json{{"outcome", "opened"}};
  json["granted_in_ms"] = granted_in_ms(check);
  json["nodes"] = Json::array();
  for (const admin::NodeCheck& node : check.nodes) {
    json["nodes"].push_back({{"url", as_utf8(node.url)}, {"run_id", as_utf8(node.run_id)}});
  }
  return json_line(json);
}

namespace {

/// When the first lock is granted, if that depends on the reign of a replicated node: its
/// quarantine begins when a client asks for a lock. Empty: it does not.
std::string first_lock_text(const admin::DeploymentCheck& check) {
  const auto waits =
      std::find_if(check.nodes.begin(), check.nodes.end(),
                   [](const admin::NodeCheck& node) { return node.reign && !node.reign->stands; });
  if (waits == check.nodes.end() || check.granted_in == std::chrono::nanoseconds(0)) return {};
  if (!check.granted_in) {
    return fmt::format(": no lock is granted before a majority of the servers follows: {}: {}",
                       as_printable(waits->url), as_printable(waits->reign->why_not));
  }
  if (*check.granted_in == forever) return {};
  return fmt::format(": first lock {} after a client has asked for it",
                     format_duration(*check.granted_in));
}

}  // namespace

std::string opened_text(const Style& style, const Settings& settings,
                        const admin::DeploymentCheck& check) {
  if (settings.detail == Settings::Detail::quiet) return {};
  std::string out;
  for (const admin::NodeCheck& node : check.nodes) {
    fmt::format_to(std::back_inserter(out), "  {}  run_id {}\n", as_printable(node.url),
                   as_printable(node.run_id));
  }
  const auto left = check.granted_in.value_or(std::chrono::nanoseconds(0));
  std::string open = fmt::format("deployment of {} is {}", counted(check.nodes.size(), "node"),
                                 style.paint(Colour::good, "open"));
  if (const std::string wait = first_lock_text(check); !wait.empty())
    return out + open + wait + '\n';
  if (left == forever) {
    open += ": no lock is granted before the key redlock:node:quarantine is deleted";
  } else if (left.count() > 0) {
    open += ": locks are granted in " + format_duration(left);
  }
  return out + open + '\n';
}

std::string refused_json(std::string_view message) {
  return json_line(Json{{"outcome", "refused"}, {"message", as_utf8(message)}});
}

}  // namespace redlock::cli
