#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/session/output.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// One setting of one verb, and its source.
struct ShownSetting {
  std::string name{};
  /// Empty: the setting is not set, and has no default. URLs of nodes have no passwords.
  std::vector<std::string> values{};
  enum class Type { text, number, flag, list } type = Type::text;
  enum class Source { command_line, environment, file, preset } source = Source::preset;
  std::string variable{};  ///< the environment variable that it comes from
  std::size_t line = 0;    ///< the line of the file that it comes from
};

/// The meaning of a configuration file together with the command line and the environment.
struct ConfigReport {
  std::string file{};
  /// A line for each; if there are any, nothing else is filled in.
  std::vector<std::string> mistakes{};
  struct Scope {
    std::string verb{};  ///< empty: the options that all verbs have in common
    std::vector<ShownSetting> settings{};
  };
  std::vector<Scope> scopes{};
};

/// `given` is the command line, with --config. Throws UsageError when the file cannot be read, or
/// is no TOML.
[[nodiscard]] ConfigReport check_config(const Arguments& given);

[[nodiscard]] std::string config_text(const Style& style, const ConfigReport& report);
[[nodiscard]] std::string config_json(const ConfigReport& report);

}  // namespace redlock::cli
