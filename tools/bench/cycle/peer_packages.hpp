#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <variant>

#include "common/session/settings.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// The folder of other Redlock clients, and the program that runs them.
struct PeerPackages {
  std::string node{};  ///< the program Node.js
  std::filesystem::path folder{};
};

/// Installs other Redlock clients with npm, from its registry, into a folder of the user's cache
/// ($XDG_CACHE_HOME, or ~/.cache), unless they are there already. The folder's name depends on its
/// content: another version of this program, which needs other packages, has another folder. Called
/// from the main thread. A sentence says why there are no clients; it is empty after a stop.
[[nodiscard]] std::variant<PeerPackages, std::string> install_peer_packages(
    const Settings& settings, const Signals& signals, const std::atomic<int>& stop);

}  // namespace redlock::cli
