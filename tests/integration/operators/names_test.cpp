// The names of clients, an inspection's details on them and on the queue, and the records of locks
// that operators broke.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "integration/library.hpp"
#include "redlock/deployment.hpp"
#include "redlock/listing.hpp"

namespace redlock::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

Client client_called(const std::string& name) {
  ClientOptions options = patient(shared_urls(3));
  options.name = name;
  return make_client(std::move(options));
}

Inspection inspected(Client& client, const std::string& resource) {
  auto inspection = client.inspect(resource);
  if (!inspection) throw std::runtime_error(inspection.error().message);
  return *std::move(inspection);
}

/// The name is written after the votes, so it appears a moment later.
bool eventually_held_by(Client& client, const std::string& resource, const std::string& name) {
  return eventually([&] { return inspected(client, resource).holder_name == name; });
}

TEST(Names, AnInspectionTellsWhoHoldsALock) {
  const std::string resource = fresh_resource();
  Client holder = client_called("alice, nightly");
  Client other = client_called("");
  const auto lease = holder.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually_held_by(other, resource, "alice, nightly"));
  const std::string id(lease->token().client_id());
  EXPECT_EQ(id.size(), Token::client_id_digits);
  EXPECT_TRUE(
      eventually([&] { return shared_nodes()[0].pttl("redlock:node:client:" + id) > 30'000; }));
  const auto second = holder.acquire(fresh_resource());
  ASSERT_TRUE(succeeded(second));
  EXPECT_EQ(second->token().client_id(), id) << "one id for all tokens of a client";
  EXPECT_NE(second->token(), lease->token());
}

TEST(Names, AreNotKeptLongerThanWhatTheyName) {
  NewNodes nodes(3);
  ClientOptions options = patient(nodes.urls());
  options.max_ttl = std::chrono::hours(24);
  ASSERT_TRUE(succeeded(admin::bootstrap(options)));
  Client client = make_client(std::move(options));
  const auto lease = client.acquire(fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  const std::string key = "redlock:node:client:" + std::string(lease->token().client_id());
  const RedisServer& node = nodes[0];
  ASSERT_TRUE(eventually([&] { return node.pttl(key) > 0; }));
  EXPECT_LE(node.pttl(key), 60'000);
  ASSERT_TRUE(succeeded(client.close()));
  EXPECT_TRUE(eventually([&] { return !node.get(key); }));
}

TEST(Names, ALeasesOwnNameComesFirst) {
  const std::string resource = fresh_resource();
  Client holder = client_called("alice");
  AcquireOptions options;
  options.name = "report 7";
  const auto lease = holder.acquire(resource, options);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually_held_by(holder, resource, "report 7"));
}

TEST(Names, WithoutOneItIsUserHostProcessAndProgram) {
  const std::string resource = fresh_resource();
  Client holder = client_called("");
  const auto lease = holder.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  const std::string process = ":" + std::to_string(::getpid()) + " ";
  EXPECT_TRUE(eventually([&] {
    const std::string name = inspected(holder, resource).holder_name;
    return name.find('@') != std::string::npos && name.find(process) != std::string::npos;
  })) << inspected(holder, resource).holder_name;
}

TEST(Names, OddOnesAreRefused) {
  for (const std::string& name : {std::string(limits::name_bytes + 1, 'x'), std::string("a\nb"),
                                  std::string("a\0b", 3), std::string("\x7f")}) {
    ClientOptions options = patient(shared_urls(3));
    options.name = name;
    EXPECT_TRUE(failed_with(Client::create(std::move(options)), Errc::invalid_argument));
  }
  ClientOptions longest = patient(shared_urls(3));
  longest.name = std::string(limits::name_bytes, 'x');
  EXPECT_TRUE(succeeded(Client::create(std::move(longest))));
}

TEST(Names, AnInspectionTellsWhoWaits) {
  const std::string resource = fresh_resource();
  Client holder = client_called("alice");
  Client waiter = client_called("bob");
  Client observer = client_called("");
  auto lease = holder.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  auto waiting = std::async(std::launch::async, [&] { return waiter.acquire(resource); });
  EXPECT_TRUE(eventually([&] {
    const Inspection seen = inspected(observer, resource);
    return seen.waiters == 1 && seen.next && seen.next->name == "bob" &&
           seen.next->id.size() == Token::client_id_digits && seen.holder_name == "alice";
  })) << inspected(observer, resource).waiters;
  ASSERT_TRUE(succeeded(lease->release()));
  const auto passed_on = waiting.get();
  ASSERT_TRUE(succeeded(passed_on));
  EXPECT_TRUE(eventually([&] {
    const Inspection seen = inspected(observer, resource);
    return seen.holder_name == "bob" && seen.waiters == 0 && !seen.next;
  }));
}

TEST(Names, AnInspectionTellsTheReaders) {
  const std::string resource = fresh_resource();
  Client alice = client_called("alice");
  Client bob = client_called("bob");
  const auto first = alice.acquire(shared(resource));
  ASSERT_TRUE(succeeded(first));
  const auto second = bob.acquire(shared(resource));
  ASSERT_TRUE(succeeded(second));
  EXPECT_TRUE(eventually([&] {
    const Inspection seen = inspected(alice, resource);
    return std::any_of(seen.nodes.begin(), seen.nodes.end(), [](const NodeInspection& node) {
      return std::set<std::string>(node.names.begin(), node.names.end()) ==
             std::set<std::string>{"alice", "bob"};
    });
  }));
}

TEST(Names, AReservationIsNoHolder) {
  const std::string resource = fresh_resource();
  Client client = client_called("");
  for (std::size_t node = 0; node < 3; ++node) {
    const RedisServer& server = shared_nodes()[node];
    server.command({"SET", resource, "redlock:next:0123456789abcdef", "PX", "60000"});
    server.command({"SET", "redlock:node:client:0123456789abcdef", "bob", "PX", "60000"});
  }
  const Inspection seen = inspected(client, resource);
  EXPECT_EQ(seen.state, Inspection::State::free);
  EXPECT_EQ(seen.kind, LockKind::reserved);
  EXPECT_FALSE(seen.holder);
  ASSERT_TRUE(seen.next);
  EXPECT_EQ(seen.next->id, "0123456789abcdef");
  EXPECT_EQ(seen.next->name, "bob");
  EXPECT_FALSE(seen.nodes[0].holder);
}

TEST(Names, WhatAnOperatorBreaksIsRememberedWhereItWas) {
  const std::string resource = fresh_resource();
  Client client = client_called("operator");
  for (const std::size_t node : {0U, 1U}) {
    shared_nodes()[node].command({"SET", resource, "theirs", "PX", "60000"});
  }
  ASSERT_TRUE(succeeded(client.break_lock(resource, *Token::parse("theirs"))));
  EXPECT_TRUE(eventually([&] {
    const Inspection seen = inspected(client, resource);
    return seen.nodes[0].broken.size() == 1 && seen.nodes[1].broken.size() == 1;
  }));
  const Inspection seen = inspected(client, resource);
  EXPECT_EQ(seen.state, Inspection::State::free);
  EXPECT_TRUE(seen.nodes[2].broken.empty());
  ASSERT_EQ(seen.broken.size(), 1U);
  EXPECT_EQ(seen.broken[0].token, Token::parse("theirs"));
  EXPECT_EQ(seen.broken[0].by, "operator");
  EXPECT_LT(std::chrono::abs(seen.broken[0].time - std::chrono::system_clock::now()), minutes(5));
  EXPECT_GT(shared_nodes()[0].pttl("redlock:node:audit:" + resource), 80'000'000);
}

TEST(Names, TheLastEightAreRemembered) {
  const std::string resource = fresh_resource();
  ClientOptions options = patient(shared_urls(1));
  Client client = make_client(std::move(options));
  for (int i = 0; i < 10; ++i) {
    std::string token = "t";
    token += std::to_string(i);
    shared_nodes(1)[0].command({"SET", resource, token, "PX", "60000"});
    ASSERT_TRUE(succeeded(client.break_lock(resource, *Token::parse(token))));
  }
  EXPECT_TRUE(eventually([&] {
    const Inspection seen = inspected(client, resource);
    return seen.broken.size() == 8 && seen.broken.front().token == Token::parse("t9");
  }));
}

TEST(Names, ListsHaveThem) {
  const std::string resource = fresh_resource();
  Client holder = client_called("alice, nightly");
  auto lease = holder.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually([&] {
    const auto list = admin::list_locks(patient(shared_urls(3)), {.pattern = resource});
    return list && list->locks.size() == 1 && list->locks[0].holder_name == "alice, nightly";
  }));
  ASSERT_TRUE(succeeded(lease->release()));
  const auto named = holder.acquire(resource, {.name = "backup"});
  ASSERT_TRUE(succeeded(named));
  EXPECT_TRUE(eventually([&] {
    const auto list = admin::list_locks(patient(shared_urls(3)), {.pattern = resource});
    return list && list->locks.size() == 1 && list->locks[0].holder_name == "backup";
  })) << "as inspections do";
}

/// A client whose errors name the holder.
Client client_that_names_holders() {
  ClientOptions options = patient(shared_urls(3));
  options.name_holders = true;
  return make_client(std::move(options));
}

TEST(Names, ErrorsSayWhoTheHolderIsWhereThatIsAskedFor) {
  const std::string resource = fresh_resource();
  Client holder = client_called("alice, nightly");
  Client other = client_that_names_holders();
  auto lease = holder.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually_held_by(other, resource, "alice, nightly"));
  const Token stale = *Token::parse("stale");
  const auto refused = other.try_acquire(resource);
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(refused.error().holder_name, "alice, nightly");
  EXPECT_NE(refused.error().message.find("held by alice, nightly ("), std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(refused.error().round.nodes.empty()) << "the votes stay there";
  for (const auto& failed :
       {other.release(resource, stale), other.extend(resource, stale, seconds(10))}) {
    ASSERT_TRUE(failed_with(failed, Errc::not_holder));
    EXPECT_EQ(failed.error().holder_name, "alice, nightly");
    EXPECT_NE(failed.error().message.find("held by alice, nightly ("), std::string::npos);
  }
  const auto several = other.try_acquire(all_of({fresh_resource(), resource}));
  ASSERT_TRUE(failed_with(several, Errc::held));
  EXPECT_EQ(several.error().holder_name, "alice, nightly");
  ASSERT_TRUE(succeeded(lease->release()));
  const auto gone = other.release(resource, stale);
  ASSERT_TRUE(failed_with(gone, Errc::not_holder));
  EXPECT_EQ(gone.error().holder_name, "");
}

TEST(Names, ErrorsOfALeaseSayWhoTookIt) {
  const std::string resource = fresh_resource();
  Client other = client_that_names_holders();
  // Otherwise a node that is not connected and one that refuses could decide an extend:
  // *unavailable*.
  ASSERT_TRUE(all_nodes_vote(other, shared_nodes(), 3));
  auto lease = other.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  Client breaker = client_called("on call");
  ASSERT_TRUE(succeeded(breaker.break_lock(resource, lease->token(), {.delay = seconds(30)})));
  const auto extended = lease->extend(seconds(10));
  ASSERT_TRUE(failed_with(extended, Errc::not_holder));
  EXPECT_EQ(extended.error().holder_name, "on call");
  EXPECT_NE(extended.error().message.find("; it was broken by on call and is free in "),
            std::string::npos)
      << extended.error().message;
}

TEST(Names, ErrorsCostOneRoundTripWhereNobodyAskedForNames) {
  const std::string resource = fresh_resource();
  Client holder = client_called("alice");
  Client other = client_called("bob");
  const auto lease = holder.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually_held_by(other, resource, "alice"));
  EXPECT_EQ(other.try_acquire(resource).error().holder_name, "");
}

TEST(Names, AnErrorThatIsToNameTheHolderArrivesThoughTheClientCloses) {
  const std::string resource = fresh_resource();
  Client holder = client_called("alice");
  const auto lease = holder.acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  for (int i = 0; i < 20; ++i) {
    Client other = client_that_names_holders();
    ASSERT_TRUE(succeeded(other.inspect(resource))) << "connected";
    auto refused = std::async(std::launch::async, [&] { return other.try_acquire(resource); });
    ASSERT_TRUE(succeeded(other.close()));
    const auto error = refused.get();
    ASSERT_FALSE(error);
    EXPECT_TRUE(error.error().code == Errc::held || error.error().code == Errc::closed);
  }
}

}  // namespace
}  // namespace redlock::test
