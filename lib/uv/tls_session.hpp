#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "uv/tls_context.hpp"

namespace redlock::uv {

/// The TLS of one connection without its socket: ciphertext in, plain text out, and the reverse.
/// After every call the owner sends what outgoing() holds.
class TlsSession {
  struct Key {};

 public:
  enum class Status {
    ok,
    needs_input,  ///< nothing more to do until receive() brings more
    closed,       ///< the peer has announced that it sends nothing more
    failed,       ///< see error()
  };

  /// A session ready for the handshake with `host`, the name or IP literal to which the peer's
  /// certificate must be issued; or why there can be none.
  using Result = std::variant<std::unique_ptr<TlsSession>, std::string>;
  [[nodiscard]] static Result create(const TlsContext& context, const std::string& host);

  /// Ciphertext from the peer. False: out of memory.
  [[nodiscard]] bool receive(std::string_view ciphertext);

  /// `ok` after the handshake is complete. Under TLS 1.3 the peer may still refuse our certificate
  /// later: read() reports it.
  [[nodiscard]] Status shake_hands();

  /// At most one record. The view is valid until the next call.
  struct Plaintext {
    Status status;
    std::string_view bytes;
  };
  [[nodiscard]] Plaintext read();

  [[nodiscard]] Status write(std::string_view plaintext);

  /// Announces to the peer that no data follows (close_notify).
  void say_close();

  /// Ciphertext for the peer, valid until the next call.
  [[nodiscard]] std::string_view outgoing() const;
  void outgoing_sent();

  /// The error in one line, after `failed`.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

  /// Whether the peer demands a client certificate and the context has none: such servers just hang
  /// up, and the alert that says so may be lost with the connection.
  [[nodiscard]] bool owes_certificate() const noexcept { return owes_certificate_; }

  /// The client certificate that the peer saw, and may hang up because of. Empty: it saw none.
  [[nodiscard]] const std::string& shown_certificate() const noexcept { return shown_certificate_; }

  TlsSession(Key, SSL* ssl, BIO* incoming, BIO* outgoing, TlsFiles files, std::string expected);
  ~TlsSession() = default;
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

 private:
  static int on_certificate_wanted(SSL* ssl, void* session) noexcept;
  static int on_verified(int accepted, X509_STORE_CTX* verified) noexcept;
  [[nodiscard]] Status classify(int result, const char* doing);
  [[nodiscard]] std::string explain_error(const char* doing) const;

  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };
  std::unique_ptr<SSL, Free> ssl_;
  BIO* incoming_;  // both belong to ssl_
  BIO* outgoing_;
  std::unique_ptr<char[]> record_;
  std::string error_ = "TLS failed";
  TlsFiles files_;
  std::string expected_;  // the name or address that the peer's certificate must have
  std::string refusal_;   // why the peer's certificate was refused
  std::string shown_certificate_;
  bool owes_certificate_ = false;
};

}  // namespace redlock::uv
