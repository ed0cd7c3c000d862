#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/vocabulary/messages.hpp"
#include "core/votes/fencing.hpp"
#include "fuzz/fuzz.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/classify.hpp"
#include "redlock/limits.hpp"

/// The one place that knows how answers are handed to classify(), and what may come out of it.
namespace redlock::fuzz {

inline constexpr std::array every_form{redis::Dialect::classic, redis::Dialect::with_get,
                                       redis::Dialect::with_delex};

/// By which the corpora name a verb.
[[nodiscard]] inline char letter_of(core::Verb verb) { return redis::row_of(verb).letter; }

template <typename Visit>
void each_verb(Visit&& visit) {
  for (std::size_t i = 0; i < core::verbs; ++i) visit(static_cast<core::Verb>(i));
}

[[nodiscard]] inline std::optional<core::Verb> verb_of(char letter) {
  std::optional<core::Verb> found;
  each_verb([&](core::Verb verb) {
    if (letter_of(verb) == letter) found = verb;
  });
  return found;
}

/// Whether the number that is sent with it, or comes back, is a fencing token.
[[nodiscard]] constexpr bool is_numbered(core::Verb verb) noexcept {
  return core::is_divided(verb) || verb == core::Verb::take || verb == core::Verb::raise_fence;
}

/// `values` are as many as values_expected() says.
[[nodiscard]] inline std::optional<core::Answer> classified(
    core::Verb verb, redis::Dialect form, const std::vector<const redis::Value*>& values) {
  return redis::classify(verb, form, values);
}

[[nodiscard]] inline bool may_answer(core::Verb verb, core::Reply reply) {
  return redis::row_of(verb).replies.has(reply);
}

/// The guarantees to the core, for all bytes that a server may send.
inline void check_meaning(core::Verb verb, const core::Answer& answer) {
  using core::Reply;
  REDLOCK_ASSERT(may_answer(verb, answer.reply));
  REDLOCK_ASSERT(!is_numbered(verb) || answer.number < core::fence_limit);
  if (answer.remaining) REDLOCK_ASSERT(*answer.remaining >= core::Duration::zero());
  REDLOCK_ASSERT(answer.time >= core::Duration::zero());
  const bool message = answer.reply == Reply::error || answer.reply == Reply::script_missing ||
                       answer.reply == Reply::script_needed;
  if (message) {
    REDLOCK_ASSERT(harmless(answer.text));
  } else {
    // A holder: one byte more than a token has is enough to be nobody's. Or a digit for each
    // permit, or a group and tokens behind their lengths.
    constexpr std::size_t most_texts = 1 + limits::holds_listed;
    std::size_t longest = limits::token_bytes + 1;
    if (verb == core::Verb::take_permit) longest = limits::permits;
    if (answer.reply == Reply::marker) longest = limits::reply_bytes;
    if (verb == core::Verb::inspect && answer.holds) longest = most_texts * (longest + 4);
    REDLOCK_ASSERT(answer.text.size() <= longest);
    REDLOCK_ASSERT(answer.for_people.size() <= 8192);
  }
}

}  // namespace redlock::fuzz
