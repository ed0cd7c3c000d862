#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/membership/restart_guard.hpp"
#include "core/vocabulary/capabilities.hpp"
#include "redis/handshake/connection_target.hpp"
#include "redis/values/reply.hpp"

namespace redlock::redis {

/// The identity of the server.
struct ServerIdentity {
  std::string run_id;              ///< changes at every start of the server's process
  std::int64_t connection_id = 0;  ///< the id that CLIENT ID answered
  std::string version;    ///< e.g. "7.0.15"; for a fork: the Redis version it is compatible with
  std::string product{};  ///< product and version by its own name, e.g. "Valkey 9.1.2"
  core::Capabilities capabilities{};
  std::uint64_t evicted = 0;    ///< keys that it has evicted
  bool keeps_keys = false;      ///< its eviction policy is noeviction, in the same answer
  std::string ineligible{};     ///< why it can have no vote at all; empty: it can
  bool replica = false;         ///< ineligible because it is a replica now
  std::string marker{};         ///< the marker word for word, see core::Marker; empty: none
  bool unmarked = false;        ///< the marker is not of this process: see RestartGuard::marks
  bool outdated = false;        ///< the marker holds a number of evictions that was reset since
  std::string reign{};          ///< a replicated node's record of its reign; empty: none
  std::string primary{};        ///< the address of a replicated node's server; empty: not known
  core::Duration quarantine{};  ///< how long it has no vote for new leases
  std::string quarantine_why{};
};

/// Sends the first commands on a new connection, in one write: AUTH, SELECT, CLIENT ID, INFO,
/// COMMAND GETKEYS of each command that some servers lack, CLIENT SETNAME, and SCRIPT LOAD of each
/// of `loaded_scripts`. An eligible server that is LOADING is refused: what it says about itself is
/// not true until it has loaded. Without the restart guard, the write ends with GET of the marker,
/// and GET and PTTL of the quarantine.
///
/// With the restart guard, HELLO 3 and CLIENT TRACKING precede INFO. A server that knows them
/// notifies the client when it is flushed or loads the data of a master, so the client notices when
/// INFO's answer is out of date. No key is tracked, because the server would remember the key for
/// longer than the connection lasts. A server that refuses these commands is used without them.
///
/// The restart guard's script follows in a second write to an eligible server, because it needs the
/// run_id. If the user cannot run scripts, a transaction replaces the script. If neither can be
/// executed, the connection is refused, and the client connects again later.
class Handshake {
 public:
  enum class Progress : std::uint8_t {
    more,       ///< answers are still to come
    ask,        ///< call ask(): a second part has to be sent
    done,       ///< identity() is complete
    refused,    ///< see why(); the remaining answers mean nothing
    malformed,  ///< see why(); no Redis server answers like this
  };

  /// Appends all requests to `out`.
  Handshake(const ConnectionTarget& target, std::string& out);

  /// The next answer.
  [[nodiscard]] Progress take(const Value& answer);

  /// Appends the second part to `out`.
  void ask(std::string& out);

  [[nodiscard]] const ServerIdentity& identity() const noexcept { return identity_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// After `refused`: whether the server does not know us by these credentials.
  [[nodiscard]] bool login_refused() const noexcept { return login_refused_; }

 private:
  enum class Step : std::uint8_t {
    authenticate,
    select,
    client_id,
    tracking,
    info,
    knows_command,
    script,
    ignored,
    fsync,
    marker,
    quarantine_why,
    quarantine,
    reign,
    guard,
    watch,
    read_marker,
    read_quarantine,
    read_why,
    read_floor,
    read_time,
    written,
  };

  void expect(Step step);
  [[nodiscard]] static std::string_view name_of(Step step) noexcept;
  [[nodiscard]] Progress refuse(Step step, const Value& error);
  [[nodiscard]] Progress malformed(Step step);
  [[nodiscard]] Progress advance() noexcept;
  [[nodiscard]] Progress take_info(const std::string& text);
  [[nodiscard]] Progress take_marker(const Value& answer);
  [[nodiscard]] Progress take_guard(const Value& answer);
  void take_marker_text(const std::string& text);
  void take_keys(const Value& answer);
  [[nodiscard]] bool can(core::Capability capability) const noexcept;
  void withdraw(core::Capability capability) noexcept;
  void read_reign(std::string& out);
  void run_guard(std::string& out);
  void read_for_guard(std::string& out);
  void write_for_guard(std::string& out);
  [[nodiscard]] Progress take_guard_step(Step step, const Value& answer);
  [[nodiscard]] Progress take_reading(Step step, const Value& answer);
  [[nodiscard]] Progress take_written(const Value& answer);
  [[nodiscard]] bool durable() const noexcept;
  void take_quarantine(std::int64_t left, std::string_view why);

  std::array<Step, 32> steps_{};
  std::size_t expected_ = 0;
  std::size_t taken_ = 0;
  std::size_t commands_taken_ = 0;  // answers taken for rows of command_rows
  std::string password_;            // removed from refusals
  bool of_cluster_;                 // named as the primary of a slot
  /// The restart guard's remaining work.
  enum class Guard : std::uint8_t {
    none,
    decide,  ///< guard.lua is to decide
    read,    ///< if our user runs no scripts, by a transaction: see core::guard_node()
    write,
  };
  Guard next_ = Guard::none;
  std::optional<RestartGuard> guard_;
  core::GuardReading reading_;
  std::string read_marker_;
  std::string read_why_;
  int transactions_ = 0;
  bool joined_ = false;  // the node's quarantine began with a change of members
  bool tracks_ = false;
  bool append_only_ = false;
  bool always_synced_ = false;
  core::NodeMemory memory_;
  ServerIdentity identity_;
  std::string why_;
  bool login_refused_ = false;
};

}  // namespace redlock::redis
