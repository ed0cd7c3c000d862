#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "support/sockets.hpp"
#include "tls_test_server.hpp"
#include "uv/resolver.hpp"
#include "uv/stream.hpp"
#include "uv/tls_context.hpp"
#include "uv_test_support.hpp"

namespace redlock::uv::test {
namespace {

using ClientCertificate = TlsEchoServer::ClientCertificate;

class StreamTlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // For the server: OpenSSL's socket interface raises SIGPIPE.
    signal(SIGPIPE, SIG_IGN);
    certificates = std::make_unique<Certificates>();
  }
  static void TearDownTestSuite() { certificates.reset(); }

  static TlsFiles trusting(const std::string& authority) {
    return {certificates->file(authority + ".pem"), "", ""};
  }
  static TlsFiles with_client_certificate() {
    return {certificates->file("ca.pem"), certificates->file("client.pem"),
            certificates->file("client.key")};
  }
  void open(const TlsEchoServer& server, const std::string& host, const TlsFiles& files,
            const std::string& server_name = "", Resolver* resolver = nullptr) {
    auto context = TlsContext::create(files);
    ASSERT_EQ(context.index(), 0U) << std::get<std::string>(context);
    Endpoint endpoint;
    endpoint.host = host;
    endpoint.port = server.port();
    endpoint.tls = std::get<0>(context);
    endpoint.server_name = server_name;
    endpoint.resolver = resolver;
    stream.emplace(loop.get(), recorder);
    stream->open(endpoint);
  }
  void expect_echo(const std::string& text) {
    ASSERT_TRUE(run_until(loop, [&] { return recorder.finished(); }));
    ASSERT_EQ(recorder.opened, 1) << recorder.failures[0].message;
    recorder.bytes.clear();
    stream->outbox() += text;
    stream->flush();
    ASSERT_TRUE(run_until(
        loop, [&] { return recorder.bytes.size() >= text.size() || !recorder.failures.empty(); }));
    ASSERT_TRUE(recorder.failures.empty()) << recorder.failures[0].message;
    EXPECT_EQ(recorder.bytes, text);
    EXPECT_EQ(stream->unsent(), 0U);
  }
  void expect_failure(const std::string& message) {
    ASSERT_TRUE(run_until(loop, [&] { return !recorder.failures.empty(); }));
    EXPECT_EQ(recorder.failures[0].kind, FailureKind::tls);
    EXPECT_EQ(recorder.failures[0].message, message);
    EXPECT_EQ(recorder.opened, 0);
  }
  static std::string error_of(const TlsFiles& files) {
    const auto result = TlsContext::create(files);
    const auto* error = std::get_if<std::string>(&result);
    return error != nullptr ? *error : "no error";
  }

  inline static std::unique_ptr<Certificates> certificates;
  Loop loop;
  Recorder recorder;
  std::optional<Stream> stream;
};

TEST_F(StreamTlsTest, TalksToAServerWhoseCertificateNamesTheHost) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  open(server, "localhost", trusting("ca"));
  expect_echo("hello");
  EXPECT_EQ(server.asked_name(), "localhost");
}

TEST_F(StreamTlsTest, ShakesHandsWithTheFirstAddressThatAccepts) {
  const redlock::test::SilentListener silent;
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  Resolver resolver(loop.get(), [&](const std::string&, std::uint16_t) {
    return ResolvedHost{
        nullptr,
        {*parse_literal("127.0.0.1", silent.port()), *parse_literal("127.0.0.1", server.port())}};
  });
  open(server, "localhost", trusting("ca"), "", &resolver);
  expect_echo("hello");
  EXPECT_EQ(server.asked_name(), "localhost");
  stream.reset();
}

TEST_F(StreamTlsTest, TalksToAServerWhoseCertificateNamesTheIpAddress) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  open(server, "127.0.0.1", trusting("ca"));
  expect_echo("hello");
  EXPECT_EQ(server.asked_name(), "") << "addresses do not belong into SNI";
}

TEST_F(StreamTlsTest, SpeaksTls12AsWell) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::demanded);
  server.speak_tls_1_2();
  open(server, "localhost", with_client_certificate());
  expect_echo("hello");
}

TEST_F(StreamTlsTest, CarriesEightMebibytesThereAndBack) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  open(server, "localhost", trusting("ca"));
  std::string text(8U << 20U, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 1001);
  expect_echo(text);
}

