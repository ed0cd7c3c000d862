#include "redlock/deployment.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "api/deployment/findings.hpp"
#include "api/deployment/member_findings.hpp"
#include "api/deployment/member_run.hpp"
#include "api/options/adapted.hpp"
#include "runtime/configuration.hpp"
#include "runtime/survey.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {
namespace admin {
namespace {

using core::MemberWish;
using std::chrono::milliseconds;

Error no_descriptor(const std::system_error& problem) {
  return Error{
      Errc::limit_reached, std::string("the nodes cannot be asked: ") + problem.what(), {}};
}

/// The common part of all calls on a deployment.
struct Request {
  MemberWish wish;
  api::NodeUrls urls;
};

Result<Request> make_request(const ClientOptions& options, MemberWish::Kind kind) {
  const auto configuration = runtime::configure(options);
  if (!configuration) return configuration.error();
  Request request;
  request.wish.kind = kind;
  for (const std::string& url : options.nodes) {
    auto name = api::name_node(request.urls, url);
    if (!name) return std::move(name).error();
    request.wish.members.push_back(*std::move(name));
  }
  std::sort(request.wish.members.begin(), request.wish.members.end());
  request.wish.max_ttl = std::chrono::ceil<milliseconds>(options.max_ttl);
  request.wish.shortest_quarantine = std::chrono::ceil<milliseconds>(
      options.guards.quarantine.value_or(std::chrono::nanoseconds(0)));
  return request;
}

/// Notes which servers the options name.
void note_listed(Membership& membership, const std::vector<runtime::SurveyedNode>& nodes,
                 const std::vector<std::string>& listed) {
  std::set<std::string> servers;  // by run_id
  for (const runtime::SurveyedNode& node : nodes) {
    const bool is_listed = std::binary_search(listed.begin(), listed.end(), node.seen.url);
    if (is_listed && !node.seen.run_id.empty()) servers.insert(node.seen.run_id);
  }
  for (MemberReport& report : membership.nodes) {
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&report](const auto& other) {
      return other.seen.url == report.url;
    });
    report.listed = std::binary_search(listed.begin(), listed.end(), report.url) ||
                    (node != nodes.end() && servers.contains(node->seen.run_id));
  }
}

/// Asks until the members that markers name have all been asked.
Result<Membership> survey_members(const ClientOptions& options, const Request& request) {
  std::set<std::string> names(request.wish.members.begin(), request.wish.members.end());
  api::NodeTargets targets;
  while (true) {
    const auto configuration = api::survey_configuration(request.urls, names, options, targets);
    if (!configuration) return configuration.error();
    const auto nodes = runtime::Survey(*configuration).check();
    const auto observed = api::observe_members(nodes, options, {});
    const auto unseen = core::unseen_members(observed);
    const std::size_t asked = names.size();
    names.insert(unseen.begin(), unseen.end());
    if (names.size() > asked) continue;
    Membership membership = api::read_membership(observed);
    note_listed(membership, nodes, request.wish.members);
    return membership;
  }
}

Result<Membership> change_members(const ClientOptions& options, const ChangeOptions& change,
                                  MemberWish::Kind kind, const std::string& leaving,
                                  const std::string& entering) {
  auto request = make_request(options, kind);
  if (!request) return std::move(request).error();
  for (const auto& [url, name] : {std::pair(&leaving, &request->wish.leaving),
                                  std::pair(&entering, &request->wish.entering)}) {
    if (url->empty()) continue;
    auto parsed = api::name_node(request->urls, *url);
    if (!parsed) return std::move(parsed).error();
    *name = *std::move(parsed);
  }
  if (request->wish.leaving == request->wish.entering) {
    return Error{Errc::invalid_argument, "a node cannot replace itself", {}};
  }
  try {
    api::MemberRun run(options, change, request->wish, request->urls);
    if (auto error = run.run()) return *std::move(error);
    return survey_members(options, *request);
  } catch (const std::system_error& problem) {
    return no_descriptor(problem);
  }
}

}  // namespace

Result<DeploymentCheck> check(const ClientOptions& options) {
  const ClientOptions own = api::adapted(options);
  auto configuration = runtime::configure(own);
  if (!configuration) return configuration.error();
  // Members that clients find although the options do not name them are asked too.
  ClientOptions asked = own;
  try {
    while (true) {
      const auto nodes = runtime::Survey(*configuration).check();
      DeploymentCheck checked = api::judge(nodes, own);
      const std::size_t before = asked.nodes.size();
      for (const std::string& url : api::members_beside(api::observe(nodes, checked))) {
        if (asked.nodes.size() < limits::nodes) asked.nodes.push_back(url);
      }
      if (asked.nodes.size() == before) return checked;
      // Markers can name what these options cannot reach.
      configuration = runtime::configure(asked);
      if (!configuration) return checked;
    }
  } catch (const std::system_error& problem) {
    return no_descriptor(problem);
  }
}

Result<DeploymentCheck> bootstrap(const ClientOptions& options, const ChangeOptions& change) {
  const ClientOptions own = api::adapted(options);
  const ChangeOptions own_change = api::adapted(change);
  auto request = make_request(own, MemberWish::Kind::bootstrap);
  if (!request) return std::move(request).error();
  request->wish.after_loss = own_change.after_loss;
  try {
    api::MemberRun run(own, own_change, request->wish, request->urls);
    if (auto error = run.run()) return *std::move(error);
  } catch (const std::system_error& problem) {
    return no_descriptor(problem);
  }
  return check(own);
}

Result<Membership> members(const ClientOptions& options) {
  const ClientOptions own = api::adapted(options);
  const auto request = make_request(own, MemberWish::Kind::add);
  if (!request) return request.error();
  try {
    return survey_members(own, *request);
  } catch (const std::system_error& problem) {
    return no_descriptor(problem);
  }
}

Result<Membership> replace_member(const ClientOptions& options, const std::string& leaving,
                                  const std::string& entering, const ChangeOptions& change) {
  return change_members(api::adapted(options), api::adapted(change), MemberWish::Kind::replace,
                        leaving, entering);
}

Result<Membership> add_member(const ClientOptions& options, const std::string& entering,
                              const ChangeOptions& change) {
  return change_members(api::adapted(options), api::adapted(change), MemberWish::Kind::add, {},
                        entering);
}

Result<Membership> remove_member(const ClientOptions& options, const std::string& leaving,
                                 const ChangeOptions& change) {
  return change_members(api::adapted(options), api::adapted(change), MemberWish::Kind::remove,
                        leaving, {});
}

}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
