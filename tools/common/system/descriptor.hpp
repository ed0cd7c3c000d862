#pragma once

#include <unistd.h>

#include <utility>

namespace redlock::cli {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  void reset() noexcept {
    // There is nothing to be done about an error of close(): the descriptor is gone either way.
    if (fd_ >= 0) static_cast<void>(::close(std::exchange(fd_, -1)));
  }

 private:
  int fd_ = -1;
};

}  // namespace redlock::cli
