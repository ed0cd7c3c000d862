// After a fork, clients belong to the parent only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>

#include "integration/library.hpp"
#include "support/process.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

#if defined(__SANITIZE_THREAD__)
constexpr bool threads_after_fork = false;  // ThreadSanitizer forbids them
#else
constexpr bool threads_after_fork = true;
#endif

/// Whether all other threads of this process sleep.
[[maybe_unused]] bool others_sleep() {
  const std::string own = std::to_string(::gettid());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own) continue;
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t state = stat.rfind(") ");
    if (state != std::string::npos && stat[state + 2] != 'S') return false;
  }
  return true;
}

/// The address sanitizer's allocator keeps its locks over a fork: a child would wait for ever for
/// one that another thread held at that moment.
void await_sleeping_threads() {
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_TRUE(eventually([] { return others_sleep() && others_sleep(); }));
#endif
}

/// Runs `body` in a child forked at once and waits for it; the exit code is its result. gtest
/// belongs to the parent, so the child reports by numbers.
template <typename Body>
[[nodiscard]] int in_child_at_once(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);  // a child that hangs must not hang the test
    ::_exit(body());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Runs `body` in a child that is forked while the parent's other threads sleep.
template <typename Body>
[[nodiscard]] int in_child(Body body) {
  await_sleeping_threads();
  return in_child_at_once(std::move(body));
}

class Fork : public testing::Test {
 protected:
  Client client_ = make_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
};

TEST_F(Fork, TheChildsCopyRefusesEveryCall) {
  auto lease = client_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  const auto forked = [](const auto& result) {
    return !result && result.error().code == Errc::forked;
  };
  EXPECT_EQ(in_child([&] {
              if (!forked(client_.try_acquire("x"))) return 1;
              if (!forked(client_.acquire("x", {}))) return 2;
              if (!forked(client_.inspect(resource_))) return 3;
              if (!forked(client_.ownership(resource_, lease->token()))) return 4;
              if (!forked(client_.release(resource_, lease->token()))) return 5;
              if (!forked(client_.extend(resource_, lease->token(), seconds(1)))) return 6;
              if (!forked(lease->extend(seconds(1)))) return 7;
              if (!forked(lease->release())) return 8;
              return 0;
            }),
            0);
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(eventually(
      [&] { return shared_nodes().count_held_by(resource_, lease->token().str()) == 3; }));
  EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(client_.try_acquire(resource_)));
}

TEST_F(Fork, TheChildsDestructorsReleaseNothing) {
  auto lease = client_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(in_child([&] {
              { const Lease gone = *std::move(lease); }
              { const Client gone = std::move(client_); }
              return 0;
            }),
            0);
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(eventually(
      [&] { return shared_nodes().count_held_by(resource_, lease->token().str()) == 3; }));
  EXPECT_TRUE(succeeded(client_.inspect(resource_)));
}

TEST_F(Fork, AChildMayEndByExit) {
  static Client* client = nullptr;
  static Lease* lease = nullptr;
  client = &client_;
  auto granted = client_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(granted));
  lease = &*granted;
  EXPECT_EQ(in_child([&]() -> int {
              std::atexit([] {
                *lease = Lease();
                const Client gone = std::move(*client);
              });
              // The child skips the exit handlers of the test program, which belong to the parent.
              std::fflush(nullptr);
              std::exit(7);
            }),
            7);
  EXPECT_TRUE(granted->valid());
  EXPECT_TRUE(succeeded(granted->extend(seconds(20))));
}

TEST_F(Fork, AChildMayEndByExitAfterTheParentHasLookedUpAName) {
  // Otherwise the child would join libuv's threads for name lookups, which it does not have.
  RedisServer server;
  const ClientOptions options = patient({"localhost:" + std::to_string(server.port())});
  open_deployment(options);
  Client named = make_client(options);
  ASSERT_TRUE(succeeded(named.try_acquire(resource_)));
  EXPECT_EQ(in_child([&]() -> int {
              std::fflush(nullptr);
              std::exit(7);
            }),
            7);
}

TEST_F(Fork, AMutexOfTheParentThrowsInTheChild) {
  Mutex mutex(client_, resource_);
  const std::scoped_lock held(mutex);
  Mutex other(client_, resource_ + ":other");
  EXPECT_EQ(in_child([&] {
              mutex.unlock();  // releases nothing
              try {
                other.lock();
              } catch (const std::system_error& error) {
                return error.code() == std::errc::operation_not_permitted ? 0 : 1;
              }
              return 2;
            }),
            0);
  EXPECT_TRUE(mutex.valid());
}