TEST_F(StreamTlsTest, AnswersAChangeOfKeysThatTheServerAsksFor) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  open(server, "localhost", trusting("ca"));
  expect_echo("rekey");
  expect_echo("after the change");
}

TEST_F(StreamTlsTest, KeepsBytesAppendedBeforeItIsOpenForTheFirstFlush) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  recorder.when_open = [&] { stream->flush(); };
  open(server, "localhost", trusting("ca"));
  stream->outbox() += "early";
  stream->flush();
  ASSERT_TRUE(run_until(loop, [&] { return recorder.bytes == "early"; }));
}

TEST_F(StreamTlsTest, RefusesAServerOfAnUnknownAuthority) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  open(server, "localhost", trusting("other-ca"));
  expect_failure("the certificate's issuer 'CN=ca' is not in the CA file '" +
                 certificates->file("other-ca.pem") + "'");
}

TEST_F(StreamTlsTest, RefusesACertificateMadeOutToAnotherHost) {
  TlsEchoServer server(*certificates, "stranger", ClientCertificate::ignored);
  open(server, "localhost", trusting("ca"));
  expect_failure("certificate is for 'redis.invalid', '192.0.2.1', expected 'localhost'");
}

TEST_F(StreamTlsTest, RefusesACertificateMadeOutToAnotherIpAddress) {
  TlsEchoServer server(*certificates, "stranger", ClientCertificate::ignored);
  open(server, "127.0.0.1", trusting("ca"));
  expect_failure("certificate is for 'redis.invalid', '192.0.2.1', expected '127.0.0.1'");
}

TEST_F(StreamTlsTest, ExpectsTheNameOfTheEndpointAndAsksForIt) {
  TlsEchoServer server(*certificates, "stranger", ClientCertificate::ignored);
  open(server, "127.0.0.1", trusting("ca"), "redis.invalid");
  expect_echo("hello");
  EXPECT_EQ(server.asked_name(), "redis.invalid");
}

TEST_F(StreamTlsTest, NamesTheExpectedNameOfTheEndpointThatACertificateLacks) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  open(server, "127.0.0.1", trusting("ca"), "redis-1");
  expect_failure("certificate is for 'localhost', '127.0.0.1', expected 'redis-1'");
}

TEST_F(StreamTlsTest, NamesTheDayOnWhichACertificateExpired) {
  certificates->expire("server", "expired");
  TlsEchoServer server(*certificates, "expired", ClientCertificate::ignored);
  open(server, "localhost", trusting("ca"));
  expect_failure("certificate expired on 2001-09-09 01:46:40 UTC");
}

TEST_F(StreamTlsTest, RefusesACertificateThatSignedItself) {
  TlsEchoServer server(*certificates, "other-ca", ClientCertificate::ignored);
  open(server, "localhost", trusting("ca"));
  expect_failure("certificate 'CN=other-ca' signed itself, and is not in the CA file '" +
                 certificates->file("ca.pem") + "'");
}

TEST_F(StreamTlsTest, ShowsItsClientCertificateToAServerThatDemandsOne) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::demanded);
  open(server, "localhost", with_client_certificate());
  expect_echo("hello");
}

TEST_F(StreamTlsTest, SaysSoWhenTheServerDemandsAClientCertificateAndThereIsNone) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::demanded);
  recorder.when_open = [&] {
    stream->outbox() += "hello";
    stream->flush();
  };
  open(server, "localhost", trusting("ca"));
  ASSERT_TRUE(run_until(loop, [&] { return !recorder.failures.empty(); }));
  EXPECT_EQ(recorder.failures[0].kind, FailureKind::tls);
  // The alert if it arrived, our own observation if a reset swept it away.
  EXPECT_NE(recorder.failures[0].message.find("certificate"), std::string::npos)
      << recorder.failures[0].message;
}

TEST_F(StreamTlsTest, ReportsAServerThatDoesNotSpeakTls) {
  LoopbackServer plain(loop, LoopbackServer::Ip{"127.0.0.1"});
  plain.when_bytes = [&](std::string_view) {
    plain.when_bytes = nullptr;
    plain.send("-ERR Protocol error\r\n");
  };
  Endpoint endpoint = plain.endpoint("127.0.0.1");
  endpoint.tls = std::get<0>(TlsContext::create(trusting("ca")));
  stream.emplace(loop.get(), recorder);
  stream->open(endpoint);
  expect_failure(
      "TLS handshake failed: the server does not speak TLS on this port (wrong version number)");
}

