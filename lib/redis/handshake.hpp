#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "redis/connection_target.hpp"
#include "redis/reply.hpp"
#include "redis/set_form.hpp"

namespace redlock::redis {

/// Who answered.
struct ServerIdentity {
  std::string run_id;              ///< another one after every start of the server's process
  std::int64_t connection_id = 0;  ///< what CLIENT ID answered
  std::string version;             ///< e.g. "7.0.15"
  SetForm set_form = SetForm::plain;
  std::string ineligible{};     ///< why it can have no vote at all; empty where it can
  bool replica = false;         ///< and that is because it is a replica now
  std::string marker{};         ///< word for word, see core::Marker; empty where there is none
  core::Duration quarantine{};  ///< how long it has no vote for new leases
  std::string quarantine_why{};
};

/// What is said on a new connection before anything else, pipelined in one write: AUTH, SELECT,
/// CLIENT ID, INFO, CLIENT SETNAME, SCRIPT LOAD of each of `loaded_scripts`; without the restart
/// guard also GET of the marker. A server that is LOADING answers all that matters of it. Then, if
/// the server is fit, the restart guard's script in a second write: it needs the run_id. Where that
/// cannot be executed the connection is refused, and tried again.
///
/// With the restart guard, HELLO 3 and CLIENT TRACKING come ahead of INFO: from then on a server
/// that knows them says so when it is flushed or loads the data of a master, and what INFO said is
/// not out of date. Behind the script the marker is read once more, by a GET that the server is to
/// remember: it says so when it is written by others. Whoever refuses any of it goes on without.
class Handshake {
 public:
  enum class Progress : std::uint8_t {
    more,       ///< answers are still to come
    ask,        ///< call ask(): there is more to be said
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

 private:
  enum class Step : std::uint8_t {
    authenticate,
    select,
    client_id,
    tracking,
    info,
    ignored,
    fsync,
    marker,
    quarantine_why,
    quarantine,
    guard,
    marker_again,
  };

  void expect(Step step);
  [[nodiscard]] Progress refuse(Step step, const Value& error);
  [[nodiscard]] Progress malformed(Step step);
  [[nodiscard]] Progress advance() noexcept;
  [[nodiscard]] Progress take_info(const std::string& text);
  [[nodiscard]] Progress take_marker(const Value& answer);
  [[nodiscard]] Progress take_guard(const Value& answer);
  void take_quarantine(std::int64_t left, std::string_view why);
  [[nodiscard]] Progress take_marker_again(const Value& answer);

  std::array<Step, 24> steps_{};
  std::size_t expected_ = 0;
  std::size_t taken_ = 0;
  std::string password_;               // looked for in refusals
  std::optional<RestartGuard> guard_;  // until asked
  bool joined_ = false;                // its quarantine began with a change of members
  bool tracks_ = false;
  bool append_only_ = false;
  bool always_synced_ = false;
  std::string replid_;
  ServerIdentity identity_;
  std::string why_;
};

}  // namespace redlock::redis
