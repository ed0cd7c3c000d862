#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/cycle/cycle_bench.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Span {
  Clock::time_point from;
  Clock::time_point until;
};

bench::CycleResult run_lane(Client& client, const CycleLoad& load, const std::string& resource,
                            Span measured) {
  bench::CycleResult result;
  const auto ttl = std::min<std::chrono::nanoseconds>(limits::default_ttl, load.options.max_ttl);
  for (;;) {
    const auto start = Clock::now();
    if (start >= measured.until || load.stop->load(std::memory_order_relaxed) != 0) break;
    AcquireOptions options;
    options.ttl = ttl;
    options.fencing = load.fencing;
    Result<Lease> lease = client.try_acquire(resource, std::move(options));
    const auto acquired = Clock::now();
    const bool released = lease && lease->release();
    const auto end = Clock::now();
    if (start < measured.from) continue;
    if (lease) result.acquire.record(acquired - start);
    if (released) {
      result.cycle.record(end - start);
      ++result.cycles;
    } else {
      ++result.failures;
      result.failure.record(end - start);
    }
  }
  return result;
}

}  // namespace

bench::CycleOutcome run_blocking_cycles(const CycleLoad& load) {
  Result<Client> created = Client::create(load.options);
  if (!created) return created.error().message;
  Client client = std::move(created).value();

  // The time runs once the client is connected.
  if (auto lease = client.try_acquire(load.resource_prefix)) static_cast<void>(lease->release());

  std::vector<bench::CycleResult> results(load.in_flight);
  std::vector<std::thread> threads;
  threads.reserve(load.in_flight);
  const auto from = Clock::now() + load.warm_up;
  const Span measured{from, from + load.duration};
  for (std::size_t i = 0; i < load.in_flight; ++i) {
    threads.emplace_back([&client, &load, &results, measured, i] {
      results[i] = run_lane(client, load, load.resource_prefix + "/" + std::to_string(i), measured);
    });
  }
  std::this_thread::sleep_until(measured.from);
  const auto node_cpu_at_start = bench::cpu_of_nodes(load.node_cpu);
  const auto cpu_at_start = bench::cpu_use(bench::CpuScope::process);
  for (std::thread& thread : threads) thread.join();

  bench::CycleResult total;
  total.elapsed = std::max<Clock::duration>(Clock::now() - measured.from, Clock::duration{0});
  bench::count_cpu(total, cpu_at_start, bench::CpuScope::process);
  total.node_cpu = bench::cpu_of_nodes(load.node_cpu) - node_cpu_at_start;
  for (const bench::CycleResult& result : results) {
    total.cycles += result.cycles;
    total.failures += result.failures;
    total.acquire.merge(result.acquire);
    total.cycle.merge(result.cycle);
    total.failure.merge(result.failure);
  }
  return total;
}

}  // namespace redlock::cli
