#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "common/system/descriptor.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// A signal that ends the program arrived.
struct ContendersInterrupted {
  int signal = 0;
};

/// The contenders' processes: this program again, under a verb that no help names. Each reads a
/// line that says what it is to do, and then orders, a byte each; its end of the pipe closed: end.
/// Its output is single bytes, too. All members throw std::runtime_error when one of them fails or
/// ends, and ContendersInterrupted. Made and used by the main thread.
class ContenderCrew {
 public:
  /// Returns when all are ready.
  ContenderCrew(const char* verb, const std::vector<std::string>& requests, const Signals& signals);
  ~ContenderCrew();
  ContenderCrew(const ContenderCrew&) = delete;
  ContenderCrew& operator=(const ContenderCrew&) = delete;

  /// Sends the order to all contenders, one right after the other.
  void order(char order);
  /// Waits until contenders have sent the word `count` times in all, and uses those words up.
  void wait_for(char word, std::size_t count);
  /// As `wait_for`, without waiting. False: fewer than `count` have arrived.
  [[nodiscard]] bool take_heard(char word, std::size_t count);
  /// Waits until a contender sends a word, or the limit is over.
  void wait_at_most(std::chrono::milliseconds limit);
  /// Lets all of them end in order.
  void finish();

 private:
  struct Member {
    pid_t pid = -1;
    Descriptor orders;
    Descriptor words;
  };

  void start(const char* verb, const std::string& request);
  void listen(int timeout_ms);
  void hear(Member& member);
  [[noreturn]] static void report(const Member& member, std::string why);

  const Signals& signals_;
  std::vector<Member> members_;
  std::string heard_;
};

}  // namespace redlock::cli
