#pragma once

#include "js.hpp"

/// The functions that ../src/native.cjs can call, with their names there. A `client` and a `lease`
/// are the values that `open` and a granted acquire returned; a request is a BigInt. All calls that
/// ask the nodes take the id under which the handler of the client learns the answer.
namespace redlock::node {

// clang-format off
#define REDLOCK_NODE_FUNCTIONS(FUNCTION) \
  /* (options, handler, events, observe, provide, log) → {error, client} */ \
  FUNCTION(open, "open") \
  /* (client, referenced): whether the client keeps the process alive */ \
  FUNCTION(reference, "reference") \
  FUNCTION(close, "close") /* (client, id) */ \
  FUNCTION(end, "end") /* (client): closes and waits, at the end of the process */ \
  FUNCTION(watch, "watch") /* (client, id, resource, pollInterval) → request */ \
  FUNCTION(cancel, "cancel") /* (client, request) */ \
  FUNCTION(remaining, "remaining") /* (lease) → milliseconds, 0 if it has ended */ \
  FUNCTION(valid, "valid") /* (lease) → whether it is valid */ \
  /* (lease) → its deadline in milliseconds, by the clock of `now`; 0 after its release */ \
  FUNCTION(valid_until, "validUntil") \
  FUNCTION(now, "now") /* () → milliseconds */ \
  /* (lease) → the text of the detached lease, whose key stays on the nodes */ \
  FUNCTION(detach, "detach") \
  /* (call, options, terms, handler, id, stop): a call about the deployment, by its name in */ \
  /* ./deployment.cpp. The handler learns the answer, the progress, and who wants credentials. */ \
  FUNCTION(deployment, "deployment") \
  FUNCTION(make_stop, "makeStop") /* () → a stop for calls about the deployment */ \
  FUNCTION(request_stop, "requestStop") /* (stop): ends the call that was given the stop */ \
  FUNCTION(provide_credentials, "provideCredentials") /* (request, user, password) */ \
  FUNCTION(fail_credentials, "failCredentials") /* (request, message) */

// The calls of redlock.h that answer once: (client, id, the arguments of the function) → its request.
#define REDLOCK_NODE_CALLS(CALL) \
  CALL(acquire, "acquire", redlock_async_try_acquire_for) \
  CALL(adopt, "adopt", redlock_async_adopt) \
  CALL(extend_lease, "extendLease", redlock_async_lease_extend) \
  CALL(downgrade_lease, "downgradeLease", redlock_async_lease_downgrade) \
  CALL(release_lease, "releaseLease", redlock_async_lease_release) \
  CALL(prometheus, "prometheus", redlock_async_prometheus) \
  CALL(ownership, "ownership", redlock_async_ownership) \
  CALL(inspect, "inspect", redlock_async_inspect)
// clang-format on

#define FUNCTION(name, ...) [[nodiscard]] napi_value name(const Arguments& call);
REDLOCK_NODE_FUNCTIONS(FUNCTION)
REDLOCK_NODE_CALLS(FUNCTION)
#undef FUNCTION

/// The calls by a token: (client, id, target or resource, token, ttl or delay).
#define BY_TOKEN(c_name, name, ...) [[nodiscard]] napi_value name(const Arguments& call);
#include "redlock/face.def"

}  // namespace redlock::node
