#include <uv.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/cycle/cycle_bench.hpp"
#include "redlock/async_client.hpp"

namespace redlock::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A lane is one lock in flight that runs one cycle after the other, all on one loop. Between two
/// calls of the library it does the least possible: it reads the clock twice and makes two
/// histogram entries.
class AsyncLanes {
 public:
  AsyncLanes(const CycleLoad& load, AsyncClient& client)
      : load_(load), client_(client), lanes_(load.in_flight) {
    acquire_options_.ttl = limits::default_ttl < load.options.max_ttl
                               ? std::chrono::nanoseconds{limits::default_ttl}
                               : load.options.max_ttl;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].resource = load.resource_prefix + "/" + std::to_string(i);
    }
  }

  void start(Callback<void()> finished) {
    finished_ = std::move(finished);
    measured_from_ = Clock::now() + load_.warm_up;
    deadline_ = measured_from_ + load_.duration;
    active_ = lanes_.size();
    for (Lane& lane : lanes_) begin_cycle(lane, Clock::now());
  }

  [[nodiscard]] bench::CycleResult take_result() { return std::move(result_); }

 private:
  struct Lane {
    std::string resource;
    Clock::time_point start;   // when the cycle began
    Clock::time_point called;  // when the acquire or the release was called
    std::uint64_t cycles = 0;
  };

  void begin_cycle(Lane& lane, Clock::time_point now) {
    if (!measuring_ && now >= measured_from_) begin_measurement(now);
    if (now >= deadline_ || load_.stop->load(std::memory_order_relaxed) != 0) {
      end_lane(now);
      return;
    }
    lane.start = lane.called = now;
    client_.try_acquire(target_of(lane), options_of_one(), [this, &lane](Result<Lease> lease) {
      on_acquired(lane, std::move(lease));
    });
  }

  [[nodiscard]] Target target_of(Lane& lane) const {
    return load_.target ? load_.target(lane.resource, lane.cycles++) : Target(lane.resource);
  }

  [[nodiscard]] AcquireOptions options_of_one() const {
    AcquireOptions options;
    options.ttl = acquire_options_.ttl;
    options.fencing = load_.fencing;
    return options;
  }

  void on_acquired(Lane& lane, Result<Lease> lease) {
    const auto now = Clock::now();
    if (!lease) {
      on_failure(lane, now);
      return;
    }
    if (counts(lane)) result_.acquire.record(now - lane.start);
    lane.called = now;
    client_.release(std::move(lease).value(),
                    [this, &lane](const Result<Round>& round) { on_released(lane, round); });
  }

  void on_released(Lane& lane, const Result<Round>& round) {
    const auto now = Clock::now();
    if (!round) {
      on_failure(lane, now);
      return;
    }
    if (counts(lane)) {
      result_.cycle.record(now - lane.start);
      ++result_.cycles;
    }
    begin_cycle(lane, now);
  }

  void on_failure(Lane& lane, Clock::time_point now) {
    if (counts(lane)) {
      ++result_.failures;
      result_.failure.record(now - lane.called);
    }
    begin_cycle(lane, now);
  }

  [[nodiscard]] bool counts(const Lane& lane) const noexcept {
    return measuring_ && (load_.at_start || lane.start >= measured_from_);
  }

  void begin_measurement(Clock::time_point now) {
    measuring_ = true;
    measured_from_ = now;
    deadline_ = now + load_.duration;
    node_cpu_at_start_ = bench::cpu_of_nodes(load_.node_cpu);
    cpu_at_start_ = bench::cpu_use(bench::CpuScope::calling_thread);
    if (load_.at_start) load_.at_start();
  }

  void end_lane(Clock::time_point now) {
    if (--active_ != 0) return;
    result_.elapsed = measuring_ ? now - measured_from_ : Clock::duration{0};
    bench::count_cpu(result_, cpu_at_start_, bench::CpuScope::calling_thread);
    result_.node_cpu = bench::cpu_of_nodes(load_.node_cpu) - node_cpu_at_start_;
    finished_();
  }

  const CycleLoad& load_;
  AsyncClient& client_;
  std::vector<Lane> lanes_;
  AcquireOptions acquire_options_;
  Callback<void()> finished_;
  Clock::time_point measured_from_;
  Clock::time_point deadline_;
  bool measuring_ = false;
  std::size_t active_ = 0;
  bench::CpuUse cpu_at_start_{};
  std::chrono::nanoseconds node_cpu_at_start_{0};
  bench::CycleResult result_;
};

/// A loop. Closes everything on it, then the loop itself.
class Loop {
 public:
  Loop() : status_(::uv_loop_init(&loop_)) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    if (status_ != 0) return;
    // Handles close in later turns; a handle that does not is the library's leak and shows there.
    for (int turn = 0; turn < 1000 && ::uv_loop_close(&loop_) == UV_EBUSY; ++turn) {
      ::uv_run(&loop_, UV_RUN_NOWAIT);
    }
  }

  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] uv_loop_t* get() noexcept { return &loop_; }

 private:
  uv_loop_t loop_{};
  int status_;
};

}  // namespace

bench::CycleOutcome run_async_cycles(const CycleLoad& load) {
  Loop loop;
  if (loop.status() != 0) return std::string(::uv_strerror(loop.status()));
  Result<AsyncClient> created = AsyncClient::create(load.options, loop.get());
  if (!created) return created.error().message;
  AsyncClient client = std::move(created).value();

  AsyncLanes lanes(load, client);
  bool closed = false;
  lanes.start([&client, &loop, &closed] {
    client.close([&loop, &closed](const CloseReport&) {
      closed = true;
      ::uv_stop(loop.get());
    });
  });
  while (!closed && ::uv_run(loop.get(), UV_RUN_DEFAULT) != 0) {
  }
  if (!closed) return std::string("the client's loop ended before the client was closed");
  return lanes.take_result();
}

}  // namespace redlock::cli
