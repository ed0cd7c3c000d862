// A command that its caller may not signal, as `sudo` makes them.
//
//   other_user as-nobody COMMAND…   (by root) runs the command as an ordinary user
//   other_user become-root          (set-uid root) becomes root, says its number, and sleeps

#include <grp.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

namespace {

constexpr uid_t nobody = 65534;

int run_as_nobody(char** command) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
      ::setresuid(nobody, nobody, nobody) != 0) {
    std::perror("as-nobody");
    return 1;
  }
  ::execvp(command[0], command);
  std::perror(command[0]);
  return 127;
}

int become_root() {
  // The real user too: that of the caller would let it signal this process.
  if (::setresuid(0, 0, 0) != 0) {
    std::perror("become-root");
    return 1;
  }
  std::printf("%d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  for (;;) ::pause();
}

}  // namespace

int main(int count, char** words) {
  const std::string_view verb = count > 1 ? words[1] : "";
  if (verb == "as-nobody" && count > 2) return run_as_nobody(words + 2);
  if (verb == "become-root") return become_root();
  std::fputs("usage: other_user as-nobody COMMAND... | become-root\n", stderr);
  return 64;
}
