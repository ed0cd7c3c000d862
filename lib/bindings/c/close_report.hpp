#pragma once

#include <utility>
#include <vector>

#include "bindings/c/boundary.hpp"
#include "redlock/report.hpp"

namespace redlock::bindings {

struct Closing : View<redlock_close_report, CloseReport> {
  explicit Closing(CloseReport given) : View(std::move(given)) {
    undelivered_count = from.undelivered.size();
    for (const CloseReport::Undelivered& node : from.undelivered) {
      undelivered.push_back(
          {node.node, node.url.c_str(), node.releases, node.left.count(), node.may_write_late});
    }
  }

  std::vector<redlock_undelivered> undelivered{};
};

}  // namespace redlock::bindings
