#pragma once

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.hpp"
#include "support/sockets.hpp"

namespace redlock::test {

/// A program in a session of its own; the test holds the other end of its terminal. The destructor
/// kills the program.
class PseudoTerminal {
 public:
  struct Size {
    unsigned short width = 100;
    unsigned short height = 30;
  };

  PseudoTerminal(std::vector<std::string> arguments, std::vector<std::string> environment,
                 Size size);
  ~PseudoTerminal();
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  void type(std::string_view keys) const;
  /// Changes the terminal's size, and the program gets SIGWINCH.
  void resize(Size size) const;
  void signal(int number) const;

  /// Everything that the program has written since the last forget_output().
  [[nodiscard]] const std::string& output();
  void forget_output();
  [[nodiscard]] bool wait_for(std::string_view text,
                              std::chrono::milliseconds limit = std::chrono::seconds(30));
  /// Whether the terminal echoes keys and passes on whole lines.
  [[nodiscard]] bool is_in_line_mode() const;

  /// The end of the program; none if it still runs after the limit.
  [[nodiscard]] std::optional<ExitStatus> wait(std::chrono::milliseconds limit = longest_wait);
  /// Whether SIGTSTP has stopped the program.
  [[nodiscard]] bool is_stopped() const { return process_stopped(pid_); }

 private:
  void read_more();

  Fd master_;
  // Held open: without it the master would fail when the program has ended.
  Fd slave_;
  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
  std::string output_;
};

}  // namespace redlock::test
