// Readers and writers (S11) on real servers.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "integration/kinds/kinds.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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
    // Members: two readers and the group. The last node may lag behind the quorum.
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
  // If the writer's client did not ask a node, that node would let readers in and end their queue.
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
    return eventually([&] { return are_queued(shared_nodes(5), resource_, clients_queued); });
  };
  const auto read_with = [&](Client& client) {
    auto lease = client.try_acquire_for(shared(resource_), seconds(60), {.ttl = seconds(20)});
    EXPECT_TRUE(succeeded(lease));
    EXPECT_FALSE(wrote) << "the writer came later";
    ++readers;
    // All readers hold it at once.
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
  // A quorum decides; the other nodes release the hold a moment later.
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

}  // namespace
}  // namespace redlock::test
