// A primary with replicas as one node: what it grants holds through any failover, whoever promotes
// whom, and while two servers take themselves for the primary.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "integration/guarded.hpp"
#include "integration/guards/reign_contest.hpp"
#include "support/fake_server.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// Three servers of one service. As for a client of Sentinel, a name leads to the primary; which
/// server that is, and who follows whom, is the test's choice.
class Service {
 public:
  Service() : servers_(3, {.arguments = {"--repl-diskless-sync-delay", "0"}}) {
    for (std::size_t i = 1; i < servers_.size(); ++i) follow(i, 0);
    lead_to(0);
  }

  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  [[nodiscard]] RedisServer& operator[](std::size_t server) { return servers_[server]; }

  /// The name leads to this server from now on. Open connections are not moved.
  void lead_to(std::size_t server) {
    const std::filesystem::path next = name() + ".next";
    std::filesystem::remove(next);
    std::filesystem::create_symlink(servers_[server].unix_path(), next);
    std::filesystem::rename(next, name());
  }
  void follow(std::size_t server, std::size_t primary) {
    servers_[server].command({"REPLICAOF", "127.0.0.1", std::to_string(servers_[primary].port())});
  }
  void promote(std::size_t server) { servers_[server].command({"REPLICAOF", "NO", "ONE"}); }
  [[nodiscard]] bool soon_followed(std::size_t primary, int replicas) {
    return eventually([&] {
      const std::string info = servers_[primary].command({"INFO", "replication"}).string;
      int online = 0;
      for (std::size_t at = 0; (at = info.find("state=online", at)) != std::string::npos; ++at) {
        ++online;
      }
      return online == replicas;
    });
  }

  [[nodiscard]] ClientOptions options(milliseconds max_ttl = seconds(1)) const {
    ClientOptions options = impatient({"unix://" + name() + "?servers=3"});
    options.max_ttl = max_ttl;
    return options;
  }
  /// As people lock on such a service with other libraries: the replicas are not spoken of.
  [[nodiscard]] ClientOptions plain(milliseconds max_ttl) const {
    ClientOptions options = Service::options(max_ttl);
    options.nodes = {"unix://" + name()};
    options.guards.restart = false;
    return options;
  }

 private:
  [[nodiscard]] std::string name() const {
    return (servers_[0].data_directory() / "leader").string();
  }

  NewNodes servers_;
};

class Reigns : public OfReplicas {};
class ReignsUnderFire : public OfReplicas {};
class HeldUnderFire : public OfReplicas {};

std::string why(const Result<Lease>& refused) {
  return refused ? "granted" : refused.error().message;
}

std::string findings_of(const ClientOptions& options) {
  std::string all;
  const auto check = admin::check(options);
  for (const admin::Finding& finding : check.value().findings) {
    all.append(to_string(finding.kind)).append(": ").append(finding.what) += '\n';
  }
  return all;
}

TEST_F(Reigns, APrimaryWithReplicasGrantsOnceAMajorityFollowsIt) {
  Service service;
  Client client = make_client(service.options(seconds(3)));
  const std::string first = "its servers are new or have lost their data and may";
  EXPECT_TRUE(eventually([&] {
    return why(client.try_acquire("r", {.ttl = seconds(1)})).find(first) != std::string::npos;
  })) << "and nothing about a primary before";
  auto lease = acquire_patiently(client, "r", {.ttl = seconds(1)});
  ASSERT_TRUE(succeeded(lease)) << "after the quarantine of its first reign";
  EXPECT_TRUE(succeeded(lease->extend(seconds(1))));
  EXPECT_TRUE(succeeded(lease->release()));
  Client other = make_client(service.options(seconds(3)));
  EXPECT_TRUE(succeeded(other.acquire("r", {.ttl = seconds(1)}))) << "another reads the record";
}

TEST_F(Reigns, OneOfThreeServersMayGoAndComeBack) {
  Service service;
  Client client = make_client(service.options());
  ASSERT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  for (const std::size_t replica : {1U, 2U, 1U, 2U}) {
    service[replica].kill();
    EXPECT_TRUE(succeeded(acquire_patiently(client, "a", {.ttl = seconds(1)})));
    service[replica].start();
    service.follow(replica, 0);
    ASSERT_TRUE(service.soon_followed(0, 2));
    // Its return is noted in a new record: otherwise the second such return would break the reign.
    EXPECT_TRUE(eventually([&] {
      static_cast<void>(client.try_acquire("b", {.ttl = seconds(1)}));
      const std::string record = service[0].get("redlock:node:reign").value_or("");
      const std::string info = service[0].command({"INFO", "stats"}).string;
      const auto count = [&](const std::string& field) {
        return std::stoi(info.substr(info.find(field + ":") + field.size() + 1));
      };
      return record.ends_with(" " + std::to_string(count("sync_full") + count("sync_partial_ok")));
    }));
  }
}

