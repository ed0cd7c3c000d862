#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/engine/commands.hpp"

namespace redlock::redis {

/// Releases that follow one another to the same nodes, each of one resource that nobody shares and
/// that has no interval: one call of a script for all of them. Most of what a release costs a node
/// is the call. A caller with many locks in flight ends many in the same turn of its loop.
class Releases {
 public:
  /// So many in one call: a node answers nobody else while it runs a script.
  static constexpr std::size_t most = 64;

  void add(std::string_view resource, std::string_view token);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool full() const noexcept { return count_ == most; }

  /// The call; what is free is reserved for so long for who is next. Valid until the next call.
  [[nodiscard]] std::string_view encode(core::ScriptForm form, core::Duration reserved_for);

  /// Makes it empty, keeping its memory.
  void clear() noexcept;

 private:
  std::size_t count_ = 0;
  std::string resources_;  // as they are sent
  std::string tokens_;     // likewise
  std::string call_;
};

}  // namespace redlock::redis
