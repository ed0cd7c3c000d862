#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mutexes/cohort.hpp"
#include "core/engine/engine.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"
#include "runtime/explain.hpp"
#include "support/label.hpp"

namespace redlock::api {

class ClientCore;

/// The holder's callbacks.
struct LeaseCallbacks {
  SharedCallback<void(const Error&)> on_lost;
  std::function<void(std::chrono::nanoseconds)> on_at_risk;

  [[nodiscard]] bool none() const noexcept { return !on_lost && !on_at_risk; }
};

/// The state of a lease, to which a Lease object points. Written on the loop's thread, read from
/// any thread. There may be a million cells, so parts that few holders need are made on demand.
class LeaseCell {
 public:
  LeaseCell(std::shared_ptr<ClientCore> core, const core::Acquired& granted,
            const core::Claim& claim, std::chrono::nanoseconds validity, LeaseCallbacks callbacks,
            bool observed);
  LeaseCell(const LeaseCell&) = delete;
  LeaseCell& operator=(const LeaseCell&) = delete;
  ~LeaseCell();

  [[nodiscard]] static Lease make_lease(std::shared_ptr<LeaseCell> cell) noexcept {
    return Lease(std::move(cell));
  }
  /// Empties the lease without ending it.
  [[nodiscard]] static std::shared_ptr<LeaseCell> take(Lease&& lease) noexcept {
    return std::exchange(lease.cell_, nullptr);
  }
  [[nodiscard]] static const std::shared_ptr<LeaseCell>& of(const Lease& lease) noexcept {
    return lease.cell_;
  }

  [[nodiscard]] ClientCore& core() noexcept { return *core_; }
  [[nodiscard]] const std::shared_ptr<ClientCore>& shared_core() noexcept { return core_; }
  [[nodiscard]] core::ClaimId claim() const noexcept { return claim_; }
  /// The call that acquired the lease; none without an observer.
  [[nodiscard]] core::CallId call() const noexcept;
  [[nodiscard]] const support::Label& label() const noexcept { return label_; }
  /// The resource by its name, without the prefix: the label has its key.
  [[nodiscard]] std::string_view name() const noexcept;
  [[nodiscard]] const std::string& resource() const noexcept { return words().resource; }
  [[nodiscard]] std::vector<std::string> more_resources() const;
  [[nodiscard]] const Token& token() const noexcept { return words().token; }
  /// The kind that the lease has when it is detached.
  [[nodiscard]] Target::Kind kind() const noexcept;
  [[nodiscard]] std::string owner() const;
  [[nodiscard]] bool is_downgraded() const noexcept {
    return downgraded_.load(std::memory_order_acquire);
  }
  /// Makes the lease a reader's.
  void downgrade() noexcept { downgraded_.store(true, std::memory_order_release); }
  [[nodiscard]] std::optional<FencingToken> fencing_token() const noexcept {
    return fencing_ != FencingToken() ? std::optional(fencing_) : std::nullopt;
  }
  [[nodiscard]] Round report() const;

  [[nodiscard]] BootClock::time_point valid_until() const noexcept {
    return BootClock::time_point(BootClock::duration(valid_until_.load(std::memory_order_acquire)));
  }
  void set_valid_until(BootClock::time_point instant) noexcept {
    valid_until_.store(instant.time_since_epoch().count(), std::memory_order_release);
  }

  /// Whether other clients wait for the resource, as far as known. Set on the loop's thread at
  /// every change; see `ClientCore::watch_others`.
  [[nodiscard]] core::OtherClients others() const noexcept {
    return others_.load(std::memory_order_acquire);
  }
  void set_others(core::OtherClients others) noexcept {
    others_.store(others, std::memory_order_release);
  }