TEST_F(Reigns, WithoutAMajorityThereIsNoLockAndTheReasonSaysHowManyFollow) {
  Service service;
  Client client = make_client(service.options());
  ASSERT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  service[1].kill();
  service[2].stop();
  Result<Lease> refused = client.try_acquire("a", {.ttl = seconds(1)});
  EXPECT_TRUE(eventually([&] {
    refused = client.try_acquire("b", {.ttl = seconds(1)});
    return why(refused).find("1 of its 3 servers is up to date; 2 are needed") != std::string::npos;
  })) << why(refused);
  service[2].resume();
  EXPECT_TRUE(succeeded(acquire_patiently(client, "c", {.ttl = seconds(1)})));
}

TEST_F(Reigns, ANewPrimaryGrantsNothingBeforeTheLeasesOfTheOldOneAreOver) {
  Service service;
  Client holder = make_client(service.options());
  auto lease = acquire_patiently(holder, "r", {.ttl = seconds(1), .renew = false});
  ASSERT_TRUE(succeeded(lease));
  // The key is not on the replicas: they have not followed for a while.
  service.promote(1);
  service[1].command({"DEL", "r"});
  service.follow(2, 1);
  service.lead_to(1);
  Client other = make_client(service.options());
  auto next = acquire_patiently(other, "r", {.ttl = seconds(1)});
  ASSERT_TRUE(succeeded(next));
  EXPECT_FALSE(lease->valid());
}

TEST_F(Reigns, AHeldLeaseOutlivesAFailoverToAPrimaryThatHasItsKey) {
  Service service;
  const ClientOptions options = service.options(seconds(5));
  Client holder = make_client(options);
  auto lease = acquire_patiently(holder, "r", {.ttl = seconds(5)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return service[1].get("r") == lease->token().view(); }));
  service.promote(1);
  service.follow(2, 1);
  service.lead_to(1);
  service[0].kill();
  const auto until = lease->valid_until();
  EXPECT_TRUE(eventually([&] { return lease->valid_until() > until + seconds(5); }))
      << "it is renewed, again and again";
  Client other = make_client(options);
  EXPECT_TRUE(eventually([&] {
    return failed_with(other.try_acquire("r", {.ttl = seconds(5)}), Errc::held);
  })) << "after the quarantine";
  EXPECT_TRUE(lease->valid());
}

TEST_F(Reigns, AnOldPrimaryThatNobodyFollowsHasNoVoteAlthoughItTakesWrites) {
  Service service;
  Client client = make_client(service.options());
  ASSERT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  service.promote(1);
  service.follow(2, 1);
  ASSERT_TRUE(service.soon_followed(1, 1));
  const Result<Lease> refused = client.try_acquire("a", {.ttl = seconds(1)});
  EXPECT_FALSE(refused) << "by the server that was the primary";
  EXPECT_TRUE(service[0].get("a").has_value() || !refused);
  service.lead_to(1);
  Client other = make_client(service.options());
  EXPECT_TRUE(succeeded(acquire_patiently(other, "a", {.ttl = seconds(1)})));
}

TEST_F(Reigns, ALockIsNotBrokenWithADelayOnAnOldPrimary) {
  Service service;
  Client client = make_client(service.options());
  auto lease = acquire_patiently(client, "r", {.ttl = seconds(1)});
  ASSERT_TRUE(succeeded(lease));
  service.promote(1);
  service.follow(2, 1);
  ASSERT_TRUE(service.soon_followed(1, 1));
  const auto broken = client.break_lock("r", lease->token(), {.delay = seconds(1)});
  EXPECT_FALSE(broken) << "the new primary knows nothing of the delay";
}

