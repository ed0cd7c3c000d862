// Locks other than the exclusive one, on real servers: readers and writers, owners, intervals,
// several resources, semaphores. Two of five nodes are killed where that is what is tested.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <thread>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Kinds : public testing::Test {
 protected:
  [[nodiscard]] Result<Lease> take(const Target& target, AcquireOptions options = {}) {
    options.ttl = seconds(20);
    return client_.try_acquire(target, std::move(options));
  }
  [[nodiscard]] Result<Lease> read() { return take(shared(resource_)); }
  [[nodiscard]] Result<Lease> own(const std::string& owner) {
    return take(owned(resource_, owner));
  }
  /// On how many nodes anything is.
  [[nodiscard]] static std::size_t count(const std::string& key) {
    std::size_t nodes = 0;
    for (RedisServer& node : shared_nodes(5)) {
      nodes += node.command({"EXISTS", key}).integer == 1 ? 1U : 0U;
    }
    return nodes;
  }

  Client client_ = make_client(patient(shared_urls(5)));
  Client other_ = make_client(patient(shared_urls(5)));
  std::string resource_ = fresh_resource();
};

// --- readers and writers (S11) -----------------------------------------------------------------

class S11 : public Kinds {};

TEST_F(S11, ManyReadersOrOneWriter) {
  auto first = read();
  auto second = read();
  ASSERT_TRUE(succeeded(first));
  ASSERT_TRUE(succeeded(second));
  const auto writer = take(resource_);
  ASSERT_TRUE(failed_with(writer, Errc::held));
  EXPECT_TRUE(succeeded(first->release()));
  EXPECT_TRUE(failed_with(take(resource_), Errc::held)) << "each holder removes only itself";
  EXPECT_TRUE(succeeded(second->release()));
  const auto alone = take(resource_);
  ASSERT_TRUE(succeeded(alone));
  const auto late = read();
  ASSERT_TRUE(failed_with(late, Errc::held));
  EXPECT_EQ(who_refused(late).value().token, alone->token());
}

TEST_F(S11, ReadersAreNamedAsSuch) {
  const auto reader = read();
  ASSERT_TRUE(succeeded(reader));
  const auto refused = own("me");
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(who_refused(refused), Holder{Holder::Kind::shared});
  const auto seen = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->kind, LockKind::shared);
  EXPECT_EQ(seen->holder, std::nullopt);
  EXPECT_EQ(seen->owner, "");
  for (const NodeInspection& node : seen->nodes) {
    if (node.kind != LockKind::shared) continue;
    EXPECT_EQ(node.tokens, std::vector{reader->token()});
  }
}

TEST_F(S11, OneKeyAResource) {
  const auto first = read();
  const auto second = read();
  ASSERT_TRUE(succeeded(second));
  for (RedisServer& node : shared_nodes(5)) {
    // Two readers, and that it is theirs; not all nodes were waited for.
    EXPECT_TRUE(eventually([&] { return node.command({"ZCARD", resource_}).integer == 3; }));
    EXPECT_EQ(node.command({"TYPE", resource_}).string, "zset");
  }
}

TEST_F(S11, AReaderThatDiesIsForgottenAfterItsOwnExpiry) {
  auto quick = client_.try_acquire(shared(resource_), {.ttl = milliseconds(300)});
  auto slow = read();
  ASSERT_TRUE(succeeded(quick));
  ASSERT_TRUE(succeeded(slow));
  const Token dead = quick->detach().token;
  EXPECT_TRUE(
      eventually([&] { return client_.ownership(resource_, dead) == Ownership::not_held; }));
  EXPECT_EQ(client_.ownership(resource_, slow->token()), Ownership::held);
  EXPECT_TRUE(failed_with(take(resource_), Errc::held)) << "the other one still reads";
}

TEST_F(S11, AWaitingWriterKeepsNewReadersOutAndGoesNext) {
  auto reader = read();
  ASSERT_TRUE(succeeded(reader));
  std::optional<Result<Lease>> writer;
  std::jthread waiting(
      [&] { writer = other_.try_acquire_for(resource_, seconds(60), {.ttl = seconds(20)}); });
  std::optional<Holder> in_the_way;
  ASSERT_TRUE(eventually(
      [&] {
        const auto late = read();
        if (!failed_with(late, Errc::held)) return false;
        in_the_way = who_refused(late);
        return true;
      },
      seconds(30)));
  EXPECT_EQ(in_the_way, Holder{Holder::Kind::writer});
  EXPECT_TRUE(succeeded(reader->extend(seconds(20)))) << "who reads already may go on";
  EXPECT_TRUE(succeeded(reader->release()));
  waiting.join();
  EXPECT_TRUE(succeeded(*writer));
}

