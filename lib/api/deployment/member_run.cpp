#include "api/deployment/member_run.hpp"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <variant>

#include "api/deployment/finding_kinds.hpp"
#include "api/deployment/findings.hpp"
#include "api/deployment/reign_findings.hpp"
#include "core/vocabulary/durations.hpp"
#include "runtime/kernel_randomness.hpp"
#include "support/counted.hpp"

namespace redlock::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// How often a node is asked again while nobody knows how long it will be away.
constexpr milliseconds retry_interval{200};
/// The longest wait before the nodes are asked again: its reason may end early.
constexpr milliseconds longest_slice{1000};

/// Sleeps, unless it is stopped.
void pause_for(nanoseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any nobody_notifies;
  std::unique_lock lock(mutex);
  nobody_notifies.wait_for(lock, stop, duration, [] { return false; });
}

std::string random_word() {
  runtime::KernelRandomness randomness;
  return std::string(randomness.token().str());
}

/// A sentence about a node, to follow its name and a colon: "It cannot be asked." → "cannot be
/// asked", "The server is loading." → "the server is loading".
std::string as_clause(std::string sentence) {
  if (sentence.starts_with("It ")) sentence.erase(0, 3);
  if (sentence.ends_with('.')) sentence.pop_back();
  if (!sentence.empty() && sentence.front() >= 'A' && sentence.front() <= 'Z') {
    sentence.front() = static_cast<char>(sentence.front() - 'A' + 'a');
  }
  return sentence;
}

/// Why the node cannot be written; empty: it can.
std::string problem_of(const std::string& url, const admin::DeploymentCheck& judged) {
  std::string text;
  for (const admin::Finding& finding : judged.findings) {
    const bool about_it = (", " + finding.node + ", ").find(", " + url + ", ") != std::string::npos;
    if (!about_it || !kind_of(finding.kind).forbids_opening) continue;
    text += (text.empty() ? "" : "; ") + as_clause(finding.what);
  }
  return text;
}

/// The nodes that cannot be written, those with the same problem together.
std::string problems_of(const std::vector<core::ObservedNode>& nodes) {
  std::vector<std::pair<std::string, std::string>> groups;  // problem, nodes
  for (const core::ObservedNode& node : nodes) {
    if (node.problem.empty()) continue;
    const auto group = std::find_if(groups.begin(), groups.end(), [&node](const auto& each) {
      return each.first == node.problem;
    });
    if (group == groups.end()) {
      groups.emplace_back(node.problem, node.name);
    } else {
      group->second += ", " + node.name;
    }
  }
  std::string text;
  for (const auto& [problem, names] : groups) {
    if (!text.empty()) text += "; ";
    text.append(names).append(": ").append(problem);
  }
  return text;
}

/// Clients of some servers need no scripts, but each step of an operator is one.
void require_scripts(std::vector<core::ObservedNode>& nodes) {
  for (core::ObservedNode& node : nodes) {
    if (!node.problem.empty() || node.runs_scripts) continue;
    node.problem =
        "bootstrap and members need EVAL, which its configuration (rename-command) or the user's "
        "ACL forbids";
  }
}

std::string action_of(const core::WriteMarker& write) {
  const std::string members = support::counted(write.marker.members.size(), "member");
  switch (write.marker.state) {
    case core::Marker::State::joining:
      return "it joins the deployment of " + members;
    case core::Marker::State::opening:
      return "it waits for the deployment of " + members + " to be opened";
    case core::Marker::State::blank:
      return "it has forgotten that it is a member";
    case core::Marker::State::active:
      break;
  }
  return write.quarantine > milliseconds(0) ? "it is a member of " + members + " and votes in " +
                                                  core::format_duration(write.quarantine)
                                            : "it is a member of " + members;
}

}  // namespace

Result<std::string> name_node(NodeUrls& urls, const std::string& url) {
  auto name = runtime::name_of_node(url);
  if (name && !core::is_member_name(*name)) {
    return Error{
        Errc::invalid_argument, "node '" + *name + "' has no name that a marker can keep", {}};
  }
  if (name) urls.emplace(*name, url);
  return name;
}

Result<runtime::Configuration> survey_configuration(const NodeUrls& urls,
                                                    const std::set<std::string>& names,
                                                    const ClientOptions& options,
                                                    NodeTargets& targets) {
  runtime::Configuration configuration;
  configuration.settings.longest_limit = options.node.longest_timeout;
  configuration.settings.connect_timeout = options.node.connect_timeout;
  for (const std::string& name : names) {
    auto target = targets.find(name);
    if (target == targets.end()) {
      const auto known = urls.find(name);
      auto made = known == urls.end() ? runtime::configure_learned(name, options)
                                      : runtime::configure_target(known->second, options);
      if (!made) return std::move(made).error();
      target = targets.emplace(name, *std::move(made)).first;
    }
    configuration.settings.nodes.push_back(name);
    configuration.targets.push_back(target->second);
  }
  return configuration;
}

