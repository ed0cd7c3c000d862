#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/engine/messages.hpp"
#include "redis/wire/dialect.hpp"
#include "redis/wire/reply.hpp"

namespace redlock::redis {

/// In which letters a node says yes to a request and nothing else, and what that means.
struct PlainYesForm {
  std::string_view bytes{};  ///< empty: it cannot
  core::Reply reply = core::Reply::granted;
};

/// By verb, as one connection needs them: what almost every request is answered with is compared,
/// and not parsed. classify() says the same of these answers.
using PlainYesForms = std::array<PlainYesForm, core::verbs>;
[[nodiscard]] PlainYesForms plain_yes_forms(Dialect dialect, Protocol protocol) noexcept;

/// In which letters a node says that it granted a SET.
[[nodiscard]] std::string_view yes_to_set(Dialect dialect, Protocol protocol) noexcept;

/// In which letters a node says yes to all of so many, which are one call (see SharedCall).
[[nodiscard]] std::string_view yes_to_all(std::size_t count) noexcept;

}  // namespace redlock::redis
