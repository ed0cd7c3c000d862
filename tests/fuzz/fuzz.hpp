#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "support/assert.hpp"

/// Shared by the targets. A broken rule ends the program by REDLOCK_ASSERT: with libFuzzer that is
/// a crash whose input is kept, in the replay of the corpus a test that fails.
namespace redlock::fuzz {

/// The bytes that decide what happens. A byte that is not there is 0, so that every prefix of an
/// input is an input too.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}

  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return left_; }

  std::uint8_t byte() noexcept {
    if (left_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return value;
  }
  /// In [0, end); `end` is at most 256.
  std::size_t below(std::size_t end) noexcept { return byte() % end; }

  /// Up to the next '\n', which is taken too; everything where there is none.
  std::string_view line() noexcept { return until("\n"); }
  /// Up to the next `end`, which is taken too.
  std::string_view until(std::string_view end) noexcept {
    const std::size_t at = left_.find(end);
    const std::string_view part = left_.substr(0, at);
    left_.remove_prefix(
        std::min(left_.size(), at == std::string_view::npos ? at : at + end.size()));
    return part;
  }

 private:
  std::string_view left_;
};

/// How a stream of bytes is cut into pieces: as a network might, and the same for the same seed.
class Pieces {
 public:
  Pieces(std::string_view bytes, std::uint8_t seed) noexcept : left_(bytes), state_(seed) {}

  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }

  /// 1 byte to what libuv reads at once; of both there are many.
  std::string_view next() noexcept {
    constexpr std::size_t longest = 64 * 1024;
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    const auto random = static_cast<std::size_t>(state_ >> 33U);
    const std::size_t size =
        random % 4 == 0 ? longest : 1 + random / 4 % (random % 3 == 0 ? 3 : 40);
    const std::string_view piece = left_.substr(0, size);
    left_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view left_;
  std::uint64_t state_;
};

/// Whether a text may be put into a log and on a terminal: one line, nothing that is obeyed.
[[nodiscard]] inline bool harmless(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

}  // namespace redlock::fuzz