std::vector<core::ObservedNode> observe(const std::vector<runtime::SurveyedNode>& nodes,
                                        const admin::DeploymentCheck& judged) {
  std::vector<core::ObservedNode> observed;
  for (const runtime::SurveyedNode& node : nodes) {
    core::ObservedNode& one = observed.emplace_back();
    one.name = one.address = node.seen.url;
    one.problem = problem_of(node.seen.url, judged);
    if (one.problem.empty() && !node.time) one.problem = "does not report its clock";
    one.run_id = node.seen.run_id;
    one.memory = node.memory;
    one.clock = node.time.value_or(std::chrono::microseconds(0));
    one.text = node.marker_text;
    one.marker = node.marker;
    one.quarantine = node.seen.quarantine == forever
                         ? milliseconds::max()
                         : std::chrono::ceil<milliseconds>(node.seen.quarantine);
    one.quarantine_why = node.quarantine_why;
    one.until_reign = until_reign(node);
    if (node.reign && !node.reign->seen.empty()) one.primary = node.reign->seen.front().address;
    one.durable = node.seen.durable;
    one.runs_scripts = node.runs_scripts;
  }
  return observed;
}

namespace {

std::vector<runtime::SurveyedNode> without_second_names(
    const std::vector<runtime::SurveyedNode>& nodes, const std::vector<std::string>& kept) {
  std::set<std::string> members(kept.begin(), kept.end());
  for (const runtime::SurveyedNode& node : nodes) {
    if (node.marker) members.insert(node.marker->members.begin(), node.marker->members.end());
  }
  const auto is_member = [&](const runtime::SurveyedNode& node) {
    return members.contains(node.seen.url);
  };
  std::vector<runtime::SurveyedNode> left;
  std::copy_if(
      nodes.begin(), nodes.end(), std::back_inserter(left), [&](const runtime::SurveyedNode& node) {
        if (node.seen.run_id.empty() || is_member(node)) return true;
        return std::none_of(nodes.begin(), nodes.end(), [&](const runtime::SurveyedNode& other) {
          return is_member(other) && other.seen.run_id == node.seen.run_id;
        });
      });
  return left;
}

}  // namespace

std::vector<core::ObservedNode> observe_members(const std::vector<runtime::SurveyedNode>& nodes,
                                                const ClientOptions& options,
                                                const std::vector<std::string>& kept) {
  const auto servers = without_second_names(nodes, kept);
  return core::with_member_names(observe(servers, judge(servers, options)), kept);
}

MemberRun::MemberRun(const ClientOptions& options, const admin::ChangeOptions& change,
                     core::MemberWish wish, NodeUrls urls)
    : options_(options),
      change_options_(change),
      wish_(std::move(wish)),
      urls_(std::move(urls)),
      names_(wish_.members.begin(), wish_.members.end()),
      change_(wish_, random_word()),
      patience_left_(change.patience) {}

std::optional<Error> MemberRun::run() {
  while (!done_) {
    if (change_options_.stop.stop_requested()) return fail(Errc::cancelled, "cancelled");
    const auto configuration = survey_configuration(urls_, names_, options_, targets_);
    if (!configuration) return configuration.error();
    survey_ = std::make_unique<runtime::Survey>(*configuration);
    const auto nodes = survey_->check();
    observed_ = wish_.kind == core::MemberWish::Kind::bootstrap
                    ? observe(nodes, judge(nodes, options_))
                    : observe_members(nodes, options_, {wish_.leaving, wish_.entering});
    require_scripts(observed_);
    const auto step = change_.next(observed_, random_word());
    auto error = std::visit([this](const auto& chosen) { return take(chosen); }, step);
    if (error) return error;
  }
  return std::nullopt;
}

std::optional<Error> MemberRun::take(const core::SurveyAgain& step) {
  names_.insert(step.nodes.begin(), step.nodes.end());
  return std::nullopt;
}

std::optional<Error> MemberRun::take(const core::SearchLocks& step) {
  const auto searches = survey_->find_locks(step.longest);
  std::string failed;
  std::string held;
  auto name = names_.begin();
  for (const runtime::Search& search : searches) {
    if (!search.problem.empty()) {
      failed += (failed.empty() ? "the keys could not be scanned: " : "; ") + *name + ": " +
                search.problem;
    }
    if (search.lock && held.empty()) {
      held = *name + " has the key '" + search.lock->key + "', which may be a lock: it ends in " +
             core::format_duration(search.lock->left) +
             ". Wait until no lock is held, or give locks a database of their own";
    }
    ++name;
  }
  change_.searched(std::move(held), std::move(failed));
  return std::nullopt;
}

