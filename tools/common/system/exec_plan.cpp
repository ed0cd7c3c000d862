#include "common/system/exec_plan.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>
#include <system_error>

#include "common/system/platform.hpp"

namespace redlock::cli {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  // execve() wants char* for historical reasons and writes to none of them.
  for (const auto& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

constexpr std::size_t most_digits = 20;

/// The names of the variables whose value is the process that they are for.
constexpr std::string_view for_a_process[] = {"LISTEN_PID=", "WATCHDOG_PID="};

}  // namespace

ExecPlan::ExecPlan(const ChildRequest& request, const ChildSignals& signals)
    : request_(request), signals_(signals), shell_words_{"sh", request.program} {
  if (!request.arguments.empty()) {
    shell_words_.insert(shell_words_.end(), request.arguments.begin() + 1, request.arguments.end());
  }
  arguments_ = pointers(request.arguments);
  shell_arguments_ = pointers(shell_words_);
  environment_ = pointers(request.environment);
  for_this_process_.reserve(std::size(for_a_process));
  for (const std::string_view name : for_a_process) {
    const std::string entry = std::string(name) + std::to_string(::getpid());
    for (char*& variable : environment_) {
      if (variable == nullptr || entry != variable) continue;
      variable =
          for_this_process_.emplace_back(std::string(name) + std::string(most_digits, '\0')).data();
    }
  }
  if (request.streams == ChildRequest::Streams::none) {
    null_device_ = Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null_device_.valid()) {
      throw std::system_error(errno, std::generic_category(), "/dev/null");
    }
  }
  std::array<int, 2> ends{};
  if (!platform::open_pipe(ends)) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  report_source_ = Descriptor(ends[0]);
  report_sink_ = Descriptor(ends[1]);
}

void ExecPlan::give_up(int report) noexcept {
  const int error = errno;
  const bool told = ::write(report, &error, sizeof error) > 0;
  ::_exit(told ? 127 : 126);
}

void ExecPlan::name_child_in_environment() const noexcept {
  std::array<char, most_digits> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), ::getpid()).ptr;
  for (char* const variable : environment_) {
    for (const std::string& own : for_this_process_) {
      if (variable == own.data()) std::copy(digits.data(), end, std::strchr(variable, '=') + 1);
    }
  }
}

void ExecPlan::become(pid_t parent) const noexcept {
  int report = report_sink_.get();
  if (::setpgid(0, 0) != 0 || !platform::die_with_parent()) give_up(report);
  // The parent may have died before the line above.
  if (::getppid() != parent) ::_exit(127);
  // SIGTTOU is still blocked here, so that a background group may take the foreground. A terminal
  // that went away in between shall not keep the command from running.
  if (request_.terminal >= 0) {
    static_cast<void>(::tcsetpgrp(request_.terminal, ::getpid()));
  }
  if (null_device_.valid()) {
    for (int stream = 0; stream < 3; ++stream) {
      if (::dup2(null_device_.get(), stream) < 0) give_up(report);
    }
  }
  // Made by open_pipe(), neither is one of the three streams, so that dup2() lets it be inherited.
  if (request_.input >= 0 && ::dup2(request_.input, STDIN_FILENO) < 0) give_up(report);
  if (request_.output >= 0 && ::dup2(request_.output, STDOUT_FILENO) < 0) give_up(report);
  if (null_device_.valid()) {
    // A helper of ours keeps nothing open: a test's sockets may lack close-on-exec, as Asio's do.
    constexpr int kept = 3;
    if (report != kept && (::dup2(report, kept) < 0 || ::fcntl(kept, F_SETFD, FD_CLOEXEC) != 0)) {
      give_up(report);
    }
    report = kept;
    platform::close_all_from(kept + 1);
  }
  if (!signals_.restore()) give_up(report);
  name_child_in_environment();
  ::execve(request_.program.c_str(), arguments_.data(), environment_.data());
  // A script without "#!": as execvp() and every shell do.
  if (errno == ENOEXEC) {
    ::execve("/bin/sh", shell_arguments_.data(), environment_.data());
  }
  give_up(report);
}

int ExecPlan::wait_for_exec() noexcept {
  report_sink_.reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(report_source_.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  // A successful exec has closed the pipe.
  return count == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace redlock::cli
