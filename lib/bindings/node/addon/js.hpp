#pragma once

#include <node_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

/// The C++ part of the package for Node.js. It only translates between redlock.h and Node-API:
/// everything that can be decided in JavaScript is decided in ../src.
namespace redlock::node {

/// A JavaScript exception is pending: return to JavaScript, which throws it.
struct Pending {};

/// Throws Pending unless the call succeeded.
void check(napi_env env, napi_status status);
/// Throws Pending, with a TypeError whose code is `invalid_argument`.
[[noreturn]] void throw_type_error(napi_env env, const std::string& message);

/// Makes JavaScript's values. Throws Pending.
class Js {
 public:
  explicit Js(napi_env env) noexcept : env_(env) {}

  [[nodiscard]] napi_env env() const noexcept { return env_; }
  [[nodiscard]] napi_value null() const;
  [[nodiscard]] napi_value boolean(bool value) const;
  [[nodiscard]] napi_value number(double value) const;
  /// A BigInt, for numbers that need all of their 64 bits.
  [[nodiscard]] napi_value bigint(std::uint64_t value) const;
  /// A number; null for 0, which means "none". From 2^53 on, where numbers are not exact, a BigInt,
  /// which ../src/fencing.cjs refuses.
  [[nodiscard]] napi_value fencing_token(std::uint64_t value) const;
  /// A string; null for NULL.
  [[nodiscard]] napi_value text(const char* value) const;
  /// null for a negative duration, which means "not known"; Infinity for REDLOCK_FOREVER.
  [[nodiscard]] napi_value milliseconds(std::int64_t duration_ns) const;
  [[nodiscard]] napi_value object(
      std::initializer_list<std::pair<const char*, napi_value>> members) const;

  /// An array of `make(i)`.
  template <typename Make>
  [[nodiscard]] napi_value list(std::size_t count, Make make) const {
    napi_value array = nullptr;
    check(env_, napi_create_array_with_length(env_, count, &array));
    for (std::size_t i = 0; i < count; ++i) {
      check(env_, napi_set_element(env_, array, static_cast<std::uint32_t>(i), make(i)));
    }
    return array;
  }

  /// Wraps an object in a value that only this addon can read, and that the garbage collector
  /// frees.
  template <typename T>
  [[nodiscard]] napi_value external(std::unique_ptr<T> object) const {
    napi_value value = nullptr;
    const auto free = [](napi_env, void* data, void*) noexcept {
      const std::unique_ptr<T> owned(static_cast<T*>(data));
    };
    check(env_, napi_create_external(env_, object.get(), free, nullptr, &value));
    static_cast<void>(object.release());
    return value;
  }

 private:
  napi_env env_;
};

// Read JavaScript's values. Throw Pending, with a TypeError, if the value has another type.
[[nodiscard]] bool boolean_from(napi_env env, napi_value value);
[[nodiscard]] double number_from(napi_env env, napi_value value);
[[nodiscard]] std::uint64_t bigint_from(napi_env env, napi_value value);
/// ../src/options.cjs has refused texts with a NUL, and those that are not UTF-8.
[[nodiscard]] std::string text_from(napi_env env, napi_value value);
/// Milliseconds, rounded to nanoseconds. A duration that is too long for nanoseconds lasts forever.
[[nodiscard]] std::int64_t nanoseconds_from(napi_env env, napi_value value);
/// A whole number from 0 on; Infinity: the largest one.
[[nodiscard]] std::uint64_t count_from(napi_env env, napi_value value);
/// Whether the value is neither undefined nor null.
[[nodiscard]] bool is_given(napi_env env, napi_value value);
[[nodiscard]] napi_value member_of(napi_env env, napi_value object, const char* name);

/// The arguments of a call from JavaScript.
class Arguments {
 public:
  static constexpr std::size_t most = 6;

  Arguments(napi_env env, napi_callback_info info);

  [[nodiscard]] napi_env env() const noexcept { return env_; }
  [[nodiscard]] Js js() const noexcept { return Js(env_); }
  [[nodiscard]] napi_value at(std::size_t i) const { return values_.at(i); }
  [[nodiscard]] double number(std::size_t i) const { return number_from(env_, at(i)); }
  [[nodiscard]] std::string text(std::size_t i) const { return text_from(env_, at(i)); }

  /// The object in a value that `Js::external` made.
  template <typename T>
  [[nodiscard]] T& external(std::size_t i) const {
    void* data = nullptr;
    check(env_, napi_get_value_external(env_, at(i), &data));
    return *static_cast<T*>(data);
  }

 private:
  napi_env env_;
  std::array<napi_value, most> values_{};
};

/// A function for JavaScript. It returns a value, or leaves a JavaScript exception pending.
template <napi_value (*body)(const Arguments&)>
napi_value entry(napi_env env, napi_callback_info info) noexcept {
  try {
    return body(Arguments(env, info));
  } catch (const Pending&) {
    return nullptr;
  } catch (const std::exception& error) {
    static_cast<void>(napi_throw_error(env, nullptr, error.what()));
    return nullptr;
  }
}

}  // namespace redlock::node
