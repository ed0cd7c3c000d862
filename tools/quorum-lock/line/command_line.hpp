#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/text/arguments.hpp"
#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {

struct CommandLine {
  const VerbText* verb = nullptr;
  Arguments arguments{};
};

/// A request for the help or the version: the program prints the text and ends.
struct TextRequest {
  std::string text;
  ExitCode exit_code = ExitCode::done;
};

/// `words` are the arguments without the program's name. Throws UsageError.
[[nodiscard]] std::variant<CommandLine, TextRequest> parse_command_line(
    const std::vector<std::string>& words);

}  // namespace redlock::cli