TEST_F(S11, ReadersThatWaitEnterTogetherAheadOfAWriterThatCameLater) {
  // A node that the writer's client did not ask would let readers in, and end their queue.
  ASSERT_TRUE(all_nodes_vote(client_, shared_nodes(5), 5));
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(make_client(patient(shared_urls(5))));
    ASSERT_TRUE(all_nodes_vote(clients.back(), shared_nodes(5), 5));
  }
  auto writer = take(resource_);
  ASSERT_TRUE(succeeded(writer));
  std::atomic<int> readers{0};
  std::atomic<bool> wrote{false};
  std::vector<std::jthread> waiting;
  const auto wait_for_queue = [&](std::int64_t clients_queued) {
    // One member more is the next ticket.
    return eventually([&] {
      return std::all_of(shared_nodes(5).begin(), shared_nodes(5).end(), [&](RedisServer& node) {
        return node.command({"ZCARD", "redlock:node:queue:" + resource_}).integer ==
               clients_queued + 1;
      });
    });
  };
  const auto read_with = [&](Client& client) {
    auto lease = client.try_acquire_for(shared(resource_), seconds(60), {.ttl = seconds(20)});
    EXPECT_TRUE(succeeded(lease));
    EXPECT_FALSE(wrote) << "the writer came later";
    ++readers;
    // All of them are in at once.
    EXPECT_TRUE(eventually([&] { return readers == 3; }, seconds(30)));
    EXPECT_TRUE(succeeded(lease->release()));
  };
  for (std::size_t i = 0; i < 3; ++i) waiting.emplace_back([&, i] { read_with(clients[i]); });
  ASSERT_TRUE(wait_for_queue(3));
  waiting.emplace_back([&] {
    const auto lease = clients[3].try_acquire_for(resource_, seconds(60), {.ttl = seconds(20)});
    EXPECT_TRUE(succeeded(lease));
    wrote = true;
  });
  ASSERT_TRUE(wait_for_queue(4));
  EXPECT_TRUE(succeeded(writer->release()));
  waiting.clear();
  EXPECT_TRUE(wrote);
}

TEST_F(S11, AReaderIsExtendedAndReleasedByItsToken) {
  auto reader = read();
  ASSERT_TRUE(succeeded(reader));
  const Token token = reader->detach().token;
  EXPECT_TRUE(succeeded(client_.extend(resource_, token, seconds(25))));
  EXPECT_TRUE(
      failed_with(client_.release(resource_, *Token::parse(hex_token())), Errc::not_holder));
  EXPECT_TRUE(succeeded(client_.release(resource_, token)));
  // A quorum decides; the other nodes release it a moment later.
  EXPECT_TRUE(eventually([&] { return count(resource_) == 0; }));
  EXPECT_TRUE(failed_with(client_.extend(resource_, token, seconds(25)), Errc::not_holder));
}

TEST_F(S11, WritersHaveFencingTokensAndReadersNone) {
  EXPECT_TRUE(failed_with(take(shared(resource_), {.fencing = true}), Errc::invalid_argument));
  auto first = take(resource_, {.fencing = true});
  ASSERT_TRUE(succeeded(first));
  const auto number = *first->fencing_token();
  ASSERT_TRUE(succeeded(first->release()));
  auto reader = read();
  ASSERT_TRUE(succeeded(reader));
  std::jthread leaving([&] {
    EXPECT_TRUE(eventually([&] { return failed_with(read(), Errc::held); }, seconds(30)));
    EXPECT_TRUE(succeeded(reader->release()));
  });
  const auto second =
      other_.try_acquire_for(resource_, seconds(60), {.ttl = seconds(20), .fencing = true});
  ASSERT_TRUE(succeeded(second));
  EXPECT_GT(*second->fencing_token(), number);
}

