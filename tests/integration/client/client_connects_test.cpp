// The ways to reach a real deployment: addresses, users, databases, TLS.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/library.hpp"
#include "support/certificates.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

[[nodiscard]] testing::AssertionResult locks(ClientOptions options) {
  auto client = Client::create(std::move(options));
  if (!client) return testing::AssertionFailure() << client.error().message;
  auto lease = client->try_acquire(fresh_resource());
  if (!lease) return testing::AssertionFailure() << lease.error().message;
  return succeeded(lease->release());
}

/// The vote of a client's only node.
[[nodiscard]] NodeVote only_vote(ClientOptions options) {
  Client client = make_client(std::move(options));
  auto lease = client.try_acquire(fresh_resource());
  EXPECT_TRUE(failed_with(lease, Errc::unavailable));
  if (lease || lease.error().round.nodes.size() != 1) return {};
  EXPECT_THAT(lease.error().message, HasSubstr(lease.error().round.nodes[0].message));
  return lease.error().round.nodes[0];
}

[[nodiscard]] std::string host_url(const std::string& scheme, const std::string& host,
                                   std::uint16_t port) {
  return scheme + "://" + host + ":" + std::to_string(port);
}

class ClientPassword : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RedisServerOptions options;
    options.password = "s3cret/@ word";
    server_ = std::make_unique<RedisServer>(options);
    ClientOptions everybody = patient({at_server("")});
    everybody.password = options.password;
    open_deployment(everybody);
    server_->command({"ACL", "SETUSER", "locker", "on", ">l0cker", "~*", "+@all"});
    server_->command({"ACL", "SETUSER", "reader", "on", ">r3ader", "~*", "+@all", "-set"});
  }
  static void TearDownTestSuite() { server_.reset(); }
  [[nodiscard]] static std::string at_server(const std::string& credentials) {
    return "redis://" + credentials + "127.0.0.1:" + std::to_string(server_->port());
  }
  static std::unique_ptr<RedisServer> server_;
};

std::unique_ptr<RedisServer> ClientPassword::server_;

TEST_F(ClientPassword, MayStandInTheUrlOrInTheOptions) {
  EXPECT_TRUE(locks(patient({at_server(":s3cret%2F%40%20word@")})));
  auto options = patient({at_server("")});
  options.password = "s3cret/@ word";
  EXPECT_TRUE(locks(options));
}

TEST_F(ClientPassword, BelongsToAnAclUser) {
  EXPECT_TRUE(locks(patient({at_server("locker:l0cker@")})));
  auto options = patient({at_server("")});
  options.user = "locker";
  options.password = "l0cker";
  EXPECT_TRUE(locks(options));
}

TEST_F(ClientPassword, IsAnErrorInTheServersWordsWhenItIsWrong) {
  const auto vote = only_vote(patient({at_server(":n0tmys3cret@")}));
  EXPECT_EQ(vote.vote, Vote::error);
  EXPECT_THAT(vote.message, HasSubstr("WRONGPASS invalid username-password pair"));
  EXPECT_THAT(vote.message, Not(HasSubstr("n0tmys3cret")));
  EXPECT_THAT(vote.url, Not(HasSubstr("n0tmys3cret")));
}

TEST_F(ClientPassword, IsMissedInTheServersWords) {
  const auto vote = only_vote(patient({at_server("")}));
  EXPECT_EQ(vote.vote, Vote::error);
  EXPECT_THAT(vote.message, HasSubstr("NOAUTH Authentication required"));
}

TEST_F(ClientPassword, OfAUserWhoMayNotSetIsAnErrorOfTheCommand) {
  const auto vote = only_vote(patient({at_server("reader:r3ader@")}));
  EXPECT_EQ(vote.vote, Vote::error);
  EXPECT_THAT(vote.message, HasSubstr("NOPERM"));
}

