#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redlock/limits.hpp"
#include "support/eventually.hpp"
#include "support/resp.hpp"

namespace redlock::test {

enum class Data { keep, wipe };
enum class ClientCertificates { not_asked_for, required };
enum class ServerClock { of_the_machine, movable };

struct TlsOptions {
  std::filesystem::path certificate{};
  std::filesystem::path key{};
  /// The authority that signs client certificates.
  std::filesystem::path ca{};
  ClientCertificates clients = ClientCertificates::not_asked_for;
};

struct RedisServerOptions {
  /// Further command line words, e.g. {"--maxmemory", "2mb"}; they win over the defaults
  /// (no persistence, a Unix socket, one loopback address).
  std::vector<std::string> arguments{};
  /// "NAME=value" additions, e.g. LD_PRELOAD.
  std::vector<std::string> environment{};
  std::string bind{"127.0.0.1"};
  /// --requirepass; also used by url() and command().
  std::string password{};
  /// Opens a TLS port next to the plain one.
  std::optional<TlsOptions> tls{};
  /// movable: see RedisServer::move_clock().
  ServerClock clock = ServerClock::of_the_machine;
  std::string program{"redis-server"};
  std::chrono::milliseconds start_limit = longest_wait;
  /// Time to load the data set. A server counts as started when it answers, even NOAUTH or LOADING.
  /// A small data set loads at once, and LOADING would only make tests flicker; 0 for a test that
  /// wants to see LOADING.
  std::chrono::milliseconds loading_grace = std::chrono::seconds(1);
};

/// Owns a real server on a loopback port, and the server's directory. The destructor kills the
/// server and removes the directory. If the test process is killed, the kernel kills the server.
///
/// Any thread can call command(), get() and pttl(); only one thread at a time can call the others.
/// A failure throws std::runtime_error with the server's log.
class RedisServer {
 public:
  /// Starts the server and waits until it answers.
  explicit RedisServer(RedisServerOptions options = {});
  /// Only starts it, so that several can start at once; wait_until_ready() must follow.
  [[nodiscard]] static RedisServer launch(RedisServerOptions options = {});
  void wait_until_ready();

  ~RedisServer();
  RedisServer(RedisServer&&) noexcept;
  RedisServer& operator=(RedisServer&&) noexcept;
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] const std::string& host() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// 0 without TLS.
  [[nodiscard]] std::uint16_t tls_port() const noexcept;
  [[nodiscard]] std::string url() const;  ///< redis://[:password@]host:port
  /// As users write it: host:port, or url() if there is a password.
  [[nodiscard]] std::string short_url() const;
  [[nodiscard]] std::string tls_url() const;   ///< rediss://[:password@]host:port
  [[nodiscard]] std::string unix_url() const;  ///< unix:///path
  [[nodiscard]] std::filesystem::path unix_path() const;
  /// The folder of the server's files.
  [[nodiscard]] std::filesystem::path data_directory() const;
  [[nodiscard]] std::string log() const;
  /// Changes take effect at the next start.
  [[nodiscard]] RedisServerOptions& options() noexcept;

  /// -1 while it does not run.
  [[nodiscard]] pid_t pid() const noexcept;
  [[nodiscard]] bool running() const;
  [[nodiscard]] bool stopped() const;

  void kill();       ///< SIGKILL; returns when the process is gone
  void terminate();  ///< SIGTERM, an orderly end; returns when the process is gone
  void stop();       ///< SIGSTOP; returns when every thread has stopped
  void resume();     ///< SIGCONT
  /// Starts again on the same ports, after kill() or terminate().
  void start(Data data = Data::keep);
  /// kill() and start().
  void restart(Data data = Data::keep);

  /// From now on, and over restarts, the server's wall clock is this far from the machine's: its
  /// TIME leaps, and so do the expiries of its keys. Returns when a server that runs has seen it.
  void move_clock(std::chrono::seconds from_machine);

  /// Sends a command over a connection of its own, through the Unix socket: a network cut for a
  /// test does not blind the test. Throws when there is no answer within `limit`.
  Reply command(const Command& words, std::chrono::milliseconds limit = longest_wait) const;
  [[nodiscard]] std::optional<std::string> get(const std::string& key) const;
  /// Whether it is Redis of this version or later, or a compatible fork. A test of a feature that
  /// older servers lack is skipped there, and names the row of the matrix (tests/servers) that it
  /// needs.
  [[nodiscard]] bool is_since(int major, int minor = 0) const;
  /// Milliseconds left; -1 without expiry, -2 without the key.
  [[nodiscard]] std::int64_t pttl(const std::string& key) const;

 private:
  struct Impl;
  [[nodiscard]] std::chrono::system_clock::time_point wall_clock() const;
  explicit RedisServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// N independent servers, started at once, that no client has met: for tests of first contact and
/// of opening a deployment. Users have `Nodes`.
class NewNodes {
 public:
  explicit NewNodes(std::size_t count, const RedisServerOptions& options = {});
  NewNodes(std::size_t count, const std::function<RedisServerOptions(std::size_t)>& options);

  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  [[nodiscard]] RedisServer& operator[](std::size_t index) { return servers_.at(index); }
  [[nodiscard]] const RedisServer& operator[](std::size_t index) const {
    return servers_.at(index);
  }
  [[nodiscard]] auto begin() noexcept { return servers_.begin(); }
  [[nodiscard]] auto end() noexcept { return servers_.end(); }

  [[nodiscard]] std::vector<std::string> urls() const;  ///< RedisServer::short_url()
  [[nodiscard]] std::string joined_urls() const;        ///< separated by commas
  /// The key's value by node; none if the key is absent, or the node is down or stopped.
  [[nodiscard]] std::vector<std::optional<std::string>> holders(const std::string& key) const;
  /// The number of nodes that have the key; that have it with this value.
  [[nodiscard]] std::size_t count_held(const std::string& key) const;
  [[nodiscard]] std::size_t count_held_by(const std::string& key, const std::string& value) const;
  void flush();  ///< FLUSHALL on every node that runs

 private:
  std::vector<RedisServer> servers_;
};

/// Nodes as users have them: opened as a deployment, as by `quorum-lock bootstrap`.
class Nodes : public NewNodes {
 public:
  /// Clients with another `max_ttl` get no lease.
  explicit Nodes(std::size_t count, const RedisServerOptions& options = {},
                 std::chrono::milliseconds max_ttl = limits::default_max_ttl);

  /// Restores every node, all of which must run, to its state after the opening. If no node has
  /// lost its data since, only keys outside the deployment are deleted, and no client loses a
  /// connection. Otherwise the nodes are flushed and opened again.
  void clear();

 private:
  void open();
  [[nodiscard]] bool forget_locks(std::size_t node);

  std::chrono::milliseconds max_ttl_;
  std::vector<std::string> markers_{};
};

}  // namespace redlock::test
