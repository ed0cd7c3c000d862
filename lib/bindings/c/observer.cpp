#include "redlock/observer.hpp"

#include "bindings/c/boundary.hpp"

namespace redlock::bindings {
namespace {

/// Reports every observation to one callback.
class Telling final : public Observer {
 public:
  Telling(std::shared_ptr<void> context, ObservationCallback call, Dispatcher dispatcher)
      : context_(std::move(context)), call_(call), dispatcher_(std::move(dispatcher)) {}

  void acquire_began(const AcquireObservation& call) noexcept override {
    pass_on(REDLOCK_ACQUIRE_BEGAN, call);
  }
  void acquire_ended(const AcquireObservation& call) noexcept override {
    pass_on(REDLOCK_ACQUIRE_ENDED, call);
  }
  void hold_began(const HoldObservation& hold) noexcept override {
    pass_on(REDLOCK_HOLD_BEGAN, hold);
  }
  void hold_ended(const HoldObservation& hold) noexcept override {
    pass_on(REDLOCK_HOLD_ENDED, hold);
  }
  void lease_lost(const HoldObservation& hold) noexcept override {
    pass_on(REDLOCK_LEASE_LOST, hold);
  }

 private:
  template <typename Observation>
  void pass_on(redlock_observation_kind kind, const Observation& from) const noexcept {
    deliver_copy(dispatcher_, from,
                 [kind, context = context_, call = call_](const Observation& seen) noexcept {
                   tell(context.get(), call, kind, seen);
                 });
  }
  template <typename Observation>
  [[nodiscard]] static redlock_observation begin(redlock_observation_kind kind,
                                                 const Observation& from) noexcept {
    redlock_observation to{};
    to.kind = kind;
    to.call = from.call;
    to.at_ns = to_ns(from.at.time_since_epoch());
    to.resource = from.resource.c_str();
    to.token = "";
    to.end = to_string(HoldObservation::End::open).data();
    return to;
  }
  static void tell(void* context, ObservationCallback call, redlock_observation_kind kind,
                   const AcquireObservation& acquire) noexcept {
    redlock_observation to = begin(kind, acquire);
    if (acquire.failure) to.failure = static_cast<redlock_status>(*acquire.failure);
    call(context, &to);
  }
  static void tell(void* context, ObservationCallback call, redlock_observation_kind kind,
                   const HoldObservation& hold) noexcept {
    // On the stack: an observation must not be lost when memory is short.
    std::array<char, limits::token_bytes + 1> token{};
    const std::string_view digits = hold.token.view();
    std::copy(digits.begin(), digits.end(), token.begin());
    redlock_observation to = begin(kind, hold);
    to.token = token.data();
    to.fencing_token = hold.fencing_token.value_or(FencingToken()).value();
    to.end = to_string(hold.end).data();
    call(context, &to);
  }

  std::shared_ptr<void> context_;
  ObservationCallback call_;
  Dispatcher dispatcher_;
};

}  // namespace

std::shared_ptr<Observer> make_observer(std::shared_ptr<void> context, ObservationCallback call,
                                        Dispatcher dispatcher) {
  return std::make_shared<Telling>(std::move(context), call, std::move(dispatcher));
}

}  // namespace redlock::bindings
