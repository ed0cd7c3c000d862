#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "common/session/settings.hpp"

namespace redlock::cli {

/// A member of the crowd of `bench --mode crowd` is a process of some clients. It is this program
/// again, under a verb that no help names.
inline constexpr const char* crowd_member_verb = "crowd-member";

/// What it is to do: a line on its standard input.
struct CrowdRequest {
  Settings settings{};      ///< of a client; see settings_to_pass()
  std::string resource{};   ///< what all want; "/INDEX" behind it: what only this client wants
  std::string board{};      ///< the file of the CrowdBoard
  std::size_t clients = 0;  ///< in the crowd
  std::size_t first = 0;    ///< of this process
  std::size_t count = 0;
  std::chrono::nanoseconds hold{0};
};

/// What the parent says to a member, a byte each; its end of the pipe closed: end.
namespace crowd_order {
inline constexpr char connect = 'c';
inline constexpr char go = 'g';
}  // namespace crowd_order

/// What else members say to the parent.
namespace crowd_word {
inline constexpr char connected = 'c';  ///< all its clients
}  // namespace crowd_word

[[nodiscard]] std::string to_line(const CrowdRequest& request);

/// The member. Gives the exit code.
[[nodiscard]] int run_crowd_member();

}  // namespace redlock::cli
