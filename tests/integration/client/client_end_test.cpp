// How a client ends while calls and leases are under way, and that it leaves nothing behind.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <iterator>
#include <thread>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

[[nodiscard]] std::size_t entries_of(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(directory), {}));
}

TEST(ClientEnd, OfACallLeavesNothingThatItsCallbacksCaptured) {
  // No server listens there, so the call is refused without a node.
  AsyncClient client = *AsyncClient::create({.nodes = {"127.0.0.1:1"}});
  auto captured = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = captured;
  AcquireOptions options;
  options.on_lost = [captured](const Error&) {};
  options.on_at_risk = [captured](std::chrono::nanoseconds) {};
  captured.reset();
  std::promise<void> answered;
  client.try_acquire("r", std::move(options), [&](const Result<Lease>&) { answered.set_value(); });
  answered.get_future().wait();
  EXPECT_TRUE(eventually([&] { return alive.expired(); }));
}

TEST(ClientEnd, OfALeaseLeavesNothingThatItsCallbacksCaptured) {
  AsyncClient client = *AsyncClient::create(patient(shared_urls(1)));
  for (const bool releases : {true, false}) {
    auto captured = std::make_shared<int>(0);
    const std::weak_ptr<int> alive = captured;
    AcquireOptions options{.ttl = milliseconds(300), .renew = false};
    options.on_lost = [captured](const Error&) {};
    captured.reset();
    std::promise<Result<Lease>> answered;
    client.try_acquire(fresh_resource(), std::move(options),
                       [&](Result<Lease> lease) { answered.set_value(std::move(lease)); });
    auto lease = answered.get_future().get();
    ASSERT_TRUE(succeeded(lease));
    EXPECT_FALSE(alive.expired());
    if (releases) static_cast<void>(lease->release());
    // The lease object still exists.
    EXPECT_TRUE(eventually([&] { return alive.expired(); }));
    EXPECT_FALSE(lease->valid());
  }
}

TEST(ClientEnd, AnswersBlockedCallsAndReleasesWhatIsHeld) {
  const auto held = fresh_resource();
  const auto waited = fresh_resource();
  Client other = make_client(patient(shared_urls(3)));
  const auto obstacle = other.try_acquire(waited, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(obstacle));
  std::vector<std::future<Errc>> blocked;
  Result<Lease> lease = Error{};
  {
    auto client = std::make_unique<Client>(make_client(patient(shared_urls(3))));
    lease = client->try_acquire(held, {.ttl = seconds(30)});
    ASSERT_TRUE(succeeded(lease));
    std::atomic<int> begun{0};
    for (int i = 0; i < 5; ++i) {
      blocked.push_back(std::async(std::launch::async, [&begun, &waited, calling = client.get()] {
        ++begun;
        auto refused = calling->acquire(waited, {});
        return refused ? Errc::held : refused.error().code;
      }));
    }
    ASSERT_TRUE(eventually([&] { return begun == 5; }));
    // A call that begins later would use a destroyed client: that is the caller's mistake.
    EXPECT_EQ(blocked.back().wait_for(milliseconds(100)), std::future_status::timeout);
    client.reset();
  }
  for (auto& call : blocked) EXPECT_EQ(call.get(), Errc::closed);
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(shared_nodes().count_held(held), 0U);
  // A lease that outlives its client has ended, and is harmless.
  EXPECT_TRUE(failed_with(lease->extend(seconds(1)), Errc::closed));
  EXPECT_EQ(lease->resource(), held);
  EXPECT_FALSE(lease->round().nodes.empty());
  EXPECT_TRUE(failed_with(lease->release(), Errc::closed));
}

TEST(ClientEnd, DoesNotTakeWhatWasDetached) {
  const auto resource = fresh_resource();
  Token token;
  {
    Client client = make_client(patient(shared_urls(3)));
    auto lease = client.try_acquire(resource, {.ttl = seconds(30)});
    ASSERT_TRUE(succeeded(lease));
    token = lease->detach().token;
  }
  EXPECT_GE(shared_nodes().count_held_by(resource, token.str()), 2U);
  Client next = make_client(patient(shared_urls(3)));
  EXPECT_TRUE(succeeded(next.release(resource, token)));
}

TEST(ClientEnd, ComesThoughNodesHang) {
  Nodes nodes(5, {}, minutes(10));
  const auto resource = fresh_resource();
  auto options = impatient(nodes.urls());
  options.max_ttl = minutes(10);
  {
    Client client = make_client(options);
    std::vector<Lease> leases;
    for (int i = 0; i < 20; ++i) {
      auto lease = acquire_patiently(client, resource + std::to_string(i), {.ttl = minutes(10)});
      ASSERT_TRUE(succeeded(lease));
      leases.push_back(*std::move(lease));
    }
    nodes[0].stop();
    nodes[1].stop();
  }
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_EQ(count_lock_keys(nodes[i]), 0U) << "a node that answers was left with keys";
  }
  nodes[0].resume();
  nodes[1].resume();
}

