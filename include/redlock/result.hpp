#pragma once

#include "redlock/language.hpp"

#include <concepts>
#include <functional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <version>

#if defined(__cpp_lib_expected)
#include <expected>
#endif

#include "redlock/error.hpp"
#include "redlock/export.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

template <typename T>
class Result;

namespace result_detail {
template <typename Any>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T>> = true;

/// Prints the error on standard error, and aborts.
[[noreturn]] REDLOCK_EXPORT void abort_without_value(const Error& error) noexcept;
/// Says that there is a value and no error, and aborts.
[[noreturn]] REDLOCK_EXPORT void abort_without_error() noexcept;
}  // namespace result_detail

/// A value, or the error that says why there is none. It has the functions of `std::expected` and
/// converts to it if the standard library has it, but is never an alias of it: the binary
/// interface must not depend on the user's `-std=`.
///
/// If there is no value, `value()` throws std::system_error with the error's code and message, or
/// aborts in code without exceptions. Nothing else here throws: `*` and `->` without a value print
/// the error and abort, and so does `error()` without an error, because reading what is not there
/// is a programming mistake. Thread safety: that of a value; only const calls can overlap.
template <typename T>
class [[nodiscard]] REDLOCK_EXPORT Result {
 public:
  using value_type = T;
  using error_type = Error;

  /// Implicit, so that functions can `return value;` or `return Error{…};`.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  /// Whether there is a value, and no error.
  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  /// The value. Throws std::system_error if there is none.
  [[nodiscard]] T& value() & {
    check();
    return *checked_value();
  }
  [[nodiscard]] const T& value() const& {
    check();
    return **this;
  }
  [[nodiscard]] T&& value() && {
    check();
    return std::move(*checked_value());
  }

  /// The value. Aborts if there is none.
  [[nodiscard]] T& operator*() & noexcept { return *checked_value(); }
  [[nodiscard]] const T& operator*() const& noexcept {
    return *const_cast<Result*>(this)->checked_value();
  }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(*checked_value()); }
  [[nodiscard]] T* operator->() noexcept { return checked_value(); }
  [[nodiscard]] const T* operator->() const noexcept { return &**this; }

  /// The value, or `other` in place of an error.
  template <typename Other>
  [[nodiscard]] T value_or(Other&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<Other>(other));
  }
  template <typename Other>
  [[nodiscard]] T value_or(Other&& other) && {
    return has_value() ? *std::move(*this) : static_cast<T>(std::forward<Other>(other));
  }

  /// Whether there is a value, and it is this one: `client.ownership(…) == Ownership::held`.
  [[nodiscard]] friend bool operator==(const Result& result,
                                       const T& value) requires std::equality_comparable<T> {
    return result.has_value() && *result == value;
  }

  /// The error. Aborts if there is none.
  [[nodiscard]] Error& error() & noexcept { return *checked_error(); }
  [[nodiscard]] const Error& error() const& noexcept {
    return *const_cast<Result*>(this)->checked_error();
  }
  [[nodiscard]] Error&& error() && noexcept { return std::move(*checked_error()); }

  /// The error, or `other` in place of a value.
  [[nodiscard]] Error error_or(Error other) const& {
    return has_value() ? std::move(other) : error();
  }
  [[nodiscard]] Error error_or(Error other) && {
    return has_value() ? std::move(other) : std::move(*this).error();
  }

  /// Goes on with the value: `next` takes it and returns a Result. An error stays as it is.
  template <typename Next>
  [[nodiscard]] auto and_then(Next&& next) const& {
    return chain(*this, std::forward<Next>(next));
  }
  template <typename Next>
  [[nodiscard]] auto and_then(Next&& next) && {
    return chain(std::move(*this), std::forward<Next>(next));
  }

  /// A Result of what `change` makes of the value. An error stays as it is.
  template <typename Change>
  [[nodiscard]] auto transform(Change&& change) const& {
    return changed(*this, std::forward<Change>(change));
  }
  template <typename Change>
  [[nodiscard]] auto transform(Change&& change) && {
    return changed(std::move(*this), std::forward<Change>(change));
  }

  /// A Result with the Error that `change` makes of the error. A value stays as it is.
  template <typename Change>
  [[nodiscard]] Result transform_error(Change&& change) const& {
    if (has_value()) return *this;
    return Result(Error(std::invoke(std::forward<Change>(change), error())));
  }
  template <typename Change>
  [[nodiscard]] Result transform_error(Change&& change) && {
    if (has_value()) return std::move(*this);
    return Result(Error(std::invoke(std::forward<Change>(change), std::move(*this).error())));
  }

  /// Goes on with the error: `next` takes it and returns a Result<T>. A value stays as it is.
  template <typename Next>
  [[nodiscard]] Result or_else(Next&& next) const& {
    if (has_value()) return *this;
    return std::invoke(std::forward<Next>(next), error());
  }
  template <typename Next>
  [[nodiscard]] Result or_else(Next&& next) && {
    if (has_value()) return std::move(*this);
    return std::invoke(std::forward<Next>(next), std::move(*this).error());
  }

#if defined(__cpp_lib_expected)
  /// The same value or error as `std::expected`, if the standard library has it.
  operator std::expected<T, Error>() const& {
    if (has_value()) return **this;
    return std::unexpected(error());
  }
  operator std::expected<T, Error>() && {
    if (has_value()) return *std::move(*this);
    return std::unexpected(std::move(*this).error());
  }
#endif

 private:
  template <typename Self, typename Next>
  [[nodiscard]] static auto chain(Self&& self, Next&& next) {
    using NextResult =
        std::remove_cvref_t<std::invoke_result_t<Next, decltype(*std::forward<Self>(self))>>;
    static_assert(result_detail::is_result<NextResult>, "and_then() takes what returns a Result");
    if (!self.has_value()) return NextResult(std::forward<Self>(self).error());
    return NextResult(std::invoke(std::forward<Next>(next), *std::forward<Self>(self)));
  }
  template <typename Self, typename Change>
  [[nodiscard]] static auto changed(Self&& self, Change&& change) {
    using Value =
        std::remove_cvref_t<std::invoke_result_t<Change, decltype(*std::forward<Self>(self))>>;
    if (!self.has_value()) return Result<Value>(std::forward<Self>(self).error());
    return Result<Value>(std::invoke(std::forward<Change>(change), *std::forward<Self>(self)));
  }
  void check() const {
    if (has_value()) return;
#if defined(__cpp_exceptions)
    throw std::system_error(std::get_if<1>(&state_)->code, std::get_if<1>(&state_)->message);
#else
    result_detail::abort_without_value(*std::get_if<1>(&state_));
#endif
  }
  [[nodiscard]] T* checked_value() noexcept {
    T* value = std::get_if<0>(&state_);
    if (value == nullptr) result_detail::abort_without_value(*std::get_if<1>(&state_));
    return value;
  }
  [[nodiscard]] Error* checked_error() noexcept {
    Error* error = std::get_if<1>(&state_);
    if (error == nullptr) result_detail::abort_without_error();
    return error;
  }

  std::variant<T, Error> state_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
