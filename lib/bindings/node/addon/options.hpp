#pragma once

#include <node_api.h>

#include <deque>
#include <string>
#include <vector>

#include "redlock.h"

namespace redlock::node {

/// The texts that options of C point to.
class Texts {
 public:
  [[nodiscard]] const char* keep(std::string text) {
    return texts_.emplace_back(std::move(text)).c_str();
  }
  /// An array of texts. The pointers live as long as this object.
  [[nodiscard]] const std::vector<const char*>& keep_all(napi_env env, napi_value array);

 private:
  // A deque, because the texts that it has must not move.
  std::deque<std::string> texts_{};
  std::deque<std::vector<const char*>> lists_{};
};

// These functions read the objects that ../src makes of its callers' options. Members that are
// undefined or null get the library's defaults. They throw Pending.
[[nodiscard]] redlock_client_options client_options_from(napi_env env, napi_value given,
                                                         Texts& texts);
[[nodiscard]] redlock_acquire_options acquire_options_from(napi_env env, napi_value given,
                                                           Texts& texts);
[[nodiscard]] redlock_change_options change_options_from(napi_env env, napi_value given,
                                                         Texts& texts);
[[nodiscard]] redlock_target target_from(napi_env env, napi_value given, Texts& texts);

}  // namespace redlock::node