/// A sentinel that says what the test wants.
class Sentinel {
 public:
  explicit Sentinel(FakeAnswer answer)
      : server_([answer](const Command& command) -> FakeAnswer {
          if (command.at(0) == "AUTH") return command.back() == "pw" ? "+OK\r\n" : "-WRONGPASS\r\n";
          return answer;
        }) {}
  template <class Server>
  static FakeAnswer naming(const Server& server) {
    return resp::array({resp::bulk("127.0.0.1"), resp::bulk(std::to_string(server.port()))});
  }
  void name(const RedisServer& server) {
    server_.on("SENTINEL", [&server](const Command&) { return naming(server); });
  }
  [[nodiscard]] std::string address() const {
    return "127.0.0.1:" + std::to_string(server_.port());
  }

 private:
  FakeServer server_;
};

TEST_F(Reigns, SentinelsNameThePrimaryAndTheNextOneIsAskedIfOneDoesNot) {
  Service service;
  Sentinel ignorant("*-1\r\n");
  Sentinel refusing("-NOPERM this user has no permissions\r\n");
  Sentinel knowing(Sentinel::naming(service[0]));
  ClientOptions options = service.options();
  options.nodes = {"redis+sentinel://127.0.0.1:1;" + ignorant.address() + ";" + refusing.address() +
                   ";" + knowing.address() + "/mymaster?servers=3&sentinel_password=pw"};
  Client client = make_client(options);
  ASSERT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  service.promote(2);
  service.follow(1, 2);
  service.follow(0, 2);
  knowing.name(service[2]);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  const auto members = admin::members(options);
  ASSERT_TRUE(succeeded(members));
  EXPECT_EQ(members->nodes[0].primary, "127.0.0.1:" + std::to_string(service[2].port()));
  EXPECT_TRUE(service[2].get("redlock:node:reign").has_value());
}

