#include <utility>

#include "api/client/async_calls.hpp"
#include "api/client/blocking.hpp"
#include "api/options/adapted.hpp"

/// The calls by a token, a row of face.def for each: blocking, with a callback, and awaited.
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

#define BY_TOKEN(c_name, name, attribute, lock, more, ...)                                        \
  Result<Round> Client::name(LOCK_##lock, const Token& token MORE_##more) {                       \
    return api::block<&Calls::name##_by_token>(core_, GIVEN_##lock, token GIVEN_##more);          \
  }                                                                                               \
  void AsyncClient::name(LOCK_##lock, const Token& token MORE_##more,                             \
                         Callback<void(Result<Round>)> done) {                                    \
    api::call<&Calls::name##_by_token>(core_, std::move(done), GIVEN_##lock, token GIVEN_##more); \
  }                                                                                               \
  Awaitable<Round> AsyncClient::name(LOCK_##lock, const Token& token MORE_##more) {               \
    return api::to_await<&Calls::name##_by_token>(core_, GIVEN_##lock, token GIVEN_##more);       \
  }
#include "redlock/face.def"

}  // namespace redlock
