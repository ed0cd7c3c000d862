// Leases without end in one process: memory, descriptors and releases owed to nodes must not grow.
//
//   soak --leases 1000000     this many leases, then the verdict
//   soak --minutes 240        this long
//
// One line every few seconds; exit code 1 if something grew, 2 for wrong usage.

#include <dirent.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/redlock.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int in_flight = 32;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool memory_is_ours = false;  // the sanitizer keeps freed memory for a while
#else
constexpr bool memory_is_ours = true;
#endif

std::size_t resident_kib() {
  std::ifstream status("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  status >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

std::size_t descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  std::size_t count = 0;
  while (folder && readdir(folder.get()) != nullptr) ++count;
  return count;
}

struct Reading {
  std::size_t resident = 0;
  std::size_t descriptors = 0;
};

/// Each worker takes a lock, extends it now and then, gives it back, and begins anew: some leases
/// with fencing tokens, some renewed, some of names that never come again, some contended.
class Soak {
 public:
  Soak(std::uint64_t leases, Clock::time_point until) : leases_(leases), until_(until) {
    uv_loop_init(&loop_);
    ClientOptions options;
    options.nodes = nodes_.urls();
    client_.emplace(std::move(AsyncClient::create(options, &loop_).value()));
  }
  ~Soak() { uv_loop_close(&loop_); }
  Soak(const Soak&) = delete;
  Soak& operator=(const Soak&) = delete;

  int run() {
    for (int worker = 0; worker < in_flight; ++worker) next(worker);
    uv_run(&loop_, UV_RUN_DEFAULT);
    std::cout << done_ << " leases, " << refused_ << " refusals, " << failed_ << " failures"
              << std::endl;
    return verdict();
  }

 private:
  [[nodiscard]] bool over() const {
    return leases_ > 0 ? done_ + refused_ >= leases_ : Clock::now() >= until_;
  }

  void next(int worker) {
    if (over()) return end();
    read();
    const std::uint64_t turn = ++turns_;
    AcquireOptions options{.ttl = seconds(5)};
    options.fencing = turn % 3 == 0;
    options.renew = turn % 5 == 0;
    // Every fourth resource is shared by several workers; the others are used once.
    const std::string resource =
        turn % 4 == 0 ? "hot/" + std::to_string(worker % 8) : "cold/" + std::to_string(turn);
    client_->try_acquire(resource, std::move(options), [this, worker, turn](Result<Lease> lease) {
      if (!lease) {
        ++(lease.error().code == Errc::unavailable ? failed_ : refused_);
        return next(worker);
      }
      if (turn % 7 != 0) return release(worker, std::move(*lease));
      auto held = std::make_shared<Lease>(std::move(*lease));
      client_->extend(*held, seconds(5), [this, worker, held](Result<Round> extended) {
        if (!extended) ++failed_;
        release(worker, std::move(*held));
      });
    });
  }

  void release(int worker, Lease lease) {
    client_->release(std::move(lease), [this, worker](Result<Round> released) {
      if (!released) ++failed_;
      ++done_;
      next(worker);
    });
  }

  void end() {
    if (++ended_ == in_flight) client_->close([](const CloseReport&) {});
  }

  void read() {
    const auto now = Clock::now();
    if (now < next_reading_) return;
    next_reading_ = now + milliseconds(100);
    readings_.push_back({resident_kib(), descriptors()});
    if (now < next_line_) return;
    next_line_ = now + seconds(2);
    std::cout << done_ << " leases; " << readings_.back().resident << " KiB resident, "
              << readings_.back().descriptors << " descriptors" << std::endl;
  }

  /// Compares the end with the middle of the run: in the first half, buffers and pools find their
  /// size.
  [[nodiscard]] int verdict() {
    readings_.push_back({resident_kib(), descriptors()});
    const Reading& settled = readings_[readings_.size() / 2];
    const Reading& last = readings_.back();
    int code = failed_ == 0 ? 0 : 1;
    if (memory_is_ours && last.resident > settled.resident + settled.resident / 10 + 1024) {
      std::cout << "memory grew from " << settled.resident << " to " << last.resident << " KiB\n";
      code = 1;
    }
    if (last.descriptors > settled.descriptors) {
      std::cout << "descriptors grew from " << settled.descriptors << " to " << last.descriptors
                << '\n';
      code = 1;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto cursor = nodes_[i].command({"EVAL",
                                             "local left = 0 "
                                             "for _, k in ipairs(redis.call('keys', '*')) do "
                                             "if string.sub(k, 1, 13) ~= 'redlock:node:' "
                                             "then left = left + 1 end end return left",
                                             "0"});
      if (cursor.integer == 0) continue;
      std::cout << cursor.integer << " locks were left on node " << i << '\n';
      code = 1;
    }
    std::cout << (code == 0 ? "nothing grew, nothing was left" : "FAILED") << std::endl;
    return code;
  }

  uv_loop_t loop_{};
  Nodes nodes_{3};
  std::optional<AsyncClient> client_;
  std::uint64_t leases_;
  Clock::time_point until_;
  Clock::time_point next_reading_{};
  Clock::time_point next_line_{};
  std::vector<Reading> readings_;
  std::uint64_t turns_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t failed_ = 0;
  int ended_ = 0;
};

int run(int count, char** words) {
  const std::string_view what = count == 3 ? words[1] : "";
  const std::uint64_t number = count == 3 ? std::strtoull(words[2], nullptr, 10) : 0;
  if (number == 0 || (what != "--leases" && what != "--minutes")) {
    std::cerr << "usage: soak --leases COUNT | --minutes COUNT\n";
    return 2;
  }
  const bool timed = what == "--minutes";
  const auto until = Clock::now() + std::chrono::minutes(timed ? static_cast<int>(number) : 0);
  return Soak(timed ? 0 : number, until).run();
}

}  // namespace
}  // namespace redlock::test

int main(int count, char** words) { return redlock::test::run(count, words); }