TEST_F(Reigns, TheReasonSaysWhatEachSentinelSaid) {
  Service service;
  Sentinel ignorant("*-1\r\n");
  Sentinel no_sentinel("+PONG\r\n");
  ClientOptions options = service.options();
  options.nodes = {"redis+sentinel://" + ignorant.address() + ";" + no_sentinel.address() +
                   "/mymaster?servers=3"};
  Client client = make_client(options);
  const auto refused = client.try_acquire("r", {.ttl = seconds(1)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("it knows no service 'mymaster'"));
  EXPECT_THAT(refused.error().message, HasSubstr("it does not answer as a sentinel does"));
}

TEST_F(Reigns, TheReasonSaysWhoseLoginIsRefused) {
  Service service;
  Sentinel sentinel(Sentinel::naming(service[0]));
  ClientOptions options = service.options();
  const std::string url = "redis+sentinel://" + sentinel.address() + "/mymaster?servers=3";
  options.nodes = {url + "&sentinel_password=wrong"};
  EXPECT_THAT(why(make_client(options).try_acquire("r", {.ttl = seconds(1)})),
              HasSubstr(sentinel.address() + ": WRONGPASS (the sentinels' login"));
  const std::string primary = "its primary, 127.0.0.1:" + std::to_string(service[0].port());
  service[0].command({"ACL", "SETUSER", "u", "on", ">pw", "~*", "&*", "+@all"});
  options.nodes = {url};
  options.user = "u";
  options.password = "wrong";
  EXPECT_THAT(why(make_client(options).try_acquire("r", {.ttl = seconds(1)})),
              HasSubstr(primary + ": AUTH: WRONGPASS"));
  EXPECT_THAT(findings_of(options), HasSubstr(primary + ": AUTH: WRONGPASS"));
  service[0].kill();
  options.user = options.password = "";
  EXPECT_THAT(why(make_client(options).try_acquire("r", {.ttl = seconds(1)})),
              HasSubstr(primary + ": connection re"))
      << "refused, or reset";
}

TEST_F(Reigns, ASilentSentinelCostsAMoment) {
  Service service;
  Sentinel silent(FakeAnswer::silence());
  Sentinel knowing(Sentinel::naming(service[0]));
  ClientOptions options = service.options();
  options.nodes = {"redis+sentinel://" + silent.address() + ";" + knowing.address() +
                   "/mymaster?servers=3"};
  Client client = make_client(options);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  EXPECT_TRUE(succeeded(admin::check(options)));
}

TEST_F(Reigns, AServerThatHangsIsLeftOnceTheSentinelsNameAnother) {
  Service service;
  FakeServer hanging([](const Command&) { return FakeAnswer::silence(); });
  Sentinel sentinel(Sentinel::naming(hanging));
  ClientOptions options = service.options();
  options.nodes = {"redis+sentinel://" + sentinel.address() + "/mymaster?servers=3"};
  // Longer than the test waits: the time limit is not what ends the connection.
  options.node.connect_timeout = std::chrono::minutes(10);
  Client client = make_client(options);
  ASSERT_TRUE(eventually([&] { return hanging.connections_open() > 0; }));
  sentinel.name(service[0]);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
}

TEST_F(Reigns, AClientThatSaysAnotherNumberOfServersHasNoVote) {
  Service service;
  ASSERT_TRUE(succeeded(acquire_patiently(*std::make_unique<Client>(make_client(service.options())),
                                          "r", {.ttl = seconds(1)})));
  for (const char* servers : {"", "?servers=2", "?servers=5"}) {
    ClientOptions options = service.options();
    options.nodes = {service[0].unix_url() + servers};
    const auto refused = make_client(options).try_acquire("r2", {.ttl = seconds(1)});
    ASSERT_FALSE(refused) << servers;
    EXPECT_THAT(refused.error().message,
                HasSubstr("all clients must agree how many servers it is"));
  }
}

TEST_F(Reigns, CallsThatAskOnceConfirmANewPrimary) {
  Service service;
  EXPECT_TRUE(eventually([&] {
    return make_client(service.options()).try_acquire("r", {.ttl = seconds(1)}).has_value();
  }));
  service[1].command({"REPLICAOF", "NO", "ONE"});
  service[2].command({"REPLICAOF", "NO", "ONE"});
  service.follow(1, 0);
  service.follow(2, 0);
  ASSERT_TRUE(service.soon_followed(0, 2));
  EXPECT_TRUE(eventually([&] {
    return make_client(service.options()).try_acquire("r", {.ttl = seconds(1)}).has_value();
  }));
}

TEST_F(Reigns, DoctorJudgesAsAVoteDoes) {
  Service service;
  ASSERT_TRUE(service.soon_followed(0, 2));
  const ClientOptions options = service.options();
  const auto opened = admin::bootstrap(options);
  ASSERT_TRUE(succeeded(opened));
  EXPECT_GE(opened->granted_in, seconds(1)) << "the first lock waits for max TTL";
  EXPECT_THAT(findings_of(options), HasSubstr("no client has asked for a lock since"));
  Client client = make_client(options);
  ASSERT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = seconds(1)})));
  EXPECT_EQ(findings_of(options), "");
  const auto check = admin::check(options);
  ASSERT_TRUE(check->nodes[0].reign);
  EXPECT_TRUE(check->nodes[0].reign->confirmed_for);
  ASSERT_EQ(check->nodes[0].reign->seen.size(), 3U);
  EXPECT_EQ(check->nodes[0].reign->seen[1].state, "online");
  service[2].kill();
  const std::string one_away =
      "replicas: 1 replica is attached to it. Its URL says that it has 3 servers.\n";
  EXPECT_TRUE(eventually([&] { return findings_of(options) == one_away; })) << findings_of(options);
  service[1].kill();
  const std::string alone = "reign: 1 of its 3 servers is up to date; 2 are needed.\n";
  EXPECT_TRUE(eventually([&] { return findings_of(options) == alone; })) << findings_of(options);
  EXPECT_EQ(admin::check(options)->granted_in, std::nullopt);
}

TEST_F(Reigns, DoctorAndBootstrapNameTheRightThatIsMissing) {
  for (const std::string right : {"-wait", "-info", "-eval", "resetkeys ~redlock:node:[^b]* ~a*"}) {
    Service service;
    ASSERT_TRUE(service.soon_followed(0, 2));
    service[0].command({"ACL", "SETUSER", "u", "on", ">pw", "~*", "&*", "+@all"});
    std::vector<std::string> change{"ACL", "SETUSER", "u"};
    for (std::size_t at = 0; at < right.size();) {
      change.push_back(right.substr(at, right.find(' ', at) - at));
      at += change.back().size() + 1;
    }
    service[0].command(change);
    ClientOptions options = service.options();
    options.user = "u";
    options.password = "pw";
    EXPECT_THAT(findings_of(options), HasSubstr("auth: ")) << right;
    const auto opened = admin::bootstrap(options);
    ASSERT_FALSE(opened) << right;
    EXPECT_THAT(opened.error().message, HasSubstr("NOPERM")) << right;
    Client client = make_client(options);
    Result<Lease> refused = client.try_acquire("a", {.ttl = seconds(1)});
    EXPECT_TRUE(eventually([&] {
      refused = client.try_acquire("a", {.ttl = seconds(1)});
      return why(refused).find("NOPERM") != std::string::npos;
    })) << right
        << ": " << why(refused);
  }
}

