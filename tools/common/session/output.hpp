#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/session/json.hpp"
#include "common/session/settings.hpp"
#include "common/session/subject.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/report.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {

/// Colours, only if standard output is a terminal and NO_COLOR is not set.
class Style {
 public:
  enum class Colour { plain, good, warning, bad, faint };

  explicit Style(bool coloured) noexcept : coloured_(coloured) {}
  [[nodiscard]] static Style of_standard_output();
  [[nodiscard]] std::string paint(Colour colour, std::string_view text) const;

 private:
  bool coloured_;
};

/// Writes to standard output and flushes. False: it could not be written.
[[nodiscard]] bool print(std::string_view text);

/// One line on standard error: why the command fails.
void print_error(std::string_view line);

/// One line on standard error: what somebody should look at, though the command goes on.
void print_warning(std::string_view line);

/// One line on standard error, unless --quiet.
void print_note(const Settings& settings, std::string_view line);

/// Lines that explain a question, and are no result: on standard error.
void print_on_standard_error(std::string_view text);

/// The text output. All texts end with a line end.
[[nodiscard]] std::string acquired_text(const Style& style, const Settings& settings,
                                        const Subject& subject, const Target& target,
                                        const Lease& lease);
[[nodiscard]] std::string round_text(const Style& style, const Settings& settings,
                                     std::string_view outcome, const Subject& subject,
                                     const Round& round);
/// The output of `watch` at each change.
[[nodiscard]] std::string sighting_text(const Style& style, std::string_view resource,
                                        const Inspection& inspection);
[[nodiscard]] std::string inspection_text(const Style& style, std::string_view resource,
                                          const Inspection& inspection);

[[nodiscard]] std::string semaphore_text(const Style& style, std::string_view resource,
                                         const std::vector<PermitInspection>& permits,
                                         std::size_t waiters);

/// The votes of a round, a line each.
[[nodiscard]] std::string votes_text(const Style& style, const Round& round);

}  // namespace redlock::cli
