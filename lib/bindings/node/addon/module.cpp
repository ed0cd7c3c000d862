#include <node_api.h>

#include "calls.hpp"
#include "js.hpp"
#include "redlock.h"

namespace redlock::node {
namespace {

template <napi_value (*body)(const Arguments&)>
[[nodiscard]] napi_value function(napi_env env, const char* name) {
  napi_value made = nullptr;
  check(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, entry<body>, nullptr, &made));
  return made;
}

[[nodiscard]] napi_value make_module(napi_env env) {
  const Js js(env);
  redlock_acquire_options defaults{};
  redlock_acquire_options_init(&defaults, sizeof(defaults));
  return js.object({{"version", js.text(redlock_version())},
                    {"defaultTtl", js.milliseconds(defaults.ttl_ns)},
#define FUNCTION(name, text, ...) {text, function<name>(env, text)},
                    REDLOCK_NODE_FUNCTIONS(FUNCTION) REDLOCK_NODE_CALLS(FUNCTION)
#undef FUNCTION
#define BY_TOKEN(c_name, name, ...) {#name, function<name>(env, #name)},
#include "redlock/face.def"
  });
}

}  // namespace
}  // namespace redlock::node

/// Node.js finds the addon by this name, and calls it once for each worker. Workers share nothing
/// here.
extern "C" __attribute__((visibility("default"))) napi_value napi_register_module_v1(
    napi_env env, napi_value exports);

napi_value napi_register_module_v1(napi_env env, napi_value) {
  try {
    return redlock::node::make_module(env);
  } catch (const redlock::node::Pending&) {
    return nullptr;
  }
}
