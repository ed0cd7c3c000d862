#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "support/eventually.hpp"
#include "support/sockets.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

struct Pipe {
  Fd source;
  Fd sink;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

void make_non_blocking(const Fd& fd) {
  if (::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "fcntl");
  }
}

char state_letter(const std::string& stat) {
  // The program's name is in parentheses and may itself contain some.
  const auto end = stat.rfind(')');
  return end != std::string::npos && end + 2 < stat.size() ? stat[end + 2] : '\0';
}

}  // namespace

struct ChildProcess::State {
  enum class Input { open, closing };

  pid_t pid = -1;
  pid_t owner = ::getpid();
  // Reaped only at the end: until then the pid, and the group named after it, cannot be reused,
  // and signals cannot hit a stranger.
  std::optional<ExitStatus> status;

  mutable std::mutex mutex;
  std::string pending_input;
  Input input_wish = Input::open;
  std::string output;
  std::string errors;

  Fd input_pipe;
  Fd output_pipe;
  Fd errors_pipe;
  WakeUp wake;
  std::atomic<bool> ending{false};
  std::atomic<unsigned> drain_requests{0};
  std::atomic<unsigned> drains_done{0};
  std::thread reader;

  void run();
  void write_pending();
  void drain(Fd& pipe, std::string& sink);
  std::optional<ExitStatus> exit_status() const;
};

void ChildProcess::State::drain(Fd& pipe, std::string& sink) {
  std::array<char, 16384> buffer;
  while (pipe.valid()) {
    const auto count = ::read(pipe.get(), buffer.data(), buffer.size());
    if (count > 0) {
      const std::lock_guard lock(mutex);
      sink.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      return;
    } else {
      pipe.reset();
    }
  }
}

void ChildProcess::State::write_pending() {
  const std::lock_guard lock(mutex);
  while (input_pipe.valid() && !pending_input.empty()) {
    const auto count = ::write(input_pipe.get(), pending_input.data(), pending_input.size());
    if (count > 0) {
      pending_input.erase(0, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      input_pipe.reset();
    }
  }
  if (input_wish == Input::closing) input_pipe.reset();
}

void ChildProcess::State::run() {
  // Writing to a program that does not read its input must fail, not kill this process.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  static_cast<void>(::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr));
  while (!ending) {
    const unsigned requests = drain_requests;
    drain(output_pipe, output);
    drain(errors_pipe, errors);
    write_pending();
    drains_done = requests;
    std::array<pollfd, 4> entries{{{wake.fd(), POLLIN, 0},
                                   {output_pipe.get(), POLLIN, 0},
                                   {errors_pipe.get(), POLLIN, 0},
                                   {-1, POLLOUT, 0}}};
    {
      const std::lock_guard lock(mutex);
      if (!pending_input.empty()) entries[3].fd = input_pipe.get();
    }
    if (::poll(entries.data(), entries.size(), -1) > 0 && entries[0].revents != 0) wake.drain();
  }
}

std::optional<ExitStatus> ChildProcess::State::exit_status() const {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  if (info.si_code == CLD_EXITED) return ExitStatus{.code = info.si_status, .signal = 0};
  return ExitStatus{.code = -1, .signal = info.si_status};
}

ChildProcess::ChildProcess(std::vector<std::string> arguments, ProcessOptions options)
    : state_(std::make_unique<State>()) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  make_non_blocking(input.sink);
  make_non_blocking(output.source);
  make_non_blocking(errors.source);
  state_->pid = spawn({.arguments = std::move(arguments),
                       .environment = std::move(options.environment),
                       .directory = std::move(options.directory),
                       .input = input.source.get(),
                       .output = output.sink.get(),
                       .errors = errors.sink.get(),
                       .group = ProcessGroup::own});
  state_->input_pipe = std::move(input.sink);
  state_->output_pipe = std::move(output.source);
  state_->errors_pipe = std::move(errors.source);
  state_->reader = std::thread([state = state_.get()] { state->run(); });
}

