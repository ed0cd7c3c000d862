#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock.h"
#include "redlock/client.hpp"
#include "redlock/credentials.hpp"
#include "redlock/error.hpp"
#include "redlock/lease.hpp"
#include "redlock/observer.hpp"
#include "redlock/result.hpp"
#include "redlock/token.hpp"
#include "support/job_queue.hpp"

/// The boundary between C and C++, for every function of redlock.h.
///
/// Code inside throws a failure as an Error, and `guarded` turns it into a status. This keeps each
/// function to a few lines, and costs about a microsecond, while a call to the nodes costs a
/// hundred.
namespace redlock::bindings {

/// NULL if the text is empty.
[[nodiscard]] inline const char* text_or_null(const std::string& text) noexcept {
  return text.empty() ? nullptr : text.c_str();
}

/// Tokens as C strings, which end with a NUL. Their addresses never change.
class TokenTexts {
 public:
  [[nodiscard]] const char* add(const Token& token) {
    return texts_.emplace_back(token.view()).c_str();
  }
  /// NULL if `token` is empty.
  [[nodiscard]] const char* add(const std::optional<Token>& token) {
    return token ? add(*token) : nullptr;
  }

 private:
  std::deque<std::string> texts_;
};

/// An object of C that points into one of C++, and so cannot be moved.
template <typename Seen, typename From>
struct View : Seen {
  explicit View(From given) : Seen(), from(std::move(given)) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  From from;
};

struct RoundView : View<redlock_round, Round> {
  explicit RoundView(Round given);

  std::vector<redlock_node_vote> votes{};
  TokenTexts tokens{};
};

struct Failure : View<redlock_error, Error> {
  explicit Failure(Error given);

  RoundView last_round;
};

/// Makes an error, which redlock_error_free() deletes; no_memory() if there is no memory for it.
[[nodiscard]] redlock_error* make_failure(Error error) noexcept;

/// The error that exists without memory. It must not be deleted.
[[nodiscard]] redlock_error* no_memory() noexcept;

/// Hands the error out, if the caller wants it.
redlock_status status_of(Error error, redlock_error** out) noexcept;
/// Hands out the exception that is being handled.
redlock_status status_of_exception(redlock_error** out) noexcept;

/// Runs a function of the interface, and turns every exception into a status.
template <typename Call>
redlock_status guarded(redlock_error** error, Call&& call) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    std::forward<Call>(call)();
    return REDLOCK_OK;
  } catch (...) {
    return status_of_exception(error);
  }
}

/// The answer of a question that fails by `false`.
template <typename Call>
[[nodiscard]] bool asked_of(const Call& call) noexcept {
  bool yes = false;
  guarded(nullptr, [&] { yes = call(); });
  return yes;
}

[[nodiscard]] inline Error refusal(std::string message) {
  return Error{Errc::invalid_argument, std::move(message)};
}

/// The object to which a pointer from outside points. Throws if the pointer is NULL.
template <typename T>
[[nodiscard]] T& required(T* pointer, const char* name) {
  if (pointer == nullptr) throw refusal(std::string(name) + " is NULL");
  return *pointer;
}
[[nodiscard]] inline std::string required_text(const char* text, const char* name) {
  return std::string(&required(text, name));
}
[[nodiscard]] inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

/// The caller's pointer for a result, set to NULL until there is a result.
template <typename T>
[[nodiscard]] T*& required_out(T** out, const char* name) {
  T*& place = required(out, name);
  place = nullptr;
  return place;
}
template <typename T>
void clear(T** out) noexcept {
  if (out != nullptr) *out = nullptr;
}

template <typename T>
[[nodiscard]] T unwrapped(Result<T>&& result) {
  if (!result) throw std::move(result).error();
  return std::move(result).value();
}