TEST_F(S11, StandardLocksWorkWithASharedMutex) {
  SharedMutex mutex(client_, resource_, {.ttl = seconds(20)});
  {
    const std::shared_lock here(mutex);
    EXPECT_TRUE(mutex.valid());
    std::jthread([&] {
      const std::shared_lock there(mutex, std::try_to_lock);
      EXPECT_TRUE(there.owns_lock());
      const std::unique_lock writer(mutex, std::try_to_lock);
      EXPECT_FALSE(writer.owns_lock());
    }).join();
  }
  EXPECT_FALSE(mutex.valid());
  ASSERT_TRUE(eventually([&] { return count(resource_) == 0; }));
  const std::unique_lock writer(mutex, seconds(30));
  ASSERT_TRUE(writer.owns_lock());
  EXPECT_TRUE(mutex.valid());
  std::jthread([&] {
    const std::shared_lock reader(mutex, milliseconds(1));
    EXPECT_FALSE(reader.owns_lock());
  }).join();
}

TEST_F(S11, ASharedMutexIsValidOnlyForTheThreadThatHoldsIt) {
  SharedMutex mutex(client_, resource_, {.ttl = seconds(20)});
  const auto elsewhere = [&] {
    bool valid = true;
    bool may_be_lost = true;
    std::jthread([&] {
      valid = mutex.valid();
      may_be_lost = mutex.lost().stop_possible();
    }).join();
    EXPECT_FALSE(may_be_lost);
    return valid;
  };
  using Ways = std::vector<std::function<bool()>>;
  const auto soon = [] { return BootClock::now() + seconds(30); };
  for (const auto& lock :
       Ways{[&] { return mutex.lock(), true; }, [&] { return mutex.lock(std::stop_token()); },
            [&] { return mutex.try_lock_for(seconds(30)); },
            [&] { return mutex.try_lock_until(soon()); }}) {
    ASSERT_TRUE(lock());
    EXPECT_TRUE(mutex.valid());
    EXPECT_TRUE(mutex.lost().stop_possible());
    EXPECT_FALSE(elsewhere()) << "the writer is another thread";
    mutex.unlock();
    EXPECT_FALSE(mutex.valid());
    EXPECT_FALSE(mutex.lost().stop_possible());
  }
  mutex.lock_shared();
  EXPECT_TRUE(mutex.valid());
  EXPECT_FALSE(elsewhere()) << "the reader is another thread";
  mutex.unlock_shared();
  EXPECT_FALSE(mutex.valid());
}

TEST_F(S11, ThreadsThatReadAndWriteNeverMeet) {
  SharedMutex mutex(client_, resource_, {.ttl = seconds(30)});
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> most{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([&, writes = t < 2] {
        for (int i = 0; i < 5; ++i) {
          if (writes) {
            const std::unique_lock lock(mutex);
            EXPECT_EQ(writers.fetch_add(1), 0);
            EXPECT_EQ(readers.load(), 0);
            writers.fetch_sub(1);
          } else {
            const std::shared_lock lock(mutex);
            const int now = readers.fetch_add(1) + 1;
            EXPECT_EQ(writers.load(), 0);
            int seen = most.load();
            while (seen < now && !most.compare_exchange_weak(seen, now)) {
            }
            std::this_thread::yield();
            readers.fetch_sub(1);
          }
        }
      });
    }
  }
  EXPECT_GE(most.load(), 1);
}

// --- reentrant on the server (S5) --------------------------------------------------------------

class S5 : public Kinds {};

TEST_F(S5, TheSameOwnerEntersAgainFromAnotherProcessToo) {
  const auto first = own("import");
  const auto second = other_.try_acquire(owned(resource_, "import"), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(first));
  ASSERT_TRUE(succeeded(second));
  EXPECT_NE(first->token(), second->token()) << "each hold has an id of its own";
  const auto stranger = own("export");
  ASSERT_TRUE(failed_with(stranger, Errc::held));
  const Holder owner{Holder::Kind::owned, std::nullopt, "import"};
  EXPECT_EQ(who_refused(stranger), owner);
  EXPECT_TRUE(failed_with(take(resource_), Errc::held));
  EXPECT_TRUE(failed_with(read(), Errc::held));
}

TEST_F(S5, EachLeaveAnswersTheHoldsThatRemain) {
  auto first = own("import");
  auto second = own("import");
  auto third = own("import");
  ASSERT_TRUE(succeeded(third));
  for (const auto& [lease, left] : {std::pair{&second, 2U}, {&first, 1U}, {&third, 0U}}) {
    const auto released = (*lease)->release();
    ASSERT_TRUE(succeeded(released));
    EXPECT_EQ(released->holds_left, left);
  }
  EXPECT_TRUE(succeeded(own("export")));
}

