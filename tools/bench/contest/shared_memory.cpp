#include "bench/contest/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/floor/floor_link.hpp"

namespace redlock::bench {
namespace {

std::runtime_error memory_error(const std::string& path) {
  return std::runtime_error("bench: " + path + ": " + std::strerror(errno));
}

}  // namespace

SharedMemory SharedMemory::create(const std::string& path, std::size_t size) {
  const FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid() || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
    throw memory_error(path);
  }
  return {file.get(), size};
}

SharedMemory SharedMemory::open(const std::string& path, std::size_t size) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) throw memory_error(path);
  return {file.get(), size};
}

SharedMemory::SharedMemory(int fd, std::size_t size)
    : size_(size), data_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) {
  if (data_ == MAP_FAILED) throw memory_error("mmap");
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : size_(other.size_), data_(std::exchange(other.data_, MAP_FAILED)) {}

SharedMemory::~SharedMemory() {
  if (data_ != MAP_FAILED) static_cast<void>(::munmap(data_, size_));
}

}  // namespace redlock::bench
