#pragma once

#include <cstdint>
#include <string_view>

#include "redis/batches/encoder.hpp"
#include "redlock/token.hpp"

namespace redlock::test {

/// Encodes a request from a list of arguments. `number`: a fencing number, a connection, the mode
/// of a queue, or the kind that is tracked, as the request needs; `token`: names the client if the
/// request has one.
inline std::string_view encode(redis::Encoder& encoder, core::Verb verb, core::ScriptForm form,
                               redis::Dialect dialect, std::string_view resource,
                               std::string_view token, core::Duration ttl, std::int64_t number = 0,
                               core::Terms terms = {}) {
  terms.resource = resource;
  terms.token = token;
  terms.ttl = ttl;
  terms.fencing_number = static_cast<std::uint64_t>(number);
  terms.connection = terms.queue_mode = number;
  terms.tracked = static_cast<core::Tracked>(number == 1 ? 1 : 0);
  static const core::MarkerWrite some_marker{};
  static const core::ReignWrite some_reign{};
  if (terms.marker == nullptr) terms.marker = &some_marker;
  if (terms.reign == nullptr) terms.reign = &some_reign;
  if (core::is_about_queue(verb) || verb == core::Verb::write_name) terms.client = token;
  return encoder.encode(verb, form, dialect, terms);
}
inline std::string_view encode(redis::Encoder& encoder, core::Verb verb, core::ScriptForm form,
                               redis::Dialect dialect, std::string_view resource,
                               const Token& token, core::Duration ttl, std::int64_t number = 0,
                               const core::Terms& terms = {}) {
  return encode(encoder, verb, form, dialect, resource, token.view(), ttl, number, terms);
}

}  // namespace redlock::test
