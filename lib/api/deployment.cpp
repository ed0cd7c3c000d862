#include "redlock/deployment.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "api/findings.hpp"
#include "core/admission.hpp"
#include "runtime/configuration.hpp"
#include "runtime/survey.hpp"

namespace redlock {
namespace {

using std::chrono::milliseconds;

Error no_descriptor(const std::system_error& problem) {
  return Error{
      Errc::limit_reached, std::string("the nodes can not be asked: ") + problem.what(), {}};
}

Error refused(Errc code, const std::string& why) {
  return Error{code, "not opened, nothing was changed: " + why, {}};
}

/// Which nodes are unfit, and why; empty: none.
std::string describe_unfit(const Examination& examination) {
  std::string text;
  for (const Finding& finding : examination.findings) {
    if (!api::forbids_opening(finding.id)) continue;
    if (!text.empty()) text += ' ';
    text += finding.node + ": " + finding.what;
  }
  return text;
}

/// Locks of the deployment that is replaced may have been for longer than ours ever will be.
milliseconds longest_lock(const std::vector<runtime::SurveyedNode>& nodes,
                          const ClientOptions& options) {
  auto longest = std::chrono::ceil<milliseconds>(options.max_ttl);
  for (const runtime::SurveyedNode& node : nodes) {
    if (node.marker) longest = std::max(longest, node.marker->max_ttl);
  }
  return longest;
}

/// The refusal that a search for locks comes to, if any.
std::optional<Error> refuse_search(const std::vector<runtime::Search>& searches,
                                   const std::vector<runtime::SurveyedNode>& nodes) {
  std::string failed;
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (searches[i].problem.empty()) continue;
    failed += (failed.empty() ? "" : "; ") + nodes[i].seen.url + ": " + searches[i].problem;
  }
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (!searches[i].lock) continue;
    return refused(Errc::held, nodes[i].seen.url + " has the key '" + searches[i].lock->key +
                                   "', which may be a lock: it ends in " +
                                   core::spoken(searches[i].lock->left) +
                                   ". Wait until no lock is held, or give locks a database of "
                                   "their own");
  }
  if (failed.empty()) return std::nullopt;
  return refused(Errc::unavailable, "the keys could not be looked through: " + failed);
}

Result<Examination> open_deployment(const runtime::Configuration& configuration,
                                    const ClientOptions& options) {
  runtime::Survey survey(configuration);
  const std::vector<runtime::SurveyedNode> nodes = survey.examine();
  const std::string unfit = describe_unfit(api::judge(nodes, options));
  if (!unfit.empty()) return refused(Errc::unavailable, unfit);
  if (auto error = refuse_search(survey.find_locks(longest_lock(nodes, options)), nodes)) {
    return *std::move(error);
  }

  const std::vector<std::string> problems =
      survey.mark(nodes.size(), std::chrono::ceil<milliseconds>(options.max_ttl));
  std::string failed;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (problems[i].empty()) continue;
    failed += (failed.empty() ? "" : "; ") + nodes[i].seen.url + ": " + problems[i];
  }
  if (!failed.empty()) {
    return Error{Errc::unavailable,
                 "opened, but not on all nodes; mend these and open again: " + failed,
                 {}};
  }
  return api::judge(runtime::Survey(configuration).examine(), options);
}

}  // namespace

Result<Examination> examine(const ClientOptions& options) {
  const auto configuration = runtime::configure(options);
  if (!configuration) return configuration.error();
  try {
    return api::judge(runtime::Survey(*configuration).examine(), options);
  } catch (const std::system_error& problem) {
    return no_descriptor(problem);
  }
}

Result<Examination> bootstrap(const ClientOptions& options) {
  const auto configuration = runtime::configure(options);
  if (!configuration) return configuration.error();
  try {
    return open_deployment(*configuration, options);
  } catch (const std::system_error& problem) {
    return no_descriptor(problem);
  }
}

}  // namespace redlock
