#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/containers/pool.hpp"
#include "core/containers/pool_index.hpp"
#include "core/containers/slot_set.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/waiting/acquisition.hpp"

namespace redlock::core {

/// Owns all acquisitions of this client, and finds those that an event concerns.
class Acquisitions {
 public:
  [[nodiscard]] Acquisition& make(CallId request) {
    Acquisition& acquisition = pool_.take();
    acquisition.request.by(me) = request;
    by_request_.add(acquisition, static_cast<std::uint64_t>(request));
    return acquisition;
  }
  [[nodiscard]] Acquisition& at(std::size_t index) noexcept { return pool_.at(index); }
  [[nodiscard]] const Acquisition& at(std::size_t index) const noexcept { return pool_.at(index); }
  [[nodiscard]] std::size_t size() const noexcept { return pool_.size(); }
  /// Acquisitions that are not over. Those that are over return to the pool in the next step.
  [[nodiscard]] std::size_t in_progress() const noexcept { return size() - finished_.size(); }
  [[nodiscard]] Pool<Acquisition>& pool() noexcept { return pool_; }

  void enter(Acquisition& acquisition, Acquisition::State state) {
    acquisition.state.by(me) = state;
    if (is_kept_from_nodes(acquisition)) {
      kept_from_nodes_.add(acquisition.index);
    } else {
      kept_from_nodes_.remove(acquisition.index);
    }
  }
  /// The acquisition is over. It stays until reap(), because commands may refer to it.
  void finish(const Acquisition& acquisition) { finished_.push_back(acquisition.index); }
  /// A step begins: acquisitions that are over return to the pool.
  void reap() {
    for (const std::uint32_t index : finished_) {
      by_request_.remove(at(index));
      pool_.give_back(at(index));
    }
    finished_.clear();
  }

  template <typename Visit>
  void each(Visit&& visit) {
    pool_.each(std::forward<Visit>(visit));
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    pool_.each(std::forward<Visit>(visit));
  }
  template <typename Visit>
  void each_of(CallId request, Visit&& visit) {
    by_request_.each(static_cast<std::uint64_t>(request), std::forward<Visit>(visit));
  }
  /// Visits the acquisitions that can go on once another node is up.
  template <typename Visit>
  void each_kept_from_nodes(Visit&& visit) {
    kept_from_nodes_.each([&](std::uint32_t index) { visit(at(index)); });
  }
  /// Acquisitions that were visited one by one.
  [[nodiscard]] std::uint64_t visited() const noexcept {
    return pool_.visited() + kept_from_nodes_.visited();
  }

 private:
  static constexpr By<Acquisitions> me{};

  [[nodiscard]] static bool is_kept_from_nodes(const Acquisition& acquisition) noexcept {
    const bool no_quorum =
        acquisition.refusal->why == Errc::unavailable || acquisition.refusal->why == Errc::excluded;
    return acquisition.state == Acquisition::State::connecting ||
           (acquisition.state == Acquisition::State::backing_off && no_quorum);
  }

  Pool<Acquisition> pool_;
  PoolIndex<Acquisition, &Acquisition::by_request> by_request_{pool_};
  SlotSet kept_from_nodes_;
  std::vector<std::uint32_t> finished_;
};

}  // namespace redlock::core