/// An object for the caller, who ends it with a function that calls `dispose`.
template <typename Made, typename... Arguments>
[[nodiscard]] Made* new_object(Arguments&&... arguments) {
  return std::make_unique<Made>(std::forward<Arguments>(arguments)...).release();
}
template <typename Made, typename Seen>
void dispose(Seen* object) noexcept {
  const std::unique_ptr<Made> owned(static_cast<Made*>(object));
}

/// The part of an object that callers read; NULL past the end.
template <typename Made, typename Whole, typename Part>
[[nodiscard]] const Part* part_of(const Whole* whole, const std::vector<Part> Made::*parts,
                                  std::size_t i) noexcept {
  if (whole == nullptr) return nullptr;
  const std::vector<Part>& all = static_cast<const Made*>(whole)->*parts;
  return i < all.size() ? &all[i] : nullptr;
}
/// The function of redlock.h that returns it.
#define REDLOCK_PART(function, Whole, Made, parts)                                         \
  const decltype(redlock::bindings::Made::parts)::value_type* function(const Whole* whole, \
                                                                       size_t i) {         \
    return redlock::bindings::part_of<redlock::bindings::Made>(                            \
        whole, &redlock::bindings::Made::parts, i);                                        \
  }

void hand_out(Round round, redlock_round** out);
[[nodiscard]] redlock_round* make_round(Round round);

/// A function of the interface whose result is a round: `ask(*object)` returns it. `round` may be
/// NULL.
template <typename Object, typename Ask>
redlock_status guarded_round(Object* object, const char* name, redlock_round** round,
                             redlock_error** error, Ask&& ask) noexcept {
  clear(round);
  return guarded(error, [&] { hand_out(unwrapped(ask(required(object, name))), round); });
}

[[nodiscard]] Token token_from(const char* token);
[[nodiscard]] DetachedLease detached_from(const char* detached);

[[nodiscard]] constexpr std::int64_t to_ns(std::chrono::nanoseconds duration) noexcept {
  return duration.count();
}
[[nodiscard]] constexpr std::chrono::nanoseconds from_ns(std::int64_t duration) noexcept {
  return std::chrono::nanoseconds(duration);
}

/// The size of a struct in the first version that had it. A member that is appended later must not
/// change this size: a constant then replaces sizeof().
template <typename Options>
inline constexpr std::size_t first_size = sizeof(Options);

/// Reads options of any version: members that a shorter struct lacks get their defaults, and
/// further members of a longer struct are ignored. Refuses a size that no version had.
template <typename Options>
[[nodiscard]] Options read_sized(const Options& given, const Options& defaults, const char* name) {
  if (given.size < first_size<Options>) {
    throw refusal(std::string(name) + ".size is " + std::to_string(given.size) + ", at least " +
                  std::to_string(first_size<Options>) + " is allowed: see the function _init");
  }
  Options read = defaults;
  std::memcpy(&read, &given, std::min(given.size, sizeof(Options)));
  return read;
}

/// Writes as much of the defaults as the caller has room for, and zeros after them.
template <typename Options>
void write_sized(Options* out, std::size_t size, const Options& defaults) noexcept {
  if (out == nullptr) return;
  std::memset(static_cast<void*>(out), 0, size);
  std::memcpy(static_cast<void*>(out), &defaults, std::min(size, sizeof(Options)));
  if (size >= sizeof(std::size_t)) std::memcpy(static_cast<void*>(out), &size, sizeof(size));
}

/// The dispatcher that runs the callbacks of a client; none: they run on its loop thread.
using Dispatcher = std::shared_ptr<support::JobQueue>;
[[nodiscard]] Dispatcher dispatcher_of(const redlock_client_options* options);
template <typename Handle>
[[nodiscard]] Dispatcher dispatcher_in(const Handle* handle) {
  return handle == nullptr ? nullptr : handle->dispatcher;
}

