#pragma once

#include <utility>
#include <vector>

#include "redlock.h"
#include "redlock/report.hpp"

namespace redlock::bindings {

/// A close report, with the C view of its nodes, which points into the report.
struct Closing : redlock_close_report {
  explicit Closing(CloseReport from) : redlock_close_report(), report(std::move(from)) {
    undelivered_count = report.undelivered.size();
    for (const CloseReport::Undelivered& node : report.undelivered) {
      undelivered.push_back(
          {node.node, node.url.c_str(), node.releases, node.left.count(), node.may_write_late});
    }
  }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

  CloseReport report;
  std::vector<redlock_undelivered> undelivered{};
};

}  // namespace redlock::bindings
