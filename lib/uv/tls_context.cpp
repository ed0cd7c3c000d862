#include "uv/tls_context.hpp"

#include <openssl/err.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

namespace redlock::uv {
namespace {

/// The oldest entry of OpenSSL's queue is the cause; the later ones are the callers that passed it
/// on.
std::string take_openssl_error() {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return reason != nullptr ? reason : "unknown OpenSSL error";
}

std::string cannot_load(const char* role, const std::string& file, const std::string& why) {
  return std::string("cannot load the ") + role + " '" + file + "': " + why;
}

/// OpenSSL reports a missing file as a nameless system error, so the file is checked first.
std::optional<std::string> unreadable(const char* role, const std::string& file) {
  errno = 0;
  const std::ifstream probe(file);
  if (probe.is_open()) return std::nullopt;
  return cannot_load(role, file, std::generic_category().message(errno));
}

std::optional<std::string> load_trust(SSL_CTX* context, const std::string& ca_file) {
  if (ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return std::nullopt;
    return "cannot load the system's certificate store: " + take_openssl_error();
  }
  constexpr const char* role = "CA file";
  if (auto error = unreadable(role, ca_file)) return error;
  if (SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1) return std::nullopt;
  return cannot_load(role, ca_file, take_openssl_error());
}

std::optional<std::string> load_client_certificate(SSL_CTX* context, const TlsFiles& files) {
  if (files.cert_file.empty() && files.key_file.empty()) return std::nullopt;
  if (files.key_file.empty()) {
    return "the client certificate '" + files.cert_file + "' needs its private key file";
  }
  if (files.cert_file.empty()) {
    return "the private key '" + files.key_file + "' needs its client certificate file";
  }
  constexpr const char* cert_role = "client certificate";
  constexpr const char* key_role = "private key";
  if (auto error = unreadable(cert_role, files.cert_file)) return error;
  if (auto error = unreadable(key_role, files.key_file)) return error;
  if (SSL_CTX_use_certificate_chain_file(context, files.cert_file.c_str()) != 1) {
    return cannot_load(cert_role, files.cert_file, take_openssl_error());
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return cannot_load(key_role, files.key_file, take_openssl_error());
  }
  return std::nullopt;
}

int refuse_passphrase(char*, int, int, void*) { return 0; }

std::optional<std::string> configure(SSL_CTX* context, const TlsFiles& files) {
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
    return "cannot require TLS 1.2: " + take_openssl_error();
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // The default callback would ask for the passphrase of an encrypted key on the terminal.
  SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
  if (auto error = load_trust(context, files.ca_file)) return error;
  return load_client_certificate(context, files);
}

}  // namespace

TlsContext::Result TlsContext::create(const TlsFiles& files) {
  ERR_clear_error();
  std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  if (!context) return "cannot create a TLS context: " + take_openssl_error();
  if (auto error = configure(context.get(), files)) return *std::move(error);
  return std::make_shared<const TlsContext>(Key{}, std::move(context), files);
}

}  // namespace redlock::uv