std::optional<Error> MemberRun::take(const core::WriteMarker& step) {
  if (change_options_.on_progress) {
    change_options_.on_progress(
        {admin::ChangeProgress::Kind::writing, step.node, action_of(step), std::nullopt});
  }
  const std::string& address = core::find_node(observed_, step.node)->address;
  const auto index = std::distance(names_.begin(), names_.find(address));
  const runtime::Marked marked = survey_->mark(static_cast<std::size_t>(index), step);
  if (!marked.refused.empty()) {
    return fail(Errc::unavailable, step.node + ": " + marked.refused);
  }
  waiting_for_.clear();
  if (marked.written) {
    patience_left_ = change_options_.patience;
    change_.wrote(step.node, marked.text);
  } else if (!marked.problem.empty()) {
    unanswered_ = true;
    return take(core::WaitFor{core::WaitFor::Cause::missing, step.node, marked.problem, {}});
  }
  return std::nullopt;
}

std::optional<Error> MemberRun::take(const core::WaitFor& step) {
  const bool missing = step.cause == core::WaitFor::Cause::missing;
  if (missing && (!change_.is_under_way() || patience_left_ <= nanoseconds(0))) {
    // bootstrap needs all nodes, other changes the one that they are about. A write can fail on a
    // node that the survey reached.
    const bool opens = wish_.kind == core::MemberWish::Kind::bootstrap;
    const std::string all = opens ? problems_of(observed_) : std::string();
    return fail(Errc::unavailable, all.empty() ? step.node + ": " + step.why : all);
  }
  if (change_options_.on_progress && waiting_for_ != step.node + step.why) {
    waiting_for_ = step.node + step.why;
    admin::ChangeProgress progress{admin::ChangeProgress::Kind::waiting, step.node, step.why,
                                   std::nullopt};
    if (!missing) progress.left = step.left;
    change_options_.on_progress(progress);
  }
  const milliseconds slice = missing ? retry_interval : std::min(step.left, longest_slice);
  if (missing) patience_left_ -= slice;
  pause_for(slice, change_options_.stop);
  return std::nullopt;
}

std::optional<Error> MemberRun::take(const core::ChangeDone& step) {
  done_ = true;
  if (!step.left.empty() && change_options_.on_progress) {
    change_options_.on_progress({admin::ChangeProgress::Kind::waiting, step.left_on,
                                 "its quarantine goes on, because " + step.left, std::nullopt});
  }
  return std::nullopt;
}

std::optional<Error> MemberRun::take(const core::ChangeRefused& step) {
  const std::string why = step.why + (step.remedy.empty() ? "" : ". " + step.remedy);
  switch (step.reason) {
    case core::ChangeRefused::Reason::wish:
      return Error{Errc::invalid_argument, why, {}};
    case core::ChangeRefused::Reason::held:
      return fail(Errc::held, why);
    case core::ChangeRefused::Reason::state:
      break;
  }
  return fail(Errc::unavailable, why);
}

Error MemberRun::fail(Errc code, std::string why) const {
  if (why.ends_with('.')) why.pop_back();
  if (change_.is_under_way()) {
    return Error{
        code, "half done: " + why + ". " + core::describe_unfinished(observed_, wish_), {}};
  }
  const bool opens = wish_.kind == core::MemberWish::Kind::bootstrap;
  std::string what =
      opens ? "not opened, nothing was changed: " : "nothing was changed by this call: ";
  if (unanswered_) what = "whether anything was changed is not known, run it again: ";
  return Error{code, what + why + about_unseen(), {}};
}

/// The first marker of a change that was cut off before may be on a node that cannot be asked.
std::string MemberRun::about_unseen() const {
  if (wish_.kind == core::MemberWish::Kind::bootstrap) return {};
  std::string unseen;
  for (const core::ObservedNode& node : observed_) {
    const bool may_have_begun = !node.problem.empty() && node.text.empty();
    // The leaving node is given nothing.
    if (!may_have_begun || node.name == wish_.leaving) continue;
    unseen += (unseen.empty() ? "" : ", ") + node.name;
  }
  if (unseen.empty()) return {};
  return ". Whether an earlier call has begun on " + unseen +
         " cannot be seen; if so, it is half done, and to be repeated when it can";
}

}  // namespace redlock::api
