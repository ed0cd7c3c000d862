#include "common/system/written_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "common/system/descriptor.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

/// Beside the file, and not ending as the collector's files do.
std::string temporary_name(const std::string& file) {
  return fmt::format("{}.{}.tmp", file, ::getpid());
}

bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// A terminal, a pipe: nothing that can be replaced.
bool is_no_file(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::is_other(std::filesystem::status(file, ignored));
}

/// 0, or the errno.
int write_into(const std::string& file, std::string_view text) {
  const Descriptor fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd.valid() && write_all(fd.get(), text) ? 0 : errno;
}

}  // namespace

int replace_file(const std::string& file, std::string_view text) {
  if (is_no_file(file)) return write_into(file, text);
  const std::string temporary = temporary_name(file);
  int error = 0;
  {
    constexpr mode_t readable_by_all = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
    const Descriptor fd(::open(
        temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, readable_by_all));
    if (!fd.valid()) return errno;
    if (!write_all(fd.get(), text)) error = errno;
  }
  if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) static_cast<void>(::unlink(temporary.c_str()));
  return error;
}

void require_writable(std::string_view option, const std::string& file) {
  if (is_no_file(file)) return;
  std::error_code ignored;
  int error = file.empty() ? ENOENT : 0;
  if (std::filesystem::is_directory(file, ignored)) error = EISDIR;
  const std::string temporary = temporary_name(file);
  if (error == 0) {
    const Descriptor fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!fd.valid()) error = errno;
  }
  if (error == 0) static_cast<void>(::unlink(temporary.c_str()));
  if (error == 0) return;
  throw UsageError(fmt::format("--{}: '{}' cannot be written: {}", option, as_printable(file),
                               std::strerror(error)));
}

void write_page(std::string_view option, const std::string& file, std::string_view text) {
  const int error = replace_file(file, text);
  if (error == 0) return;
  throw std::runtime_error(fmt::format("--{}: '{}' cannot be written: {}", option,
                                       as_printable(file), std::strerror(error)));
}

}  // namespace redlock::cli
