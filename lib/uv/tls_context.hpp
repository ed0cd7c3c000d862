#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace redlock::uv {

/// PEM files; an empty name means "none".
struct TlsFiles {
  std::string ca_file;    ///< trusted authorities; none: the system's certificate store
  std::string cert_file;  ///< the client's certificate chain; needs key_file
  std::string key_file;   ///< the private key of that certificate, not encrypted
};

/// Shared by all TLS connections to a deployment: trusted authorities and the client certificate.
/// Peers are always verified, and TLS 1.2 is the oldest version accepted. Immutable, so threads may
/// share it.
class TlsContext {
  struct Key {};

 public:
  /// The context, or one line that says which file is at fault and why.
  using Result = std::variant<std::shared_ptr<const TlsContext>, std::string>;
  [[nodiscard]] static Result create(const TlsFiles& files);

  struct Free {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };
  TlsContext(Key, std::unique_ptr<SSL_CTX, Free> context, TlsFiles files) noexcept
      : context_(std::move(context)), files_(std::move(files)) {}

  /// Only for SSL_new(), which counts a reference and is thread-safe.
  [[nodiscard]] SSL_CTX* get() const noexcept { return context_.get(); }

  /// The files that the context was made from.
  [[nodiscard]] const TlsFiles& files() const noexcept { return files_; }

 private:
  std::unique_ptr<SSL_CTX, Free> context_;
  TlsFiles files_;
};

}  // namespace redlock::uv
