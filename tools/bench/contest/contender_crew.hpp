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

/// The contenders' processes: this program again, under a verb that no help names. Each contender
/// reads its request, a line, and then orders of a byte each; when its pipe is closed, it ends. It
/// answers with words of a byte each. All functions throw std::runtime_error when a contender fails
/// or ends, and ContendersInterrupted. Created and used by the main thread.
class ContenderCrew {
 public:
  /// Returns when all contenders are ready.
  ContenderCrew(const char* verb, const std::vector<std::string>& requests, const Signals& signals);
  ~ContenderCrew();
  ContenderCrew(const ContenderCrew&) = delete;
  ContenderCrew& operator=(const ContenderCrew&) = delete;

  /// Sends the order to all contenders, one right after the other.
  void order(char order);
  /// Waits until the contenders have sent the word `count` times in all, and removes these words.
  void wait_for(char word, std::size_t count);
  /// Returns whether the word has arrived `count` times in all, and then removes these words. Does
  /// not wait.
  [[nodiscard]] bool take_heard(char word, std::size_t count);
  /// Waits until a contender sends a word, or the limit has passed.
  void wait_at_most(std::chrono::milliseconds limit);
  /// Lets all contenders end in an orderly way.
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
