#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace redlock::test {

/// A fresh directory that disappears with the object. Move-only.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Writes a file into the directory and returns its full path.
  std::filesystem::path write(const std::string& name, std::string_view content) const;

 private:
  void remove() noexcept;

  std::filesystem::path path_;
  // A forked copy of the test process (a death test) must not remove what its parent still uses.
  pid_t owner_;
};

/// The whole content of a file; empty if it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace redlock::test
