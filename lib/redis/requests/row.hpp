#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/request.hpp"
#include "redis/requests/shared_call.hpp"
#include "redis/requests/writer.hpp"
#include "redis/values/dialect.hpp"
#include "redis/values/reply.hpp"

namespace redlock::redis {

/// The answers to one request's commands, in their order.
using Values = std::span<const Value* const>;

/// Everything about one request on the wire. To add a request is to add a row to its family's file:
/// encoder, connection, fuzzers and tests read the rows, and name few.
struct Row {
  core::Verb verb{};
  char letter = 0;          ///< the request's name in the corpora of the fuzzers
  core::Replies replies{};  ///< the possible meanings of its answers
  std::uint8_t values{};    ///< number of values that answer it: one for each command
  void (*encode)(Writer& out, const core::Terms& terms) = nullptr;
  /// The meaning of the values. Total: nothing if no Redis server answers the request like this. It
  /// is then not known which request the answer belongs to, and the connection has to be closed.
  std::optional<core::Answer> (*meaning)(Dialect dialect, Values values) noexcept = nullptr;
  /// The letters of a plain yes: almost every answer is compared with them, and not parsed. None:
  /// the request has no plain yes.
  std::string_view (*yes)(Dialect dialect, Protocol protocol) noexcept = nullptr;
  core::Reply yes_means = core::Reply::granted;
  bool always_same = false;  ///< the bytes of the request never change
  /// The form in which several successive requests share one call. None: each is a call of its own.
  const SharedForm* shared = nullptr;
};

/// The rows of all requests, in the order of the families.
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
[[nodiscard]] std::span<const Row> reign_rows() noexcept;
[[nodiscard]] std::span<const Row> upkeep_rows() noexcept;

}  // namespace redlock::redis