TEST_F(ClientPassword, IsNeverShown) {
  auto options = patient({at_server(":s3cret%2F%40%20word@")});
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  auto lease = client.try_acquire(fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  EXPECT_THAT(lease->round().nodes.at(0).url, Not(HasSubstr("s3cret")));
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::up, 0));
  for (const NodeEvent& event : log.all()) EXPECT_THAT(event.url, Not(HasSubstr("s3cret")));
}

TEST_F(ClientPassword, MayBeChangedOnTheServerAndIsAskedForAtTheNextConnection) {
  server_->command({"ACL", "SETUSER", "passing", "on", ">one", "~*", "+@all"});
  Client client = make_client(patient({at_server("passing:one@")}));
  ASSERT_TRUE(succeeded(client.try_acquire(fresh_resource())));
  server_->command({"ACL", "DELUSER", "passing"});
  ASSERT_TRUE(eventually([&] {
    auto refused = client.try_acquire(fresh_resource());
    return !refused && refused.error().message.find("WRONGPASS") != std::string::npos;
  }));
  server_->command({"ACL", "SETUSER", "passing", "on", ">one", "~*", "+@all"});
  EXPECT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
}

TEST(ClientAddress, MayNameADatabase) {
  const RedisServer& server = shared_nodes(1)[0];
  const auto url = server.url();
  // Database 3 is a deployment of its own.
  open_deployment(patient({url + "/3"}));
  Client client = make_client(patient({url + "/3"}));
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(server.get(resource), std::nullopt) << "in database 0";
  EXPECT_TRUE(locks(patient({url})));
  EXPECT_TRUE(failed_with(client.try_acquire(resource), Errc::held));
  Client same = make_client(patient({server.unix_url() + "?db=3"}));
  EXPECT_TRUE(failed_with(same.try_acquire(resource), Errc::held));
}

TEST(ClientAddress, MayNameADatabaseThatIsNotThere) {
  const auto vote = only_vote(patient({shared_nodes(1)[0].url() + "/99"}));
  EXPECT_EQ(vote.vote, Vote::error);
  EXPECT_THAT(vote.message, HasSubstr("DB index is out of range"));
}

TEST(ClientAddress, MayBeAUnixSocket) {
  EXPECT_TRUE(locks(patient({shared_nodes(1)[0].unix_url()})));
  const auto vote = only_vote(patient({"unix:///there/is/no.sock"}));
  EXPECT_EQ(vote.vote, Vote::unreachable);
  EXPECT_THAT(vote.message, HasSubstr("no such file"));
}

TEST(ClientAddress, MayBeAHostName) {
  EXPECT_TRUE(locks(patient({host_url("redis", "localhost", shared_nodes(1)[0].port())})));
  EXPECT_TRUE(locks(patient({shared_nodes(1)[0].url()})));
}

TEST(ClientAddress, MayBeAHostNameThatNobodyKnows) {
  const auto vote = only_vote(patient({"redis://no-such-host.invalid:6379"}));
  EXPECT_EQ(vote.vote, Vote::unreachable);
  EXPECT_FALSE(vote.message.empty());
}

TEST(ClientAddress, MayBeAnIpv6Address) {
  std::unique_ptr<RedisServer> server;
  try {
    RedisServerOptions options;
    options.bind = "::1";
    server = std::make_unique<RedisServer>(options);
  } catch (const std::exception& problem) {
    GTEST_SKIP() << "no IPv6 here: " << problem.what();
  }
  const ClientOptions options = patient({host_url("redis", "[::1]", server->port())});
  open_deployment(options);
  EXPECT_TRUE(locks(options));
}

TEST(ClientAddress, MayBeOneWhereNobodyListens) {
  RedisServer gone;
  gone.kill();
  const auto vote = only_vote(patient({gone.url()}));
  EXPECT_EQ(vote.vote, Vote::unreachable);
  EXPECT_THAT(vote.message, HasSubstr("refused"));
}

