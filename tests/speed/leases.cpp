// The cost of leases for the process that holds them: memory, and time for renewals.
//
//   leases LEASES WINDOW SECONDS NODE…
//
// Takes LEASES leases through the asynchronous interface, WINDOW at a time, each on a resource of
// 20 bytes, and prints what a lease adds to the memory that is in use and to the resident set.
// Before that, WINDOW leases are taken and released: the memory of a call under way is no part of a
// lease, and how many calls are under way depends on the machine. With SECONDS, the leases are
// renewed in the background for this time, with a TTL of a third of it; the program prints the
// processor time of a renewal, and the number of renewals in each tenth of the pause between two.
// At the end it releases all leases, and prints the memory that is left. `tests/speed/run` runs it.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redlock/async_client.hpp"
#include "redlock/deployment.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::AcquireOptions;
using redlock::AsyncClient;
using redlock::Lease;
using redlock::Metrics;
using redlock::Result;
using redlock::Round;

struct Memory {
  std::size_t used = 0;      ///< bytes in use, by malloc
  std::size_t resident = 0;  ///< bytes of the process
};

Memory memory() {
  const auto heap = ::mallinfo2();
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  statm >> size >> resident;
  return {heap.uordblks + heap.hblkhd, resident * static_cast<std::size_t>(::getpagesize())};
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Holder {
 public:
  Holder(AsyncClient& client, uv_loop_t* loop, std::size_t leases, std::size_t window,
         std::chrono::seconds renewing)
      : client_(client), loop_(loop), window_(window), renewing_(renewing), leases_(leases) {
    ::uv_timer_init(loop, &timer_);
    timer_.data = this;
  }

  void start() {
    warming_up_ = true;
    to_take_ = std::min(window_, leases_.size());
    acquire_all();
  }

  [[nodiscard]] bool complete() const noexcept { return failures_ == 0; }

 private:
  static constexpr int slices = 10;

  double per_lease(std::size_t now, std::size_t then) const {
    return (static_cast<double>(now) - static_cast<double>(then)) /
           static_cast<double>(leases_.size());
  }
  void print_memory(const char* what) const {
    const Memory now = memory();
    std::printf("%s: %.0f bytes per lease in use, %.0f resident\n", what,
                per_lease(now.used, before_.used), per_lease(now.resident, before_.resident));
  }
  void print_time(const char* what, double since, double operations) const {
    const double took = processor_seconds() - since;
    std::printf("%s: %.0f, %.2f us of processor time each\n", what, operations,
                took * 1e6 / std::max(operations, 1.0));
  }

  void acquire_all() {
    next_ = answered_ = 0;
    before_ = memory();
    began_ = processor_seconds();
    for (std::size_t i = 0; i < window_; ++i) acquire_next();
  }

  void acquire_next() {
    if (next_ == to_take_) return;
    const std::size_t mine = next_++;
    std::array<char, 24> resource{};
    std::snprintf(resource.data(), resource.size(), "inventory/%010zu", mine);
    AcquireOptions options;
    options.ttl = renewing_ > 0s ? std::chrono::nanoseconds(renewing_) / 3 : 1h;
    options.renew = renewing_ > 0s;
    client_.try_acquire_for(std::string(resource.data()), 10s, std::move(options),
                            [this, mine](Result<Lease> lease) {
                              if (lease) {
                                leases_[mine] = *std::move(lease);
                              } else if (failures_++ == 0) {
                                std::cerr << lease.error().message << '\n';
                              }
                              ++answered_;
                              // If nodes refuse one acquire, they refuse all.
                              if (failures_ > 0) std::exit(EXIT_FAILURE);
                              acquire_next();
                              if (answered_ == to_take_) acquired();
                            });
  }

  void acquired() {
    if (warming_up_) return release_all();
    print_time("acquired", began_, static_cast<double>(answered_));
    if (renewing_ == 0s) {
      ::uv_timer_start(
          &timer_, [](uv_timer_t* timer) { static_cast<Holder*>(timer->data)->settle(); }, 20, 20);
      return;
    }
    print_memory("held");
    count_renewals([this](std::uint64_t done) {
      renewed_ = done;
      began_ = processor_seconds();
      // The pause between two renewals of a lease is a third of its TTL.
      ::uv_timer_start(
          &timer_, [](uv_timer_t* timer) { static_cast<Holder*>(timer->data)->tick(); }, slice(),
          slice());
    });
  }

  /// Waits until memory stays the same: a lease is granted by a quorum and needs more memory until
  /// the other nodes have answered.
  void settle() {
    const std::size_t used = memory().used;
    calm_ = used == settled_ ? calm_ + 1 : 0;
    settled_ = used;
    if (calm_ < 10) return;
    ::uv_timer_stop(&timer_);
    print_memory("held");
    release_all();
  }

  [[nodiscard]] std::uint64_t slice() const {
    return static_cast<std::uint64_t>(std::chrono::milliseconds(renewing_).count()) / 9 / slices;
  }

  template <typename Then>
  void count_renewals(Then then) {
    client_.metrics([this, then](Result<Metrics> metrics) {
      if (!metrics) return;
      failures_ += metrics->leases_lost;
      then(metrics->renewals_done);
    });
  }

  void tick() {
    const int slice = slice_++;
    count_renewals([this, slice](std::uint64_t done) {
      by_slice_[static_cast<std::size_t>(slice % slices)] = done - renewed_ - counted_;
      counted_ = done - renewed_;
      if ((slice + 1) % slices != 0) return;
      std::printf("renewals, by tenths of their pause:");
      for (const std::uint64_t count : by_slice_) std::printf(" %llu", (unsigned long long)count);
      std::printf("\n");
      if (slice + 1 < 9 * slices) return;
      ::uv_timer_stop(&timer_);
      print_time("renewed", began_, static_cast<double>(counted_));
      print_memory("renewed");
      release_all();
    });
  }

  void release_all() {
    began_ = processor_seconds();
    next_ = answered_ = 0;
    for (std::size_t i = 0; i < window_; ++i) release_next();
  }

  void release_next() {
    if (next_ == to_take_) return;
    client_.release(std::move(leases_[next_++]), [this](const Result<Round>& round) {
      failures_ += round ? 0 : 1;
      ++answered_;
      release_next();
      if (answered_ < to_take_) return;
      if (std::exchange(warming_up_, false)) {
        to_take_ = leases_.size();
        return acquire_all();
      }
      print_time("released", began_, static_cast<double>(answered_));
      print_memory("released");
      ::malloc_trim(0);
      print_memory("released and trimmed");
      ::uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
      client_.close({});
    });
  }

  AsyncClient& client_;
  uv_loop_t* loop_;
  uv_timer_t timer_{};
  std::size_t window_;
  std::chrono::seconds renewing_;
  std::vector<Lease> leases_;
  bool warming_up_ = false;
  std::size_t to_take_ = 0;  // the first of leases_
  std::size_t next_ = 0;
  std::size_t answered_ = 0;
  std::uint64_t failures_ = 0;
  Memory before_;
  std::size_t settled_ = 0;
  int calm_ = 0;
  double began_ = 0;
  std::uint64_t renewed_ = 0;
  std::uint64_t counted_ = 0;
  int slice_ = 0;
  std::array<std::uint64_t, slices> by_slice_{};
};

int run(std::span<char*> words) {
  const std::size_t leases = std::strtoull(words[1], nullptr, 10);
  const std::size_t window = std::strtoull(words[2], nullptr, 10);
  const std::chrono::seconds renewing(std::strtoll(words[3], nullptr, 10));
  redlock::ClientOptions options;
  for (char* node : words.subspan(4)) options.nodes.emplace_back(node);
  options.guards.restart = options.guards.clock = false;
  options.max_ttl = 1h;
  uv_loop_t loop{};
  if (::uv_loop_init(&loop) != 0) return EXIT_FAILURE;
  auto client = AsyncClient::create(std::move(options), &loop);
  if (!client) {
    std::cerr << client.error().message << '\n';
    return EXIT_FAILURE;
  }
  Holder holder(*client, &loop, leases, window, renewing);
  holder.start();
  ::uv_run(&loop, UV_RUN_DEFAULT);
  return holder.complete() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::cerr << "usage: leases LEASES WINDOW SECONDS NODE...\n";
    return 64;
  }
  return run(std::span(words, static_cast<std::size_t>(count)));
}
