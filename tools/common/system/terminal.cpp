#include "common/system/terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redlock::cli {

Terminal::Terminal() noexcept : tty_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
  modes_known_ = present() && ::tcgetattr(tty_.get(), &modes_) == 0;
}

bool Terminal::held_by(pid_t group) const noexcept {
  return present() && ::tcgetpgrp(tty_.get()) == group;
}

bool Terminal::ours() const noexcept { return held_by(::getpgrp()); }

int Terminal::for_new_command() const noexcept {
  struct stat output {};
  const bool piped = ::fstat(STDOUT_FILENO, &output) == 0 && S_ISFIFO(output.st_mode);
  return ours() && ::isatty(STDIN_FILENO) == 1 && !piped ? tty_.get() : -1;
}

// A terminal that has gone away is no reason to fail: these calls then do nothing.
void Terminal::give_to(pid_t group) const noexcept {
  if (ours()) static_cast<void>(::tcsetpgrp(tty_.get(), group));
}

void Terminal::take_back_from(pid_t group) const noexcept {
  if (held_by(group)) static_cast<void>(::tcsetpgrp(tty_.get(), ::getpgrp()));
}

void Terminal::restore_modes() const noexcept {
  if (modes_known_) static_cast<void>(::tcsetattr(tty_.get(), TCSADRAIN, &modes_));
}

bool job_control_available() noexcept {
  const pid_t parent_session = ::getsid(::getppid());
  return parent_session == ::getsid(0) && ::getpid() != parent_session;
}

}  // namespace redlock::cli
