#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::cli {

/// The kinds of lines on standard error. Everybody else looks for `print_error` and `print_note`.
struct LogLine {
  enum class Level { error, warning, info, debug } level = Level::info;
  std::string_view message{};
  std::string_view node{};   ///< the URL of the node that it is about, without a password
  std::string_view event{};  ///< what happened to the node, in one word
  std::string_view vote{};   ///< or how it voted
  std::uint64_t times = 1;   ///< how often it happened
};

/// Lines for people, or objects for a program that collects logs.
enum class LogForm { text, json };

/// Sets the form of all later lines of the program: errors and notes arise in code that does not
/// know the settings.
void set_log_form(LogForm form) noexcept;
[[nodiscard]] LogForm log_form() noexcept;

/// One object and a line end: `time` (UTC, RFC 3339 with milliseconds), `level`, `node`, `event`,
/// `vote` and `times` if there is one, `message`.
[[nodiscard]] std::string log_json(const LogLine& line, std::chrono::system_clock::time_point time);

/// One line and a line end: "quorum-lock: NODE EVENT: MESSAGE".
[[nodiscard]] std::string log_text(const LogLine& line);

/// Writes the line to standard error, in the form that was set.
void write_log(const LogLine& line);

}  // namespace redlock::cli
