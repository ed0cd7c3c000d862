#include "common/text/log.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>

#include "common/text/json_line.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

std::atomic<LogForm> form_in_use{LogForm::text};

std::string_view level_name(LogLine::Level level) {
  switch (level) {
    case LogLine::Level::error:
      return "error";
    case LogLine::Level::warning:
      return "warning";
    case LogLine::Level::info:
      return "info";
    case LogLine::Level::debug:
      return "debug";
  }
  return {};
}

}  // namespace

void set_log_form(LogForm form) noexcept { form_in_use = form; }
LogForm log_form() noexcept { return form_in_use; }

std::string log_json(const LogLine& line, std::chrono::system_clock::time_point time) {
  nlohmann::ordered_json json{{"time", utc_text(time)},
                              {"level", std::string(level_name(line.level))}};
  if (!line.node.empty()) json["node"] = as_utf8(line.node);
  if (!line.event.empty()) json["event"] = as_utf8(line.event);
  if (!line.vote.empty()) json["vote"] = as_utf8(line.vote);
  if (line.times != 1) json["times"] = line.times;
  json["message"] = as_utf8(line.message);
  return json_line(json);
}

std::string log_text(const LogLine& line) {
  std::string text(line.node);
  if (!line.event.empty()) text += fmt::format("{}{}", text.empty() ? "" : " ", line.event);
  if (!line.message.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", line.message);
  // An event says by its word what it is.
  const bool marked = line.level == LogLine::Level::warning && line.event.empty();
  return fmt::format("quorum-lock: {}{}\n", marked ? "warning: " : "", as_printable(text));
}

void write_log(const LogLine& line) {
  const std::string text = log_form() == LogForm::json
                               ? log_json(line, std::chrono::system_clock::now())
                               : log_text(line);
  // One write, so that lines of several processes do not mix. A failure to write to standard error
  // cannot be reported.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace redlock::cli
