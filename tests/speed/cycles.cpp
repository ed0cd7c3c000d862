// A fixed number of lock cycles through the asynchronous interface, to be counted from outside:
//
//   cycles IN_FLIGHT CYCLES plain|guarded|fenced|guarded-fenced|renewals NODE…
//
// A cycle of `renewals` extends a lease that is held all the time.
//
// `tests/speed/run` runs it under callgrind and strace, and `tests/speed/limits` next to
// servers whose counters it reads, once with few and once with many cycles: the difference is the
// cost of cycles, without the start and the end.
#include <uv.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/async_client.hpp"
#include "redlock/deployment.hpp"

namespace {

using redlock::AcquireOptions;
using redlock::AsyncClient;
using redlock::Lease;
using redlock::Result;
using redlock::Round;

/// A lane runs one cycle after the other, on a resource of its own.
class Lanes {
 public:
  Lanes(AsyncClient& client, std::size_t in_flight, std::uint64_t cycles, bool fencing)
      : client_(client), cycles_left_(cycles), running_(in_flight), fencing_(fencing) {
    for (std::size_t lane = 0; lane < in_flight; ++lane) {
      resources_.push_back("speed/" + std::to_string(lane));
    }
  }

  void start() {
    for (const std::string& resource : resources_) begin(resource);
  }

  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

 private:
  void begin(const std::string& resource) {
    if (cycles_left_ == 0) {
      if (--running_ == 0) client_.close({});
      return;
    }
    --cycles_left_;
    AcquireOptions options;
    options.fencing = fencing_;
    client_.try_acquire(resource, std::move(options), [this, &resource](Result<Lease> lease) {
      if (!lease) return fail(resource);
      client_.release(*std::move(lease), [this, &resource](const Result<Round>& round) {
        if (!round) return fail(resource);
        begin(resource);
      });
    });
  }

  void fail(const std::string& resource) {
    ++failures_;
    begin(resource);
  }

  AsyncClient& client_;
  std::vector<std::string> resources_;
  std::uint64_t cycles_left_;
  std::size_t running_;
  bool fencing_;
  std::uint64_t failures_ = 0;
};

/// IN_FLIGHT leases, and extends of all of them that leave together.
class Renewals {
 public:
  Renewals(AsyncClient& client, std::size_t leases, std::uint64_t cycles)
      : client_(client), leases_(leases), rounds_left_(cycles / leases) {}

  void start() {
    for (std::size_t i = 0; i < leases_.size(); ++i) {
      client_.try_acquire("speed/" + std::to_string(i), {}, [this, i](Result<Lease> lease) {
        if (lease) leases_[i] = *std::move(lease);
        ended(lease.has_value());
      });
    }
  }

  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

 private:
  void ended(bool well) {
    failures_ += well ? 0 : 1;
    if (++ended_ < leases_.size()) return;
    ended_ = 0;
    if (failures_ > 0 || rounds_left_ == 0) {
      leases_.clear();
      client_.close({});
      return;
    }
    --rounds_left_;
    for (Lease& lease : leases_) {
      client_.extend(lease, std::chrono::seconds(10),
                     [this](const auto& extended) { ended(extended.has_value()); });
    }
  }

  AsyncClient& client_;
  std::vector<Lease> leases_;
  std::uint64_t rounds_left_;
  std::size_t ended_ = 0;
  std::uint64_t failures_ = 0;
};

/// Starts it, and says how it ended.
template <typename Work>
int count(Work work, uv_loop_t* loop, std::uint64_t cycles) {
  work.start();
  ::uv_run(loop, UV_RUN_DEFAULT);
  std::cout << work.failures() << " of " << cycles << " cycles failed\n";
  return work.failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(std::span<char*> words) {
  const auto in_flight = static_cast<std::size_t>(std::strtoull(words[1], nullptr, 10));
  const std::uint64_t cycles = std::strtoull(words[2], nullptr, 10);
  const std::string_view kind = words[3];
  redlock::ClientOptions options;
  for (char* node : words.subspan(4)) options.nodes.emplace_back(node);
  if (kind.starts_with("guarded")) {
    // bootstrap is refused if the nodes are already a deployment.
    static_cast<void>(redlock::admin::bootstrap(options));
  } else {
    options.guards.restart = options.guards.clock = false;
  }
  uv_loop_t loop{};
  if (::uv_loop_init(&loop) != 0) return EXIT_FAILURE;
  auto client = AsyncClient::create(std::move(options), &loop);
  if (!client) {
    std::cerr << client.error().message << '\n';
    return EXIT_FAILURE;
  }
  if (kind == "renewals") return count(Renewals(*client, in_flight, cycles), &loop, cycles);
  return count(Lanes(*client, in_flight, cycles, kind.ends_with("fenced")), &loop, cycles);
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::cerr
        << "usage: cycles IN_FLIGHT CYCLES plain|guarded|fenced|guarded-fenced|renewals NODE...\n";
    return 64;
  }
  return run(std::span(words, static_cast<std::size_t>(count)));
}
