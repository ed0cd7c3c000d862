#pragma once

#include <uv.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "uv/address.hpp"
#include "uv/address_race.hpp"
#include "uv/handle.hpp"
#include "uv/socket.hpp"

namespace redlock::uv {

/// Receives the result of a Connector, once, and the attempts before it.
class ConnectorListener {
 public:
  /// An attempt with this address begins.
  virtual void on_trying(const Address& address) noexcept = 0;
  /// The first attempt that succeeded; the others have been closed. `address`: null for a Unix
  /// socket. May destroy the connector.
  virtual void on_connected(Socket socket, const Address* address) noexcept = 0;
  /// All attempts have failed, the last one with this status of libuv's. May destroy the connector.
  virtual void on_unconnected(int status) noexcept = 0;

 protected:
  ~ConnectorListener() = default;
};

/// Connects to one server, by the first of its addresses that accepts: see AddressRace. Has no time
/// limit: the owner gives up by destroying it.
///
/// Belongs to the loop's thread. The listener is not called after the destruction.
class Connector {
 public:
  Connector(uv_loop_t* loop, ConnectorListener& listener);
  /// Closes every attempt.
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  /// Called once, and only one of the two. on_unconnected may be called inside the call.
  void connect(Addresses addresses, std::chrono::milliseconds limit);
  void connect(const std::string& path);

 private:
  struct Attempt;

  /// `last_status`: that of the last attempt that failed.
  void try_due_addresses(int last_status);
  void wait(std::chrono::milliseconds time);
  void on_attempt(std::size_t address, int status) noexcept;
  static void on_timer(uv_timer_t* timer) noexcept;

  uv_loop_t* loop_;
  ConnectorListener& listener_;
  Addresses addresses_;
  std::optional<AddressRace> race_;
  std::vector<std::unique_ptr<Attempt>> attempts_;  // by address; null: failed
  bool sockets_read_ = false;                       // since the next address was due
  Handle<uv_timer_t> timer_;                        // until the next address is due
};

}  // namespace redlock::uv
