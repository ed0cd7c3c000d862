#pragma once

#include <node_api.h>

#include <memory>

#include "js.hpp"
#include "redlock.h"

namespace redlock::node {

template <auto free>
struct Free {
  template <typename T>
  void operator()(T* object) const noexcept {
    free(object);
  }
};
using ErrorPtr = std::unique_ptr<redlock_error, Free<redlock_error_free>>;
using LeasePtr = std::unique_ptr<redlock_lease, Free<redlock_lease_free>>;
using RoundPtr = std::unique_ptr<redlock_round, Free<redlock_round_free>>;
using TextPtr = std::unique_ptr<char, Free<redlock_text_free>>;
using InspectionPtr = std::unique_ptr<redlock_inspection, Free<redlock_inspection_free>>;
using ReportPtr = std::unique_ptr<redlock_close_report, Free<redlock_close_report_free>>;

/// A lease that the garbage collector frees.
struct HeldLease {
  LeasePtr lease;
};

// These functions copy the library's results into JavaScript objects. They throw Pending.
[[nodiscard]] napi_value error_value(const Js& js, const redlock_error& error);
[[nodiscard]] napi_value round_value(const Js& js, const redlock_round& round);
[[nodiscard]] napi_value inspection_value(const Js& js, const redlock_inspection& inspection);
[[nodiscard]] napi_value report_value(const Js& js, const redlock_close_report& report);
[[nodiscard]] napi_value lease_value(const Js& js, LeasePtr lease);

}  // namespace redlock::node
