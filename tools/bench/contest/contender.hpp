#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/session/settings.hpp"

namespace redlock::cli {

/// Contenders run in processes of their own: this program again, under a verb that no help names.
inline constexpr const char* contenders_verb = "bench-contenders";

/// The request of one process, a line on its standard input.
struct ContestRequest {
  Settings settings{};  ///< settings of each client: see settings_to_pass()
  /// The lock that all want; with "/INDEX" after it: a lock that only this contender wants.
  std::string resource{};
  std::string board{};       ///< the file of the ContestBoard
  std::size_t records = 0;   ///< the room on the board
  std::size_t clients = 0;   ///< the number of all contenders
  std::size_t first = 0;     ///< the index of the first contender of this process
  std::size_t count = 0;     ///< the contenders of this process
  std::uint64_t grants = 0;  ///< re-entry ends after this many grants of all contenders
  std::chrono::nanoseconds hold{0};
};

/// Messages of the parent to a process, a byte each; a closed pipe means: end.
namespace contest_order {
inline constexpr char connect = 'c';
inline constexpr char warm_up = 'w';  ///< a lap that is not recorded
inline constexpr char lap = 'l';      ///< each contender acquires, holds and releases once
inline constexpr char reentry = 'r';  ///< each contender acquires, holds and releases in turn
inline constexpr char stop = 's';
}  // namespace contest_order

/// Messages of processes to the parent, in addition to those of contender_word.
namespace contest_word {
inline constexpr char connected = 'c';  ///< all contenders of the process are connected
inline constexpr char asking = 'a';     ///< the acquire call of a contender's lap follows
inline constexpr char done = 'd';       ///< sent by the contender that is the last to obey an order
}  // namespace contest_word

[[nodiscard]] std::string to_line(const ContestRequest& request);

/// A process of contenders. Gives the exit code.
[[nodiscard]] int run_contenders();

}  // namespace redlock::cli
