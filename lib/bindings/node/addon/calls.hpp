#pragma once

#include "js.hpp"

/// The functions that ../src/native.cjs can call. A `client` and a `lease` are the values that
/// `open` and a granted acquire returned; a request is a BigInt. All calls that ask the nodes take
/// the id under which the handler of the client learns the answer.
namespace redlock::node {

/// (options, handler, events, observe, provide, log) → {error, client}
[[nodiscard]] napi_value open(const Arguments& call);
/// (client, referenced): whether the client keeps the process alive.
[[nodiscard]] napi_value reference(const Arguments& call);
/// (client, id)
[[nodiscard]] napi_value close(const Arguments& call);
/// (client): closes and waits, at the end of the process.
[[nodiscard]] napi_value end(const Arguments& call);

/// (client, id, target, options, wait) → request
[[nodiscard]] napi_value acquire(const Arguments& call);
/// (client, id, resource, pollInterval) → request
[[nodiscard]] napi_value watch(const Arguments& call);
/// (client, request)
[[nodiscard]] napi_value cancel(const Arguments& call);
/// (client, id, lease, ttl)
[[nodiscard]] napi_value extend_lease(const Arguments& call);
/// (client, id, lease)
[[nodiscard]] napi_value downgrade_lease(const Arguments& call);
/// (client, id, lease)
[[nodiscard]] napi_value release_lease(const Arguments& call);
/// (client, id, target or resource, token, ttl or delay): the calls by a token.
#define BY_TOKEN(c_name, name, ...) [[nodiscard]] napi_value name(const Arguments& call);
#include "redlock/face.def"
/// (client, id, names of labels, their values)
[[nodiscard]] napi_value prometheus(const Arguments& call);
/// (client, id, resource, token)
[[nodiscard]] napi_value ownership(const Arguments& call);
/// (client, id, resource)
[[nodiscard]] napi_value inspect(const Arguments& call);

/// (lease) → milliseconds, 0 if it has ended
[[nodiscard]] napi_value remaining(const Arguments& call);
/// (lease) → whether it is valid
[[nodiscard]] napi_value valid(const Arguments& call);
/// (lease) → its deadline in milliseconds, by the clock of `now`; 0 after its release
[[nodiscard]] napi_value valid_until(const Arguments& call);
/// () → milliseconds
[[nodiscard]] napi_value now(const Arguments& call);
/// (client, id, text of the detached lease, options)
[[nodiscard]] napi_value adopt(const Arguments& call);
/// (lease) → the text of the detached lease, whose key stays on the nodes
[[nodiscard]] napi_value detach(const Arguments& call);

/// (call, options, terms, handler, id, stop): a call about the deployment, by the name of
/// ./deployment.cpp. The handler learns the answer, the progress, and requests for credentials.
[[nodiscard]] napi_value deployment(const Arguments& call);
/// () → a stop for calls about the deployment
[[nodiscard]] napi_value make_stop(const Arguments& call);
/// (stop): ends the call that was given the stop
[[nodiscard]] napi_value request_stop(const Arguments& call);

/// (request, user, password)
[[nodiscard]] napi_value provide_credentials(const Arguments& call);
/// (request, message)
[[nodiscard]] napi_value fail_credentials(const Arguments& call);

}  // namespace redlock::node
