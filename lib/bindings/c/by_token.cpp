#include <functional>

#include "bindings/c/answers.hpp"
#include "bindings/c/boundary.hpp"

// The calls by a token, and those of a lease with the same names, a row of face.def for each:
// blocking, and with a callback.

// The arguments of the kinds of face.def: as parameters, and as C++ takes them.
#define LOCK_target const redlock_target* target
#define GIVEN_target bound::target_from(target)
#define LOCK_resource const char* resource
#define GIVEN_resource &bound::required(resource, "resource")
#define MORE_none
#define GIVEN_none
#define MORE_ttl int64_t ttl_ns,
#define GIVEN_ttl , bound::from_ns(ttl_ns)
#define MORE_delay int64_t delay_ns,
#define GIVEN_delay , break_options(delay_ns)

namespace {

redlock::BreakOptions break_options(int64_t delay_ns) {
  redlock::BreakOptions options;
  options.delay = bound::from_ns(delay_ns);
  return options;
}

}  // namespace

#define OF_LEASE(qualifier, name, more)                                                           \
  redlock_status redlock_lease_##name(qualifier redlock_lease* lease,                             \
                                      MORE_##more redlock_round** round, redlock_error** error) { \
    return bound::guarded_round(lease, "lease", round, error, [&](auto& held) {                   \
      return std::invoke(&redlock::Lease::name, held.lease GIVEN_##more);                         \
    });                                                                                           \
  }
#define LEASE_none(name, more)
#define LEASE_ends(name, more) OF_LEASE(, name, more)
#define LEASE_keeps(name, more)                                                           \
  OF_LEASE(const, name, more)                                                             \
  void redlock_async_lease_##name(redlock_async* client, const redlock_lease* lease,      \
                                  MORE_##more redlock_round_done done, void* context) {   \
    bound::begin_round(client, done, context, [&](auto& caller, auto answer) {            \
      caller.name(bound::required(lease, "lease").lease GIVEN_##more, std::move(answer)); \
    });                                                                                   \
  }

#define BY_TOKEN(c_name, name, attribute, lock, more, lease, ...)                             \
  redlock_status redlock_##c_name(redlock_client* client, LOCK_##lock, const char* token,     \
                                  MORE_##more redlock_round** round, redlock_error** error) { \
    return bound::guarded_round(client, "client", round, error, [&](redlock_client& caller) { \
      return caller.client.name(GIVEN_##lock, bound::token_from(token) GIVEN_##more);         \
    });                                                                                       \
  }                                                                                           \
  void redlock_async_##c_name(redlock_async* client, LOCK_##lock, const char* token,          \
                              MORE_##more redlock_round_done done, void* context) {           \
    bound::begin_round(client, done, context, [&](auto& caller, auto answer) {                \
      caller.name(GIVEN_##lock, bound::token_from(token) GIVEN_##more, std::move(answer));    \
    });                                                                                       \
  }                                                                                           \
  LEASE_##lease(name, more)
#include "redlock/face.def"
