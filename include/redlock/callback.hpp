#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace redlock {

template <typename Signature>
class Callback;

/// A move-only function object, called at most once by this library: a stand-in for
/// `std::move_only_function`, which C++20 does not have. Callables are free to own what can only
/// be moved, a `Lease` for one.
///
/// What a callback throws ends the program (`noexcept`): there is no caller to catch it.
/// Thread safety: a value; it is called on the client's loop thread.
template <typename... Arguments>
class Callback<void(Arguments...)> {
 public:
  Callback() noexcept = default;
  Callback(std::nullptr_t) noexcept {}

  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, Callback> &&
             std::is_invocable_v<Callable&, Arguments...>)
  Callback(Callable&& callable)
      : target_(std::make_unique<Target<std::remove_cvref_t<Callable>>>(
            std::forward<Callable>(callable))) {}

  [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }

  void operator()(Arguments... arguments) noexcept {
    target_->call(std::forward<Arguments>(arguments)...);
  }

 private:
  struct Base {
    Base() = default;
    Base(const Base&) = delete;
    Base& operator=(const Base&) = delete;
    virtual ~Base() = default;
    virtual void call(Arguments... arguments) = 0;
  };

  template <typename Callable>
  struct Target final : Base {
    explicit Target(const Callable& from) : callable(from) {}
    explicit Target(Callable&& from) : callable(std::move(from)) {}
    void call(Arguments... arguments) override { callable(std::forward<Arguments>(arguments)...); }
    Callable callable;
  };

  std::unique_ptr<Base> target_;
};

}  // namespace redlock
