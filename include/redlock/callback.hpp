#pragma once

#include "redlock/language.hpp"

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace redlock {

template <typename Signature>
class Callback;
template <typename Signature>
class SharedCallback;

/// The common part of both kinds of callback.
namespace callback_detail {

/// A callable that may hold nothing: a `std::function`, a function pointer. A lambda compares with
/// a null pointer as well, but cannot be made from one.
template <typename Callable>
concept Nullable = std::is_constructible_v<Callable, std::nullptr_t> &&
    requires(const Callable& callable) {
  { callable == nullptr } -> std::convertible_to<bool>;
};

template <typename... Arguments>
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;
  virtual void call(Arguments... arguments) = 0;
};

template <typename Callable, typename... Arguments>
class Holder final : public Target<Arguments...> {
 public:
  explicit Holder(const Callable& from) : callable_(from) {}
  explicit Holder(Callable&& from) : callable_(std::move(from)) {}
  void call(Arguments... arguments) override { callable_(std::forward<Arguments>(arguments)...); }

 private:
  Callable callable_;
};

template <typename Callable>
[[nodiscard]] bool holds_nothing(const Callable& callable) noexcept {
  if constexpr (Nullable<Callable>) {
    return callable == nullptr;
  } else {
    return false;
  }
}

}  // namespace callback_detail

/// A move-only function object, called at most once by this library. It replaces
/// `std::move_only_function`, which C++20 does not have. Callables may own move-only objects, a
/// `Lease` for one.
///
/// Made from an empty `std::function` or a null pointer it is empty, and an empty one counts as no
/// callback. An exception that leaves a callback ends the program (`noexcept`): no caller could
/// catch it. Thread safety: a value. It is called on the client's loop thread.
template <typename... Arguments>
class Callback<void(Arguments...)> {
 public:
  Callback() noexcept = default;
  Callback(std::nullptr_t) noexcept {}

  /// Takes what can be called with these arguments.
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, Callback> &&
             std::is_invocable_v<std::decay_t<Callable>&, Arguments...>)
  Callback(Callable&& callable) {
    if (callback_detail::holds_nothing<std::decay_t<Callable>>(callable)) return;
    target_ = std::make_unique<callback_detail::Holder<std::decay_t<Callable>, Arguments...>>(
        std::forward<Callable>(callable));
  }

  [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
  friend bool operator==(const Callback& callback, std::nullptr_t) noexcept { return !callback; }

  /// Must not be empty.
  void operator()(Arguments... arguments) noexcept {
    target_->call(std::forward<Arguments>(arguments)...);
  }

 private:
  std::unique_ptr<callback_detail::Target<Arguments...>> target_;
};

/// A function object whose copies share one callable, so that options that own a move-only object
/// can be copied.
///
/// Otherwise as Callback. Clients call it on their loop threads: several threads at once may call a
/// callable that several clients have.
template <typename... Arguments>
class SharedCallback<void(Arguments...)> {
 public:
  SharedCallback() noexcept = default;
  SharedCallback(std::nullptr_t) noexcept {}

  /// Takes what can be called with these arguments.
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, SharedCallback> &&
             std::is_invocable_v<std::decay_t<Callable>&, Arguments...>)
  SharedCallback(Callable&& callable) {
    if (callback_detail::holds_nothing<std::decay_t<Callable>>(callable)) return;
    target_ = std::make_shared<callback_detail::Holder<std::decay_t<Callable>, Arguments...>>(
        std::forward<Callable>(callable));
  }

  [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
  friend bool operator==(const SharedCallback& callback, std::nullptr_t) noexcept {
    return !callback;
  }

  /// Must not be empty.
  void operator()(Arguments... arguments) const noexcept {
    target_->call(std::forward<Arguments>(arguments)...);
  }

 private:
  std::shared_ptr<callback_detail::Target<Arguments...>> target_;
};

}  // namespace redlock
