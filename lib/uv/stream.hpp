#pragma once

#include <uv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "uv/socket.hpp"
#include "uv/tls_context.hpp"

namespace redlock::uv {

class Resolver;

/// The address at which a server listens, and how to connect to it.
struct Endpoint {
  using Kind = Socket::Kind;

  Kind kind = Kind::tcp;
  std::string host;                         ///< tcp: a name, or an IP literal without brackets
  std::uint16_t port = 0;                   ///< tcp
  std::string path;                         ///< unix_socket
  std::shared_ptr<const TlsContext> tls{};  ///< tcp; null: plain
  /// tcp: shared by the streams to this server, and outlives them. Null: every stream has its own,
  /// and begins at the first address.
  Resolver* resolver = nullptr;
  /// tcp: after what time the owner of a stream may give up connecting. The more addresses the host
  /// has, the sooner they are tried.
  std::chrono::milliseconds connect_limit{1000};
  std::string refused{};  ///< why nobody may connect to it; empty: connecting is allowed
  /// With TLS: the name, or IP literal, that the server's certificate must have; empty: the host.
  std::string server_name{};
};

enum class FailureKind {
  resolve,         ///< the host name has no address
  connect,         ///< no address accepted the connection
  tls,             ///< handshake, certificate or protocol
  closed_by_peer,  ///< end of stream or reset
  io,              ///< everything else that ends a connection
};

struct Failure {
  FailureKind kind;
  std::string message;  ///< one line without the server's name: "connection refused"
};

class StreamListener {
 public:
  /// Connected, and under TLS the handshake is complete. A server that refuses our client
  /// certificate may say so only afterwards (TLS 1.3).
  virtual void on_open() noexcept = 0;
  /// `bytes` is plain text, valid until the call returns.
  virtual void on_bytes(std::string_view bytes) noexcept = 0;
  /// The last call, once: the connection is gone.
  virtual void on_failure(const Failure& failure) noexcept = 0;

 protected:
  ~StreamListener() = default;
};

/// A byte stream to one server over TCP or a Unix socket, with TLS if the endpoint says so. Opened
/// once, closed once, never reused: everything that belongs to a connection ends with it.
///
/// Belongs to the loop's thread. The listener is called on the loop only, never from inside a call
/// to the stream, and never after close() or destruction; it may close or destroy the stream from
/// inside any callback. Plain sending and receiving allocate nothing once the buffers have grown.
class Stream {
 public:
  Stream(uv_loop_t* loop, StreamListener& listener);
  /// Closes by reset. The memory that libuv still needs is kept until the loop has run once more.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Called once. Resolves the name unless it is a literal, and connects to the first of its
  /// addresses that accepts, see Connector. Has no time limit: the owner gives up by close().
  void open(const Endpoint& endpoint);

  /// Called after on_open if the server answers as it should. The next stream of the endpoint's
  /// resolver then starts at this address; without this call, at the address after it.
  void server_works() noexcept;

  /// Bytes to send are appended here, plain also under TLS. Bytes appended before on_open wait for
  /// the first flush() after it.
  [[nodiscard]] std::string& outbox() noexcept;

  /// Sends the outbox with one system call. The bytes that the kernel does not take follow when it
  /// can, in order; later bytes gather in the outbox meanwhile and follow by themselves if flush()
  /// was called for them. Does nothing unless open.
  void flush();

  /// Connected, and the server has not completed the handshake of TLS.
  [[nodiscard]] bool shaking_hands() const noexcept;

  /// The address that accepted: "10.0.0.7:6379"; empty: none did, or it is a Unix socket.
  [[nodiscard]] std::string peer() const;

  /// Number of bytes that the kernel has not taken (under TLS encrypted bytes are counted as such).
  [[nodiscard]] std::size_t unsent() const noexcept;

  /// graceful: flushes what the kernel takes at once, then closes without waiting.
  void close(CloseMode mode);

 private:
  class Connection;
  std::shared_ptr<Connection> connection_;
};

}  // namespace redlock::uv