  [[nodiscard]] bool live() const noexcept {
    return state_.load(std::memory_order_acquire) == State::live;
  }
  [[nodiscard]] bool was_lost() const noexcept {
    return state_.load(std::memory_order_acquire) == State::lost;
  }
  /// How a lease ended for the caller that ended it.
  enum class End : std::uint8_t {
    in_time,
    too_late,  ///< the deadline had passed: the lease was lost
    before,    ///< another caller had ended it
  };
  /// The holder gives the lease up, or hands it on. Whoever ends a lease owes the engine the event
  /// that ends its claim: Detach if the lease is handed on in time, otherwise Release.
  [[nodiscard]] End end() noexcept { return end(State::ended); }
  [[nodiscard]] End hand_on() noexcept { return end(State::handed_on); }
  /// The lease ends, and its holder has not ended it. Returns false if the holder was first, whose
  /// event is on its way.
  [[nodiscard]] bool lose() noexcept;
  /// Whether the lease was handed on in time. The event may still be on its way.
  [[nodiscard]] bool was_handed_on() const noexcept {
    return state_.load(std::memory_order_acquire) == State::handed_on;
  }
  /// Runs the holder's callbacks. To be called once, by the code that takes a lost lease from the
  /// client.
  void report_loss(const Error& error) noexcept;
  [[nodiscard]] bool wants_warnings() const noexcept;
  /// For the loop's thread, when the lease is over: the captures of the callbacks must not live as
  /// long as the Lease object.
  [[nodiscard]] LeaseCallbacks take_callbacks() noexcept;
  void report_risk() const noexcept;
  [[nodiscard]] std::stop_token lost() const;
  [[nodiscard]] std::optional<Error> loss() const;

 private:
  enum class State : std::uint8_t { live, ended, handed_on, lost };

  /// The label in public types, made for callers that ask for it.
  struct Words {
    std::string resource;
    Token token;
  };
  /// The parts that most leases do not have.
  struct Extra {
    LeaseCallbacks callbacks;
    std::vector<std::string> more_resources;
    std::string group;  ///< see core::Acquire
    std::mutex lost_mutex;
    std::optional<std::stop_source> lost_source;  ///< guarded by lost_mutex
    std::unique_ptr<const Error> loss;            ///< guarded by lost_mutex
    std::optional<Round> granting_round;          ///< set if the cell has no room for it
  };
  struct OnDemand {
    ~OnDemand();
    core::CallId call = core::CallId::none;    ///< names the call for the observer
    std::atomic<const Words*> words{nullptr};  ///< both owned; made once, and kept
    std::atomic<Extra*> extra{nullptr};
  };
  [[nodiscard]] End end(State in_time) noexcept;
  void keep_report(const core::Round& round, core::Duration elapsed, core::Duration validity);
  [[nodiscard]] const Words& words() const noexcept;
  [[nodiscard]] std::unique_ptr<const Words> make_words() const;
  [[nodiscard]] OnDemand& on_demand() const;
  [[nodiscard]] Extra& extra() const;
  /// Null: the lease has no Extra.
  [[nodiscard]] Extra* find_extra() const noexcept;

  std::shared_ptr<ClientCore> core_;
  core::ClaimId claim_;
  support::Label label_;
  FencingToken fencing_;  // zero: none
  std::atomic<std::chrono::nanoseconds::rep> valid_until_;
  mutable std::atomic<OnDemand*> on_demand_{nullptr};  // owned; made once, and kept

  // The granting round, if it had few nodes and none refused.
  static constexpr std::size_t most_nodes = 7;
  const runtime::Urls* urls_ = nullptr;  // none: the round is in Extra
  core::Duration ttl_{};
  core::Duration elapsed_{};
  core::Duration validity_{};
  // In nanoseconds, as NodeVotes has them; negative: the node had not answered.
  std::array<float, most_nodes> round_trips_{};
  std::uint8_t nodes_ = 0;
  std::uint8_t quorum_ = 0;

  std::atomic<State> state_{State::live};
  std::atomic<bool> downgraded_{false};
  std::atomic<core::OtherClients> others_{core::OtherClients::unknown};
};

}  // namespace redlock::api