TEST_F(Fork, NothingIsValidInTheChild) {
  // The parent may release its lease at any time, and the child would not learn of it.
  auto lease = client_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  Mutex mutex(client_, resource_ + ":mutex");
  const std::scoped_lock held(mutex);
  SharedMutex shared(client_, resource_ + ":shared");
  const std::shared_lock reads(shared);
  RecursiveMutex recursive(client_, resource_ + ":recursive");
  const std::scoped_lock entered(recursive);
  Election election(client_, resource_ + ":election");
  const auto leads = election.try_campaign();
  ASSERT_TRUE(succeeded(leads));
  const auto valid = [&] {
    return std::array{lease->valid(),    mutex.valid(),  shared.valid(),
                      recursive.valid(), leads->valid(), lease->remaining() > seconds(0)};
  };
  EXPECT_THAT(valid(), testing::Each(true));
  EXPECT_EQ(in_child([&] {
              const auto in_the_child = valid();
              return static_cast<int>(std::count(in_the_child.begin(), in_the_child.end(), true));
            }),
            0);
  EXPECT_THAT(valid(), testing::Each(true));
}

TEST_F(Fork, AskingAMutexInTheChildWaitsForNoThreadOfTheParent) {
  // A thread of the parent may be inside the mutex while the process forks. That thread never
  // sleeps, and allocates nothing.
  Mutex mutex(client_, resource_);
  const std::scoped_lock held(mutex);
  std::atomic<bool> ends{false};
  {
    const std::jthread asks([&] {
      while (!ends) static_cast<void>(mutex.valid());
    });
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(in_child_at_once([&] { return mutex.valid() ? 1 : 0; }), 0);
    }
    ends = true;
  }
}

TEST_F(Fork, AnAsynchronousClientAnswersForkedAtOnce) {
  AsyncClient client = make_async_client(patient(shared_urls(3)));
  EXPECT_EQ(in_child([&] {
              int answers = 0;
              const auto count = [&answers](const auto& result) {
                if (!result && result.error().code == Errc::forked) ++answers;
              };
              client.try_acquire("x", {}, count);
              client.inspect("x", count);
              client.release("x", *Token::parse("t"), count);
              client.extend("x", *Token::parse("t"), seconds(1), count);
              client.try_acquire("x", {}, nullptr);
              client.inspect("x", nullptr);
              client.release("x", *Token::parse("t"), nullptr);
              client.extend("x", *Token::parse("t"), seconds(1), nullptr);
              client.cancel(RequestId{1});
              int closed = 0;
              client.close([&](const CloseReport&) { ++closed; });
              if (closed != 1) return 99;
              return answers;
            }),
            4);
}

TEST_F(Fork, AChildMayHaveAClientOfItsOwn) {
  if (!threads_after_fork) GTEST_SKIP() << "not under ThreadSanitizer";
  auto lease = client_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(in_child([&] {
              auto own = Client::create(patient(shared_urls(3)));
              if (!own) return 1;
              auto refused = own->try_acquire(resource_);
              if (refused || refused.error().code != Errc::held) return 2;
              auto granted = own->try_acquire(resource_ + ":child");
              if (!granted) return 3;
              if (!granted->release()) return 4;
              if (!own->release(resource_, lease->token())) return 5;
              return 0;
            }),
            0);
  // The child continued after a quorum's answers.
  EXPECT_TRUE(eventually(
      [&] { return shared_nodes().count_held_by(resource_, lease->token().str()) == 0; }));
}

TEST_F(Fork, TokensOfParentAndChildDiffer) {
  if (!threads_after_fork) GTEST_SKIP() << "not under ThreadSanitizer";
  const auto mine = resource_ + ":parent";
  const auto childs = resource_ + ":child";
  auto lease = client_.try_acquire(mine, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(in_child([&] {
              auto own = Client::create(patient(shared_urls(3)));
              auto taken = own->try_acquire(childs, {.ttl = seconds(30)});
              if (!taken) return 1;
              static_cast<void>(taken->detach());
              return 0;
            }),
            0);
  ASSERT_TRUE(shared_nodes()[0].get(childs));
  EXPECT_NE(shared_nodes()[0].get(childs), lease->token().str());
}

TEST_F(Fork, UnderRenewalDisturbsNeitherTheLeaseNorItsParent) {
  AcquireOptions options{.ttl = seconds(3)};
  auto lease = client_.try_acquire(resource_, std::move(options));
  ASSERT_TRUE(succeeded(lease));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(in_child([&] { return client_.try_acquire("x") ? 1 : 0; }), 0);
  }
  const auto deadline = lease->valid_until();
  EXPECT_TRUE(eventually([&] { return lease->valid_until() > deadline; }));
}

}  // namespace
}  // namespace redlock::test