ChildProcess::~ChildProcess() {
  if (!state_) return;
  if (::getpid() != state_->owner) {
    state_->reader.detach();
    static_cast<void>(state_.release());
    return;
  }
  signal_group(SIGKILL);
  ::waitpid(state_->pid, nullptr, 0);
  state_->ending = true;
  state_->wake.notify();
  state_->reader.join();
}

ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    const ChildProcess previous = std::move(*this);
    state_ = std::move(other.state_);
  }
  return *this;
}

pid_t ChildProcess::pid() const noexcept { return state_->pid; }

void ChildProcess::signal(int number) const { ::kill(state_->pid, number); }
void ChildProcess::signal_group(int number) const { ::kill(-state_->pid, number); }

void ChildProcess::write_input(std::string_view bytes) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->pending_input.append(bytes);
  }
  state_->wake.notify();
}

void ChildProcess::close_input() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->input_wish = State::Input::closing;
  }
  state_->wake.notify();
}

std::string ChildProcess::output() const {
  const std::lock_guard lock(state_->mutex);
  return state_->output;
}

std::string ChildProcess::errors() const {
  const std::lock_guard lock(state_->mutex);
  return state_->errors;
}

bool ChildProcess::wait_for_output(std::string_view text, std::chrono::milliseconds limit) const {
  return eventually([&] { return output().find(text) != std::string::npos; }, limit);
}

bool ChildProcess::wait_for_errors(std::string_view text, std::chrono::milliseconds limit) const {
  return eventually([&] { return errors().find(text) != std::string::npos; }, limit);
}

std::optional<ExitStatus> ChildProcess::wait(std::chrono::milliseconds limit) {
  if (state_->status) return state_->status;
  const auto ended = [this] {
    state_->status = state_->exit_status();
    return state_->status.has_value();
  };
  if (!eventually(ended, limit)) return std::nullopt;
  // A grandchild may keep the pipes open, so the end of the stream may never come. The program's
  // own output is already there: one full pass of the reader is enough.
  const unsigned request = ++state_->drain_requests;
  state_->wake.notify();
  const bool drained = eventually([&] { return state_->drains_done >= request; });
  return drained ? state_->status : std::nullopt;
}

bool ChildProcess::running() const { return !state_->exit_status().has_value(); }

ProcessResult run_process(std::vector<std::string> arguments, RunOptions options) {
  ChildProcess child(std::move(arguments), {.environment = std::move(options.environment),
                                            .directory = std::move(options.directory)});
  child.write_input(options.input);
  child.close_input();
  ProcessResult result;
  auto status = child.wait(options.limit);
  if (!status) {
    result.timed_out = true;
    child.signal_group(SIGKILL);
    status = child.wait();
  }
  result.exit_code = status ? status->code : -1;
  result.signal = status ? status->signal : SIGKILL;
  result.output = child.output();
  result.errors = child.errors();
  return result;
}

std::optional<char> process_state(pid_t pid) {
  const char letter = state_letter(read_file("/proc/" + std::to_string(pid) + "/stat"));
  return letter == '\0' ? std::nullopt : std::optional(letter);
}

bool process_stopped(pid_t pid) {
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  std::filesystem::directory_iterator entries(tasks, error);
  if (error) return false;
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (error || state_letter(read_file(entries->path() / "stat")) != 'T') return false;
  }
  return true;
}

std::uint64_t sleeps_of_other_threads() {
  std::uint64_t sleeps = 0;
#ifdef __linux__
  std::error_code gone;
  for (std::filesystem::directory_iterator tasks("/proc/self/task", gone), end;
       !gone && tasks != end; tasks.increment(gone)) {
    if (tasks->path().filename() == std::to_string(::gettid())) continue;
    std::istringstream status(read_file(tasks->path() / "status"));
    for (std::string word; status >> word;) {
      if (word != "voluntary_ctxt_switches:") continue;
      std::uint64_t more = 0;
      status >> more;
      sleeps += more;
    }
  }
#endif
  return sleeps;
}

}  // namespace redlock::test
