// Calls that are awaited with temporaries. g++ 12, which would destroy them twice, must refuse the
// lines with a mark, and only those; all other compilers compile every line. See run.

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "../integration/detached.hpp"
#include "redlock/async_client.hpp"
#include "redlock/async_election.hpp"

using namespace redlock;
using redlock::test::Detached;
using namespace std::chrono_literals;

// What owns nothing is destroyed twice without harm.
static_assert(std::is_trivially_destructible_v<BreakOptions>);
static_assert(std::is_trivially_destructible_v<WatchOptions>);
// Else `adopt` would have to refuse what `detach` returns.
static_assert(!std::is_aggregate_v<DetachedLease>);

Detached temporaries(AsyncClient& client, AsyncElection& election, std::shared_ptr<int> owned,
                     std::stop_token stop) {
  const auto now = BootClock::now();
  Lease lease;
  (void)co_await client.acquire("r", {.ttl = 5s});                   // refused
  (void)co_await client.acquire("r", {.ttl = 5s}, stop);             // refused
  (void)co_await client.acquire("r", AcquireOptions{.ttl = 5s});     // refused
  (void)co_await client.acquire("r", {});                            // refused
  (void)co_await client.try_acquire("r", {.name = "teller"});        // refused
  (void)co_await client.try_acquire_for("r", 2s, {.ttl = 5s});       // refused
  (void)co_await client.try_acquire_for(shared("r"), 2s, {}, stop);  // refused
  (void)co_await client.try_acquire_until("r", now, {.ttl = 5s});    // refused
  (void)co_await client.adopt(lease.detach(), {.ttl = 5s});          // refused
  // Each line is one call.
  // clang-format off
  (void)co_await client.watch("r", [owned](auto&) {}, stop);  // refused
  (void)co_await election.observe([owned](auto&) {}, stop);   // refused
  // clang-format on
  (void)co_await client.close().via([owned](std::coroutine_handle<> rest) { rest(); });  // refused
}

Detached objects_with_names(AsyncClient& client, AsyncElection& election,
                            std::shared_ptr<int> owned, std::stop_token stop) {
  const auto now = BootClock::now();
  Lease lease;
  const AcquireOptions options{.ttl = 5s};
  const auto post = [owned](std::coroutine_handle<> rest) { rest(); };
  std::function<void(const Inspection&)> changed = [owned](const Inspection&) {};
  (void)co_await client.acquire("r");
  (void)co_await client.acquire("r", options, stop);
  (void)co_await client.try_acquire("r", options);
  (void)co_await client.try_acquire_for("r", 2s, options, stop);
  (void)co_await client.try_acquire_until("r", now, options);
  (void)co_await client.adopt(lease.detach(), options);
  (void)co_await client.adopt(lease.detach());
  (void)co_await client.adopt(DetachedLease{});
  (void)co_await client.watch("r", std::move(changed), stop, {.poll_interval = 1s});
  (void)co_await client.watch(
      "r", [&lease](const Inspection&) { (void)lease.valid(); }, stop);
  (void)co_await election.observe([](const std::optional<Leader>&) {}, stop);
  (void)co_await client.break_lock("r", Token(), {.delay = 1s});
  (void)co_await client.close().via(post);
}

// These have nothing to do with coroutines.
void callbacks(AsyncClient& client, std::shared_ptr<int> owned) {
  client.acquire("r", {.ttl = 5s}, [owned](Result<Lease>) {});
  client.try_acquire_for("r", 2s, {}, [owned](Result<Lease>) {});
  client.watch("r", {}, [owned](Result<Inspection>) {});
}
