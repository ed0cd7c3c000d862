#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

struct WindowSize {
  std::size_t width = 80;
  std::size_t height = 24;
};

/// The size of the terminal on standard output; 80 x 24 if it does not report one.
[[nodiscard]] WindowSize window_size() noexcept;

/// The text that replaces the terminal's content with these lines. Without a flicker: each line is
/// written over the one before, and only then what is left of that is erased.
[[nodiscard]] std::string frame_text(const std::vector<std::string>& lines);

/// Takes the terminal over: its alternate screen, without a cursor, and keys that arrive at once
/// and are not shown. The destructor gives it back as it was. Standard output has to be a terminal;
/// if standard input is not one, no key arrives.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// To be called before the process is stopped or ended abruptly; enter() after that.
  void leave() noexcept;
  void enter() noexcept;

  /// False: the terminal is gone.
  [[nodiscard]] bool draw(const std::vector<std::string>& lines) const;

  /// Readable when a key may have been pressed; -1: there is no keyboard.
  [[nodiscard]] int keyboard() const noexcept;
  /// None: none was pressed. No keyboard is left after its end.
  [[nodiscard]] std::optional<char> take_key() noexcept;

 private:
  bool has_keyboard_ = false;
  bool entered_ = false;
  termios modes_{};
};

}  // namespace redlock::cli
