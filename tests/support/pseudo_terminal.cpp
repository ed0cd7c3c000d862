#include "support/pseudo_terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "support/eventually.hpp"
#include "support/spawn.hpp"

namespace redlock::test {

PseudoTerminal::PseudoTerminal(std::vector<std::string> arguments,
                               std::vector<std::string> environment, Size size)
    : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  if (!master_.valid() || ::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0) {
    throw_errno("pseudo terminal");
  }
  std::array<char, 128> name{};
  if (::ptsname_r(master_.get(), name.data(), name.size()) != 0) throw_errno("ptsname");
  slave_ = Fd(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave_.valid()) throw_errno("open the pseudo terminal");
  if (::fcntl(master_.get(), F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl");
  resize(size);
  SpawnRequest request;
  // The child leads no group, so that setsid(1) need not fork.
  request.arguments = {"setsid", "--ctty"};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.environment = std::move(environment);
  request.input = request.output = request.errors = slave_.get();
  pid_ = spawn(request);
}

PseudoTerminal::~PseudoTerminal() {
  if (status_) return;
  static_cast<void>(::kill(pid_, SIGKILL));
  static_cast<void>(::waitpid(pid_, nullptr, 0));
}

void PseudoTerminal::type(std::string_view keys) const {
  if (::write(master_.get(), keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw_errno("type");
  }
}

void PseudoTerminal::resize(Size size) const {
  winsize window{};
  window.ws_col = size.width;
  window.ws_row = size.height;
  if (::ioctl(master_.get(), TIOCSWINSZ, &window) != 0) throw_errno("resize");
}

void PseudoTerminal::signal(int number) const {
  if (!status_) static_cast<void>(::kill(pid_, number));
}

void PseudoTerminal::read_more() {
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t count = ::read(master_.get(), bytes.data(), bytes.size());
    if (count <= 0) return;
    output_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

const std::string& PseudoTerminal::output() {
  read_more();
  return output_;
}

void PseudoTerminal::forget_output() {
  read_more();
  output_.clear();
}

bool PseudoTerminal::wait_for(std::string_view text, std::chrono::milliseconds limit) {
  return eventually([&] { return output().find(text) != std::string::npos; }, limit);
}

bool PseudoTerminal::is_in_line_mode() const {
  termios modes{};
  if (::tcgetattr(slave_.get(), &modes) != 0) throw_errno("tcgetattr");
  return (modes.c_lflag & ICANON) != 0 && (modes.c_lflag & ECHO) != 0;
}

std::optional<ExitStatus> PseudoTerminal::wait(std::chrono::milliseconds limit) {
  static_cast<void>(eventually(
      [&] {
        read_more();  // a program must not block on a full terminal
        int status = 0;
        if (status_ || ::waitpid(pid_, &status, WNOHANG) != pid_) return status_.has_value();
        status_ = WIFSIGNALED(status) ? ExitStatus{-1, WTERMSIG(status)}
                                      : ExitStatus{WEXITSTATUS(status), 0};
        return true;
      },
      limit));
  read_more();
  return status_;
}

}  // namespace redlock::test