TEST_F(StreamTlsTest, ReportsAServerThatHangsUpDuringTheHandshake) {
  LoopbackServer plain(loop, LoopbackServer::Ip{"127.0.0.1"});
  plain.when_bytes = [&](std::string_view) { plain.hang_up(); };
  Endpoint endpoint = plain.endpoint("127.0.0.1");
  endpoint.tls = std::get<0>(TlsContext::create(trusting("ca")));
  stream.emplace(loop.get(), recorder);
  stream->open(endpoint);
  expect_failure("TLS handshake failed: connection closed by the server");
}

TEST_F(StreamTlsTest, ReportsTheEndWhenTheServerSaysGoodBye) {
  std::optional<TlsEchoServer> server(std::in_place, *certificates, "server",
                                      ClientCertificate::ignored);
  open(*server, "localhost", trusting("ca"));
  expect_echo("hello");
  server.reset();
  ASSERT_TRUE(run_until(loop, [&] { return !recorder.failures.empty(); }));
  EXPECT_EQ(recorder.failures[0].kind, FailureKind::closed_by_peer);
  EXPECT_EQ(recorder.failures[0].message, "connection closed by the server");
}

TEST_F(StreamTlsTest, MayBeDestroyedFromInsideAnyCallback) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  recorder.when_open = [&] { stream.reset(); };
  open(server, "localhost", trusting("ca"));
  ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));

  recorder = Recorder();
  open(server, "localhost", trusting("ca"));
  expect_echo("hello");
  recorder.when_bytes = [&] { stream.reset(); };
  stream->outbox() += "again";
  stream->flush();
  ASSERT_TRUE(run_until(loop, [&] { return !stream.has_value(); }));
  EXPECT_EQ(recorder.last_chunk, "again");
  EXPECT_TRUE(recorder.failures.empty());
}

TEST_F(StreamTlsTest, MayBeClosedGracefullyWithBytesInTheOutbox) {
  TlsEchoServer server(*certificates, "server", ClientCertificate::ignored);
  open(server, "localhost", trusting("ca"));
  expect_echo("hello");
  stream->outbox() += "bye";
  stream->close(CloseMode::graceful);
  loop.run();
  EXPECT_TRUE(recorder.failures.empty());
}

TEST_F(StreamTlsTest, AUnixSocketCannotHaveTls) {
  Endpoint endpoint;
  endpoint.kind = Endpoint::Kind::unix_socket;
  endpoint.path = "/nowhere";
  endpoint.tls = std::get<0>(TlsContext::create(trusting("ca")));
  stream.emplace(loop.get(), recorder);
  stream->open(endpoint);
  expect_failure("TLS over a Unix socket has no host name to verify");
}

TEST_F(StreamTlsTest, AContextWithoutFilesTrustsTheSystem) {
  EXPECT_EQ(error_of(TlsFiles{}), "no error");
}

TEST_F(StreamTlsTest, AContextNamesTheFileAtFault) {
  const std::string ca = certificates->file("ca.pem");
  const std::string cert = certificates->file("client.pem");
  const std::string key = certificates->file("client.key");
  const std::string missing = certificates->file("missing.pem");
  const std::string rubbish = certificates->file("rubbish.pem");
  std::ofstream(rubbish) << "no certificate\n";

  EXPECT_EQ(error_of({missing, "", ""}),
            "cannot load the CA file '" + missing + "': No such file or directory");
  EXPECT_EQ(error_of({rubbish, "", ""}),
            "cannot load the CA file '" + rubbish + "': no certificate or crl found");
  EXPECT_EQ(error_of({ca, cert, ""}),
            "the client certificate '" + cert + "' needs its private key file");
  EXPECT_EQ(error_of({ca, "", key}),
            "the private key '" + key + "' needs its client certificate file");
  EXPECT_EQ(error_of({ca, rubbish, key}).find("cannot load the client certificate '" + rubbish),
            0U);
  const std::string foreign = certificates->file("server.key");
  EXPECT_EQ(error_of({ca, cert, foreign}),
            "cannot load the private key '" + foreign + "': key values mismatch");
  const std::string encrypted = certificates->file("encrypted.key");
  EXPECT_EQ(error_of({ca, cert, encrypted}).find("cannot load the private key '" + encrypted), 0U)
      << "it must not ask for the passphrase on the terminal";
}

}  // namespace
}  // namespace redlock::uv::test
