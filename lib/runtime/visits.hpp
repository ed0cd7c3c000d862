#pragma once

#include <uv.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "uv/loop.hpp"

namespace redlock::runtime {

/// Turns the loop until no visit to a node is waiting.
template <typename Visit>
void run_while_busy(uv::Loop& loop, const std::vector<std::unique_ptr<Visit>>& visits) {
  const auto busy = [](const std::unique_ptr<Visit>& visit) { return visit->busy(); };
  while (std::any_of(visits.begin(), visits.end(), busy)) {
    static_cast<void>(uv_run(loop.get(), UV_RUN_ONCE));
  }
}

}  // namespace redlock::runtime
