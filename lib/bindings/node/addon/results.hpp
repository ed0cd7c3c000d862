#pragma once

#include <node_api.h>

#include <memory>
#include <utility>

#include "js.hpp"
#include "queue.hpp"
#include "redlock.h"

namespace redlock::node {

/// Frees an object of the library.
struct Free {
  void operator()(char* text) const noexcept { redlock_text_free(text); }
  void operator()(redlock_error* error) const noexcept { redlock_error_free(error); }
  void operator()(redlock_lease* lease) const noexcept { redlock_lease_free(lease); }
  void operator()(redlock_round* round) const noexcept { redlock_round_free(round); }
  void operator()(redlock_inspection* seen) const noexcept { redlock_inspection_free(seen); }
  void operator()(redlock_lock_list* list) const noexcept { redlock_lock_list_free(list); }
  void operator()(redlock_membership* seen) const noexcept { redlock_membership_free(seen); }
  void operator()(redlock_close_report* report) const noexcept {
    redlock_close_report_free(report);
  }
  void operator()(redlock_deployment_check* check) const noexcept {
    redlock_deployment_check_free(check);
  }
};
template <typename T>
using Ptr = std::unique_ptr<T, Free>;

/// A lease that the garbage collector frees.
struct HeldLease {
  Ptr<redlock_lease> lease;
};

// These functions copy the library's results into JavaScript objects. They throw Pending.
[[nodiscard]] napi_value to_js(const Js& js, const redlock_error& error);
[[nodiscard]] napi_value to_js(const Js& js, const redlock_round& round);
[[nodiscard]] napi_value to_js(const Js& js, const redlock_inspection& inspection);
[[nodiscard]] napi_value to_js(const Js& js, const redlock_close_report& report);
[[nodiscard]] napi_value to_js(const Js& js, Ptr<redlock_lease> lease);
[[nodiscard]] inline napi_value to_js(const Js& js, const Ptr<char>& text) {
  return js.text(text.get());
}
[[nodiscard]] inline napi_value to_js(const Js& js, bool yes) { return js.boolean(yes); }
template <typename T>
[[nodiscard]] napi_value to_js(const Js& js, const Ptr<T>& result) {
  return to_js(js, *result);
}

/// Sends JavaScript the answer to a call by a Client or a Queue: a result, or an error.
template <typename By, typename Result>
void send_answer(By& by, double id, Result result, redlock_error* error) noexcept {
  by.send(id, "answer",
          [result = std::move(result), error = Ptr<redlock_error>(error)](const Js& js) mutable {
            if (error) return Outcome{to_js(js, *error), js.null()};
            return Outcome{js.null(), to_js(js, std::move(result))};
          });
}

}  // namespace redlock::node