/// Calls a callback on the dispatcher's thread, or on this one if there is no dispatcher.
template <typename Call>
void deliver(const Dispatcher& dispatcher, Call call) noexcept {
  if (dispatcher == nullptr) return call();
  dispatcher->add(std::move(call));
}
/// As deliver(), for a callback whose `value` lives only until this call returns: passes a copy. If
/// there is no memory for a copy, calls back on this thread.
template <typename Value, typename Call>
void deliver_copy(const Dispatcher& dispatcher, const Value& value, const Call& call) noexcept {
  const auto later = [&] {
    dispatcher->add([copy = Value(value), call]() noexcept { call(copy); });
  };
  if (dispatcher == nullptr || guarded(nullptr, later) != REDLOCK_OK) call(value);
}

struct FreeError {
  void operator()(redlock_error* error) const noexcept { redlock_error_free(error); }
};
using OwnedError = std::unique_ptr<redlock_error, FreeError>;

/// Wraps `on_at_risk` of leases and leaderships.
[[nodiscard]] inline auto at_risk_callback(std::shared_ptr<void> context,
                                           void (*call)(void* context, std::int64_t remaining_ns),
                                           Dispatcher dispatcher) {
  return [context = std::move(context), call,
          dispatcher = std::move(dispatcher)](std::chrono::nanoseconds left) noexcept {
    deliver(dispatcher, [context, call, left]() noexcept { call(context.get(), to_ns(left)); });
  };
}

/// Wraps `on_lost` of leases and leaderships.
[[nodiscard]] SharedCallback<void(const Error&)> loss_callback(
    std::shared_ptr<void> context, void (*call)(void* context, const redlock_error* error),
    Dispatcher dispatcher);

/// The context that the caller gave for its callbacks. It is freed when the last of the callbacks
/// is gone.
[[nodiscard]] std::shared_ptr<void> keep_context(void* context, void (*free_context)(void*));

/// The texts of an array from outside, none of which may be NULL.
[[nodiscard]] std::vector<std::string> texts(const char* const* first, std::size_t count,
                                             const std::string& name);

[[nodiscard]] Target target_from(const redlock_target* target);
[[nodiscard]] ClientOptions client_options_from(const redlock_client_options* options);
/// NULL: the defaults.
[[nodiscard]] AcquireOptions acquire_options_from(const redlock_acquire_options* options,
                                                  const Dispatcher& dispatcher = nullptr);

using ObservationCallback = void (*)(void* context, const redlock_observation* observation);
[[nodiscard]] std::shared_ptr<Observer> make_observer(std::shared_ptr<void> context,
                                                      ObservationCallback call,
                                                      Dispatcher dispatcher);

using CredentialsCallback = void (*)(void* context, redlock_credentials_request* request);
[[nodiscard]] CredentialsProvider make_provider(std::shared_ptr<void> context,
                                                CredentialsCallback call, Dispatcher dispatcher);

[[nodiscard]] std::stop_token stop_token_from(const redlock_stop* stop) noexcept;

[[nodiscard]] redlock_lease* make_lease(Lease lease);
[[nodiscard]] redlock_inspection* make_inspection(Inspection inspection);

}  // namespace redlock::bindings

namespace bound = redlock::bindings;

struct redlock_stop {
  std::stop_source source{};
};

struct redlock_dispatcher {
  redlock_dispatcher() : jobs(redlock::support::JobQueue::make()) {}
  ~redlock_dispatcher() { jobs->close(); }
  redlock_dispatcher(const redlock_dispatcher&) = delete;
  redlock_dispatcher& operator=(const redlock_dispatcher&) = delete;

  redlock::bindings::Dispatcher jobs;
};

struct redlock_client {
  redlock_client(redlock::Client created, redlock::bindings::Dispatcher callbacks)
      : client(std::move(created)), dispatcher(std::move(callbacks)) {}

  redlock::Client client;
  redlock::bindings::Dispatcher dispatcher;
};

struct redlock_lease {
  explicit redlock_lease(redlock::Lease granted);

  redlock::Lease lease;
  // Copies, because detaching and releasing empty the lease.
  std::string token;
  std::vector<std::string> resources;
  std::string detached{};
};
