#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/claim/claim.hpp"
#include "core/containers/pool.hpp"
#include "core/containers/pool_index.hpp"
#include "core/containers/slot_set.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Owns all claims of this client, counts the leases among them, and finds those that an event
/// concerns.
class Claims {
 public:
  [[nodiscard]] Claim& make(Claim::Purpose purpose, std::string_view resource, const Token& token) {
    Claim& claim = pool_.take();
    claim.reset(me, purpose);
    claim.label.by(me).assign(resource, token.view());
    pending_.add(claim.index);
    return claim;
  }
  /// Null: the id is stale.
  [[nodiscard]] Claim* find(ClaimId id) noexcept { return pool_.find(id.index, id.generation); }
  [[nodiscard]] const Claim* find(ClaimId id) const noexcept {
    return pool_.find(id.index, id.generation);
  }
  [[nodiscard]] Claim& at(std::size_t index) noexcept { return pool_.at(index); }
  [[nodiscard]] std::size_t size() const noexcept { return pool_.size(); }
  [[nodiscard]] std::size_t leases() const noexcept { return leases_; }

  void lease_began(Claim& claim) {
    ++leases_;
    if (claim.unasked->empty()) pending_.remove(claim.index);
  }
  void lease_ended(Claim& claim) {
    --leases_;
    pending_.add(claim.index);
  }
  /// Nothing of the claim is left on the nodes. It stays until reap(), because commands may refer
  /// to it.
  void finish(Claim& claim) {
    claim.finished.by(me) = true;
    finished_.push_back(claim.index);
  }
  /// A step begins: finished claims return to the pool, after a last `visit`.
  template <typename Visit>
  void reap(Visit&& visit) {
    for (const std::uint32_t index : finished_) {
      Claim& claim = at(index);
      by_token_.remove(claim);
      pending_.remove(index);
      visit(claim);
      pool_.give_back(claim);
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
  /// Visits all claims of which nodes may be owed something: all but leases that only have to be
  /// kept.
  template <typename Visit>
  void each_pending(Visit&& visit) {
    pending_.each([&](std::uint32_t index) {
      if (Claim& claim = at(index); !claim.finished) visit(claim);
    });
  }
  template <typename Visit>
  void each_pending(Visit&& visit) const {
    pending_.each([&](std::uint32_t index) {
      if (const Claim& claim = pool_.at(index); !claim.finished) visit(claim);
    });
  }
  /// Makes the claim one that each_of_token() finds: an extend, or a claim that may still have to
  /// be requested on a node in first contact.
  void index_by_token(Claim& claim) { by_token_.add(claim, hash_of(claim.token())); }
  template <typename Visit>
  void each_of_token(std::string_view token, Visit&& visit) {
    by_token_.each(hash_of(token), [&](Claim& claim) {
      if (!claim.finished && claim.token() == token) visit(claim);
    });
  }
  /// Claims that were visited one by one.
  [[nodiscard]] std::uint64_t visited() const noexcept {
    return pool_.visited() + pending_.visited();
  }

 private:
  static constexpr By<Claims> me{};

  Pool<Claim> pool_;
  PoolIndex<Claim, &Claim::by_token> by_token_{pool_};
  SlotSet pending_;
  std::vector<std::uint32_t> finished_;
  std::size_t leases_ = 0;
};

}  // namespace redlock::core
