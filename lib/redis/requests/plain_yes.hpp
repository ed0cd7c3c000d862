#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/vocabulary/messages.hpp"
#include "redis/values/dialect.hpp"
#include "redis/values/reply.hpp"

namespace redlock::redis {

/// The letters of a node's plain yes to a request, and their meaning.
struct PlainYesForm {
  std::string_view bytes{};  ///< empty: the request has no plain yes
  core::Reply reply = core::Reply::granted;
};

/// The plain yes of each verb on one connection: almost every answer is compared with it, and not
/// parsed. classify() gives these answers the same meaning.
using PlainYesForms = std::array<PlainYesForm, core::verbs>;
[[nodiscard]] PlainYesForms plain_yes_forms(Dialect dialect, Protocol protocol) noexcept;

/// The letters with which a node grants a SET.
[[nodiscard]] std::string_view yes_to_set(Dialect dialect, Protocol protocol) noexcept;

/// The letters of a plain yes to all `count` requests of one call (see SharedCall).
[[nodiscard]] std::string_view yes_to_all(std::size_t count) noexcept;

}  // namespace redlock::redis