TEST(ClientEnd, ComesThoughAllNodesHangOrWereNeverThere) {
  Nodes nodes(3);
  {
    Client client = make_client(impatient(nodes.urls()));
    auto lease = client.try_acquire(fresh_resource());
    for (RedisServer& node : nodes) node.stop();
    auto blocked = std::async(std::launch::async,
                              [&] { return client.try_acquire_for(fresh_resource(), seconds(1)); });
    EXPECT_FALSE(blocked.get());
  }
  { Client client = make_client(impatient({"127.0.0.1:1", "127.0.0.1:2", "unix:///none"})); }
  { Client client = make_client(impatient(nodes.urls())); }
  for (RedisServer& node : nodes) node.resume();
}

TEST(ClientEnd, IsTheEndOfAnAssignedClientToo) {
  const auto resource = fresh_resource();
  Client client = make_client(patient(shared_urls(3)));
  auto lease = client.try_acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  client = make_client(patient(shared_urls(3)));
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(shared_nodes().count_held(resource), 0U);
  EXPECT_TRUE(succeeded(client.try_acquire(resource)));
  Client& alias = client;
  client = std::move(alias);
  EXPECT_TRUE(succeeded(acquire_patiently(client, resource)));
}

TEST(ClientLoad, AThousandThreadsShareAClient) {
  Client client = make_client(patient(shared_urls(3)));
  const auto resource = fresh_resource();
  std::atomic<int> granted{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 1000; ++t) {
      threads.emplace_back([&, t] {
        auto lease = client.try_acquire(resource + std::to_string(t));
        EXPECT_TRUE(succeeded(lease));
        if (lease && lease->release()) ++granted;
      });
    }
  }
  EXPECT_EQ(granted, 1000);
}

TEST(ClientLoad, TenThousandCyclesLeaveNoKeyOnAnyNode) {
  shared_nodes(5).clear();
  {
    Client client = make_client(patient(shared_urls(5)));
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 625; ++i) {
          auto lease =
              client.try_acquire_for("cycle:" + std::to_string(t) + ":" + std::to_string(i % 7),
                                     seconds(30), {.ttl = seconds(30)});
          ASSERT_TRUE(succeeded(lease));
          if (i % 3 == 0) {
            ASSERT_TRUE(succeeded(lease->release()));
          }
        }
      });
    }
  }
  for (const RedisServer& node : shared_nodes(5)) {
    EXPECT_EQ(count_lock_keys(node), 0U);
  }
}

TEST(ClientLoad, DescriptorsAndThreadsDoNotGrow) {
  const auto cycle = [] {
    Client client = make_client(patient(shared_urls(3)));
    auto lease = client.try_acquire(fresh_resource());
    EXPECT_TRUE(succeeded(lease));
  };
  const auto aborted = [] {
    { Client client = make_client(patient(shared_urls(3))); }
    {
      Client client = make_client(patient({"127.0.0.1:1", "redis://localhost:1", "unix:///none"}));
    }
    EXPECT_FALSE(Client::create({}));
  };
  cycle();
  aborted();
  const auto descriptors = entries_of("/proc/self/fd");
  const auto threads = entries_of("/proc/self/task");
  for (int i = 0; i < 60; ++i) {
    cycle();
    aborted();
  }
  EXPECT_TRUE(eventually([&] { return entries_of("/proc/self/fd") <= descriptors; }));
  // libuv keeps its four threads for name lookups after the first lookup.
  EXPECT_TRUE(eventually([&] { return entries_of("/proc/self/task") <= threads; }));
}

/// Lets this process open only `more` further descriptors.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(next, 0);
    ::close(next);
    const rlimit low{static_cast<rlim_t>(next) + more, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  ~DescriptorLimit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(ClientLoad, AProcessWithoutDescriptorsGetsAClearError) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's own checks need descriptors";
#endif
  const auto urls = shared_urls(3);
  bool refused = false;
  bool opened = false;
  for (rlim_t more = 0; more < 16; ++more) {
    const DescriptorLimit limit(more);
    auto client = Client::create(patient(urls));
    if (!client) {
      EXPECT_TRUE(failed_with(client, Errc::limit_reached));
      refused = true;
      continue;
    }
    opened = true;
    auto lease = client->try_acquire(fresh_resource());
    if (!lease) {
      EXPECT_TRUE(failed_with(lease, Errc::unavailable));
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(opened);
}

TEST(ClientLoad, AClientsWaitersAreBoundedByNoThread) {
  Client client = make_client(patient(shared_urls(3)));
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  const auto threads = entries_of("/proc/self/task");
  AsyncClient asynchronous = make_async_client(patient(shared_urls(3)));
  std::atomic<int> answers{0};
  std::vector<RequestId> requests;
  for (int i = 0; i < 300; ++i) {
    requests.push_back(asynchronous.acquire(resource, {}, [&](Result<Lease> refused) {
      EXPECT_TRUE(failed_with(refused, Errc::cancelled));
      ++answers;
    }));
  }
  EXPECT_LE(entries_of("/proc/self/task"), threads + 1);
  for (const RequestId request : requests) asynchronous.cancel(request);
  EXPECT_TRUE(eventually([&] { return answers == 300; }, seconds(30)));
}

}  // namespace
}  // namespace redlock::test
