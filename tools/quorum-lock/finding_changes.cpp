#include "quorum-lock/finding_changes.hpp"

#include <algorithm>
#include <iterator>

namespace redlock::cli {
namespace {

using FindingList = std::vector<admin::Finding>;

FindingList without(const FindingList& all, const FindingList& known) {
  FindingList rest;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [&](const admin::Finding& one) {
    return std::none_of(known.begin(), known.end(), [&](const admin::Finding& other) {
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
  Change change{without(findings, known), without(known, findings)};
  if (!first && change.appeared.empty() && change.gone.empty()) return std::nullopt;
  return change;
}

}  // namespace redlock::cli
