#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/messages.hpp"
#include "redis/reply.hpp"
#include "redis/set_form.hpp"

namespace redlock::redis {

/// What a server's answer means to the core. `text` lies in the value it was read from.
struct Classified {
  core::Reply reply = core::Reply::error;
  std::string_view text{};
  std::optional<core::Duration> remaining{};
  std::uint64_t number = 0;
  core::Duration time{};
};

/// How many values answer a verb.
[[nodiscard]] constexpr std::size_t values_expected(core::Verb verb) noexcept {
  return verb == core::Verb::set_and_ttl ? 2 : 1;
}

/// Total: every value has a meaning or none. Nothing: no Redis server answers the verb like this,
/// so that it is not known whose answer it is, and the connection has to be closed.
/// `second` is the answer of the verb's second command, null for verbs of one command.
[[nodiscard]] std::optional<Classified> classify(core::Verb verb, SetForm form, const Value& first,
                                                 const Value* second) noexcept;

}  // namespace redlock::redis
