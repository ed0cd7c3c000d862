#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace redlock::cli {

/// One object and a line end; bytes that are no UTF-8 are replaced.
[[nodiscard]] inline std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace redlock::cli
