#include "clock/clock_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <new>
#include <system_error>
#include <utility>

namespace redlock::wall_clock {
namespace {

Setting* map(const std::filesystem::path& file) {
  // Not truncated: a program that has it mapped would be killed at its next look at the clock.
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), file.native());
  void* mapped = MAP_FAILED;
  if (::ftruncate(descriptor, sizeof(Setting)) == 0) {
    mapped = ::mmap(nullptr, sizeof(Setting), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  const int error = errno;
  ::close(descriptor);
  if (mapped == MAP_FAILED) throw std::system_error(error, std::generic_category(), file.native());
  return new (mapped) Setting;  // NOLINT(cppcoreguidelines-owning-memory): munmap() ends it
}

}  // namespace

void ClockFile::Unmap::operator()(Setting* setting) const noexcept {
  static_cast<void>(::munmap(setting, sizeof(Setting)));
}

ClockFile::ClockFile(const std::filesystem::path& file, std::chrono::microseconds drift_per_second)
    : file_(std::filesystem::absolute(file)), setting_(map(file_)) {
  timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &now));
  const auto origin = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  setting_->origin_ns = origin.count();
  setting_->drift_ppm = drift_per_second.count();
}

std::vector<std::string> ClockFile::environment(const std::filesystem::path& preload) const {
  return {"LD_PRELOAD=" + preload.native(), std::string(file_variable) + "=" + file_.native()};
}

void ClockFile::move(std::chrono::nanoseconds from_machine) const noexcept {
  setting_->offset_ns.store(from_machine.count(), std::memory_order_relaxed);
}

}  // namespace redlock::wall_clock
