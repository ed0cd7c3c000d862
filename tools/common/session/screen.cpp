#include "common/session/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <string_view>

#include "common/session/output.hpp"

namespace redlock::cli {
namespace {

// xterm's, which every terminal of today knows. Lines that are too long all the same, because some
// characters are two columns wide, are cut by the terminal.
constexpr std::string_view enter_text = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view leave_text = "\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace

WindowSize window_size() noexcept {
  winsize size{};
  WindowSize window;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return window;
  if (size.ws_col > 0) window.width = size.ws_col;
  if (size.ws_row > 0) window.height = size.ws_row;
  return window;
}

std::string frame_text(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + "\x1b[K";
    if (i + 1 < lines.size()) text += "\r\n";
  }
  return text + "\x1b[J";
}

Screen::Screen() {
  has_keyboard_ = ::tcgetattr(STDIN_FILENO, &modes_) == 0;
  enter();
}

Screen::~Screen() { leave(); }

void Screen::enter() noexcept {
  if (entered_) return;
  entered_ = true;
  if (has_keyboard_) {
    termios modes = modes_;
    modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    modes.c_cc[VMIN] = 0;
    modes.c_cc[VTIME] = 0;
    static_cast<void>(::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes));
  }
  // A terminal that is gone is noticed when something is drawn.
  static_cast<void>(print(enter_text));
}

void Screen::leave() noexcept {
  if (!entered_) return;
  entered_ = false;
  static_cast<void>(print(leave_text));
  if (has_keyboard_) static_cast<void>(::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_));
}

bool Screen::draw(const std::vector<std::string>& lines) const { return print(frame_text(lines)); }

int Screen::keyboard() const noexcept { return has_keyboard_ ? STDIN_FILENO : -1; }

std::optional<char> Screen::take_key() noexcept {
  char key = 0;
  const ssize_t count = ::read(STDIN_FILENO, &key, 1);
  if (count == 1) return key;
  // With these modes a terminal without a key answers the same as one that is gone.
  has_keyboard_ = has_keyboard_ && ::isatty(STDIN_FILENO) == 1;
  return std::nullopt;
}

}  // namespace redlock::cli
