#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace redlock::chaos {

/// A contender is this program again, under a verb that no help names.
inline constexpr const char* contender_verb = "chaos-contender";

struct ContenderRequest {
  std::filesystem::path folder{};  ///< the folder of the histories and the counters
  std::size_t slot = 0;
  std::size_t generation = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> resources{};
  std::vector<std::string> nodes{};
  std::string prefix{};                ///< of the resources' names
  std::string unsafe{};                ///< of unsafe_contender.hpp; empty: our own locks
  std::vector<std::string> foreign{};  ///< a command to become instead; see foreign.hpp
};

/// The words after the program's name.
[[nodiscard]] std::vector<std::string> words_of(const ContenderRequest& request);

/// Takes leases, uses them and records them, until everything is healed, and then takes every
/// resource once more. Returns the exit code.
[[nodiscard]] int run_contender(const std::vector<std::string>& words);

}  // namespace redlock::chaos
