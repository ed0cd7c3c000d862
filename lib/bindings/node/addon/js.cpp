#include "js.hpp"

#include <cmath>
#include <limits>

#include "redlock.h"

namespace redlock::node {

void check(napi_env env, napi_status status) {
  if (status == napi_ok) return;
  bool pending = false;
  static_cast<void>(napi_is_exception_pending(env, &pending));
  if (!pending) {
    const napi_extended_error_info* info = nullptr;
    static_cast<void>(napi_get_last_error_info(env, &info));
    const bool has_text = info != nullptr && info->error_message != nullptr;
    static_cast<void>(napi_throw_error(
        env, nullptr, has_text ? info->error_message : "a call of Node-API failed"));
  }
  throw Pending();
}

void throw_type_error(napi_env env, const std::string& message) {
  static_cast<void>(napi_throw_type_error(env, "invalid_argument", message.c_str()));
  throw Pending();
}

napi_value Js::null() const {
  napi_value made = nullptr;
  check(env_, napi_get_null(env_, &made));
  return made;
}

napi_value Js::boolean(bool value) const {
  napi_value made = nullptr;
  check(env_, napi_get_boolean(env_, value, &made));
  return made;
}

napi_value Js::number(double value) const {
  napi_value made = nullptr;
  check(env_, napi_create_double(env_, value, &made));
  return made;
}

napi_value Js::bigint(std::uint64_t value) const {
  napi_value made = nullptr;
  check(env_, napi_create_bigint_uint64(env_, value, &made));
  return made;
}

napi_value Js::fencing_token(std::uint64_t value) const {
  if (value == 0) return null();
  return value < (std::uint64_t{1} << 53U) ? number(static_cast<double>(value)) : bigint(value);
}

napi_value Js::text(const char* value) const {
  if (value == nullptr) return null();
  napi_value made = nullptr;
  check(env_, napi_create_string_utf8(env_, value, NAPI_AUTO_LENGTH, &made));
  return made;
}

napi_value Js::milliseconds(std::int64_t duration_ns) const {
  if (duration_ns < 0) return null();
  if (duration_ns == REDLOCK_FOREVER) return number(std::numeric_limits<double>::infinity());
  return number(static_cast<double>(duration_ns) / 1e6);
}

napi_value Js::object(std::initializer_list<std::pair<const char*, napi_value>> members) const {
  napi_value made = nullptr;
  check(env_, napi_create_object(env_, &made));
  for (const auto& [name, value] : members) {
    check(env_, napi_set_named_property(env_, made, name, value));
  }
  return made;
}

bool boolean_from(napi_env env, napi_value value) {
  bool read = false;
  check(env, napi_get_value_bool(env, value, &read));
  return read;
}

double number_from(napi_env env, napi_value value) {
  double read = 0;
  check(env, napi_get_value_double(env, value, &read));
  return read;
}

std::uint64_t bigint_from(napi_env env, napi_value value) {
  std::uint64_t read = 0;
  bool lossless = false;
  check(env, napi_get_value_bigint_uint64(env, value, &read, &lossless));
  return read;
}

std::string text_from(napi_env env, napi_value value) {
  std::size_t size = 0;
  check(env, napi_get_value_string_utf8(env, value, nullptr, 0, &size));
  std::string read(size, '\0');
  check(env, napi_get_value_string_utf8(env, value, read.data(), size + 1, &size));
  return read;
}

std::int64_t nanoseconds_from(napi_env env, napi_value value) {
  const double nanoseconds = std::round(number_from(env, value) * 1e6);
  if (std::isnan(nanoseconds)) throw_type_error(env, "a duration is NaN");
  // 2^63 and -2^63 are exact as doubles.
  if (nanoseconds >= 0x1p63) return REDLOCK_FOREVER;
  if (nanoseconds < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(nanoseconds);
}

std::uint64_t count_from(napi_env env, napi_value value) {
  const double number = number_from(env, value);
  if (number == std::numeric_limits<double>::infinity()) return UINT64_MAX;
  if (!(number >= 0 && number <= 0x1p53) || std::floor(number) != number) {
    throw_type_error(env, "a number is no whole number from 0 on");
  }
  return static_cast<std::uint64_t>(number);
}

bool is_given(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  check(env, napi_typeof(env, value, &type));
  return type != napi_undefined && type != napi_null;
}

napi_value member_of(napi_env env, napi_value object, const char* name) {
  napi_value value = nullptr;
  check(env, napi_get_named_property(env, object, name, &value));
  return value;
}

Arguments::Arguments(napi_env env, napi_callback_info info) : env_(env) {
  // Missing arguments are undefined.
  std::size_t count = most;
  check(env, napi_get_cb_info(env, info, &count, values_.data(), nullptr, nullptr));
}

}  // namespace redlock::node
