#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulation/clock.hpp"

namespace redlock::simulation {

/// Watches from outside, in true time, whether the promises are kept. The first broken one is kept
/// as a sentence.
class Checker {
 public:
  Checker(std::size_t nodes, std::size_t quorum) : nodes_(nodes), quorum_(quorum) {}

  void violated(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }
  [[nodiscard]] const std::string& violation() const { return violation_; }

  // --- leases (invariants 1 and 6) ---
  /// `until` is the true moment at which the holder's own clock shows the deadline.
  void granted(std::uint64_t token, std::size_t resource, True now, True until);
  void extended(std::uint64_t token, True now, True until);
  /// The holder gave it back or handed it on and acts on it no more.
  void ended(std::uint64_t token);
  void lost(std::uint64_t token, True now);

  // --- what is left on the nodes (invariant 4) ---
  /// Handed to another process or left by one that died: only its expiry ends it.
  void abandoned(std::uint64_t token) { tokens_[token].abandoned = true; }
  void key_written(std::uint64_t token, std::size_t node);
  void release_executed(std::uint64_t token, std::size_t node);
  void release_answered(std::uint64_t token, std::size_t still_there);

  [[nodiscard]] std::uint64_t grants() const { return grants_; }
  [[nodiscard]] std::uint64_t losses() const { return losses_; }

 private:
  struct Lease {
    std::uint64_t token;
    std::size_t resource;
    True until;
  };
  struct Trail {
    bool abandoned = false;
    bool ended = false;
    std::uint32_t released_on = 0;  // a bit per node that executed a release
  };
  void check_alone(const Lease& lease, True now);
  [[nodiscard]] Lease* find(std::uint64_t token);

  std::size_t nodes_;
  std::size_t quorum_;
  std::vector<Lease> leases_;
  std::map<std::uint64_t, Trail> tokens_;
  std::uint64_t grants_ = 0;
  std::uint64_t losses_ = 0;
  std::string violation_;
};

}  // namespace redlock::simulation
