#pragma once

#include <string>
#include <vector>

#include "redis/values/reply.hpp"
#include "redis/values/visible.hpp"

namespace redlock::redis {

[[nodiscard]] inline std::string shown(const Value& value) {
  switch (value.type) {
    case Value::Type::status:
      return "+" + value.text;
    case Value::Type::error:
      return "-" + value.text;
    case Value::Type::integer:
      return ":" + std::to_string(value.integer);
    case Value::Type::bulk:
      return "$" + visible(value.text, 64);
    case Value::Type::nil:
      return "nil";
    case Value::Type::array:
    case Value::Type::push: {
      std::string out = value.type == Value::Type::push ? ">[" : "[";
      for (const Value* element : value.elements) out += shown(*element) + " ";
      return out + "]";
    }
  }
  return "?";
}

/// All values that can be read from the bytes fed.
[[nodiscard]] inline std::vector<std::string> drain(ReplyReader& reader) {
  std::vector<std::string> values;
  while (const Value* value = reader.next()) {
    values.push_back(shown(*value));
    reader.recycle();
  }
  return values;
}

}  // namespace redlock::redis
