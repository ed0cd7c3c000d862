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

std::string state_text(const admin::MemberReport& node) {
  std::string text(to_string(node.state));
  if (!node.member.empty() && node.member != node.url) text += " as " + as_printable(node.member);
  if (!node.problem.empty()) return text + ": " + as_printable(node.problem);
  if (!node.primary.empty()) text += ", primary " + as_printable(node.primary);
  if (node.quarantine == forever) return text + ", quarantine without end";
  if (node.quarantine.count() > 0) text += ", votes in " + format_duration(node.quarantine);
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
             {"primary", text_or_null(node.primary)}};
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
                   state_text(node));
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