class ClientTls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto& made = certificates();
    server_ = start(made.server, ClientCertificates::not_asked_for, "");
    guarded_ = start(made.server, ClientCertificates::required, "pass");
    elsewhere_ = start(made.other_host_server, ClientCertificates::not_asked_for, "");
  }
  static void TearDownTestSuite() {
    server_.reset();
    guarded_.reset();
    elsewhere_.reset();
  }
  [[nodiscard]] static std::unique_ptr<RedisServer> start(const KeyPair& pair,
                                                          ClientCertificates clients,
                                                          const std::string& password) {
    RedisServerOptions options;
    options.password = password;
    options.tls.emplace();
    options.tls->certificate = pair.certificate;
    options.tls->key = pair.key;
    options.tls->ca = certificates().ca;
    options.tls->clients = clients;
    return std::make_unique<RedisServer>(options);
  }
  [[nodiscard]] static ClientOptions trusting(const std::filesystem::path& ca, std::string url) {
    auto options = patient({std::move(url)});
    options.tls.ca_file = ca;
    return options;
  }
  static std::unique_ptr<RedisServer> server_;
  static std::unique_ptr<RedisServer> guarded_;
  static std::unique_ptr<RedisServer> elsewhere_;
};

std::unique_ptr<RedisServer> ClientTls::server_;
std::unique_ptr<RedisServer> ClientTls::guarded_;
std::unique_ptr<RedisServer> ClientTls::elsewhere_;

TEST_F(ClientTls, LocksOverAVerifiedConnection) {
  open_deployment(trusting(certificates().ca, server_->tls_url()));
  EXPECT_TRUE(locks(trusting(certificates().ca, server_->tls_url())));
  EXPECT_TRUE(
      locks(trusting(certificates().ca, host_url("rediss", "localhost", server_->tls_port()))));
}

TEST_F(ClientTls, RefusesACertificateOfAnotherAuthority) {
  const auto vote = only_vote(trusting(certificates().other_ca, server_->tls_url()));
  EXPECT_EQ(vote.vote, Vote::unreachable);
  EXPECT_THAT(vote.message, HasSubstr("certificate"));
}

TEST_F(ClientTls, RefusesWhatTheSystemsStoreDoesNotVouchFor) {
  const auto vote = only_vote(patient({server_->tls_url()}));
  EXPECT_EQ(vote.vote, Vote::unreachable);
  EXPECT_THAT(vote.message, HasSubstr("certificate"));
}

TEST_F(ClientTls, RefusesACertificateForAnotherHost) {
  const auto vote = only_vote(trusting(certificates().ca, elsewhere_->tls_url()));
  EXPECT_EQ(vote.vote, Vote::unreachable);
  EXPECT_EQ(vote.message, "certificate is for 'elsewhere.invalid', expected '127.0.0.1'");
}

TEST_F(ClientTls, GivesItsCertificateWhereOneIsDemandedAndItsPasswordToo) {
  auto options = trusting(certificates().ca, guarded_->tls_url());
  options.tls.certificate_file = certificates().client.certificate;
  options.tls.key_file = certificates().client.key;
  open_deployment(options);
  EXPECT_TRUE(locks(options));
  options.nodes = {host_url("rediss", "127.0.0.1", guarded_->tls_port())};
  options.password = "pass";
  EXPECT_TRUE(locks(options));
  options.password = "wrong";
  EXPECT_THAT(only_vote(options).message, HasSubstr("WRONGPASS"));
}

TEST_F(ClientTls, IsRefusedWithoutTheCertificateThatIsDemanded) {
  const auto vote = only_vote(trusting(certificates().ca, guarded_->tls_url()));
  EXPECT_EQ(vote.vote, Vote::unreachable);
  EXPECT_FALSE(vote.message.empty());
}

TEST_F(ClientTls, IsRefusedWithACertificateOfAnotherAuthority) {
  auto options = trusting(certificates().ca, guarded_->tls_url());
  options.tls.certificate_file = certificates().other_ca_client.certificate;
  options.tls.key_file = certificates().other_ca_client.key;
  EXPECT_EQ(only_vote(options).vote, Vote::unreachable);
}

