#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "integration/library.hpp"
#include "redis/values/keys.hpp"
#include "support/temp_dir.hpp"

/// Shared by the tests of deployments as a whole.
namespace redlock::test {

inline const std::string marker_key{redis::keys::marker};
inline const std::string quarantine_key{redis::keys::quarantine};
inline const std::string numbers_key{redis::keys::fencing_numbers};

[[nodiscard]] inline std::string by_name(const RedisServer& server) {
  return "redis://localhost:" + std::to_string(server.port());
}

[[nodiscard]] inline std::string field_of(const RedisServer& server, const std::string& section,
                                          const std::string& field) {
  const std::string info = server.command({"INFO", section}).string;
  const std::size_t begin = info.find(field + ":") + field.size() + 1;
  return info.substr(begin, info.find('\r', begin) - begin);
}
[[nodiscard]] inline std::string run_id_of(const RedisServer& server) {
  return field_of(server, "server", "run_id");
}

/// Adds keys that are not locks.
inline void fill(const RedisServer& server, int keys) {
  server.command({"EVAL", "for i = 1, ARGV[1] do redis.call('set', 'key:' .. i, 'v') end", "0",
                  std::to_string(keys)});
}

/// The marker of a member: the server is the first of `members`.
[[nodiscard]] inline std::string marker_of(const RedisServer& server,
                                           std::vector<std::string> members,
                                           std::chrono::milliseconds max_ttl) {
  core::Marker marker;
  marker.state = core::Marker::State::active;
  marker.incarnation = "i";
  marker.deployment = "D";
  marker.run_id = run_id_of(server);
  marker.replid = field_of(server, "replication", "master_replid");
  marker.max_ttl = max_ttl;
  marker.self = members.front();
  marker.members = std::move(members);
  std::sort(marker.members.begin(), marker.members.end());
  return core::format_marker(marker) + " 1";
}

/// Stores the keys that a client leaves on a new node.
inline void blank_by_hand(const RedisServer& server) {
  core::Marker marker;
  marker.incarnation = "i";
  marker.run_id = run_id_of(server);
  marker.replid = field_of(server, "replication", "master_replid");
  marker.max_ttl = std::chrono::seconds(30);
  server.command({"SET", marker_key, core::format_marker(marker) + " 1"});
  server.command({"SET", quarantine_key, "empty", "PX", "600000"});
}

/// Makes the server a member in quarantine.
inline void quarantine_by_hand(const RedisServer& server, std::size_t nodes) {
  std::vector<std::string> members{server.url()};
  while (members.size() < nodes) members.push_back("other" + std::to_string(members.size()));
  server.command({"SET", marker_key, marker_of(server, members, std::chrono::seconds(30))});
  server.command({"SET", quarantine_key, "empty", "PX", "600000"});
}

/// A sentinel, which insists on a file for its configuration and rewrites it.
class Sentinel {
 public:
  Sentinel() : server_({.program = write_program()}) {}
  [[nodiscard]] std::string url() const { return server_.url(); }

 private:
  [[nodiscard]] std::string write_program() const {
    const auto configuration = directory_.write("sentinel.conf", "");
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
