#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "integration/library.hpp"
#include "redis/keys.hpp"
#include "support/temp_dir.hpp"

/// What the tests of deployments as a whole have in common.
namespace redlock::test {

inline const std::string marker_key{redis::keys::marker};
inline const std::string quarantine_key{redis::keys::quarantine};
inline const std::string numbers_key{redis::keys::numbers};

/// A client's options as they come, but for time limits that a stalled machine does not reach.
[[nodiscard]] inline ClientOptions deployment(std::vector<std::string> urls) {
  ClientOptions options = patient(std::move(urls));
  options.guards = {};
  return options;
}

[[nodiscard]] inline std::string by_name(const RedisServer& server) {
  return "redis://localhost:" + std::to_string(server.port());
}

[[nodiscard]] inline std::string run_id_of(const RedisServer& server) {
  const std::string info = server.command({"INFO", "server"}).string;
  const std::size_t begin = info.find("run_id:") + 7;
  return info.substr(begin, info.find('\r', begin) - begin);
}

/// Keys that are no locks.
inline void fill(const RedisServer& server, int keys) {
  server.command({"EVAL", "for i = 1, ARGV[1] do redis.call('set', 'key:' .. i, 'v') end", "0",
                  std::to_string(keys)});
}

/// What guard.lua leaves on a node that is new to it.
inline void quarantine_by_hand(const RedisServer& server, std::size_t nodes) {
  server.command({"SET", marker_key, run_id_of(server) + " " + std::to_string(nodes) + " 30000"});
  server.command({"SET", quarantine_key, "empty", "PX", "600000"});
}

/// A sentinel, which insists on a file for its configuration and rewrites it.
class Sentinel {
 public:
  Sentinel() : server_({.program = write_program()}) {}
  [[nodiscard]] std::string url() const { return server_.url(); }

 private:
  [[nodiscard]] std::string write_program() const {
    const auto configuration = directory_.write("sentinel.conf", "sentinel resolve-hostnames no\n");
    const auto program =
        directory_.write("sentinel", "#!/bin/sh\nexec redis-server " + configuration.native() +
                                         " --sentinel \"$@\"\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program.native();
  }

  TempDir directory_;
  RedisServer server_;
};

}  // namespace redlock::test
