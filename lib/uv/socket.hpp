#pragma once

#include <uv.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "uv/address.hpp"

namespace redlock::uv {

/// How a connection ends.
enum class CloseMode {
  graceful,  ///< bytes that the kernel has taken are still delivered
  reset,     ///< TCP: SO_LINGER {1,0}, our kernel drops the bytes that it has not delivered. Bytes
          ///< in the server's receive buffer are out of reach: Linux 6.18 lets a server read (and
          ///< execute) them after the reset; on a Unix socket all sent bytes are there
};

/// Receives the end of an attempt to connect. Statuses are libuv's.
class ConnectListener {
 public:
  virtual void on_connected(int status) noexcept = 0;

 protected:
  ~ConnectListener() = default;
};

/// Receives the events of one connected socket. Statuses are libuv's.
class SocketListener {
 public:
  /// `bytes` is valid until the call returns, even if the call destroys the socket.
  virtual void on_read(std::string_view bytes) noexcept = 0;
  virtual void on_read_end(int status) noexcept = 0;
  virtual void on_sent_later(int status) noexcept = 0;

 protected:
  ~SocketListener() = default;
};

/// One connected socket, TCP or Unix, for one attempt to connect. The listeners are never called
/// after close() or the destructor, and may cause either from inside any callback.
class Socket {
 public:
  enum class Kind { tcp, unix_socket };

  Socket(uv_loop_t* loop, Kind kind);
  Socket(Socket&&) noexcept;
  /// Closes by reset.
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;

  /// Called once, and only the overload for the socket's kind. on_connected follows if the result
  /// is zero.
  [[nodiscard]] int connect(const Address& address, ConnectListener& listener);
  [[nodiscard]] int connect(const std::string& path, ConnectListener& listener);

  /// After on_connected.
  [[nodiscard]] int start_reading(SocketListener& listener);

  /// Makes one system call. Returns how many bytes the kernel took, possibly none, or an error.
  [[nodiscard]] std::ptrdiff_t try_send(std::string_view bytes) noexcept;

  /// Sends `bytes` from `offset` on whenever the kernel takes them; on_sent_later follows if the
  /// result is zero. `bytes` is swapped for an empty string with some capacity. Must not be called
  /// while is_sending_later().
  [[nodiscard]] int send_later(std::string& bytes, std::size_t offset);
  [[nodiscard]] bool is_sending_later() const noexcept;
  [[nodiscard]] std::size_t unsent() const noexcept;

  void close(CloseMode mode) noexcept;

 private:
  struct State;

  static void on_connect(uv_connect_t* request, int status) noexcept;
  static void on_allocate(uv_handle_t* handle, std::size_t suggested, uv_buf_t* buffer) noexcept;
  static void on_input(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) noexcept;
  static void on_write(uv_write_t* request, int status) noexcept;
  static void on_closed(uv_handle_t* handle) noexcept;

  std::unique_ptr<State> state_;  // released to on_closed by close()
};

}  // namespace redlock::uv
