#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/membership/member_change.hpp"
#include "redlock/deployment.hpp"
#include "redlock/result.hpp"
#include "runtime/configuration.hpp"
#include "runtime/survey.hpp"

namespace redlock::api {

/// The URLs by which nodes are reached, by their names: those that the caller gave carry
/// credentials, those from markers do not.
using NodeUrls = std::map<std::string, std::string>;

/// The canonical name of a URL; remembers the URL under it.
[[nodiscard]] Result<std::string> name_node(NodeUrls& urls, const std::string& url);

/// Connection targets by name. Making one with TLS reads the certificate store.
using NodeTargets = std::map<std::string, redis::ConnectionTarget>;

/// A survey of these nodes, with the options' credentials and time limits. Errors:
/// invalid_argument.
[[nodiscard]] Result<runtime::Configuration> survey_configuration(
    const NodeUrls& urls, const std::set<std::string>& names, const ClientOptions& options,
    NodeTargets& targets);

/// The nodes as a decider needs them; `judged` says which of them are ineligible.
[[nodiscard]] std::vector<core::ObservedNode> observe(
    const std::vector<runtime::SurveyedNode>& nodes, const admin::DeploymentCheck& judged);

/// As observe(), with the nodes named as the members name each other: see with_member_names. If a
/// server has several addresses, only the member's own is kept. `kept` are names that an operator
/// gave.
[[nodiscard]] std::vector<core::ObservedNode> observe_members(
    const std::vector<runtime::SurveyedNode>& nodes, const ClientOptions& options,
    const std::vector<std::string>& kept);

/// The membership, from one survey of all nodes.
[[nodiscard]] admin::Membership read_membership(const std::vector<core::ObservedNode>& nodes);

/// Drives a change to its end.
class MemberRun {
 public:
  MemberRun(const ClientOptions& options, const admin::ChangeOptions& change, core::MemberWish wish,
            NodeUrls urls);

  /// Drives the change. None: the change is done.
  [[nodiscard]] std::optional<Error> run();

 private:
  [[nodiscard]] std::optional<Error> take(const core::SurveyAgain& step);
  [[nodiscard]] std::optional<Error> take(const core::SearchLocks& step);
  [[nodiscard]] std::optional<Error> take(const core::WriteMarker& step);
  [[nodiscard]] std::optional<Error> take(const core::WaitFor& step);
  [[nodiscard]] std::optional<Error> take(const core::ChangeDone& step);
  [[nodiscard]] std::optional<Error> take(const core::ChangeRefused& step);

  [[nodiscard]] Error fail(Errc code, std::string why) const;
  [[nodiscard]] std::string about_unseen() const;

  const ClientOptions& options_;
  const admin::ChangeOptions& change_options_;
  const core::MemberWish wish_;
  NodeUrls urls_;
  NodeTargets targets_;
  std::set<std::string> names_;
  core::MemberChange change_;
  std::unique_ptr<runtime::Survey> survey_;
  std::vector<core::ObservedNode> observed_;  // the nodes as the last survey saw them
  std::string waiting_for_;
  std::chrono::nanoseconds patience_left_;
  bool unanswered_ = false;  // whether a marker was written is not known: its answer is missing
  bool done_ = false;
};

}  // namespace redlock::api
