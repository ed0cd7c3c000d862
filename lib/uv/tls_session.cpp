#include "uv/tls_session.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>

#include <utility>

#include "uv/address.hpp"
#include "uv/tls_refusal.hpp"

namespace redlock::uv {
namespace {

// The largest plain text of one record (RFC 8446, 5.1).
constexpr std::size_t record_size = 16384;

struct FreeBio {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, FreeBio>;

/// OpenSSL always checks the chain, but checks the name in the certificate only on request.
bool demand_identity(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* param = SSL_get0_param(ssl);
  if (parse_literal(host, 0)) {
    // Certificates know no interface scopes ("fe80::1%eth0").
    return X509_VERIFY_PARAM_set1_ip_asc(param, host.substr(0, host.find('%')).c_str()) == 1;
  }
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(param, host.data(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

}  // namespace

TlsSession::Result TlsSession::create(const TlsContext& context, const std::string& host) {
  ERR_clear_error();
  BioPtr incoming(BIO_new(BIO_s_mem()));
  BioPtr outgoing(BIO_new(BIO_s_mem()));
  SSL* ssl = SSL_new(context.get());
  auto session = std::make_unique<TlsSession>(Key{}, ssl, incoming.get(), outgoing.get(),
                                              context.files(), host);
  if (ssl == nullptr || !incoming || !outgoing) return "cannot create a TLS session";
  SSL_set_bio(ssl, incoming.release(), outgoing.release());
  SSL_set_connect_state(ssl);
  // An empty host would match any certificate.
  if (host.empty() || !demand_identity(ssl, host)) {
    return "TLS cannot verify the host name '" + host + "'";
  }
  if (SSL_set_app_data(ssl, session.get()) != 1) return "cannot create a TLS session";
  SSL_set_verify(ssl, SSL_VERIFY_PEER, on_verified);
  SSL_set_cert_cb(ssl, on_certificate_wanted, session.get());
  return session;
}

TlsSession::TlsSession(Key, SSL* ssl, BIO* incoming, BIO* outgoing, TlsFiles files,
                       std::string expected)
    : ssl_(ssl),
      incoming_(incoming),
      outgoing_(outgoing),
      record_(std::make_unique_for_overwrite<char[]>(record_size)),
      files_(std::move(files)),
      expected_(std::move(expected)) {}

bool TlsSession::receive(std::string_view ciphertext) {
  std::size_t taken = 0;
  return BIO_write_ex(incoming_, ciphertext.data(), ciphertext.size(), &taken) == 1 &&
         taken == ciphertext.size();
}

TlsSession::Status TlsSession::shake_hands() {
  ERR_clear_error();
  return classify(SSL_do_handshake(ssl_.get()), "TLS handshake failed: ");
}

TlsSession::Plaintext TlsSession::read() {
  ERR_clear_error();
  std::size_t size = 0;
  const int result = SSL_read_ex(ssl_.get(), record_.get(), record_size, &size);
  return {classify(result, "TLS failed: "), std::string_view(record_.get(), size)};
}

TlsSession::Status TlsSession::write(std::string_view plaintext) {
  ERR_clear_error();
  std::size_t taken = 0;
  const int result = SSL_write_ex(ssl_.get(), plaintext.data(), plaintext.size(), &taken);
  return classify(result, "TLS failed: ");
}

void TlsSession::say_close() {
  ERR_clear_error();
  // Fails if the handshake never ended or TLS broke: no farewell is due then.
  if (SSL_shutdown(ssl_.get()) < 0) ERR_clear_error();
}

std::string_view TlsSession::outgoing() const {
  char* data = nullptr;
  const long size = BIO_get_mem_data(outgoing_, &data);
  return size > 0 ? std::string_view(data, static_cast<std::size_t>(size)) : std::string_view();
}

void TlsSession::outgoing_sent() {
  // Cannot fail on a writable memory BIO; it keeps its memory for the next turn.
  static_cast<void>(BIO_reset(outgoing_));
}

int TlsSession::on_certificate_wanted(SSL* ssl, void* session) noexcept {
  auto& own = *static_cast<TlsSession*>(session);
  own.owes_certificate_ = SSL_get_certificate(ssl) == nullptr;
  if (!own.owes_certificate_) own.shown_certificate_ = own.files_.cert_file;
  return 1;
}

int TlsSession::on_verified(int accepted, X509_STORE_CTX* verified) noexcept {
  if (accepted == 1) return 1;
  const auto* const ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(verified, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& own = *static_cast<TlsSession*>(SSL_get_app_data(ssl));
  own.refusal_ = explain_refusal(verified, own.files_, own.expected_);
  return 0;
}

/// Explains the error that OpenSSL noticed first.
std::string TlsSession::explain_error(const char* doing) const {
  const unsigned long error = ERR_peek_error();
  const char* const words = ERR_reason_error_string(error);
  const std::string reason = words != nullptr ? words : "protocol error";
  switch (ERR_GET_REASON(error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
      return doing + ("the server does not speak TLS on this port (" + reason + ")");
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      if (owes_certificate_) {
        return "the server demands a client certificate, and none is configured (" + reason + ")";
      }
      if (shown_certificate_.empty()) break;
      return "the server refused the client certificate '" + shown_certificate_ + "': " + reason;
    default:
      break;
  }
  return doing + reason;
}

TlsSession::Status TlsSession::classify(int result, const char* doing) {
  if (result == 1) return Status::ok;
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Status::needs_input;
  if (error == SSL_ERROR_ZERO_RETURN) return Status::closed;
  error_ = refusal_.empty() ? explain_error(doing) : refusal_;
  ERR_clear_error();
  return Status::failed;
}

}  // namespace redlock::uv
