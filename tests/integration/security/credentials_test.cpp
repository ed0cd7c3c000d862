// A provider is asked for credentials at each connection: passwords change while clients run.

#include "integration/security/credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <latch>
#include <optional>
#include <stdexcept>
#include <thread>

#include "integration/c/helpers.hpp"
#include "redlock/listing.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

[[nodiscard]] ClientOptions with_provider(std::vector<std::string> urls,
                                          CredentialsProvider provider) {
  ClientOptions options = patient(std::move(urls));
  options.credentials = std::move(provider);
  return options;
}

/// Whether the lease is extended on a quorum whose connections were lost just now.
[[nodiscard]] testing::AssertionResult soon_extends(Lease& lease) {
  const bool extended = eventually([&] { return lease.extend(seconds(20)).has_value(); });
  if (extended && !lease.lost().stop_requested()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the lease is lost";
}

TEST(CredentialsProvider, KeepsALeaseOverPasswordsThatChangeAndAMinorityThatDies) {
  RotatingNodes rotating(5);
  Vault vault("first");
  rotating.rotate("first");
  Client client = make_client(with_provider(rotating.urls(), vault.provider()));
  AcquireOptions terms;
  terms.ttl = seconds(20);
  auto lease = acquire_patiently(client, fresh_resource(), terms);
  ASSERT_TRUE(succeeded(lease));

  vault.set("second");
  rotating.rotate("second");
  EXPECT_TRUE(soon_extends(*lease));

  rotating.nodes()[0].kill();
  rotating.nodes()[3].kill();
  vault.set("third");
  rotating.rotate("third");
  EXPECT_TRUE(soon_extends(*lease));
  EXPECT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
  EXPECT_TRUE(succeeded(lease->release()));
}

TEST(CredentialsProvider, MayNameAUserWhosePasswordsAreReplaced) {
  const RedisServer& server = shared_nodes(1)[0];
  server.command({"ACL", "SETUSER", "rotating", "on", ">one", "~*", "&*", "+@all"});
  Vault vault("one");
  const auto provider = [ask = vault.provider()](const std::string& url) -> Result<Credentials> {
    auto given = ask(url);
    if (given) given->user = "rotating";
    return given;
  };
  Client client = make_client(with_provider(shared_urls(1), provider));
  ASSERT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
  vault.set("two");
  server.command({"ACL", "SETUSER", "rotating", "<one", ">two"});
  server.command({"CLIENT", "KILL", "USER", "rotating"});
  EXPECT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
  server.command({"ACL", "DELUSER", "rotating"});
}

TEST(CredentialsProvider, IsAskedOnceMoreAtOnceWhenANodeRefuses) {
  RotatingNodes rotating(1);
  rotating.rotate("right");
  Vault vault("right");
  vault.set_stale("outdated");
  EventLog log;
  auto options = with_provider(rotating.urls(), vault.provider());
  options.on_node_event = log.listener();
  Client client = make_client(options);
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::up, 0));
  EXPECT_EQ(log.count(NodeEvent::Kind::down, 0), 0U);
  EXPECT_EQ(vault.calls(), 2);
}

TEST(CredentialsProvider, ThatReturnsAWrongPasswordIsTheNodesRefusalAndIsNotShown) {
  RotatingNodes rotating(1);
  rotating.rotate("right");
  const Vault vault("wr0ng-secret");
  EventLog log;
  auto options = with_provider(rotating.urls(), vault.provider());
  options.on_node_event = log.listener();
  Client client = make_client(options);
  const auto refused = client.try_acquire(fresh_resource());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().round.nodes.at(0).vote, Vote::error);
  EXPECT_THAT(refused.error().message, HasSubstr("WRONGPASS"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("wr0ng-secret")));
  EXPECT_THAT(log.all(), Each(Field(&NodeEvent::message, Not(HasSubstr("wr0ng-secret")))));
}

TEST(CredentialsProvider, ThatFailsOrThrowsIsNamedWithItsText) {
  const auto message_of = [](CredentialsProvider provider) {
    Client client = make_client(with_provider(shared_urls(1), std::move(provider)));
    const auto refused = client.try_acquire(fresh_resource());
    return refused ? std::string() : refused.error().round.nodes.at(0).message;
  };
  const auto fails = [](const std::string& url) -> Result<Credentials> {
    return Error{Errc::unavailable, "no token\nfor " + url, {}};
  };
  EXPECT_EQ(message_of(fails), "no credentials: no token\\nfor redis://" + shared_urls(1).front());
  const auto throws = [](const std::string&) -> Result<Credentials> {
    throw std::runtime_error("the token service is down");
  };
  EXPECT_EQ(message_of(throws), "no credentials: the token service is down");
}

