// Uses of the public headers that must compile, and some that must not: a build failure here is the
// test. Compiled without exceptions and without run-time type information, as their users may do,
// and once more with the newest standard.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>

#include "redlock/redlock.hpp"

namespace redlock {

// Kinds that cannot be combined do not compile.
template <typename Options>
concept HasKinds = requires(Options options) {
  options.shared;
}
|| requires(Options options) { options.owner; }
|| requires(Options options) { options.permits; };
template <typename Any>
concept CanBeShared = requires(Any any) {
  shared(any);
};
template <typename Any>
concept CanBeOwned = requires(Any any) {
  owned(any, "me");
};
template <typename Any>
concept CanBePermit = requires(Any any) {
  permit(any, 2);
};
template <typename Any>
concept CanBeInterval = requires(Any any) {
  interval(any, std::chrono::seconds(1));
};
template <typename Span>
concept CanLastAtLeast = requires(Span span) {
  shared("r", span);
}
|| requires(Span span) { owned("r", "me", span); };
static_assert(!HasKinds<AcquireOptions>);
static_assert(CanBeShared<std::string> && CanBeOwned<std::string> && CanBePermit<std::string> &&
              CanBeInterval<std::string>);
static_assert(!CanBeShared<Target> && !CanBeOwned<Target> && !CanBePermit<Target> &&
              !CanBeInterval<Target>);
static_assert(!CanLastAtLeast<std::chrono::seconds>);
static_assert(!std::is_constructible_v<SharedMutex, Client&, Target>);
static_assert(!std::is_constructible_v<Election, Client&, Target>);
static_assert(!std::is_constructible_v<AsyncElection, AsyncClient&, Target>);
static_assert(!std::is_constructible_v<Target, std::nullptr_t>);
static_assert(std::is_convertible_v<const char*, Target> &&
              std::is_convertible_v<std::string_view, Target> &&
              std::is_convertible_v<std::string, Target>);

// One pointer each: their contents may change without a recompilation of their users.
constexpr std::size_t pointer = sizeof(std::shared_ptr<int>);
static_assert(sizeof(Client) <= pointer && sizeof(AsyncClient) <= pointer);
static_assert(sizeof(Lease) <= pointer && sizeof(Leadership) <= pointer);
static_assert(sizeof(Mutex) <= pointer && sizeof(RecursiveMutex) <= pointer);
static_assert(sizeof(SharedMutex) <= pointer && sizeof(Election) <= pointer);
static_assert(sizeof(AsyncElection) <= pointer);
static_assert(sizeof(AsyncMutex) <= pointer && sizeof(AsyncMutexGuard) <= pointer);
static_assert(sizeof(Awaitable<Lease>) <= pointer);

// Values and options are copied freely.
static_assert(std::is_copy_constructible_v<Target> && std::is_copy_assignable_v<Target>);
static_assert(std::is_copy_constructible_v<AcquireOptions>);

// A fencing token is no other number.
static_assert(!std::is_convertible_v<std::uint64_t, FencingToken> &&
              !std::is_convertible_v<FencingToken, std::uint64_t>);
static_assert(FencingToken(1) < FencingToken(2) && FencingToken() < FencingToken(1));

// Errors as the standard has them.
static_assert(std::is_error_code_enum_v<Errc> && std::is_convertible_v<Errc, std::error_code> &&
              std::is_convertible_v<Error, std::error_code>);

class Silent final : public Observer {};

/// Instantiates what is a template.
bool use_everything(Client& client, const Result<Lease>& lease, Mutex& mutex) {
  const std::error_code code = lease.error();
  const Result<std::string> name =
      lease.transform([](const Lease& held) { return held.resource(); })
          .and_then([](const std::string& text) { return Result<std::string>(text); })
          .or_else([](const Error& error) { return Result<std::string>(error.message); });
#if defined(__cpp_lib_expected)
  const std::expected<std::string, Error> expected = name;
  if (expected.has_value() != name.has_value()) return false;
#endif
  ClientOptions options;
  options.observer = std::make_shared<Silent>();
  return options.observer && client.try_acquire(permit("encoders", 4)).has_value() &&
         code == Errc::held && name.value_or("none").empty() &&
         mutex.try_lock_for(std::chrono::seconds(1)) &&
         mutex.try_acquire_for(std::chrono::seconds(1))->owns_lock();
}

}  // namespace redlock
