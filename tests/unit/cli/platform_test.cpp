// System-dependent functions, in the form that is compiled here. tests/CMakeLists.txt also compiles
// this file with each form for C libraries that lack newer functions.

#include "common/system/platform.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::test {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

/// Runs in a child, which has descriptors of its own. 0: success.
int close_many() {
  constexpr int first = 100;
  constexpr int count = 300;  // more than one reading of the list returns
  const int source = ::open("/dev/null", O_RDONLY);
  if (::dup2(source, first - 1) < 0) return 1;
  for (int fd = first; fd < first + count; ++fd) {
    // The descriptors have gaps, and one of them is closed at exec anyway.
    if (fd % 7 != 0 && ::dup2(source, fd) < 0) return 2;
  }
  if (::fcntl(first, F_SETFD, FD_CLOEXEC) != 0) return 3;
  cli::platform::close_all_from(first);
  for (int fd = first; fd < first + count; ++fd) {
    if (is_open(fd)) return 4;
  }
  return is_open(first - 1) && is_open(source) && is_open(STDERR_FILENO) ? 0 : 5;
}

TEST(PlatformDescriptors, AllFromOneOnAreClosedAndNoOther) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(close_many());
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace redlock::test
