#include "fenced-storage/holder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "common/system/platform.hpp"
#include "common/text/usage_error.hpp"
#include "fenced-storage/storage.hpp"
#include "redlock/client.hpp"

namespace redlock::fenced {
namespace {

constexpr std::string_view failure_mark = "failed ";

struct Pipe {
  cli::Descriptor source;
  cli::Descriptor sink;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (!cli::platform::open_pipe(ends)) {
    throw DemoFailure(cli::ExitCode::failure, fmt::format("pipe: {}", std::strerror(errno)));
  }
  return {cli::Descriptor(ends[0]), cli::Descriptor(ends[1])};
}

/// A line of a few words: shorter than what a pipe takes in one piece.
void write_line(const cli::Descriptor& fd, const std::string& text) {
  const std::string line = text + '\n';
  ssize_t count = 0;
  do {
    count = ::write(fd.get(), line.data(), line.size());
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(line.size())) {
    throw DemoFailure(cli::ExitCode::failure, "the other process of the demonstration is gone");
  }
}

std::string read_line(const cli::Descriptor& fd) {
  std::string line;
  for (;;) {
    char byte = '\0';
    const ssize_t count = ::read(fd.get(), &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw DemoFailure(cli::ExitCode::failure, "the other process of the demonstration is gone");
    }
    if (byte == '\n') return line;
    line += byte;
  }
}

/// The life of A, in its own process.
void hold_and_write(const Scene& scene, const cli::Descriptor& reports,
                    const cli::Descriptor& permission) {
  auto client = Client::create(scene.lock);
  if (!client) {
    throw DemoFailure(cli::exit_code_of(client.error().code), client.error().message);
  }
  const auto granted =
      client->try_acquire_for(scene.name, scene.wait, {.ttl = scene.holder_ttl, .fencing = true});
  if (!granted) throw DemoFailure(cli::exit_code_of(granted.error().code), granted.error().message);
  if (!granted->fencing_token()) {
    throw DemoFailure(cli::ExitCode::failure, "the lease has no fencing token");
  }
  const std::uint64_t token = granted->fencing_token()->value();
  Storage storage(scene.storage);

  // The check that every holder should make, and that is not enough: a pause can hit right here,
  // between it and the write. Asking again behind the pause would only move the gap.
  if (!granted->valid())
    throw DemoFailure(cli::ExitCode::lost, "A lost its lease before the pause");
  write_line(reports, fmt::format("{} {}", token, granted->remaining().count()));
  static_cast<void>(read_line(permission));

  if (scene.fencing == DemoRequest::Fencing::ignored) {
    storage.write_unfenced(scene.name, scene.stale_value, token);
    write_line(reports, "written");
    return;
  }
  const auto newer = storage.write(scene.name, scene.stale_value, token);
  write_line(reports, newer ? refusal(token, *newer) : "written");
}

[[noreturn]] void be_holder(const Scene& scene, pid_t parent, const cli::Descriptor& reports,
                            const cli::Descriptor& permission) noexcept {
  int code = cli::code(cli::ExitCode::done);
  try {
    if (!cli::platform::die_with_parent_in_its_group() || ::getppid() != parent) {
      std::_Exit(cli::code(cli::ExitCode::failure));
    }
    try {
      hold_and_write(scene, reports, permission);
    } catch (const DemoFailure& failure) {
      code = cli::code(failure.exit_code());
      write_line(reports, fmt::format("{}{} {}", failure_mark, code, failure.what()));
    } catch (const std::exception& error) {
      code = cli::code(cli::ExitCode::unavailable);
      write_line(reports, fmt::format("{}{} {}", failure_mark, code, error.what()));
    }
  } catch (...) {
    // The parent sees the end of the pipe.
    code = cli::code(cli::ExitCode::failure);
  }
  // Nothing that this process inherited may be destroyed by it: it would end the parent's servers.
  std::_Exit(code);
}

}  // namespace

Holder::Holder(const Scene& scene) {
  Pipe reports = make_pipe();
  Pipe permission = make_pipe();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    throw DemoFailure(cli::ExitCode::failure, fmt::format("fork: {}", std::strerror(errno)));
  }
  if (child == 0) {
    reports.source.reset();
    permission.sink.reset();
    be_holder(scene, parent, reports.sink, permission.source);
  }
  pid_ = child;
  reports_ = std::move(reports.source);
  permission_ = std::move(permission.sink);
}

Holder::~Holder() {
  static_cast<void>(::kill(pid_, SIGKILL));
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string Holder::next_report() {
  std::string line = read_line(reports_);
  if (!line.starts_with(failure_mark)) return line;
  const std::string_view rest = std::string_view(line).substr(failure_mark.size());
  int code = cli::code(cli::ExitCode::failure);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), code);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  throw DemoFailure(
      static_cast<cli::ExitCode>(code),
      std::string(error == std::errc{} && digits < rest.size() ? rest.substr(digits + 1) : rest));
}

Holder::Holding Holder::wait_until_holding() {
  const std::string line = next_report();
  Holding holding;
  std::chrono::nanoseconds::rep remaining = 0;
  const char* const end = line.data() + line.size();
  const auto token = std::from_chars(line.data(), end, holding.token);
  if (token.ec != std::errc{} || token.ptr == end ||
      std::from_chars(token.ptr + 1, end, remaining).ec != std::errc{}) {
    throw DemoFailure(cli::ExitCode::failure, "A reports what cannot be understood: " + line);
  }
  holding.remaining = std::chrono::nanoseconds(remaining);
  return holding;
}

void Holder::pause() const {
  int status = 0;
  pid_t changed = -1;
  if (::kill(pid_, SIGSTOP) == 0) {
    do {
      changed = ::waitpid(pid_, &status, WUNTRACED);
    } while (changed < 0 && errno == EINTR);
  }
  if (changed != pid_ || !WIFSTOPPED(status)) {
    throw DemoFailure(cli::ExitCode::failure, "A cannot be stopped");
  }
}

std::string Holder::let_it_write() {
  write_line(permission_, "go on");
  if (::kill(pid_, SIGCONT) != 0) {
    throw DemoFailure(cli::ExitCode::failure, fmt::format("SIGCONT: {}", std::strerror(errno)));
  }
  return next_report();
}

}  // namespace redlock::fenced