TEST(CredentialsProvider, ThatHangsDelaysItsOwnNodeOnlyAndMayOutliveTheClient) {
  const auto urls = shared_urls(3);
  const auto released = std::make_shared<std::latch>(1);
  const auto hanging = std::make_shared<std::atomic<int>>(0);
  const auto provider = [released, hanging,
                         slow = urls[1]](const std::string& url) -> Result<Credentials> {
    if (url != "redis://" + slow) return Credentials{};
    ++*hanging;
    released->wait();
    --*hanging;
    return Credentials{};
  };
  {
    auto options = with_provider(urls, provider);
    options.node.connect_timeout = std::chrono::milliseconds(250);
    EventLog log;
    options.on_node_event = log.listener();
    Client client = make_client(options);
    EXPECT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::down, 1));
    EXPECT_THAT(log.last_message(NodeEvent::Kind::down, 1),
                HasSubstr("the provider of credentials has not answered"));
    EXPECT_EQ(*hanging, 1) << "one call at a time, however often the node is tried";
  }
  released->count_down();
  EXPECT_TRUE(eventually([&] { return *hanging == 0; }));
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer forbids threads after a fork
TEST(CredentialsProvider, ThatHangsInAParentHangsNoChild) {
  const auto urls = shared_urls(3);
  const auto released = std::make_shared<std::latch>(1);
  const auto hanging = std::make_shared<std::atomic<int>>(0);
  const auto provider = [released, hanging, parent = ::getpid()](const std::string&) {
    if (::getpid() == parent) {
      ++*hanging;
      released->wait();
      --*hanging;
    }
    return Result<Credentials>(Credentials{});
  };
  std::optional<Client> client = make_client(with_provider(urls, provider));
  ASSERT_TRUE(eventually([&] { return *hanging == 3; }));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    client.reset();
    auto own = Client::create(with_provider(urls, provider));
    const bool granted = own && own->try_acquire_for("in the child", seconds(30));
    ::_exit(granted ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  released->count_down();
  EXPECT_TRUE(succeeded(acquire_patiently(*client, fresh_resource())));
}
#endif

TEST(CredentialsProvider, ServesNotificationsAndOperators) {
  RotatingNodes rotating(3);
  rotating.rotate("first");
  const Vault vault("first");
  const auto options = with_provider(rotating.urls(), vault.provider());
  Client holder = make_client(options);
  Client waiter = make_client(options);
  const std::string resource = fresh_resource();
  auto lease = acquire_patiently(holder, resource);
  ASSERT_TRUE(succeeded(lease));
  std::jthread next([&] { EXPECT_TRUE(succeeded(waiter.try_acquire_for(resource, seconds(60)))); });
  EXPECT_TRUE(eventually([&] {
    return rotating.nodes()[0].command({"CLIENT", "LIST", "TYPE", "pubsub"}).string.size() > 10;
  })) << "the waiter subscribes";
  const auto listed = admin::list_locks(options);
  ASSERT_TRUE(succeeded(listed));
  EXPECT_EQ(listed->locks.size(), 1U);
  const auto checked = admin::check(options);
  ASSERT_TRUE(succeeded(checked));
  for (const auto& node : checked->nodes) EXPECT_EQ(node.problem, "");
  EXPECT_TRUE(succeeded(lease->release()));
}

TEST(CredentialsProvider, IsAskedOnceMoreForOperatorsToo) {
  RotatingNodes rotating(1);
  rotating.rotate("right");
  Vault vault("right");
  vault.set_stale("outdated");
  const auto checked = admin::check(with_provider(rotating.urls(), vault.provider()));
  ASSERT_TRUE(succeeded(checked));
  EXPECT_EQ(checked->nodes.at(0).problem, "");
  EXPECT_EQ(vault.calls(), 2);
}

TEST(CredentialsProvider, IsNotTogetherWithAPassword) {
  auto options = with_provider({"127.0.0.1"}, password_file("/nowhere"));
  EXPECT_FALSE(find_mistake(options));
  options.password = "secret";
  ASSERT_TRUE(find_mistake(options));
  EXPECT_EQ(find_mistake(options)->message, "credentials: not together with a password");
}

TEST(PasswordFile, IsReadAgainAtEachConnection) {
  RotatingNodes rotating(3);
  const TempDir directory;
  const auto file = directory.write("password", "first\r\nno part of it\n");
  rotating.rotate("first");
  Client client = make_client(with_provider(rotating.urls(), password_file(file)));
  auto lease = acquire_patiently(client, fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  std::filesystem::rename(directory.write("next", "second\n"), file);
  rotating.rotate("second");
  EXPECT_TRUE(soon_extends(*lease));
}

TEST(PasswordFile, ThatIsAbsentOrEmptyIsNamed) {
  const TempDir directory;
  const auto message_of = [](const std::string& path) {
    const auto given = password_file(path)("");
    return given ? std::string() : given.error().message;
  };
  EXPECT_THAT(message_of(directory.path() / "none"),
              HasSubstr("none' cannot be read: No such file or directory"));
  EXPECT_THAT(message_of(directory.write("empty", "")), HasSubstr("empty' is empty"));
  EXPECT_THAT(message_of(directory.write("line", "\nx\n")), HasSubstr("has an empty first line"));
  EXPECT_THAT(message_of(directory.path()), HasSubstr("cannot be read: Is a directory"));
}

/// The context of the callback for C.
struct CVault {
  std::atomic<int> freed{0};
  std::atomic<redlock_credentials_request*> pending{nullptr};

  static void provide(void*, redlock_credentials_request* request) {
    EXPECT_THAT(redlock_credentials_url(request), HasSubstr("redis://127.0.0.1:"));
    redlock_credentials_provide(request, nullptr, "first");
  }
  static void fail(void*, redlock_credentials_request* request) {
    redlock_credentials_fail(request, "the vault is sealed");
  }
  static void keep(void* context, redlock_credentials_request* request) {
    static_cast<CVault*>(context)->pending = request;
  }
  static void free(void* context) { ++static_cast<CVault*>(context)->freed; }
};

TEST(CCredentials, AreProvidedOnAThreadOfTheirOwnOrOnTheDispatchers) {
  RotatingNodes rotating(1);
  rotating.rotate("first");
  redlock_dispatcher* const dispatcher = redlock_dispatcher_new();
  std::jthread runs([&] { redlock_dispatcher_run(dispatcher); });
  for (redlock_dispatcher* const where : {dispatcher, static_cast<redlock_dispatcher*>(nullptr)}) {
    CVault vault;
    COptions options(rotating.urls());
    options.options.on_credentials = CVault::provide;
    options.options.context = &vault;
    options.options.free_context = CVault::free;
    options.options.dispatcher = where;
    {
      const CClient client = c_client(options);
      const std::string resource = fresh_resource();
      const redlock_target target = redlock_exclusive(resource.c_str());
      EXPECT_TRUE(eventually([&] {
        redlock_lease* lease = nullptr;
        const auto status = redlock_try_acquire(client.get(), &target, nullptr, &lease, nullptr);
        redlock_lease_free(lease);
        return status == REDLOCK_OK;
      }));
    }
    EXPECT_TRUE(eventually([&] { return vault.freed == 1; }));
  }
  redlock_dispatcher_stop(dispatcher);
  runs.join();
  redlock_dispatcher_free(dispatcher);
}

TEST(CCredentials, ThatFailAreNamed) {
  COptions options(shared_urls(1));
  options.options.on_credentials = CVault::fail;
  const CClient client = c_client(options);
  const redlock_target target = redlock_exclusive("r");
  redlock_lease* lease = nullptr;
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_try_acquire(client.get(), &target, nullptr, &lease, &error),
            REDLOCK_UNAVAILABLE);
  const CError owned(error);
  EXPECT_THAT(error->message, HasSubstr("no credentials: the vault is sealed"));
}

TEST(CCredentials, MayBeAnsweredAfterTheClientHasEnded) {
  CVault vault;
  COptions options(shared_urls(1));
  options.options.on_credentials = CVault::keep;
  options.options.context = &vault;
  options.options.free_context = CVault::free;
  {
    const CClient client = c_client(options);
    ASSERT_TRUE(eventually([&] { return vault.pending != nullptr; }));
  }
  EXPECT_EQ(vault.freed, 0);
  redlock_credentials_provide(vault.pending, "user", nullptr);
  EXPECT_TRUE(eventually([&] { return vault.freed == 1; }));
}

TEST(CCredentials, ComeFromOnePlace) {
  COptions options({"127.0.0.1"});
  options.options.on_credentials = CVault::provide;
  options.options.password_file = "/nowhere";
  redlock_client* client = nullptr;
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_client_create(&options.options, &client, &error), REDLOCK_INVALID_ARGUMENT);
  const CError owned(error);
  EXPECT_THAT(error->message, HasSubstr("options.password_file: not together"));
  redlock_credentials_fail(nullptr, nullptr);
  redlock_credentials_provide(nullptr, nullptr, nullptr);
  EXPECT_EQ(redlock_credentials_url(nullptr), nullptr);
}

}  // namespace
}  // namespace redlock::test
