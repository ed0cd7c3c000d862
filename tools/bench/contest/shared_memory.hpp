#pragma once

#include <cstddef>
#include <string>

namespace redlock::bench {

/// A file that the parent and its contenders map into memory: a contender must not wake the
/// parent while others are measured. It is full of zeros at first.
class SharedMemory {
 public:
  /// Both throw std::runtime_error.
  static SharedMemory create(const std::string& path, std::size_t size);
  static SharedMemory open(const std::string& path, std::size_t size);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  SharedMemory(int fd, std::size_t size);

  std::size_t size_;
  void* data_;
};

}  // namespace redlock::bench