TEST_F(S5, HoldsThatOverlapDoNotKeepAStrangerOutForEver) {
  auto first = own("import");
  ASSERT_TRUE(succeeded(first));
  std::optional<Result<Lease>> stranger;
  std::jthread waiting(
      [&] { stranger = other_.try_acquire_for(resource_, seconds(60), {.ttl = seconds(20)}); });
  ASSERT_TRUE(eventually([&] {
    // A quorum of five.
    return std::count_if(shared_nodes(5).begin(), shared_nodes(5).end(), [&](RedisServer& node) {
             return node.command({"ZSCORE", resource_, "writer"}).kind == Reply::Kind::string;
           }) >= 3;
  }));
  auto nested = own("import");
  ASSERT_TRUE(succeeded(nested)) << "the first hold is older than the wait";
  EXPECT_TRUE(succeeded(first->release()));
  EXPECT_TRUE(failed_with(own("import"), Errc::held)) << "no hold is";
  EXPECT_TRUE(succeeded(nested->release()));
  waiting.join();
  EXPECT_TRUE(succeeded(*stranger));
}

TEST_F(S5, ALeaveByAStrangerIsToldApart) {
  auto lease = own("import");
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(
      failed_with(client_.release(resource_, *Token::parse(hex_token())), Errc::not_holder));
  const Token token = lease->detach().token;
  const auto released = client_.release(resource_, token);
  ASSERT_TRUE(succeeded(released));
  EXPECT_EQ(released->holds_left, 0U);
  // Its answer was lost, say, and it is asked for again: it counted once.
  EXPECT_TRUE(failed_with(client_.release(resource_, token), Errc::not_holder));
}

TEST_F(S5, IsShownInWords) {
  const auto first = own("import");
  const auto second = own("import");
  ASSERT_TRUE(succeeded(second));
  const auto seen = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->state, Inspection::State::held);
  EXPECT_EQ(seen->kind, LockKind::owned);
  EXPECT_EQ(seen->owner, "import");
  EXPECT_EQ(seen->holder, std::nullopt);
  EXPECT_TRUE(eventually([&] {
    const auto again = client_.inspect(resource_);
    return again && again->nodes.front().holds == 2U;
  }));
  EXPECT_EQ(client_.ownership(resource_, first->token()), Ownership::held);
  EXPECT_EQ(client_.ownership(resource_, *Token::parse(hex_token())), Ownership::not_held);
}

// --- reentrant in the client (S7) --------------------------------------------------------------

/// How many commands the servers have executed.
[[nodiscard]] std::int64_t commands_executed(NewNodes& nodes) {
  std::int64_t all = 0;
  for (RedisServer& node : nodes) {
    const std::string stats = node.command({"INFO", "commandstats"}).string;
    for (const std::string_view what : {"cmdstat_set:calls=", "cmdstat_evalsha:calls="}) {
      const std::size_t at = stats.find(what);
      if (at != std::string::npos) all += std::stoll(stats.substr(at + what.size()));
    }
  }
  return all;
}

TEST(S7, TheSecondLockOfAThreadCostsNoRoundTripAndOnlyTheLastUnlockReleases) {
  Nodes nodes(3);
  Client client = make_client(patient(nodes.urls()));
  RecursiveMutex mutex(client, "r", {.ttl = seconds(30)});
  mutex.lock();
  ASSERT_TRUE(eventually([&] { return nodes.count_held("r") == 3; }));
  const std::int64_t before = commands_executed(nodes);
  mutex.lock();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_TRUE(mutex.try_lock_for(seconds(1)));
  EXPECT_EQ(mutex.holds(), 4U);
  std::jthread([&] {
    EXPECT_EQ(mutex.holds(), 0U);
    mutex.unlock();  // not its own: harmless
    EXPECT_FALSE(mutex.try_lock());
  }).join();
  mutex.unlock();
  mutex.unlock();
  mutex.unlock();
  EXPECT_TRUE(mutex.valid());
  EXPECT_EQ(commands_executed(nodes), before);
  mutex.unlock();
  EXPECT_TRUE(eventually([&] { return nodes.count_held("r") == 0; }));
}

// --- interval (S3) -----------------------------------------------------------------------------

class S3 : public Kinds {};

