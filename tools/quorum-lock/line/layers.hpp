#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/arguments.hpp"
#include "quorum-lock/line/config.hpp"

namespace redlock::cli {

/// An option that makes no sense for a lock that is adopted, and why.
struct NotForAdopted {
  const char* name;
  const char* why;
};

/// Options whose defaults are left out if --adopt is given. On the command line they are refused.
inline constexpr NotForAdopted not_for_adopted[] = {
    {"wait", "there is nothing to wait for"},
    {"orphan-ttl", "an orphan has no token"},
    {"interval", "the lock was acquired without, or keeps its interval until it is released"},
    {"fencing", "give it the number that acquire printed, by --fencing-token"},
};

/// Sources of a value, the strongest first: the command line, the environment, the table of the
/// verb in the configuration file, the file's top level.
///
/// The environment variable of a global option: QUORUM_LOCK_MAX_TTL for "max-ttl". The variable for
/// "password" has the password for nodes whose URL has none.
[[nodiscard]] std::string variable_of(std::string_view option);

/// Lines about the variables QUORUM_LOCK_… that this version does not know, and that are ignored:
/// another version can have them, or another program. Throws UsageError for a variable whose name
/// is misspelled, or is that of an option of a verb.
[[nodiscard]] std::vector<std::string> ignored_variables();

/// The configuration file, if one is given.
[[nodiscard]] std::optional<Arguments::Value> config_of(const Arguments& given);

/// Fills in what the command line leaves open. An empty `verb` has no table. Throws UsageError for
/// options that cannot be combined if one of them is not from the command line.
void fill_in(Arguments& given, const std::string& verb, const ConfigFile& file);

/// As `fill_in`, with the file of --config if the option is given. Throws UsageError for the first
/// mistake in the file, whichever verb it belongs to.
void fill_in(Arguments& given, const std::string& verb);

}  // namespace redlock::cli
