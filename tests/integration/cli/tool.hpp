#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/process.hpp"
#include "support/programs.hpp"

namespace redlock::test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

inline Words tool_words(Words arguments) {
  arguments.insert(arguments.begin(), quorum_lock_program());
  return arguments;
}

/// An empty variable counts as none: the tester's own settings must not affect the tests.
inline std::vector<std::string> tool_environment(std::vector<std::string> additions = {}) {
  for (const std::string_view variable : {"QUORUM_LOCK_NODES=", "QUORUM_LOCK_RESTART_GUARD="}) {
    const bool is_set =
        std::any_of(additions.begin(), additions.end(),
                    [&](const std::string& addition) { return addition.starts_with(variable); });
    if (!is_set) additions.emplace_back(variable);
  }
  return additions;
}

/// Runs quorum-lock to its end.
[[nodiscard]] inline ProcessResult run_tool(Words arguments, RunOptions options = {}) {
  options.environment = tool_environment(std::move(options.environment));
  return run_process(tool_words(std::move(arguments)), std::move(options));
}

/// Starts quorum-lock.
[[nodiscard]] inline ChildProcess start_tool(Words arguments, ProcessOptions options = {}) {
  options.environment = tool_environment(std::move(options.environment));
  return ChildProcess(tool_words(std::move(arguments)), std::move(options));
}

/// Whether the process has ended.
[[nodiscard]] inline bool gone(pid_t pid) {
  const auto state = process_state(pid);
  return !state || *state == 'Z';
}

/// Standard output must be one JSON value and nothing else; a discarded value fails every access.
[[nodiscard]] inline Json json_of(const ProcessResult& result) {
  Json json = Json::parse(result.output, nullptr, false);
  EXPECT_TRUE(json.is_object()) << "output: " << result.output << "\nerrors: " << result.errors;
  return json;
}

[[nodiscard]] inline std::size_t count_lines(const std::string& text) {
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  return lines;
}

/// The sockets of a list of URLs.
[[nodiscard]] inline std::vector<std::string> paths_of(std::string urls) {
  constexpr std::string_view scheme = "unix://";
  if (urls.ends_with('\n')) urls.pop_back();
  std::vector<std::string> paths;
  std::istringstream stream(urls);
  for (std::string url; std::getline(stream, url, ',');) {
    EXPECT_TRUE(url.starts_with(scheme)) << url;
    paths.push_back(url.substr(scheme.size()));
  }
  return paths;
}

/// Whether a command line was refused: exit code 64, no output, and one line that has `named`.
[[nodiscard]] inline ::testing::AssertionResult refused_in_one_line(const ProcessResult& result,
                                                                    std::string_view named) {
  if (result.exit_code == 64 && result.output.empty() && count_lines(result.errors) == 1 &&
      result.errors.find(named) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "exit code " << result.exit_code << ", not one line with '" << named
         << "'\noutput: " << result.output << "\nerrors: " << result.errors;
}

}  // namespace redlock::test
