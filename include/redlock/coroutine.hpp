#pragma once

#include "redlock/language.hpp"

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>

#include "redlock/export.hpp"
#include "redlock/result.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// Names a call in flight, for `AsyncClient::cancel`. Zero names none.
enum class REDLOCK_EXPORT RequestId : std::uint64_t {};

/// The operand of `co_await`: a call of AsyncClient that begins when it is awaited, once.
///
///     Result<Lease> granted = co_await client.acquire("invoice/42");
///
///     AcquireOptions options{.ttl = 20s};
///     Result<Lease> later =
///         co_await client.acquire("invoice/42", std::move(options), stop).via(post);
///
/// Make options, the target of `all_of`, and a `post` that owns its captures in statements of their
/// own: within an expression that awaits, g++ 12 destroys twice the object that `{.ttl = 20s}` or a
/// lambda makes, and does not compile `all_of({"from", "to"})`.
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
