#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/cycle/peer_packages.hpp"
#include "bench/measure/cycle_result.hpp"
#include "common/session/settings.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// A client of the Redlock algorithm that is not ours.
struct Peer {
  std::string name{};
  std::string version{};   ///< known after its first run; empty: not reported
  std::string left_out{};  ///< why it is not measured; empty: it is measured
  bool told = false;       ///< whether `left_out` was reported
};

/// The other clients that `bench --peers` measures, each alone and with the same number of locks in
/// flight: clients from the npm registry, and a sequential one of our own. A client that cannot be
/// measured is skipped. For the main thread.
class Peers {
 public:
  /// Installs what is missing.
  Peers(const Settings& settings, const Signals& signals, const std::atomic<int>& stop);

  [[nodiscard]] const std::vector<Peer>& all() const noexcept { return peers_; }
  /// "Node.js 22.1.0"; empty before the first run of a peer that needs it.
  [[nodiscard]] const std::string& runtime() const noexcept { return runtime_; }

  /// Measures `all()[index]`. None: the client is left out, at the latest from now on, or the
  /// measurement was stopped.
  [[nodiscard]] std::optional<bench::CycleResult> run(std::size_t index,
                                                      const bench::CycleSettings& settings,
                                                      const bench::NodeCpu& node_cpu);

  /// Reports each client that is left out once, with the reason, in a line. Must not be called
  /// while a progress bar is shown.
  void tell_left_out();

  /// How long a peer runs before it is measured.
  [[nodiscard]] static std::chrono::nanoseconds warm_up_of(const Peer& peer,
                                                           std::chrono::nanoseconds duration);

 private:
  [[nodiscard]] bench::CycleOutcome run_program(Peer& peer, const bench::CycleSettings& settings,
                                                const bench::NodeCpu& node_cpu);

  const Signals& signals_;
  const std::atomic<int>& stop_;
  PeerPackages packages_{};
  std::vector<Peer> peers_{};
  std::string runtime_{};
};

}  // namespace redlock::cli