TEST_F(S3, WithinAnIntervalItIsObtainedOnceEvenIfReleasedEarly) {
  auto lease = take(interval(resource_, seconds(600)));
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return count(resource_) == 5; }));
  ASSERT_TRUE(succeeded(lease->release()));
  const auto again = other_.try_acquire(interval(resource_, seconds(600)));
  ASSERT_TRUE(failed_with(again, Errc::held));
  // Redis 6.0 does not name what refuses.
  if (shared_nodes(5)[0].is_since(7)) {
    EXPECT_EQ(who_refused(again), Holder{Holder::Kind::interval});
  }
  const auto seen = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->kind, LockKind::interval);
  EXPECT_EQ(seen->state, Inspection::State::held);
  for (const NodeInspection& node : seen->nodes) {
    ASSERT_TRUE(node.remaining);
    EXPECT_GT(*node.remaining, seconds(500)) << "longer than max TTL is allowed";
    EXPECT_LE(*node.remaining, seconds(600));
  }
}

TEST_F(S3, ACrashedHolderKeepsTheIntervalToo) {
  {
    auto lease = client_.try_acquire(interval(resource_, seconds(600)), {.ttl = milliseconds(50)});
    ASSERT_TRUE(succeeded(lease));
    static_cast<void>(lease->detach());  // as if its process were gone
  }
  EXPECT_TRUE(eventually([&] {
    const auto left = shared_nodes(5)[0].pttl(resource_);
    return left > 500'000 && left < 599'900;  // past the lease's own TTL
  }));
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
}

TEST_F(S3, AfterTheIntervalItIsFree) {
  auto lease = take(interval(resource_, milliseconds(300)));
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(succeeded(other_.try_acquire_for(resource_, seconds(30))));
}

TEST_F(S3, WhoIsRefusedLeavesNothingThatKeepsOthersOut) {
  const auto holder = take(resource_);
  ASSERT_TRUE(succeeded(holder));
  const auto its_nodes = [&] {
    return shared_nodes(5).count_held_by(resource_, holder->token().str());
  };
  ASSERT_TRUE(eventually([&] { return its_nodes() == 5; })) << "not all nodes were waited for";
  EXPECT_TRUE(failed_with(other_.try_acquire(interval(resource_, seconds(600))), Errc::held));
  EXPECT_EQ(its_nodes(), 5U);
}

// --- several resources (P6) --------------------------------------------------------------------

class P6 : public Kinds {
 protected:
  const std::string second_ = fresh_resource();
  const std::string third_ = fresh_resource();
};

TEST_F(P6, AllOrNone) {
  auto other = client_.try_acquire(second_);
  ASSERT_TRUE(succeeded(other));
  const auto refused = take(all_of({resource_, second_, third_}));
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(who_refused(refused).value().token, other->token());
  EXPECT_EQ(count(resource_) + count(third_), 0U);
  ASSERT_TRUE(succeeded(other->release()));
  auto all = take(all_of({resource_, third_, second_, third_, resource_}), {.fencing = true});
  ASSERT_TRUE(succeeded(all));
  EXPECT_EQ(all->resources().size(), 3U) << "one named twice is taken once";
  EXPECT_TRUE(all->fencing_token());
  for (const std::string& name : {resource_, second_, third_}) {
    EXPECT_TRUE(
        eventually([&] { return shared_nodes(5).count_held_by(name, all->token().str()) == 5U; }));
  }
  ASSERT_TRUE(succeeded(all->extend(seconds(25))));
  ASSERT_TRUE(succeeded(all->release()));
  EXPECT_TRUE(eventually([&] { return count(resource_) + count(second_) + count(third_) == 0; }));
}

TEST_F(P6, AreExtendedAndReleasedByTheirToken) {
  auto all = take(all_of({resource_, second_}), {.ttl = seconds(5)});
  ASSERT_TRUE(succeeded(all));
  for (const std::string& name : {resource_, second_}) {
    ASSERT_TRUE(
        eventually([&] { return shared_nodes(5).count_held_by(name, all->token().str()) == 5U; }));
  }
  const Token token = all->detach().token;
  ASSERT_TRUE(succeeded(client_.extend(all_of({second_, resource_}), token, seconds(25))));
  const auto lives_on = [](const std::string& name) {
    return std::count_if(shared_nodes(5).begin(), shared_nodes(5).end(),
                         [&](RedisServer& node) { return node.pttl(name) > 5000; });
  };
  EXPECT_GE(lives_on(resource_), 3);
  EXPECT_GE(lives_on(second_), 3);

  ASSERT_TRUE(succeeded(client_.release(second_, token)));
  ASSERT_TRUE(eventually([&] { return count(second_) == 0; }));
  EXPECT_TRUE(failed_with(client_.extend(all_of({resource_, second_}), token, seconds(29)),
                          Errc::not_holder))
      << "all or none";
  EXPECT_TRUE(succeeded(client_.release(all_of({resource_, second_}), token)))
      << "what it still holds";
  EXPECT_TRUE(eventually([&] { return count(resource_) == 0; }));
  EXPECT_TRUE(failed_with(client_.release(permit(resource_, 2), token), Errc::invalid_argument));
}

