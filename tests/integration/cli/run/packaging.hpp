#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {

inline std::string packaging_file(const std::string& name) {
  return pages_folder() + "/../packaging/" + name;
}

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

inline std::string with_replaced(std::string text,
                                 const std::map<std::string, std::string>& replaced) {
  for (const auto& [from, to] : replaced) replace_all(text, from, to);
  return text;
}

inline Words words_in(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

inline std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines NAME=VALUE of a file; if a name comes twice, the last one counts.
inline std::map<std::string, std::string> assignments_in(const std::string& file) {
  std::map<std::string, std::string> values;
  for (const std::string& line : lines_in(read_file(packaging_file(file)))) {
    const std::size_t equals = line.find('=');
    if (line.empty() || line.front() == '#' || equals == std::string::npos) continue;
    values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return values;
}

/// Five nodes with a password, and the configuration of tools/packaging for them.
class Packaging : public ::testing::Test {
 protected:
  Packaging() {
    const std::vector<std::string> urls = nodes_.urls();
    std::string config = read_file(packaging_file("quorum-lock.toml"));
    for (std::size_t i = 1; i <= 5; ++i) {
      replace_all(config, "redis://10.0.0." + std::to_string(i), without_password(urls.at(i - 1)));
    }
    config_ = directory_.write("quorum-lock.toml", config).string();
    directory_.write("redis-password", "secret\n");
  }

  /// The replacements of texts in the files for this machine and this test.
  [[nodiscard]] std::map<std::string, std::string> replaced(const std::string& instance) const {
    return {{"/usr/bin/quorum-lock", quorum_lock_program()},
            {"/etc/quorum-lock/quorum-lock.toml", config_},
            {"%d", directory_.path().string()},
            {"/etc/quorum-lock/redis-password", (directory_.path() / "redis-password").string()},
            {"%i", instance}};
  }
  [[nodiscard]] std::string script(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = directory_.write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(file, std::filesystem::perms(0755));
    return file.string();
  }
  [[nodiscard]] static ChildProcess start(const Words& words) {
    return ChildProcess(words, {.environment = tool_environment()});
  }
  [[nodiscard]] static ProcessResult run(const Words& words) {
    return run_process(words, {.environment = tool_environment()});
  }

  /// The URL without its password, which is in a file.
  [[nodiscard]] static std::string without_password(std::string url) {
    const std::size_t host = url.find('@');
    const std::size_t user = url.find("//") + 2;
    return host == std::string::npos ? url : url.erase(user, host + 1 - user);
  }

  Nodes nodes_{5, RedisServerOptions{.password = "secret"}};
  TempDir directory_;
  std::string config_;
};

}  // namespace redlock::test
