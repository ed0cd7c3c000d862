#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure/handoff_lock.hpp"
#include "common/session/settings.hpp"

namespace redlock::cli {

/// A contender of `bench --mode handoff` is this program again, under a verb that no help names.
inline constexpr const char* handoff_contender_verb = "handoff-contender";

/// A contender's request, a line on its standard input.
struct HandoffRequest {
  enum class Side { ours, floor } side = Side::ours;
  Settings settings{};  ///< settings of the contender's client: see settings_to_pass()
  std::string resource{};
  std::string board{};  ///< the file of the HandoffBoard
  std::size_t index = 0;
  std::size_t contenders = 0;
  std::uint64_t acquisitions = 0;  ///< the number for all contenders together
  std::chrono::nanoseconds hold{0};
  std::chrono::nanoseconds patience{0};
};

/// Messages of the parent to a contender, a byte each; a closed pipe means: end.
namespace handoff_order {
inline constexpr char warm_up = 'w';  ///< a lap that is not measured
inline constexpr char lap = 'l';
inline constexpr char reentry = 'r';
}  // namespace handoff_order

/// Other messages of contenders to the parent.
namespace handoff_word {
inline constexpr char asking = 'a';  ///< the lap's acquire call follows
inline constexpr char done = 'd';    ///< sent by the contender that finishes last
}  // namespace handoff_word

[[nodiscard]] std::string to_line(const HandoffRequest& request);

/// How many records a contender has room for.
[[nodiscard]] std::size_t handoff_records(const HandoffRequest& request) noexcept;

inline constexpr std::size_t handoff_gate_index = SIZE_MAX;

/// The lock that the request is about, with all connections made. Throws std::runtime_error.
[[nodiscard]] std::unique_ptr<bench::HandoffLock> make_handoff_lock(const HandoffRequest& request);

/// The contender. Gives the exit code.
[[nodiscard]] int run_handoff_contender();

}  // namespace redlock::cli
