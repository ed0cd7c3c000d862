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
  return js.object(
      {{"version", js.text(redlock_version())},
       {"defaultTtl", js.milliseconds(defaults.ttl_ns)},
       {"open", function<open>(env, "open")},
       {"reference", function<reference>(env, "reference")},
       {"close", function<close>(env, "close")},
       {"end", function<end>(env, "end")},
       {"acquire", function<acquire>(env, "acquire")},
       {"watch", function<watch>(env, "watch")},
       {"cancel", function<cancel>(env, "cancel")},
       {"extendLease", function<extend_lease>(env, "extendLease")},
       {"downgradeLease", function<downgrade_lease>(env, "downgradeLease")},
       {"releaseLease", function<release_lease>(env, "releaseLease")},
#define BY_TOKEN(c_name, name, ...) {#name, function<name>(env, #name)},
#include "redlock/face.def"
       {"prometheus", function<prometheus>(env, "prometheus")},
       {"ownership", function<ownership>(env, "ownership")},
       {"inspect", function<inspect>(env, "inspect")},
       {"remaining", function<remaining>(env, "remaining")},
       {"valid", function<valid>(env, "valid")},
       {"validUntil", function<valid_until>(env, "validUntil")},
       {"now", function<now>(env, "now")},
       {"adopt", function<adopt>(env, "adopt")},
       {"detach", function<detach>(env, "detach")},
       {"deployment", function<deployment>(env, "deployment")},
       {"makeStop", function<make_stop>(env, "makeStop")},
       {"requestStop", function<request_stop>(env, "requestStop")},
       {"provideCredentials", function<provide_credentials>(env, "provideCredentials")},
       {"failCredentials", function<fail_credentials>(env, "failCredentials")}});
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
