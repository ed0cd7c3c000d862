#include "common/system/child_process.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "common/system/exec_plan.hpp"
#include "common/system/platform.hpp"

namespace redlock::cli {
namespace {

int executable_problem(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno == ENOTDIR ? ENOENT : errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

void reap(pid_t pid) noexcept {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

template <typename Drops>
std::vector<std::string> environment_without(const std::vector<std::string>& additions,
                                             const Drops& drops) {
  std::vector<std::string> result = additions;
  for (char** entry = platform::environment(); *entry != nullptr; ++entry) {
    const std::string_view name = name_of(*entry);
    const bool replaced =
        std::any_of(additions.begin(), additions.end(),
                    [name](const std::string& addition) { return name_of(addition) == name; });
    if (!replaced && !drops(name)) result.emplace_back(*entry);
  }
  return result;
}

}  // namespace

FoundProgram find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const int problem = executable_problem(name);
    return problem == 0 ? FoundProgram{name, 0} : FoundProgram{{}, problem};
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  int problem = ENOENT;
  while (!name.empty()) {
    const auto end = rest.find(':');
    const std::string folder(rest.substr(0, end));
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const int found = executable_problem(candidate);
    if (found == 0) return {candidate, 0};
    if (found == EACCES) problem = EACCES;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {{}, problem};
}

std::variant<ChildProcess, int> ChildProcess::start(const ChildRequest& request,
                                                    const ChildSignals& signals) {
  try {
    ExecPlan plan(request, signals);
    if (!platform::expect_child()) return errno;
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return errno;
    if (pid == 0) plan.become(parent);
    // Done on both sides, so that the group exists for both at once; fails harmlessly when the
    // child has already become another program.
    static_cast<void>(::setpgid(pid, pid));
    const int error = plan.wait_for_exec();
    if (error == 0) return ChildProcess(pid);
    reap(pid);
    return error;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

std::vector<std::string> environment_with(const std::vector<std::string>& additions,
                                          const std::vector<std::string_view>& removals) {
  return environment_without(additions, [&removals](std::string_view name) {
    return std::find(removals.begin(), removals.end(), name) != removals.end();
  });
}

std::vector<std::string> environment_of_helper(const std::vector<std::string>& additions) {
  return environment_without(
      additions, [](std::string_view name) { return name.starts_with("QUORUM_LOCK_"); });
}

}  // namespace redlock::cli
