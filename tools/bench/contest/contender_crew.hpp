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

  void start(const char* verb, const std::string& request);
  void listen(int timeout_ms);
  void hear(Member& member);
  [[noreturn]] static void report(const Member& member, std::string why);

  const Signals& signals_;
  std::vector<Member> members_;
  std::string heard_;
};

}  // namespace redlock::cli
