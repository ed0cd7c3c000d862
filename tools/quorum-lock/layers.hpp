#pragma once

#include <optional>
#include <string>

#include "quorum-lock/arguments.hpp"
#include "quorum-lock/config.hpp"

namespace redlock::cli {

/// Where a value comes from, the strongest first: the command line, the environment, the table of
/// the verb in the configuration file, the file's top level.
///
/// Fills in what the command line leaves open. An empty `verb` has no table. Throws UsageError for
/// options that cannot be combined if one of them is from the file.
void fill_in(Arguments& given, const std::string& verb, const ConfigFile& file);

/// As `fill_in`, with the file of --config if that is given. Throws UsageError for the first
/// mistake in the file, whichever verb it belongs to.
void fill_in(Arguments& given, const std::string& verb);

}  // namespace redlock::cli
