#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "api/client/answer.hpp"
#include "api/leases/lease_cell.hpp"
#include "redlock/observer.hpp"

namespace redlock::api {

/// Runs the answers of calls, and the rest of the user's code (a loss, an event, the observer), at
/// the end of a turn: in the order in which they were added, outside of all steps, and with no lock
/// held.
///
/// The rest of the user's code does not run on a borrowed loop: it waits for the loop's thread.
/// For the loop's thread only.
class Completions {
 public:
  template <typename Value, typename From>
  void answer(Answer<Value> done, From&& value) {
    added_.emplace_back(std::in_place_type<Answered<Value>>, std::move(done),
                        std::forward<From>(value));
  }
  /// An answer of another form.
  void post(Job job) { added_.emplace_back(Posted{std::move(job)}); }

  /// The rest of the user's code.
  void notify(Job job) { added_.emplace_back(Notice{std::move(job)}); }
  template <typename Observation>
  void observe(Observer& observer, void (Observer::*what)(const Observation&) noexcept,
               Observation seen) {
    added_.emplace_back(Observed<Observation>{&observer, what, std::move(seen)});
  }
  /// Destroys the callbacks of a call or a lease that is over, and with them their captures: that
  /// runs the user's code.
  void spend(LeaseCallbacks callbacks) {
    if (!callbacks.none()) added_.emplace_back(Spent{std::move(callbacks)});
  }

  [[nodiscard]] bool empty() const noexcept { return added_.empty(); }
  /// Whether something waits for the loop's thread.
  [[nodiscard]] bool want_the_thread() const noexcept { return !for_the_thread_.empty(); }
  /// Whether the caller is one of them.
  [[nodiscard]] bool running() const noexcept { return is_running_; }

  /// Runs all that have been added until now. `before_users_code` runs before each that may run
  /// code of the user's: with `blocking`, that is not an answer, which only wakes its caller.
  template <typename Before>
  void run(bool borrowed, bool blocking, const Before& before_users_code) noexcept {
    is_running_ = true;
    running_.swap(added_);
    if (!borrowed) {
      for (Completion& completion : for_the_thread_) run(completion);
      for_the_thread_.clear();
    }
    for (Completion& completion : running_) {
      const bool is_answer = std::visit([](const auto& what) { return what.answers; }, completion);
      if (borrowed && !is_answer) {
        for_the_thread_.push_back(std::move(completion));
        continue;
      }
      if (!is_answer || !blocking) before_users_code();
      run(completion);
    }
    running_.clear();
    is_running_ = false;
  }

 private:
  template <typename Value>
  struct Answered {
    static constexpr bool answers = true;
    /// Makes the value in place: g++ 14 takes the inspection of a moved error for uninitialized.
    template <typename From>
    Answered(Answer<Value> its_done, From&& from)
        : done(std::move(its_done)), value(std::forward<From>(from)) {}
    void operator()() {
      if (done) done(std::move(value));
    }
    Answer<Value> done;
    Result<Value> value;
  };
  struct Posted {
    static constexpr bool answers = true;
    void operator()() { job(); }
    Job job;
  };
  struct Notice {
    static constexpr bool answers = false;
    void operator()() { job(); }
    Job job;
  };
  template <typename Observation>
  struct Observed {
    static constexpr bool answers = false;
    void operator()() { (observer->*what)(seen); }
    Observer* observer;
    void (Observer::*what)(const Observation&) noexcept;
    Observation seen;
  };
  struct Spent {
    static constexpr bool answers = false;
    void operator()() { callbacks = {}; }
    LeaseCallbacks callbacks;
  };
  using Completion =
      std::variant<Answered<Lease>, Answered<Round>, Answered<Inspection>, Answered<Ownership>,
                   Posted, Notice, Observed<AcquireObservation>, Observed<HoldObservation>, Spent>;

  static void run(Completion& completion) noexcept {
    std::visit([](auto& what) { what(); }, completion);
  }

  std::vector<Completion> added_;
  std::vector<Completion> running_;
  std::vector<Completion> for_the_thread_;
  bool is_running_ = false;
};

}  // namespace redlock::api
