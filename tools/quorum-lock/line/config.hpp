#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/text/arguments.hpp"

namespace redlock::cli {

/// A configuration file: defaults of the global options at its top level, and in a table for each
/// verb those of the verb's own options and again of the global ones.
struct ConfigFile {
  struct Mistake {
    std::size_t line = 0;
    std::string text{};  ///< names the file and the line
  };

  Arguments top_level{};
  std::map<std::string, Arguments> tables{};
  /// The unknown keys and tables, and the values of wrong types, in the order of their lines.
  std::vector<Mistake> mistakes{};
};

/// Reads a TOML file. Throws UsageError, which begins with `origin`, if the file cannot be read or
/// is not TOML.
[[nodiscard]] ConfigFile read_config(const std::string& path,
                                     const std::string& origin = "--config");

}  // namespace redlock::cli
