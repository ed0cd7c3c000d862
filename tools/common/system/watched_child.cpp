#include "common/system/watched_child.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "common/system/descriptor.hpp"
#include "common/system/platform.hpp"

namespace redlock::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a stop may take to be seen.
constexpr std::chrono::milliseconds looked_every{50};

struct Pipe {
  Descriptor source{};
  Descriptor sink{};
};

/// 0, or the errno.
int open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (!platform::open_pipe(ends)) return errno;
  pipe.source = Descriptor(ends[0]);
  pipe.sink = Descriptor(ends[1]);
  return 0;
}

/// Ends the process group with its leader; the leader's status.
int end_group(pid_t leader) noexcept {
  // One that has begun to end keeps its own status.
  static_cast<void>(::kill(-leader, SIGKILL));
  int status = 0;
  while (::waitpid(leader, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

class LineReader {
 public:
  explicit LineReader(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  /// False at the end.
  [[nodiscard]] bool read_from(int source) {
    std::array<char, 16'384> buffer;
    const ssize_t size = ::read(source, buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR;
    if (size == 0) return false;
    text_.append(buffer.data(), static_cast<std::size_t>(size));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos;) {
      if (on_line_) on_line_(std::string_view(text_).substr(begin, end - begin));
      begin = end + 1;
    }
    text_.erase(0, begin);
    return true;
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string text_{};
};

ChildEnd follow(const WatchedChild& child, int source) {
  LineReader lines(child.on_line);
  const auto deadline = Clock::now() + child.limit;
  for (;;) {
    if (child.stop != nullptr && child.stop->load() != 0) return ChildEnd::stopped;
    if (Clock::now() >= deadline) return ChildEnd::too_late;
    pollfd watched{source, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(looked_every.count())) <= 0) continue;
    if (!lines.read_from(source)) return ChildEnd::by_itself;
  }
}

}  // namespace

std::variant<ChildOutcome, int> run_watched(const WatchedChild& child, const Signals& signals) {
  Pipe input;
  Pipe output;
  if (const int error = open_pipe(input); error != 0) return error;
  if (const int error = open_pipe(output); error != 0) return error;
  // It fits into the pipe, so that nobody has to read yet.
  const auto size = static_cast<ssize_t>(child.input.size());
  if (::write(input.sink.get(), child.input.data(), child.input.size()) != size) return errno;
  input.sink.reset();

  ChildRequest request = child.request;
  request.streams = ChildRequest::Streams::none;
  request.input = input.source.get();
  request.output = output.sink.get();
  const auto started = ChildProcess::start(request, signals.for_children());
  if (const int* error = std::get_if<int>(&started)) return *error;
  const pid_t pid = std::get<ChildProcess>(started).pid();
  input.source.reset();
  output.sink.reset();

  ChildOutcome outcome;
  try {
    outcome.end = follow(child, output.source.get());
  } catch (...) {
    static_cast<void>(end_group(pid));
    throw;
  }
  outcome.status = end_group(pid);
  return outcome;
}

}  // namespace redlock::cli
