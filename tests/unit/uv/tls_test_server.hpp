#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "uv_test_support.hpp"

namespace redlock::uv::test {

/// Two authorities and the certificates they issued, made with the openssl command line.
class Certificates {
 public:
  Certificates() {
    make_authority("ca");
    make_authority("other-ca");
    issue("server", "subjectAltName=DNS:localhost,IP:127.0.0.1");
    issue("stranger", "subjectAltName=DNS:redis.invalid,IP:192.0.2.1");
    issue("client", "subjectAltName=DNS:client.invalid");
    run("ec -in " + file("client.key") + " -aes128 -passout pass:secret -out " +
        file("encrypted.key"));
  }

  /// A copy of a certificate that ended in 2001, with the same key.
  void expire(const std::string& name, const std::string& copy) const {
    const auto open_file = [this](const std::string& which, const char* mode) {
      Bio bio(BIO_new_file(file(which).c_str(), mode), BIO_free);
      if (!bio) throw std::runtime_error(which);
      return bio;
    };
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        PEM_read_bio_X509(open_file(name + ".pem", "r").get(), nullptr, nullptr, nullptr),
        X509_free);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> authority(
        PEM_read_bio_PrivateKey(open_file("ca.key", "r").get(), nullptr, nullptr, nullptr),
        EVP_PKEY_free);
    ASN1_TIME_set(X509_getm_notBefore(certificate.get()), 900'000'000);
    ASN1_TIME_set(X509_getm_notAfter(certificate.get()), 1'000'000'000);
    if (X509_sign(certificate.get(), authority.get(), EVP_sha256()) == 0) {
      throw std::runtime_error("X509_sign");
    }
    PEM_write_bio_X509(open_file(copy + ".pem", "w").get(), certificate.get());
    run("ec -in " + file(name + ".key") + " -out " + file(copy + ".key"));
  }

  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }

 private:
  using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
  static constexpr const char* new_key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes ";

  void make_authority(const std::string& name) {
    run(std::string("req -x509 -days 2 ") + new_key + "-subj /CN=" + name + " -keyout " +
        file(name + ".key") + " -out " + file(name + ".pem"));
  }
  void issue(const std::string& name, const std::string& extension) {
    run(std::string("req -x509 -days 2 ") + new_key + "-subj /CN=" + name + " -CA " +
        file("ca.pem") + " -CAkey " + file("ca.key") + " -addext " + extension + " -keyout " +
        file(name + ".key") + " -out " + file(name + ".pem"));
  }
  static void run(const std::string& arguments) {
    const std::string command = "openssl " + arguments + " >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
  }

  TemporaryDirectory directory_;
};

/// Echoes for one client after the other. It uses OpenSSL's blocking interface in a thread of its
/// own: an implementation that shares nothing with the one under test.
class TlsEchoServer {
 public:
  enum class ClientCertificate { ignored, demanded };

  TlsEchoServer(const Certificates& files, const std::string& name, ClientCertificate client)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
    SSL_CTX* ctx = context_.get();
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    const std::string cert = files.file(name + ".pem");
    const std::string key = files.file(name + ".key");
    EXPECT_EQ(SSL_CTX_use_certificate_chain_file(ctx, cert.c_str()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(ctx, key.c_str(), SSL_FILETYPE_PEM), 1);
    EXPECT_EQ(SSL_CTX_load_verify_file(ctx, files.file("ca.pem").c_str()), 1);
    switch (client) {
      case ClientCertificate::ignored:
        break;
      case ClientCertificate::demanded:
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
        break;
    }
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listening_, generic, size), 0);
    EXPECT_EQ(::listen(listening_, 16), 0);
    EXPECT_EQ(::getsockname(listening_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }

  ~TlsEchoServer() {
    stopping_ = true;
    thread_.join();
    ::close(listening_);
  }

  TlsEchoServer(const TlsEchoServer&) = delete;
  TlsEchoServer& operator=(const TlsEchoServer&) = delete;

  /// Refuses TLS 1.3, whose handshake ends differently.
  void speak_tls_1_2() { SSL_CTX_set_max_proto_version(context_.get(), TLS1_2_VERSION); }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string asked_name() const {
    const std::lock_guard lock(mutex_);
    return asked_name_;
  }

 private:
  [[nodiscard]] bool wait_readable(int fd) const {
    pollfd waiting{fd, POLLIN, 0};
    while (!stopping_) {
      if (::poll(&waiting, 1, 10) > 0) return true;
    }
    return false;
  }
  void serve() {
    while (wait_readable(listening_)) {
      const int fd = ::accept(listening_, nullptr, nullptr);
      if (fd < 0) continue;
      echo(fd);
      ::close(fd);
    }
  }
  void echo(int fd) {
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context_.get()), SSL_free);
    SSL_set_fd(ssl.get(), fd);
    // A client that stops half-way must not hang the test.
    const timeval patience{180, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (SSL_accept(ssl.get()) != 1) return;
    if (const char* name = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name)) {
      const std::lock_guard lock(mutex_);
      asked_name_ = name;
    }
    std::vector<char> buffer(65536);
    while (SSL_pending(ssl.get()) > 0 || wait_readable(fd)) {
      const int size = SSL_read(ssl.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (size <= 0) break;
      if (std::string_view(buffer.data(), static_cast<std::size_t>(size)) == "rekey") {
        SSL_key_update(ssl.get(), SSL_KEY_UPDATE_REQUESTED);
      }
      if (SSL_write(ssl.get(), buffer.data(), size) <= 0) break;
    }
    SSL_shutdown(ssl.get());
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::string asked_name_;
  std::thread thread_;
};

}  // namespace redlock::uv::test
