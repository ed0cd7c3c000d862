#include "bench/cycle/peer_packages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "bench/peers_embedded.hpp"
#include "common/session/output.hpp"
#include "common/system/child_process.hpp"
#include "common/system/watched_child.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

using Path = std::filesystem::path;

constexpr std::chrono::minutes install_limit{2};

/// FNV-1a: it only has to tell versions of the same files apart.
std::uint64_t digest_of(std::string_view text, std::uint64_t digest) {
  for (const char letter : text) {
    digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  return digest;
}

/// Empty: the user has no folder for it.
Path cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    // The specification of these folders says that others are to be ignored.
    return value != nullptr && *value == '/' ? Path(value) : Path();
  };
  Path base = variable("XDG_CACHE_HOME");
  if (base.empty()) {
    base = variable("HOME");
    if (base.empty()) return {};
    base /= ".cache";
  }
  const auto digest =
      digest_of(bench::peer_packages, digest_of(bench::peer_program, 0xcbf29ce484222325U));
  return base / "quorum-lock" / fmt::format("peers-{:016x}", digest);
}

bool write_text(const Path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  return !stream.fail();
}

/// A folder of this process, which is renamed to the real one when it is complete. A process that
/// is stopped midway leaves nothing that looks complete, and two processes do not disturb each
/// other.
class NewFolder {
 public:
  explicit NewFolder(const Path& final_path)
      : path_(fmt::format("{}.{}", final_path.string(), ::getpid())) {
    std::error_code ignored;
    std::filesystem::create_directories(path_, ignored);
  }
  ~NewFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  [[nodiscard]] const Path& path() const noexcept { return path_; }
  [[nodiscard]] bool become(const Path& final_path) const {
    std::error_code error;
    std::filesystem::rename(path_, final_path, error);
    // Another process may have been quicker.
    return std::filesystem::is_directory(final_path, error);
  }

 private:
  Path path_;
};

/// Returns why npm failed; empty: it did not, or it was stopped.
std::string run_npm(const std::string& npm, const Path& folder, const Signals& signals,
                    const std::atomic<int>& stop) {
  WatchedChild child;
  child.request.program = "/bin/sh";
  // Standard error is read, too: it has npm's complaints.
  child.request.arguments = {"sh",
                             "-c",
                             R"(exec "$0" "$@" 2>&1)",
                             npm,
                             "install",
                             "--prefix",
                             folder.string(),
                             "--omit=peer",
                             "--ignore-scripts",
                             "--no-audit",
                             "--no-fund",
                             "--no-update-notifier",
                             "--fetch-retries=1",
                             "--fetch-timeout=20000",
                             "--loglevel=error"};
  child.request.environment = environment_of_helper();
  child.limit = install_limit;
  child.stop = &stop;
  std::string complaint;
  child.on_line = [&complaint](std::string_view line) {
    if (complaint.empty() && line.find("err") != std::string_view::npos) complaint = line;
  };
  const auto ended = run_watched(child, signals);
  if (const int* error = std::get_if<int>(&ended)) {
    return fmt::format("npm cannot be started: {}", std::strerror(*error));
  }
  const auto& outcome = std::get<ChildOutcome>(ended);
  if (outcome.end == ChildEnd::stopped) return {};
  if (outcome.end == ChildEnd::too_late) return "npm has not installed the packages within 2m";
  if (outcome.status == 0) return {};
  return fmt::format("npm cannot install the packages{}{}", complaint.empty() ? "" : ": ",
                     as_printable(complaint));
}

}  // namespace

std::variant<PeerPackages, std::string> install_peer_packages(const Settings& settings,
                                                              const Signals& signals,
                                                              const std::atomic<int>& stop) {
  const auto node = find_program("node");
  if (node.problem != 0) return "Node.js is not installed (no node in PATH)";
  const Path folder = cache_folder();
  if (folder.empty()) return "there is no folder for packages: HOME is not set";
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return PeerPackages{node.path, folder};
  const auto npm = find_program("npm");
  if (npm.problem != 0) return "npm is not installed (not found in PATH)";

  const NewFolder fresh(folder);
  if (!write_text(fresh.path() / "package.json", bench::peer_packages) ||
      !write_text(fresh.path() / "peer.mjs", bench::peer_program)) {
    return fmt::format("'{}' cannot be written", as_printable(fresh.path().string()));
  }
  print_note(settings, fmt::format("--peers: npm installs other Redlock clients into {}",
                                   as_printable(folder.string())));
  if (std::string problem = run_npm(npm.path, fresh.path(), signals, stop); !problem.empty()) {
    return problem;
  }
  if (stop.load() != 0) return std::string();
  if (!fresh.become(folder)) {
    return fmt::format("'{}' cannot be made", as_printable(folder.string()));
  }
  return PeerPackages{node.path, folder};
}

}  // namespace redlock::cli
