#include "quorum-lock/verbs/finding_changes.hpp"

#include <algorithm>
#include <iterator>

namespace redlock::cli {
namespace {

using FindingList = std::vector<admin::Finding>;

/// The findings of the first list that the second does not have.
FindingList difference(const FindingList& first, const FindingList& second) {
  FindingList rest;
  std::copy_if(first.begin(), first.end(), std::back_inserter(rest), [&](const auto& one) {
    return std::none_of(second.begin(), second.end(), [&](const admin::Finding& other) {
      return other.kind == one.kind && other.node == one.node;
    });
  });
  return rest;
}

}  // namespace

std::optional<FindingChanges::Change> FindingChanges::take(const FindingList& findings) {
  const bool first = !before_;
  const FindingList known = first ? FindingList() : *before_;
  before_ = findings;
  Change change{difference(findings, known), difference(known, findings)};
  if (!first && change.appeared.empty() && change.gone.empty()) return std::nullopt;
  return change;
}

}  // namespace redlock::cli
