#include "quorum-lock/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "quorum-lock/descriptor.hpp"

namespace redlock::cli {
namespace {

int executable_problem(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno == ENOTDIR ? ENOENT : errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  // execve() wants char* for historical reasons and writes to none of them.
  for (const auto& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

/// All that the child needs, made before the fork: other threads may hold any lock at that moment,
/// so the child calls nothing but async-signal-safe functions.
struct Prepared {
  const ChildRequest& request;
  const Signals& signals;
  std::vector<std::string> shell_words{};
  std::vector<char*> arguments{};
  std::vector<char*> shell_arguments{};
  std::vector<char*> environment{};
  int null_device = -1;
  int report = -1;
  pid_t parent = 0;
};

[[noreturn]] void give_up(const Prepared& prepared) noexcept {
  const int error = errno;
  const bool told = ::write(prepared.report, &error, sizeof error) > 0;
  ::_exit(told ? 127 : 126);
}

[[noreturn]] void become(const Prepared& prepared) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(prepared);
  // The parent may have died before the line above.
  if (::getppid() != prepared.parent) ::_exit(127);
  if (::setpgid(0, 0) != 0) give_up(prepared);
  // SIGTTOU is still blocked here, so that a background group may take the foreground. A terminal
  // that went away in between shall not keep the command from running.
  if (prepared.request.terminal >= 0) {
    static_cast<void>(::tcsetpgrp(prepared.request.terminal, ::getpid()));
  }
  if (prepared.null_device >= 0) {
    for (int stream = 0; stream < 3; ++stream) {
      if (::dup2(prepared.null_device, stream) < 0) give_up(prepared);
    }
  }
  if (!prepared.signals.restore_in_child()) give_up(prepared);
  ::execve(prepared.request.program.c_str(), prepared.arguments.data(),
           prepared.environment.data());
  // A script without "#!": as execvp() and every shell do.
  if (errno == ENOEXEC) {
    ::execve("/bin/sh", prepared.shell_arguments.data(), prepared.environment.data());
  }
  give_up(prepared);
}

int reap(pid_t pid) noexcept {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// 0 when exec succeeded, which closed the pipe.
int read_report(int fd) noexcept {
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(fd, &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof error) ? error : 0;
}

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

}  // namespace

FoundProgram find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const int problem = executable_problem(name);
    return problem == 0 ? FoundProgram{name, 0} : FoundProgram{{}, problem};
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  int problem = ENOENT;
  while (!name.empty()) {
    const auto end = rest.find(':');
    const std::string folder(rest.substr(0, end));
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const int found = executable_problem(candidate);
    if (found == 0) return {candidate, 0};
    if (found == EACCES) problem = EACCES;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {{}, problem};
}

std::variant<ChildProcess, int> ChildProcess::start(const ChildRequest& request,
                                                    const Signals& signals) {
  Prepared prepared{request, signals};
  prepared.shell_words = {"sh", request.program};
  if (!request.arguments.empty()) {
    prepared.shell_words.insert(prepared.shell_words.end(), request.arguments.begin() + 1,
                                request.arguments.end());
  }
  prepared.arguments = pointers(request.arguments);
  prepared.shell_arguments = pointers(prepared.shell_words);
  prepared.environment = pointers(request.environment);
  prepared.parent = ::getpid();

  Descriptor null_device;
  if (request.streams == ChildRequest::Streams::none) {
    null_device = Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null_device.valid()) return errno;
  }
  prepared.null_device = null_device.get();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  const Descriptor report_source(ends[0]);
  Descriptor report_sink(ends[1]);
  prepared.report = report_sink.get();

  const pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) become(prepared);
  // Done on both sides, so that the group exists for whoever comes first; fails harmlessly when the
  // child has already become another program.
  static_cast<void>(::setpgid(pid, pid));
  report_sink.reset();
  const int error = read_report(report_source.get());
  if (error == 0) return ChildProcess(pid);
  static_cast<void>(reap(pid));
  // The dead child may have taken the foreground.
  if (request.terminal >= 0) static_cast<void>(::tcsetpgrp(request.terminal, ::getpgrp()));
  return error;
}

void ChildProcess::signal_group(int signal) const noexcept {
  static_cast<void>(::kill(-pid_, signal));
}

bool ChildProcess::group_exists() const noexcept { return ::kill(-pid_, 0) == 0; }

std::vector<std::string> environment_with(const std::vector<std::string>& additions,
                                          const std::vector<std::string_view>& removals) {
  std::vector<std::string> result = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = name_of(*entry);
    const bool dropped =
        std::find(removals.begin(), removals.end(), name) != removals.end() ||
        std::any_of(additions.begin(), additions.end(),
                    [name](const std::string& addition) { return name_of(addition) == name; });
    if (!dropped) result.emplace_back(*entry);
  }
  return result;
}

}  // namespace redlock::cli