TEST_F(P6, EachResourceHasATokenAboveItsOwn) {
  auto alone = client_.try_acquire(third_, {.fencing = true});
  ASSERT_TRUE(succeeded(alone));
  const auto number = *alone->fencing_token();
  ASSERT_TRUE(succeeded(alone->release()));
  auto all = take(all_of({resource_, third_}), {.fencing = true});
  ASSERT_TRUE(succeeded(all));
  EXPECT_GT(*all->fencing_token(), number);
  const auto together = *all->fencing_token();
  ASSERT_TRUE(succeeded(all->release()));
  auto again = client_.try_acquire(third_, {.fencing = true});
  ASSERT_TRUE(succeeded(again));
  EXPECT_GT(*again->fencing_token(), together);
}

TEST_F(P6, WhateverTheOrderNobodyWaitsForEver) {
  std::atomic<int> inside{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Client client = make_client(patient(shared_urls(5)));
      for (int i = 0; i < 5; ++i) {
        const Target all = t % 2 == 0 ? all_of({resource_, second_, third_})
                                      : all_of({second_, resource_, third_});
        auto lease = client.try_acquire_for(all, seconds(120), {.ttl = seconds(30)});
        ASSERT_TRUE(succeeded(lease));
        EXPECT_EQ(inside.fetch_add(1), 0);
        inside.fetch_sub(1);
        ASSERT_TRUE(succeeded(lease->release()));
      }
    });
  }
}

TEST_F(P6, WhoNeedsBothHasATurnWhereOthersLockEachAgainAndAgain) {
  std::atomic<bool> over{false};
  std::atomic<int> turns{0};
  std::vector<std::jthread> threads;
  for (const std::string& name : {resource_, second_}) {
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, name] {
        Client client = make_client(patient(shared_urls(3)));
        while (!over) {
          auto lease = client.try_acquire_for(name, seconds(120), {.ttl = seconds(30)});
          ASSERT_TRUE(succeeded(lease));
          ++turns;
          ASSERT_TRUE(succeeded(lease->release()));
        }
      });
    }
  }
  EXPECT_TRUE(eventually([&] { return turns > 8; }));
  Client client = make_client(patient(shared_urls(3)));
  for (int i = 0; i < 5; ++i) {
    const int before = turns;
    auto lease =
        client.try_acquire_for(all_of({second_, resource_}), seconds(120), {.ttl = seconds(30)});
    EXPECT_LE(turns - before, 40) << "turns of others";
    EXPECT_TRUE(succeeded(lease) && succeeded(lease->release()));
  }
  over = true;
}

// --- semaphore (P7) ----------------------------------------------------------------------------

class P7 : public Kinds {
 protected:
  [[nodiscard]] Result<Lease> enter(std::size_t permits) {
    return take(permit(resource_, permits));
  }
};

TEST_F(P7, AsManyAsThereArePermitsAndNoMore) {
  std::vector<Lease> leases;
  std::set<std::string> permits;
  for (int i = 0; i < 4; ++i) {
    auto lease = enter(4);
    ASSERT_TRUE(succeeded(lease)) << i;
    permits.insert(lease->resource());
    leases.push_back(*std::move(lease));
  }
  EXPECT_EQ(permits.size(), 4U);
  EXPECT_TRUE(permits.contains(resource_ + "#0"));
  EXPECT_TRUE(failed_with(enter(4), Errc::held));
  ASSERT_TRUE(succeeded(leases[1].release()));
  const auto next = enter(4);
  ASSERT_TRUE(succeeded(next)) << "one attempt finds the one permit that is free";
}

TEST_F(P7, WhoWaitsGetsAPlaceThatIsGivenBack) {
  auto first = enter(1);
  ASSERT_TRUE(succeeded(first));
  std::jthread leaving([&] { static_cast<void>(first->release()); });
  EXPECT_TRUE(
      succeeded(other_.try_acquire_for(permit(resource_, 1), seconds(60), {.ttl = seconds(20)})));
}

