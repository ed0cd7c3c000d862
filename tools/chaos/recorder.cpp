#include "chaos/recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace redlock::chaos {

std::int64_t nanoseconds(BootClock::time_point instant) noexcept {
  return instant.time_since_epoch().count();
}

std::int64_t boot_now() noexcept { return nanoseconds(BootClock::now()); }

Recorder::Recorder(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
  if (!file_.valid()) throw std::system_error(errno, std::generic_category(), file.string());
}

void Recorder::write(std::string_view record) const {
  const std::string line = std::string(record) + '\n';
  if (::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    // A history with holes proves nothing.
    throw std::system_error(errno, std::generic_category(), "the history cannot be written");
  }
}

}  // namespace redlock::chaos
