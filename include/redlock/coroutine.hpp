#pragma once

#include "redlock/language.hpp"

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "redlock/export.hpp"
#include "redlock/result.hpp"

/// Within an expression that awaits, g++ before 13 destroys twice what `AcquireOptions{.ttl = 20s}`
/// and a lambda with captures own (its bug 99576). There, overloads that are declared with this
/// attribute take such temporaries, and it is an error to call them. No other compiler sees them.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#define REDLOCK_REFUSED                                                                           \
  __attribute__((unavailable(                                                                     \
      "within an expression that awaits, g++ 12 frees twice what such a temporary owns: make it " \
      "in a statement of its own, and pass its name without std::move")))
#endif

namespace redlock {
inline namespace REDLOCK_ABI {

#if defined(REDLOCK_REFUSED)
/// A lambda that is made within the call and owns something, in place of a `Function`.
template <typename Argument, typename Function>
concept OwningTemporary =
    std::is_class_v<Argument> && !std::same_as<std::remove_cv_t<Argument>, Function> &&
    !std::is_trivially_destructible_v<Argument>;
#endif

/// Names a call in flight, for `AsyncClient::cancel`. Zero names none.
enum class REDLOCK_EXPORT RequestId : std::uint64_t {};

/// The operand of `co_await`: a call of AsyncClient that begins when it is awaited, once. A call
/// that answers with a Round (such as `extend`, `release`) also begins if nobody awaits it,
/// when the operand is destroyed; its answer is lost.
///
///     Result<Lease> granted = co_await client.acquire("invoice/42");
///
///     AcquireOptions options{.ttl = 20s};
///     Result<Lease> later = co_await client.acquire("invoice/42", options, stop).via(post);
///
/// With g++ 12, make the following in statements of their own, and pass them by name: options
/// (without `std::move`), the target of `all_of`, lambdas whose captures own something, and objects
/// of your own types that own something. The compiler destroys such a temporary twice if the
/// expression awaits. The library refuses to compile calls with `{.ttl = 20s}` or such a lambda,
/// and the compiler refuses `all_of({"from", "to"})`. Temporaries of your own types compile, and
/// what they own is freed twice.
///
/// The coroutine is resumed on the client's loop thread and must not block there. With `via`,
/// `post` is called on that thread with the coroutine's handle, and has it resumed by any executor.
/// A stop request ends the call with `cancelled`. The errors are those of the call.
///
/// The coroutine must not be destroyed while it awaits: stop the call, and let it finish.
template <typename Value>
class [[nodiscard]] REDLOCK_EXPORT Awaitable {
 public:
  using Post = std::function<void(std::coroutine_handle<>)>;

  Awaitable(Awaitable&&) noexcept = default;
  Awaitable& operator=(Awaitable&&) noexcept = default;

  /// Has `post` resume the coroutine.
  [[nodiscard]] Awaitable&& via(Post post) &&;
#if defined(REDLOCK_REFUSED)
  template <OwningTemporary<Post> Temporary>
  REDLOCK_REFUSED Awaitable&& via(Temporary&& post) &&;
#endif

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine);
  [[nodiscard]] Result<Value> await_resume();

  struct REDLOCK_HIDDEN Call;
  /// For the library only.
  REDLOCK_HIDDEN explicit Awaitable(std::shared_ptr<Call> call) noexcept;

 private:
  std::shared_ptr<Call> call_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
