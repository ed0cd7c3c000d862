#include <utility>

#include "api/client/async_calls.hpp"
#include "api/client/blocking.hpp"
#include "api/options/adapted.hpp"

/// The calls by a token, a row of face.def for each: blocking, with a callback, and awaited. Those
/// of an asynchronous client about a lease that they keep.
namespace redlock {

using api::Calls;

// The arguments of the kinds of face.def: as parameters, and as they are passed on.
#define LOCK_target Target target
#define GIVEN_target std::move(target)
#define LOCK_resource std::string_view resource
#define GIVEN_resource resource
#define MORE_none
#define GIVEN_none
#define MORE_ttl , std::chrono::nanoseconds ttl
#define GIVEN_ttl , ttl
#define MORE_delay , BreakOptions options
#define GIVEN_delay , api::adapted(options)

#define LEASE_none(name, more)
#define LEASE_ends(name, more)
#define LEASE_keeps(name, more)                                                                \
  void AsyncClient::name(const Lease& lease MORE_##more, Callback<void(Result<Round>)> done) { \
    const auto& cell = api::LeaseCell::of(lease);                                              \
    api::call<&Calls::name>(api::core_for(cell, core_), std::move(done), cell GIVEN_##more);   \
  }                                                                                            \
  Awaitable<Round> AsyncClient::name(const Lease& lease MORE_##more) {                         \
    const auto& cell = api::LeaseCell::of(lease);                                              \
    return api::to_await<&Calls::name>(api::core_for(cell, core_), cell GIVEN_##more);         \
  }

#define BY_TOKEN(c_name, name, attribute, lock, more, lease, ...)                                 \
  Result<Round> Client::name(LOCK_##lock, const Token& token MORE_##more) {                       \
    return api::block<&Calls::name##_by_token>(core_, GIVEN_##lock, token GIVEN_##more);          \
  }                                                                                               \
  void AsyncClient::name(LOCK_##lock, const Token& token MORE_##more,                             \
                         Callback<void(Result<Round>)> done) {                                    \
    api::call<&Calls::name##_by_token>(core_, std::move(done), GIVEN_##lock, token GIVEN_##more); \
  }                                                                                               \
  Awaitable<Round> AsyncClient::name(LOCK_##lock, const Token& token MORE_##more) {               \
    return api::to_await<&Calls::name##_by_token>(core_, GIVEN_##lock, token GIVEN_##more);       \
  }                                                                                               \
  LEASE_##lease(name, more)
#include "redlock/face.def"

}  // namespace redlock