TEST_F(ClientTls, TellsAPlainServerFromATlsServer) {
  // TLS is spoken to the plain port, which waits for more bytes, and plain Redis to the TLS port.
  auto options = impatient({host_url("rediss", "127.0.0.1", server_->port())});
  options.tls.ca_file = certificates().ca;
  const auto tls = only_vote(options);
  EXPECT_NE(tls.vote, Vote::granted);
  EXPECT_FALSE(tls.message.empty());
  const auto plain = only_vote(impatient({host_url("redis", "127.0.0.1", server_->tls_port())}));
  EXPECT_NE(plain.vote, Vote::granted);
  EXPECT_FALSE(plain.message.empty());
}

TEST_F(ClientTls, MixesWithPlainNodes) {
  const NewNodes plain(2);
  const auto server = start(certificates().server, ClientCertificates::not_asked_for, "");
  auto options = trusting(certificates().ca, server->tls_url());
  options.nodes.push_back(plain[0].url());
  options.nodes.push_back(plain[1].unix_url());
  open_deployment(options);
  EXPECT_TRUE(locks(options));
}

TEST(ClientIdentity, OneServerUnderTwoAddressesHasOneVote) {
  const RedisServer& server = shared_nodes(1)[0];
  const auto port = server.port();
  auto options = patient({host_url("redis", "127.0.0.1", port),
                          host_url("redis", "localhost", port), server.unix_url()});
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  const auto resource = fresh_resource();
  auto refused = client.try_acquire(resource);
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_EQ(votes(refused.error().round, Vote::excluded), 2U);
  EXPECT_THAT(refused.error().message, HasSubstr("the same server as"));
  EXPECT_EQ(server.get(resource), std::nullopt);
  EXPECT_TRUE(eventually([&] {
    std::size_t excluded = 0;
    for (std::size_t i = 0; i < 3; ++i) excluded += log.count(NodeEvent::Kind::excluded, i);
    return excluded >= 2;
  }));
}

TEST(ClientIdentity, TheOtherNodesStillGiveTheLease) {
  const Nodes& nodes = shared_nodes(2);
  const auto port = nodes[0].port();
  Client client = make_client(patient({host_url("redis", "127.0.0.1", port),
                                       host_url("redis", "localhost", port), nodes[1].url()}));
  auto lease = acquire_patiently(client, fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(votes(lease->round(), Vote::granted), 2U);
}

/// Nodes with a round trip of 180 ms.
class FarNodes : public testing::Test {
 protected:
  FarNodes() {
    for (RedisServer& node : nodes_) {
      proxies_.push_back(std::make_unique<TcpProxy>(node.port()));
      urls_.push_back(proxies_.back()->url());
    }
    open_deployment(patient(urls_));
    for (const auto& proxy : proxies_) {
      proxy->set_delay(Direction::both, std::chrono::milliseconds(90));
    }
  }

  NewNodes nodes_{3};
  std::vector<std::unique_ptr<TcpProxy>> proxies_;
  std::vector<std::string> urls_;
};

TEST_F(FarNodes, AreConnectedToAndLockedByDefault) {
  ClientOptions options;
  options.nodes = urls_;
  Client client = make_client(std::move(options));
  auto lease = client.acquire(fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(succeeded(lease->release()));
}

TEST_F(FarNodes, NameTheOptionThatIsTooShort) {
  ClientOptions options = patient(urls_);
  options.node.connect_timeout = std::chrono::milliseconds(20);
  Client client = make_client(std::move(options));
  auto lease = client.try_acquire(fresh_resource());
  ASSERT_TRUE(failed_with(lease, Errc::unavailable));
  EXPECT_THAT(lease.error().message, HasSubstr("no connection within 20 ms (connect timeout)"));
}

}  // namespace
}  // namespace redlock::test
