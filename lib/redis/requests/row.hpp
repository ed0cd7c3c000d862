#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/engine/messages.hpp"
#include "core/engine/request.hpp"
#include "redis/requests/writer.hpp"
#include "redis/wire/dialect.hpp"
#include "redis/wire/reply.hpp"
#include "redis/wire/shared_call.hpp"

namespace redlock::redis {

/// What one request's commands answer, in their order.
using Values = std::span<const Value* const>;

/// Everything that there is to know about one request. To add a request is to add a row to its
/// family's file: encoder, connection, fuzzers and tests read the rows, and name few.
struct Row {
  core::Verb verb{};
  char letter = 0;          ///< by which the corpora of the fuzzers name it
  core::Replies replies{};  ///< what its answers may mean
  std::uint8_t values{};    ///< so many answer it: one for each command
  void (*encode)(Writer& out, const core::Terms& terms) = nullptr;
  /// What the values mean. Total: nothing, if no Redis server answers the request like this, so
  /// that it is not known whose answer it is, and the connection has to be closed.
  std::optional<core::Answer> (*meaning)(Dialect dialect, Values values) noexcept = nullptr;
  /// In which letters a node says yes and nothing else, and what that means: almost every answer is
  /// compared, and not parsed. None: it cannot.
  std::string_view (*yes)(Dialect dialect, Protocol protocol) noexcept = nullptr;
  core::Reply yes_means = core::Reply::granted;
  bool always_same = false;  ///< its bytes depend on nothing
  /// How several that follow one another are one call. None: each is a request of its own.
  const SharedForm* shared = nullptr;
};

/// Of all requests, in the order of the families.
[[nodiscard]] std::span<const Row* const> rows() noexcept;
[[nodiscard]] const Row& row_of(core::Verb verb) noexcept;

// The families, one file each.
[[nodiscard]] std::span<const Row> set_rows() noexcept;
[[nodiscard]] std::span<const Row> fencing_rows() noexcept;
[[nodiscard]] std::span<const Row> take_rows() noexcept;
[[nodiscard]] std::span<const Row> extend_rows() noexcept;
[[nodiscard]] std::span<const Row> release_rows() noexcept;
[[nodiscard]] std::span<const Row> queue_rows() noexcept;
[[nodiscard]] std::span<const Row> marker_rows() noexcept;
[[nodiscard]] std::span<const Row> upkeep_rows() noexcept;

}  // namespace redlock::redis