TEST_F(Reigns, NeedTheRestartGuardAndANumberOfServers) {
  Service service;
  ClientOptions options = service.options();
  options.guards.restart = false;
  const auto refused = Client::create(options);
  ASSERT_TRUE(failed_with(refused, Errc::invalid_argument));
  EXPECT_THAT(refused.error().message, HasSubstr("a failover makes two holders"));
  for (const char* servers : {"1", "0", "10", "-3", "x", ""}) {
    options = service.options();
    options.nodes = {std::string("redis://127.0.0.1:1?servers=") + servers};
    EXPECT_TRUE(failed_with(Client::create(options), Errc::invalid_argument)) << servers;
  }
}

// --- under an adversary
// ---------------------------------------------------------------------------

/// Promotes, demotes, stops and kills servers at will; the name leads to any of them.
class Adversary {
 public:
  explicit Adversary(unsigned seed) : random_(seed) {}

  void play(Service& service, int rounds, milliseconds longest_rest = milliseconds(600)) {
    const auto rest = static_cast<unsigned>(longest_rest.count());
    for (int round = 0; round < rounds; ++round) {
      disturb(service);
      std::this_thread::sleep_for(milliseconds(below(rest)));
      if (below(3) == 0) settle(service);
    }
    settle(service);
  }

 private:
  unsigned below(unsigned bound) { return std::uniform_int_distribution(0U, bound - 1)(random_); }

  void disturb(Service& service) {
    const std::size_t one = below(3);
    const std::size_t other = (one + 1 + below(2)) % 3;
    switch (below(6)) {
      case 0:
        service.promote(one);
        return service.lead_to(one);
      case 1:
        service.promote(one);
        service.follow(other, one);
        return service.lead_to(below(2) == 0 ? one : other);
      case 2:
        return service.follow(one, other);
      case 3:
        return service.lead_to(one);
      case 4:
        service[one].stop();
        std::this_thread::sleep_for(milliseconds(below(300)));
        service.promote(other);
        service.follow(3 - one - other, other);
        service.lead_to(other);
        std::this_thread::sleep_for(milliseconds(below(600)));
        return service[one].resume();
      default:
        service[one].kill();
        return service[one].start();
    }
  }
  /// One primary, two followers, and time for a reign.
  void settle(Service& service) {
    const std::size_t primary = below(3);
    service.promote(primary);
    service.follow((primary + 1) % 3, primary);
    service.follow((primary + 2) % 3, primary);
    service.lead_to(primary);
    std::this_thread::sleep_for(milliseconds(1000 + below(1000)));
  }

  std::mt19937 random_;
};

TEST_F(ReignsUnderFire, HaveNoTwoHoldersWhoeverPromotesWhom) {
  for (const bool fenced : {false, true}) {
    Service service;
    const unsigned seed = std::random_device{}();
    Contest contest(service.options(milliseconds(300)), fenced);
    Adversary(seed).play(service, contest_rounds());
    expect_one_holder(contest.judge(), seed);
  }
}

TEST_F(HeldUnderFire, LeasesThatOutliveFailoversHaveOneHolder) {
  Service service;
  const unsigned seed = std::random_device{}();
  const milliseconds ttl = seconds(3);
  Contest contest(service.options(ttl), true, true);
  Adversary(seed).play(service, contest_rounds() / 3, 2 * ttl);
  expect_one_holder(contest.judge(), seed);
}

/// For the page: how often two hold a lock on the same service if nobody asks who follows.
TEST_F(ReignsUnderFire, DISABLED_PlainLocksHaveTwoHolders) {
  Service service;
  Contest contest(service.plain(milliseconds(300)), false);
  Adversary(std::random_device{}()).play(service, contest_rounds());
  const Judged judged = contest.judge();
  RecordProperty("leases", static_cast<int>(judged.leases));
  RecordProperty("overlaps", static_cast<int>(judged.overlaps));
  EXPECT_GT(judged.overlaps, 0U);
}

}  // namespace
}  // namespace redlock::test
