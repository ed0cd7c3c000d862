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

  std::string resource{};                ///< all of them with blanks between, for people
  std::vector<std::string> resources{};  ///< if several were named
  std::string permit{};                  ///< of a semaphore, the one permit: "jobs#3"
  std::string holder_name{};             ///< of a refusal, what people call the holder
};

}  // namespace redlock::cli
