#include "quorum-lock/verbs/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/text/duration.hpp"
#include "common/text/json_line.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

using Json = nlohmann::ordered_json;
using Colour = Style::Colour;

using State = admin::MemberReport::State;

bool has_lost_its_marker(const admin::MemberReport& node) {
  return node.state == State::blank || node.state == State::unmarked;
}

/// The member that the node is; empty: it is none.
std::string member_of(const admin::Membership& membership, const admin::MemberReport& node) {
  const auto& members = membership.members;
  const bool is_known = node.deployment == membership.deployment;
  for (const std::string& name : {is_known ? node.member : std::string(), node.url}) {
    if (std::find(members.begin(), members.end(), name) != members.end()) return name;
  }
  return {};
}

/// Adds "URL (what)".
void add_node(std::string& list, const std::string& url, std::string_view what) {
  fmt::format_to(std::back_inserter(list), "{}{} ({})", list.empty() ? "" : ", ", as_printable(url),
                 what);
}

std::string_view about_member(const admin::MemberReport* node) {
  if (node == nullptr || node->state == State::unreachable) return "it cannot be asked";
  return has_lost_its_marker(*node) ? "it has lost its data" : "it answers";
}

std::string_view about_other(const admin::MemberReport& node) {
  if (node.state == State::unreachable) return "it cannot be asked";
  if (node.state == State::opening) return "a bootstrap has begun there";
  return has_lost_its_marker(node) ? "it is blank" : "it was in another deployment";
}

/// A member with replicas that the options call by another name: its sentinels or its number of
/// servers are to change. Empty: there is none.
std::string member_to_rename(const admin::Membership& before) {
  for (const admin::MemberReport& node : before.nodes) {
    const bool replicated = (node.member + node.url).find("servers=") != std::string::npos;
    if (replicated && !node.member.empty() && node.member != node.url) return node.member;
  }
  return {};
}

std::string state_text(const admin::Membership& membership, const admin::MemberReport& node) {
  const bool is_member = !member_of(membership, node).empty();
  const bool is_stranger =
      !membership.deployment.empty() && !is_member && has_lost_its_marker(node);
  std::string text(to_string(node.state));
  if (is_stranger) text += ", not a member";
  if (is_member && !node.listed) text += ", not in your list";
  if (!node.member.empty() && node.member != node.url) text += " as " + as_printable(node.member);
  if (!node.problem.empty()) return text + ": " + as_printable(node.problem);
  if (!node.primary.empty()) text += ", primary " + as_printable(node.primary);
  if (node.quarantine == forever) return text + ", quarantine without end";
  if (node.quarantine.count() > 0 && !is_stranger)
    text += ", votes in " + format_duration(node.quarantine);
  return text;
}

}  // namespace

std::string membership_json(const admin::Membership& membership) {
  Json json{{"outcome", "members"}};
  json["deployment"] = membership.deployment.empty() ? Json(nullptr) : Json(membership.deployment);
  json["members"] = Json::array();
  for (const std::string& member : membership.members) json["members"].push_back(as_utf8(member));
  json["max_ttl_ms"] = membership.max_ttl.count();
  json["nodes"] = Json::array();
  for (const admin::MemberReport& node : membership.nodes) {
    Json one{{"url", as_utf8(node.url)},
             {"membership", to_string(node.state)},
             {"member", text_or_null(node.member)},
             {"deployment", text_or_null(node.deployment)},
             {"quarantine_ms", wait_ms(node.quarantine)},
             {"primary", text_or_null(node.primary)},
             {"listed", node.listed}};
    if (!node.problem.empty()) one["message"] = as_utf8(node.problem);
    json["nodes"].push_back(std::move(one));
  }
  json["resume"] = text_or_null(membership.resume);
  return json_line(json);
}

std::string membership_text(const Style& style, const Settings& settings,
                            const admin::Membership& membership) {
  std::string out;
  if (settings.detail == Settings::Detail::quiet) {
    for (const std::string& member : membership.members) out += as_printable(member) + '\n';
    return out;
  }
  std::size_t width = 0;
  for (const admin::MemberReport& node : membership.nodes) width = std::max(width, node.url.size());
  for (const admin::MemberReport& node : membership.nodes) {
    fmt::format_to(std::back_inserter(out), "  {:<{}}  {}\n", as_printable(node.url), width,
                   state_text(membership, node));
  }
  if (!membership.resume.empty()) {
    return out + style.paint(Colour::warning, "a change is not finished; resume it with: ") +
           "quorum-lock " + as_printable(membership.resume) + '\n';
  }
  if (membership.deployment.empty()) {
    return out + style.paint(Colour::warning, "no deployment: see quorum-lock doctor") + '\n';
  }
  return out + style.paint(Colour::good, counted(membership.members.size(), "member")) + '\n';
}

std::string deployment_to_change(const admin::Membership& before,
                                 std::chrono::nanoseconds max_ttl) {
  if (before.deployment.empty()) return {};
  const std::string renamed = member_to_rename(before);
  if (!renamed.empty()) {
    return "these nodes are a deployment that has the member " + as_printable(renamed);
  }
  std::string leaving;
  std::string entering;
  std::string forgot;
  std::size_t voters = 0;
  for (const std::string& member : before.members) {
    const auto found =
        std::find_if(before.nodes.begin(), before.nodes.end(),
                     [&](const auto& node) { return member_of(before, node) == member; });
    const admin::MemberReport* const node = found == before.nodes.end() ? nullptr : &*found;
    if (node == nullptr || !node->listed) {
      add_node(leaving, member, about_member(node));
    } else if (has_lost_its_marker(*node)) {
      add_node(forgot, member, about_member(node));
    }
    voters += node != nullptr && node->state == State::member ? 1 : 0;
  }
  for (const admin::MemberReport& node : before.nodes) {
    const bool enters = node.listed && member_of(before, node).empty();
    if (enters) add_node(entering, node.url, about_other(node));
  }
  // A majority takes back those that forgot, and keeps its votes.
  if (voters <= before.members.size() / 2) forgot.clear();
  const bool same_ttl = before.max_ttl == std::chrono::ceil<std::chrono::milliseconds>(max_ttl);
  if (leaving.empty() && entering.empty() && forgot.empty() && same_ttl) return {};
  std::string text =
      fmt::format("these nodes are a deployment of {} with a max TTL of {}",
                  counted(before.members.size(), "member"), format_duration(before.max_ttl));
  if (!leaving.empty()) text += "; bootstrap removes " + leaving;
  if (!entering.empty()) text += (leaving.empty() ? "; bootstrap" : " and") + (" adds " + entering);
  if (!forgot.empty()) text += "; without bootstrap, the others take back " + forgot;
  return text;
}

std::string progress_text(const admin::ChangeProgress& progress) {
  const std::string node = as_printable(progress.node);
  const std::string what = as_printable(progress.what);
  switch (progress.kind) {
    case admin::ChangeProgress::Kind::writing:
      return fmt::format("writing {}: {}", node, what);
    case admin::ChangeProgress::Kind::waiting:
      break;
  }
  const std::string left =
      progress.left ? fmt::format(" ({} left)", format_duration(*progress.left)) : std::string();
  return fmt::format("waiting for {}: {}{}", node, what, left);
}

}  // namespace redlock::cli
