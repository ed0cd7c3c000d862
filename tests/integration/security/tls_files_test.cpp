// Certificates that are renewed while a client runs, and servers that are named by addresses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "integration/library.hpp"
#include "support/certificates.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;

[[nodiscard]] RedisServerOptions with_tls(const KeyPair& pair, ClientCertificates clients) {
  RedisServerOptions options;
  options.tls.emplace();
  options.tls->certificate = pair.certificate;
  options.tls->key = pair.key;
  options.tls->ca = certificates().ca;
  options.tls->clients = clients;
  return options;
}

/// Five servers that demand a certificate, and a client's TLS files, which tests replace.
class TlsFilesRenewed : public testing::Test {
 protected:
  TlsFilesRenewed() {
    put({certificates().ca}, "ca");
    put({certificates().client.certificate}, "cert");
    put({certificates().client.key}, "key");
  }

  /// Replaces the file by a rename.
  void put(const std::vector<fs::path>& sources, const std::string& name) {
    std::string text;
    for (const fs::path& source : sources) text += read_file(source);
    fs::rename(directory_.write("next", text), file(name));
  }
  [[nodiscard]] fs::path file(const std::string& name) const { return directory_.path() / name; }

  [[nodiscard]] ClientOptions options() const {
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < nodes_.size(); ++i) urls.push_back(nodes_[i].tls_url());
    ClientOptions options = patient(urls);
    options.tls.ca_file = file("ca");
    options.tls.certificate_file = file("cert");
    options.tls.key_file = file("key");
    options.on_node_event = log_.listener();
    return options;
  }
  void on_all(const Command& words) {
    for (RedisServer& server : nodes_) {
      if (!server.running()) continue;
      const Reply reply = server.command(words);
      EXPECT_FALSE(reply.is_error()) << reply.string;
    }
  }
  /// Whether a quorum grants a renewal on new connections.
  [[nodiscard]] bool survives_new_connections(Lease& lease) {
    on_all({"CLIENT", "KILL", "TYPE", "normal"});
    return eventually([&] { return lease.extend(seconds(20)).has_value(); }) &&
           !lease.lost().stop_requested();
  }
  [[nodiscard]] std::size_t warnings() const {
    std::size_t count = 0;
    for (const NodeEvent& event : log_.all()) count += event.kind == NodeEvent::Kind::warning;
    return count;
  }

  // The test opens the deployment itself, because the members' URLs are those of TLS.
  NewNodes nodes_{5, with_tls(certificates().server, ClientCertificates::required)};
  TempDir directory_;
  EventLog log_;
};

TEST_F(TlsFilesRenewed, AreUsedByTheNextConnectionsAndNoLeaseIsLost) {
  open_deployment(options());
  Client client = make_client(options());
  auto lease = client.try_acquire_for(fresh_resource(), seconds(30), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));

  put({certificates().ca, certificates().other_ca}, "ca");
  on_all({"CONFIG", "SET", "tls-cert-file", certificates().other_ca_server.certificate,
          "tls-key-file", certificates().other_ca_server.key});
  EXPECT_TRUE(survives_new_connections(*lease)) << "another authority of the servers";

  nodes_[0].kill();
  nodes_[2].kill();
  put({certificates().other_ca_client.certificate}, "cert");
  put({certificates().other_ca_client.key}, "key");
  on_all({"CONFIG", "SET", "tls-ca-cert-file", certificates().other_ca});
  EXPECT_TRUE(survives_new_connections(*lease)) << "another certificate of the client";
  // A connection that is made between the two renames keeps the former files, with a warning.
  for (const NodeEvent& event : log_.all()) {
    if (event.kind != NodeEvent::Kind::warning) continue;
    EXPECT_THAT(event.message, HasSubstr("key values mismatch"));
  }
  EXPECT_TRUE(succeeded(lease->release()));
}

