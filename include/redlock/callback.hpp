#pragma once

#include "redlock/language.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "redlock/export.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// Only for signatures that return nothing: see below.
template <typename Signature>
class Callback;
/// Only for signatures that return nothing.
template <typename Signature>
class SharedCallback;

/// The common part of both kinds of callback.
namespace callback_detail {

/// A callable that can be empty: a `std::function`, a function pointer. (A lambda compares with a
/// null pointer too, but cannot be made from one.)
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
  virtual void call(Arguments&&... arguments) = 0;
};

template <typename Callable, typename... Arguments>
class Holder final : public Target<Arguments...> {
 public:
  explicit Holder(const Callable& from) : callable_(from) {}
  explicit Holder(Callable&& from) : callable_(std::move(from)) {}
  void call(Arguments&&... arguments) override { callable_(std::forward<Arguments>(arguments)...); }

 private:
  Callable callable_;
};

/// A callable that is kept in the callback itself: a lambda that captures a pointer or two. Moving
/// it copies its bytes, and it needs no destructor.
template <typename... Arguments>
class InPlace {
  static constexpr std::size_t room = 2 * sizeof(void*);

 public:
  template <typename Callable>
  [[nodiscard]] static constexpr bool fits() noexcept {
    if (sizeof(Callable) > room || alignof(void*) % alignof(Callable) != 0) return false;
    return std::is_trivially_copyable_v<Callable> && std::is_copy_constructible_v<Callable>;
  }

  template <typename Callable>
  void put(const Callable& callable) {
    ::new (static_cast<void*>(bytes_.data())) Callable(callable);
    call_ = [](std::byte* bytes, Arguments&&... arguments) {
      (*std::launder(reinterpret_cast<Callable*>(bytes)))(std::forward<Arguments>(arguments)...);
    };
  }
  [[nodiscard]] bool empty() const noexcept { return call_ == nullptr; }
  void clear() noexcept { call_ = nullptr; }
  void call(Arguments&&... arguments) {
    call_(bytes_.data(), std::forward<Arguments>(arguments)...);
  }

 private:
  void (*call_)(std::byte* bytes, Arguments&&... arguments) = nullptr;
  alignas(void*) std::array<std::byte, room> bytes_{};
};

/// Says what the exception in flight is, and ends the program.
[[noreturn]] REDLOCK_EXPORT void end_for_exception() noexcept;

/// An exception that leaves a callback has no caller that could catch it.
template <typename Call>
void call_or_end(const Call& call) noexcept {
#if defined(__cpp_exceptions)
  try {
    call();
  } catch (...) {
    end_for_exception();
  }
#else
  call();
#endif
}

template <typename Callable>
[[nodiscard]] bool holds_nothing(const Callable& callable) noexcept {
  if constexpr (Nullable<Callable>) {
    return callable == nullptr;
  } else {
    return false;
  }
}

}  // namespace callback_detail

/// A move-only function object. It replaces `std::move_only_function`, which C++20 does not have.
/// Callables may own move-only objects, a `Lease` for one.
///
/// The library calls the callback of a call once, with the answer. `AsyncClient::watch` and
/// `AsyncElection::observe` call theirs at every change, and once more at the end. Each callable is
/// destroyed after its last call.
///
/// A callback made from an empty `std::function` or a null pointer is empty, and an empty one
/// counts as none. An exception that leaves a callback ends the program, after a line on standard
/// error that says what was thrown: no caller could catch it. Thread safety: a value. It is called
/// on the client's loop thread.
template <typename... Arguments>
class REDLOCK_EXPORT Callback<void(Arguments...)> {
 public:
  Callback() noexcept = default;
  Callback(std::nullptr_t) noexcept {}

  /// Takes any callable that accepts these arguments.
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, Callback> &&
             std::is_invocable_v<std::decay_t<Callable>&, Arguments...>)
  Callback(Callable&& callable) {
    using Kept = std::decay_t<Callable>;
    if (callback_detail::holds_nothing<Kept>(callable)) return;
    if constexpr (Small::template fits<Kept>()) {
      small_.put(static_cast<const Kept&>(callable));
    } else {
      target_ = std::make_unique<callback_detail::Holder<Kept, Arguments...>>(
          std::forward<Callable>(callable));
    }
  }

  Callback(Callback&& other) noexcept : small_(other.small_), target_(std::move(other.target_)) {
    other.small_.clear();
  }
  Callback& operator=(Callback&& other) noexcept {
    Callback moved(std::move(other));
    std::swap(small_, moved.small_);
    target_.swap(moved.target_);
    return *this;
  }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback() = default;

  [[nodiscard]] explicit operator bool() const noexcept {
    return target_ != nullptr || !small_.empty();
  }
  friend bool operator==(const Callback& callback, std::nullptr_t) noexcept { return !callback; }

  /// Must not be empty.
  void operator()(Arguments... arguments) noexcept {
    callback_detail::call_or_end([&] {
      if (target_ == nullptr) return small_.call(std::forward<Arguments>(arguments)...);
      target_->call(std::forward<Arguments>(arguments)...);
    });
  }

 private:
  using Small = callback_detail::InPlace<Arguments...>;
  Small small_;
  /// The callable, if it does not fit into `small_`.
  std::unique_ptr<callback_detail::Target<Arguments...>> target_;
};

/// A function object whose copies share one callable, so that options that own a move-only object
/// can be copied.
///
/// The rest is as for Callback. Clients call it on their loop threads: if several clients share a
/// callable, several threads can call it at once.
template <typename... Arguments>
class REDLOCK_EXPORT SharedCallback<void(Arguments...)> {
 public:
  SharedCallback() noexcept = default;
  SharedCallback(std::nullptr_t) noexcept {}

  /// Takes any callable that accepts these arguments.
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
    callback_detail::call_or_end([&] { target_->call(std::forward<Arguments>(arguments)...); });
  }

 private:
  std::shared_ptr<callback_detail::Target<Arguments...>> target_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
