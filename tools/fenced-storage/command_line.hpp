#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fenced-storage/storage_url.hpp"

namespace redlock::fenced {

struct WriteRequest {
  StorageUrl storage{};
  std::string key{};
  std::string value{};
  std::uint64_t token = 0;
};

struct ReadRequest {
  StorageUrl storage{};
  std::string key{};
};

struct DemoRequest {
  std::vector<std::string> nodes{};  ///< none: the demonstration starts its own
  /// Whether the storage checks fencing tokens.
  enum class Fencing { checked, ignored } fencing = Fencing::checked;
};

/// The help: print it and be done.
struct TextRequest {
  std::string text{};
};

using Request = std::variant<TextRequest, WriteRequest, ReadRequest, DemoRequest>;

/// `words` are the arguments without the program's name. Throws cli::UsageError.
[[nodiscard]] Request parse_command_line(std::vector<std::string> words);

}  // namespace redlock::fenced
