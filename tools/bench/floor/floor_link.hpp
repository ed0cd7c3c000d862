#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/measure/cycle_result.hpp"

namespace redlock::bench {

/// Owns one descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// One connection per node of the settings, in their order; invalid if the node did not answer.
struct FloorLinks {
  std::vector<FileDescriptor> sockets;
  std::string script_sha;
};

/// Checks the settings, connects to every node (blocking, a second per step at most) and loads the
/// release script there. A sentence says what is wrong if no majority could be prepared.
[[nodiscard]] std::variant<FloorLinks, std::string> open_floor_links(const CycleSettings& settings);

}  // namespace redlock::bench
