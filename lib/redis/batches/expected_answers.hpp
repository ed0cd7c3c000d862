#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/ring.hpp"

namespace redlock::redis {

/// The bytes with which a server answers calls of FencedSets in flight, if it says yes to each of
/// their requests. Keeps its memory.
class ExpectedAnswers {
 public:
  void push(std::string_view answer) {
    // There may always be a request in flight, so the bytes of answered ones are dropped here.
    if (2 * answered_ > bytes_.size()) {
      bytes_.erase(0, answered_);
      answered_ = 0;
    }
    bytes_.append(answer);
    sizes_.push(answer.size());
  }

  /// The bytes for the oldest request.
  [[nodiscard]] std::string_view front() const noexcept {
    return std::string_view(bytes_).substr(answered_, sizes_.front());
  }

  void pop() noexcept {
    answered_ += sizes_.front();
    sizes_.pop();
  }

 private:
  std::string bytes_;
  std::size_t answered_ = 0;  // number of bytes_ that belong to answered requests
  support::Ring<std::size_t> sizes_;
};

}  // namespace redlock::redis
