#pragma once

#include <node_api.h>

#include "js.hpp"

namespace redlock::node {

/// A member of a JavaScript object, and how it is read from a struct of C.
template <typename T>
struct Field {
  const char* name;
  napi_value (*read)(const Js& js, const T& from);
};

/// The object with these members.
template <typename T, typename Fields>
[[nodiscard]] napi_value object_of(const Js& js, const T& from, const Fields& fields) {
  napi_value made = js.object({});
  for (const Field<T>& field : fields) {
    check(js.env(), napi_set_named_property(js.env(), made, field.name, field.read(js, from)));
  }
  return made;
}

// The members of a struct by their kind: `text<&redlock_finding::what>`.

/// A string; null for NULL.
template <auto member, typename T>
[[nodiscard]] napi_value text(const Js& js, const T& from) {
  return js.text(from.*member);
}
template <auto member, typename T>
[[nodiscard]] napi_value flag(const Js& js, const T& from) {
  return js.boolean(from.*member);
}
/// Milliseconds; null for a negative duration, which means "not known".
template <auto member, typename T>
[[nodiscard]] napi_value duration(const Js& js, const T& from) {
  return js.milliseconds(from.*member);
}
/// A number; null for a negative one, which means "not known".
template <auto member, typename T>
[[nodiscard]] napi_value count(const Js& js, const T& from) {
  const auto number = static_cast<double>(from.*member);
  return number < 0 ? js.null() : js.number(number);
}

}  // namespace redlock::node
