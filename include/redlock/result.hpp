#pragma once

#include <concepts>
#include <cstdlib>
#include <utility>
#include <variant>

#include "redlock/error.hpp"

namespace redlock {

/// A value, or the error that says why there is none. A small subset of `std::expected`, and never
/// an alias of it: the binary interface must not depend on the user's `-std=`.
///
/// Reading the value of an error, or the error of a value, is a programming mistake and aborts.
/// Thread safety: a value.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that functions can `return value;` or `return Error{…};`.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] T& value() & noexcept { return *checked_value(); }
  [[nodiscard]] const T& value() const& noexcept {
    return *const_cast<Result*>(this)->checked_value();
  }
  [[nodiscard]] T&& value() && noexcept { return std::move(*checked_value()); }
  [[nodiscard]] T& operator*() & noexcept { return value(); }
  [[nodiscard]] const T& operator*() const& noexcept { return value(); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() noexcept { return checked_value(); }
  [[nodiscard]] const T* operator->() const noexcept { return &value(); }

  /// Whether there is a value, and it is this one: `client.ownership(…) == Ownership::held`.
  [[nodiscard]] friend bool operator==(const Result& result,
                                       const T& value) requires std::equality_comparable<T> {
    return result.has_value() && result.value() == value;
  }

  [[nodiscard]] Error& error() & noexcept { return *checked_error(); }
  [[nodiscard]] const Error& error() const& noexcept {
    return *const_cast<Result*>(this)->checked_error();
  }
  [[nodiscard]] Error&& error() && noexcept { return std::move(*checked_error()); }

 private:
  [[nodiscard]] T* checked_value() noexcept {
    T* value = std::get_if<0>(&state_);
    if (value == nullptr) std::abort();
    return value;
  }
  [[nodiscard]] Error* checked_error() noexcept {
    Error* error = std::get_if<1>(&state_);
    if (error == nullptr) std::abort();
    return error;
  }

  std::variant<T, Error> state_;
};

}  // namespace redlock
