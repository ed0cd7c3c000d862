#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "quorum-lock/descriptor.hpp"
#include "quorum-lock/handoff_contender.hpp"
#include "quorum-lock/signals.hpp"

namespace redlock::cli {

/// A signal that ends the program arrived.
struct HandoffInterrupted {
  int signal = 0;
};

/// The contenders' processes. All members throw std::runtime_error when one of them fails or ends,
/// and HandoffInterrupted. Made and used by the main thread.
class HandoffCrew {
 public:
  /// Returns when all are ready.
  HandoffCrew(const HandoffRequest& request, const Signals& signals);
  ~HandoffCrew();
  HandoffCrew(const HandoffCrew&) = delete;
  HandoffCrew& operator=(const HandoffCrew&) = delete;

  /// To all of them, one right after the other.
  void order(char order);
  /// Until it was said so often, by any of them; those words then do not count any more.
  void wait_for(char word, std::size_t count);
  /// The same without waiting. False: not yet.
  [[nodiscard]] bool take_heard(char word, std::size_t count);
  /// Until one says something, or the time is over.
  void wait_at_most(std::chrono::milliseconds limit);
  /// Lets all of them end in order.
  void finish();

 private:
  struct Member {
    pid_t pid = -1;
    Descriptor orders;
    Descriptor words;
  };

  void start(const HandoffRequest& request);
  void listen(int timeout_ms);
  void hear(Member& member);
  [[noreturn]] static void report(const Member& member, std::string why);

  const Signals& signals_;
  std::vector<Member> members_;
  std::string heard_;
};

}  // namespace redlock::cli
