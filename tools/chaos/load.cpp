#include "chaos/load.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <variant>
#include <vector>

#include "common/servers/loopback_server.hpp"
#include "common/system/child_process.hpp"
#include "common/system/platform.hpp"

namespace redlock::chaos {
namespace {

constexpr unsigned threads_a_processor = 8;
constexpr unsigned most_threads = 128;
constexpr int niceness = 5;

pid_t start(const cli::Signals& signals) {
  cli::ChildRequest request;
  request.program = cli::platform::own_program();
  request.arguments = {"quorum-lock", load_verb};
  request.environment = cli::environment_of_helper();
  request.streams = cli::ChildRequest::Streams::none;
  const auto started = cli::ChildProcess::start(request, signals.for_children());
  if (const int* error = std::get_if<int>(&started)) {
    throw std::runtime_error(fmt::format(
        "chaos: cannot start the process that keeps the machine busy: {}", std::strerror(*error)));
  }
  return std::get<cli::ChildProcess>(started).pid();
}

[[noreturn]] void keep_busy() {
  std::atomic<unsigned> count{0};
  for (;;) ++count;
}

}  // namespace

Load::Load(const cli::Signals& signals) : pid_(start(signals)) {}
Load::~Load() { cli::kill_and_reap(pid_); }

void run_load() {
  // This cannot fail: a process may always lower its own priority.
  [[maybe_unused]] const int result = ::nice(niceness);
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = std::min(most_threads, processors * threads_a_processor);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(keep_busy);
  keep_busy();
}

}  // namespace redlock::chaos
