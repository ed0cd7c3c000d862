#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/text/text.hpp"
#include "redlock/options.hpp"

namespace redlock::cli {

/// One object and a line end; bytes that are no UTF-8 are replaced.
[[nodiscard]] inline std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Null: the text is empty, so there is none or it is not known.
[[nodiscard]] inline nlohmann::ordered_json text_or_null(std::string_view text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(as_utf8(text));
}

/// How long to wait for something, in milliseconds; -1: without end.
[[nodiscard]] inline std::int64_t wait_ms(std::chrono::nanoseconds left) {
  return left == forever ? -1 : std::chrono::ceil<std::chrono::milliseconds>(left).count();
}

}  // namespace redlock::cli
