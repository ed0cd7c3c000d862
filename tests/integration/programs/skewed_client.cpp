// A client whose wall clock is wrong: takes a lock with a fencing token again and again.
//
//   skewed_client NODES RESOURCE MAX_TTL_MS WAIT_MS COUNT SKEW_S
//
// A line on standard output for each lease: begin and end on CLOCK_BOOTTIME in nanoseconds, fencing
// token. Ends after COUNT leases or when it is sent a byte; at the first error with 1.
//
// The clock is moved by functions of this program, not by a preloaded library, which has to come
// before the sanitizers' libraries, and they before all others.

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "redlock/redlock.hpp"

namespace {

constinit std::atomic<time_t> skew{0};

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* now) noexcept {
  if (::syscall(SYS_clock_gettime, id, now) != 0) return -1;
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += skew;
  return 0;
}

extern "C" int gettimeofday(timeval* now, void*) noexcept {
  timespec precise{};
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

extern "C" time_t time(time_t* result) noexcept {
  timespec precise{};
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  if (result != nullptr) *result = precise.tv_sec;
  return precise.tv_sec;
}

namespace {

using redlock::BootClock;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

long long nanoseconds(BootClock::time_point instant) {
  return std::chrono::nanoseconds(instant.time_since_epoch()).count();
}

int take(redlock::Client& client, const std::string& resource, std::chrono::milliseconds ttl,
         std::chrono::milliseconds wait, const std::stop_token& stop) {
  auto lease = client.try_acquire_for(resource, wait, {.ttl = ttl, .fencing = true}, stop);
  if (!lease) {
    if (lease.error().code == redlock::Errc::cancelled) return 0;
    std::fprintf(stderr, "%s: %s\n", std::string(redlock::to_string(lease.error().code)).c_str(),
                 lease.error().message.c_str());
    return 1;
  }
  // Both within the lease, however long this process is not run in between.
  const auto begin = BootClock::now();
  const auto end = std::min(BootClock::now(), lease->valid_until());
  std::printf("%lld %lld %llu\n", nanoseconds(begin), nanoseconds(end),
              static_cast<unsigned long long>(
                  lease->fencing_token().value_or(redlock::FencingToken()).value()));
  std::fflush(stdout);
  // The lease is over with any answer, and the next attempt reports it.
  static_cast<void>(lease->release());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "skewed_client NODES RESOURCE MAX_TTL_MS WAIT_MS COUNT SKEW_S\n");
    return 64;
  }
  skew = std::atol(argv[6]);
  const auto ttl = std::chrono::milliseconds(std::atol(argv[3]));
  redlock::ClientOptions options;
  options.nodes = split(argv[1]);
  options.max_ttl = ttl;
  options.node.shortest_timeout = options.node.longest_timeout = std::chrono::seconds(20);
  auto client = redlock::Client::create(std::move(options));
  if (!client) {
    std::fprintf(stderr, "%s\n", client.error().message.c_str());
    return 64;
  }
  std::stop_source stop;
  std::thread([stop]() mutable {
    if (std::getchar() != EOF) stop.request_stop();
  }).detach();
  const auto wait = std::chrono::milliseconds(std::atol(argv[4]));
  const long count = std::atol(argv[5]);
  int failed = 0;
  for (long i = 0; i < count && failed == 0 && !stop.stop_requested(); ++i) {
    failed = take(*client, argv[2], ttl, wait, stop.get_token());
  }
  return failed;
}
