#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/eventually.hpp"

namespace redlock::test {

struct ProcessOptions {
  /// "NAME=value" additions, which replace inherited ones of the same name.
  std::vector<std::string> environment{};
  std::filesystem::path directory{};
};

/// How a program ended: by exit (`signal` is 0) or by a signal (`code` is -1).
struct ExitStatus {
  int code = -1;
  int signal = 0;
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

/// A running program in a process group of its own, with its standard streams in pipes. Its output
/// is collected all the time, so it never blocks on a full pipe. The destructor kills the whole
/// group, so that nothing is left behind when a test fails. Usable from one thread.
class ChildProcess {
 public:
  /// `arguments[0]` is the program, looked up in PATH.
  explicit ChildProcess(std::vector<std::string> arguments, ProcessOptions options = {});
  ~ChildProcess();
  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept;
  /// Signals the program alone, or everything in its group; without effect once it has ended.
  void signal(int number) const;
  void signal_group(int number) const;

  /// Queues bytes for its standard input; they are written in the background.
  void write_input(std::string_view bytes);
  void close_input();

  /// The program's output until now.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] std::string errors() const;
  /// Waits until standard output (standard error) contains `text`.
  [[nodiscard]] bool wait_for_output(
      std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds(30)) const;
  [[nodiscard]] bool wait_for_errors(
      std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds(30)) const;

  /// Waits for the end; none if the program still runs after the limit. Afterwards output() and
  /// errors() hold everything that it wrote.
  [[nodiscard]] std::optional<ExitStatus> wait(std::chrono::milliseconds limit = longest_wait);
  [[nodiscard]] bool running() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ProcessResult {
  int exit_code = -1;
  int signal = 0;
  std::string output{};
  std::string errors{};
  /// Whether the program had to be killed at the limit.
  bool timed_out = false;
};

struct RunOptions {
  std::vector<std::string> environment{};
  std::filesystem::path directory{};
  std::string input{};
  std::chrono::milliseconds limit = longest_wait;
};

/// Runs a program to its end with closed standard input after `input`.
[[nodiscard]] ProcessResult run_process(std::vector<std::string> arguments,
                                        RunOptions options = {});

/// The letter in /proc (R, S, D, T, Z …); none when there is no such process.
[[nodiscard]] std::optional<char> process_state(pid_t pid);
/// Whether every thread of the process is stopped.
[[nodiscard]] bool process_stopped(pid_t pid);

/// How often the other threads of this process have gone to sleep; 0 on systems that do not count
/// that.
[[nodiscard]] std::uint64_t sleeps_of_other_threads();

}  // namespace redlock::test