TEST_F(P7, ManyContendersAreNeverMoreThanThePlaces) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 4; ++i) {
          auto lease =
              client_.try_acquire_for(permit(resource_, 2), seconds(120), {.ttl = seconds(30)});
          ASSERT_TRUE(succeeded(lease));
          const int now = inside.fetch_add(1) + 1;
          int seen = most.load();
          while (seen < now && !most.compare_exchange_weak(seen, now)) {
          }
          std::this_thread::yield();
          inside.fetch_sub(1);
          ASSERT_TRUE(succeeded(lease->release()));
        }
      });
    }
  }
  EXPECT_LE(most.load(), 2);
}

// --- a minority of nodes killed ----------------------------------------------------------------

TEST(KindsOverTheLoss, OfTwoOfFiveNodesGoOn) {
  Nodes nodes(5);
  Client client = make_client(impatient(nodes.urls()));
  const auto take = [&](const Target& target) {
    return acquire_patiently(client, target, {.ttl = seconds(20)});
  };
  auto reader = take(shared("r"));
  auto owner = take(owned("owned", "me"));
  ASSERT_TRUE(succeeded(reader));
  ASSERT_TRUE(succeeded(owner));
  // Not all nodes were waited for.
  for (RedisServer& node : nodes) {
    ASSERT_TRUE(eventually([&] { return node.command({"EXISTS", "r", "owned"}).integer == 2; }));
  }
  nodes[0].kill();
  nodes[3].kill();
  EXPECT_TRUE(succeeded(reader->extend(seconds(20))));
  auto second = take(shared("r"));
  ASSERT_TRUE(succeeded(second));
  EXPECT_TRUE(failed_with(client.try_acquire("r"), Errc::held));
  auto again = take(owned("owned", "me"));
  ASSERT_TRUE(succeeded(again));
  const auto left = owner->release();
  ASSERT_TRUE(succeeded(left));
  EXPECT_EQ(left->holds_left, 1U);
  EXPECT_TRUE(succeeded(take(all_of({"a", "b", "c"}))));
  std::vector<Lease> permits;
  for (int i = 0; i < 3; ++i) {
    auto lease = take(permit("s", 3));
    ASSERT_TRUE(succeeded(lease));
    permits.push_back(*std::move(lease));
  }
  EXPECT_TRUE(failed_with(client.try_acquire(permit("s", 3)), Errc::held));
}

TEST(KindsOverTheLoss, OfItsKeysAHoldIsGivenBackToANodeThatReturns) {
  Nodes nodes(3);
  Client client = make_client(impatient(nodes.urls()));
  auto reader = acquire_patiently(client, shared("r"), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(reader));
  ASSERT_TRUE(eventually([&] { return nodes[1].command({"ZCARD", "r"}).integer == 2; }));
  nodes[1].kill();
  nodes[1].restart(Data::wipe);
  EXPECT_TRUE(eventually([&] {
    return reader->extend(seconds(20)) && nodes[1].command({"ZCARD", "r"}).integer == 2;
  }));
}

// --- opening a deployment ----------------------------------------------------------------------

TEST(KindsAndBootstrap, HoldsAndIntervalsAreFoundAsLocksAre) {
  NewNodes nodes(3);
  const ClientOptions options = patient(nodes.urls());
  const auto refused_for = [&](const Target& target) {
    // Of who had locks before there was a deployment.
    Client client = make_client(unguarded(options));
    const auto lease = client.try_acquire(target, {.ttl = seconds(20)});
    EXPECT_TRUE(succeeded(lease));
    const auto opened = admin::bootstrap(options);
    EXPECT_TRUE(failed_with(opened, Errc::held));
    return !opened && opened.error().message.find("'r'") != std::string::npos;
  };
  EXPECT_TRUE(refused_for(shared("r")));
  nodes.flush();
  EXPECT_TRUE(refused_for(owned("r", "me")));
  nodes.flush();
  EXPECT_TRUE(refused_for(interval("r", seconds(600))));
  // The rest of an interval has no holder, and still excludes every caller.
  const auto cooling_down = admin::bootstrap(options);
  EXPECT_TRUE(failed_with(cooling_down, Errc::held));
  nodes.flush();
  // A value of somebody else's is no lock.
  nodes[0].command({"SET", "s", "somebody else's", "PX", "600000"});
  EXPECT_TRUE(succeeded(admin::bootstrap(options)));
}

