#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "redis/values/reply.hpp"

/// Replies of a server, already parsed.
namespace redlock::redis {

inline Value status(std::string text) {
  return {.type = Value::Type::status, .text = std::move(text)};
}
inline Value error(std::string text) {
  return {.type = Value::Type::error, .text = std::move(text)};
}
inline Value bulk(std::string text) { return {.type = Value::Type::bulk, .text = std::move(text)}; }
inline Value integer(std::int64_t number) {
  return {.type = Value::Type::integer, .integer = number, .text = {}};
}

}  // namespace redlock::redis
