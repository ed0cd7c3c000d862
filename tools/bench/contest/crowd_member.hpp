#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "common/session/settings.hpp"

namespace redlock::cli {

/// A member of the crowd of `bench --mode crowd` is a process with several clients: this program
/// again, under a verb that no help names.
inline constexpr const char* crowd_member_verb = "crowd-member";

/// A member's request, a line on its standard input.
struct CrowdRequest {
  Settings settings{};      ///< settings of each client: see settings_to_pass()
  std::string resource{};   ///< the lock that all want; with "/INDEX" after it: a lock that only
                            ///< this client wants
  std::string board{};      ///< the file of the CrowdBoard
  std::size_t clients = 0;  ///< the number of clients in the crowd
  std::size_t first = 0;    ///< the index of the first client of this process
  std::size_t count = 0;
  std::chrono::nanoseconds hold{0};
};

/// Messages of the parent to a member, a byte each; a closed pipe means: end.
namespace crowd_order {
inline constexpr char connect = 'c';
inline constexpr char go = 'g';
}  // namespace crowd_order

/// Other messages of members to the parent.
namespace crowd_word {
inline constexpr char connected = 'c';  ///< all clients of the member are connected
}  // namespace crowd_word

[[nodiscard]] std::string to_line(const CrowdRequest& request);

/// The member. Gives the exit code.
[[nodiscard]] int run_crowd_member();

}  // namespace redlock::cli