// --- bad input ---------------------------------------------------------------------------------

TEST_F(Kinds, AnUnusableTargetIsRefusedInOneLine) {
  const auto why = [&](const Target& target, AcquireOptions options = {}) {
    const auto refused = client_.try_acquire(target, std::move(options));
    EXPECT_TRUE(failed_with(refused, Errc::invalid_argument));
    return refused ? std::string() : refused.error().message;
  };
  EXPECT_EQ(why(owned(resource_, std::string(81, 'x'))), "owner: 81 bytes; 1 to 80 are allowed");
  EXPECT_EQ(why(owned(resource_, "")), "owner: 0 bytes; 1 to 80 are allowed");
  EXPECT_EQ(why(permit(resource_, 0)), "permits: 0; 1 to 256 are allowed");
  EXPECT_EQ(why(permit(resource_, 257)), "permits: 257; 1 to 256 are allowed");
  EXPECT_EQ(why(interval(resource_, seconds(-1))).substr(0, 14), "hold at least:");
  EXPECT_EQ(why(permit(resource_, 2, seconds(-1))).substr(0, 14), "hold at least:");
  EXPECT_EQ(why(all_of(std::vector<std::string>(65, "x"))),
            "resources: 65; at most 64 are allowed");
  const std::string no_name = "resource: 0 bytes; 1 to 8192 are allowed";
  EXPECT_EQ(why(all_of({resource_, ""})), no_name);
  EXPECT_EQ(why(all_of({})), no_name);
  EXPECT_EQ(why(shared("")), no_name);
  Target moved = resource_;
  const Target kept = std::move(moved);
  EXPECT_EQ(why(moved), no_name);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(kept.resource(), resource_);
  EXPECT_EQ(why(all_of({resource_, "x"}), {.orphan_ttl = seconds(1)}),
            "orphan ttl: not for several resources");
  for (const Target& target : {shared(resource_), owned(resource_, "me"), permit(resource_, 2)}) {
    EXPECT_EQ(why(target, {.fencing = true}),
              "fencing: not for shared, owned and permit, which may have several holders");
  }
  EXPECT_EQ(why(resource_, {.name = std::string(81, 'x')}),
            "name: 81 bytes; at most 80 are allowed");
  EXPECT_EQ(count(resource_), 0U);
}

TEST_F(Kinds, AForeignSortedSetIsNeitherTakenNorTouched) {
  for (RedisServer& node : shared_nodes(5)) {
    ASSERT_EQ(node.command({"ZADD", resource_, "1", "one", "2", "two"}).integer, 2);
  }
  EXPECT_TRUE(failed_with(read(), Errc::held));
  EXPECT_TRUE(failed_with(own("me"), Errc::held));
  EXPECT_TRUE(failed_with(take(all_of({resource_, "x"})), Errc::held));
  EXPECT_TRUE(failed_with(client_.release(resource_, *Token::parse("one")), Errc::not_holder));
  for (RedisServer& node : shared_nodes(5)) {
    EXPECT_EQ(node.command({"ZCARD", resource_}).integer, 2);
    EXPECT_EQ(node.command({"PTTL", resource_}).integer, -1);
  }
}

// --- watchdog (S4) -----------------------------------------------------------------------------

TEST(S4, TheHolderIsWarnedAheadOfTheLossWhileRenewalsFail) {
  Nodes nodes(3);
  Client client = make_client(impatient(nodes.urls()));
  std::atomic<int> warnings{0};
  std::atomic<bool> lost{false};
  std::atomic<bool> warned_after_loss{false};
  AcquireOptions options{.ttl = seconds(3)};
  options.on_at_risk = [&](std::chrono::nanoseconds left) {
    EXPECT_GT(left, left.zero());
    EXPECT_LE(left, seconds(1));
    ++warnings;
    warned_after_loss = lost.load();
  };
  options.on_lost = [&](const Error&) { lost = true; };
  const auto lease = acquire_patiently(client, "r", std::move(options));
  ASSERT_TRUE(succeeded(lease));
  nodes[0].kill();
  nodes[1].kill();
  EXPECT_TRUE(eventually([&] { return lost.load(); }, seconds(30)));
  EXPECT_EQ(warnings.load(), 1);
  EXPECT_FALSE(warned_after_loss.load());
}

}  // namespace
}  // namespace redlock::test
