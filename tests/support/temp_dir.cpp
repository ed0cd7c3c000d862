#include "support/temp_dir.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace redlock::test {
namespace {

// A Unix socket path holds 107 bytes; servers place theirs inside such a directory.
constexpr std::size_t longest_parent = 60;

std::filesystem::path parent_directory() {
  std::error_code error;
  auto parent = std::filesystem::temp_directory_path(error);
  if (error || parent.native().size() > longest_parent) return "/tmp";
  return parent;
}

}  // namespace

TempDir::TempDir() : owner_(::getpid()) {
  std::string name = (parent_directory() / "redlock-test-XXXXXX").native();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
  }
  path_ = name;
}

TempDir::~TempDir() { remove(); }

TempDir::TempDir(TempDir&& other) noexcept
    : path_(std::exchange(other.path_, {})), owner_(other.owner_) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    owner_ = other.owner_;
  }
  return *this;
}

std::filesystem::path TempDir::write(const std::string& name, std::string_view content) const {
  auto file = path_ / name;
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << content;
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + file.native());
  return file;
}

void TempDir::remove() noexcept {
  if (path_.empty() || ::getpid() != owner_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  // Iterators over the stream's buffer would throw when a read fails, as a read of /proc/PID/stat
  // does if the process ends after the open.
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

}  // namespace redlock::test
