#pragma once

#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

/// The subject of a result.
struct Subject {
  Subject() = default;
  // Implicit: most results are about one resource and need no more than its name.
  Subject(std::string only) : resource(std::move(only)) {}

  std::string resource{};                ///< all resources, separated by blanks, for people
  std::vector<std::string> resources{};  ///< if several were named
  std::string permit{};                  ///< the one permit of a semaphore: "jobs#3"
  std::string holder_name{};             ///< the holder's name for people, in a refusal
};

}  // namespace redlock::cli