TEST_F(TlsFilesRenewed, ThatCannotBeReadLeaveTheFormerOnesInUseWithOneWarning) {
  open_deployment(options());
  Client client = make_client(options());
  auto lease = client.try_acquire_for(fresh_resource(), seconds(30), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  fs::remove(file("ca"));
  EXPECT_TRUE(survives_new_connections(*lease));
  EXPECT_TRUE(survives_new_connections(*lease));
  EXPECT_EQ(warnings(), 1U);
  for (const NodeEvent& event : log_.all()) {
    if (event.kind != NodeEvent::Kind::warning) continue;
    EXPECT_THAT(event.message, HasSubstr("the former ones stay in use: cannot load the CA file"));
  }
}

class TlsServerName : public testing::Test {
 protected:
  [[nodiscard]] std::string url(const std::string& query = "") const {
    return server_.tls_url() + query;
  }
  [[nodiscard]] static ClientOptions trusting(std::string url) {
    ClientOptions options = patient({std::move(url)});
    options.tls.ca_file = certificates().ca;
    return options;
  }
  [[nodiscard]] static std::string refusal_of(const ClientOptions& options) {
    Client client = make_client(options);
    const auto refused = client.try_acquire(fresh_resource());
    return refused ? std::string() : refused.error().round.nodes.at(0).message;
  }

  RedisServer server_{
      with_tls(certificates().other_host_server, ClientCertificates::not_asked_for)};
};

TEST_F(TlsServerName, MayStandInTheUrlOrInTheOptions) {
  open_deployment(trusting(url("?server_name=elsewhere.invalid")));
  Client by_url = make_client(trusting(url("?server_name=elsewhere.invalid")));
  EXPECT_TRUE(succeeded(by_url.try_acquire(fresh_resource())));
  auto options = trusting(url());
  options.tls.server_name = "elsewhere.invalid";
  Client by_option = make_client(options);
  EXPECT_TRUE(succeeded(by_option.try_acquire(fresh_resource())));
  options.tls.server_name = "another.invalid";
  options.nodes = {url("?server_name=elsewhere.invalid")};
  Client by_both = make_client(options);
  EXPECT_TRUE(succeeded(by_both.try_acquire(fresh_resource()))) << "that of the URL counts";
}

TEST_F(TlsServerName, ThatACertificateLacksIsNamed) {
  EXPECT_EQ(refusal_of(trusting(url())),
            "certificate is for 'elsewhere.invalid', expected '127.0.0.1'");
  EXPECT_EQ(refusal_of(trusting(url("?server_name=redis-1"))),
            "certificate is for 'elsewhere.invalid', expected 'redis-1'");
}

TEST_F(TlsServerName, IsForNodesWithCertificates) {
  auto options = trusting("redis://127.0.0.1");
  options.tls = {};
  options.tls.server_name = "redis-1";
  ASSERT_TRUE(find_mistake(options));
  EXPECT_EQ(find_mistake(options)->message,
            "tls: a server name is given, but no node's URL is rediss://");
  options.nodes = {"rediss://127.0.0.1"};
  options.tls.server_name = "not a name";
  ASSERT_TRUE(find_mistake(options));
  EXPECT_THAT(find_mistake(options)->message, HasSubstr("tls: the server name: it is neither"));
}

TEST(TlsErrors, NameTheIssuerTheRefusedCertificateAndAPortWithoutTls) {
  const RedisServer server(with_tls(certificates().server, ClientCertificates::required));
  const auto options_of = [&](std::string url) {
    ClientOptions options = impatient({std::move(url)});
    options.tls.ca_file = certificates().ca;
    return options;
  };
  const auto message_of = [](ClientOptions options) {
    EventLog log;
    options.on_node_event = log.listener();
    const Client client = make_client(options);
    EXPECT_TRUE(log.wait_for(NodeEvent::Kind::down, 0));
    return log.last_message(NodeEvent::Kind::down, 0);
  };
  ClientOptions other = options_of(server.tls_url());
  other.tls.ca_file = certificates().other_ca;
  EXPECT_EQ(message_of(other),
            "the certificate's issuer 'CN=redlock test ca' is not in the CA file '" +
                certificates().other_ca.native() + "'");

  EXPECT_THAT(message_of(options_of(server.tls_url())), HasSubstr("client certificate"));

  ClientOptions foreign = options_of(server.tls_url());
  foreign.tls.certificate_file = certificates().other_ca_client.certificate;
  foreign.tls.key_file = certificates().other_ca_client.key;
  EXPECT_THAT(message_of(foreign), HasSubstr("refused the client certificate '" +
                                             certificates().other_ca_client.certificate.native()));

  EXPECT_THAT(message_of(options_of("rediss://127.0.0.1:" + std::to_string(server.port()))),
              testing::AnyOf(HasSubstr("does not speak TLS on this port"),
                             HasSubstr("Does the server speak TLS on this port?")));
}

}  // namespace
}  // namespace redlock::test
