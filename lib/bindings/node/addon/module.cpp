#include <node_api.h>

#include <span>

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

// The options with their kinds and their members in C.
constexpr const char* client_options[][2] = {
#define CLIENT(kind, member, c_member, ...) {#kind, #c_member},
#include "redlock/face.def"
};
constexpr const char* acquire_options[][2] = {
#define ACQUIRE(kind, member, c_member, ...) {#kind, #c_member},
#include "redlock/face.def"
};

[[nodiscard]] napi_value rows(const Js& js, std::span<const char* const[2]> options) {
  return js.list(options.size(), [&](std::size_t i) {
    return js.list(2, [&](std::size_t j) { return js.text(options[i][j]); });
  });
}

[[nodiscard]] napi_value make_module(napi_env env) {
  const Js js(env);
  redlock_acquire_options defaults{};
  redlock_acquire_options_init(&defaults, sizeof(defaults));
  return js.object({{"version", js.text(redlock_version())},
                    {"defaultTtl", js.milliseconds(defaults.ttl_ns)},
                    {"clientOptions", rows(js, client_options)},
                    {"acquireOptions", rows(js, acquire_options)},
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
