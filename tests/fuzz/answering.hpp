#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/claim/fencing.hpp"
#include "core/engine/messages.hpp"
#include "fuzz/fuzz.hpp"
#include "redis/wire/classify.hpp"
#include "redlock/limits.hpp"

/// The one place that knows how answers are handed to classify(), and what may come out of it.
namespace redlock::fuzz {

inline constexpr std::array every_form{redis::Dialect::classic, redis::Dialect::with_get,
                                       redis::Dialect::with_delex};

/// By which letter an input names a verb. A new verb is an error of the compiler here.
[[nodiscard]] constexpr char letter_of(core::Verb verb) noexcept {
  switch (verb) {
    case core::Verb::set:
      return 's';
    case core::Verb::set_and_ttl:
      return 't';
    case core::Verb::set_fenced:
      return 'n';
    case core::Verb::set_fenced_and_ttl:
      return 'm';
    case core::Verb::set_fenced_short:
      return 'q';
    case core::Verb::set_fenced_short_and_ttl:
      return 'Q';
    case core::Verb::take:
      return 'f';
    case core::Verb::take_permit:
      return 'p';
    case core::Verb::enter:
      return 'j';
    case core::Verb::raise_fence:
      return 'r';
    case core::Verb::extend:
      return 'e';
    case core::Verb::extend_or_set:
      return 'x';
    case core::Verb::release:
      return 'd';
    case core::Verb::break_lock:
      return 'B';
    case core::Verb::release_plain:
      return 'D';
    case core::Verb::extend_plain:
      return 'E';
    case core::Verb::repair_plain:
      return 'X';
    case core::Verb::raise_plain:
      return 'R';
    case core::Verb::set_all:
      return 'S';
    case core::Verb::notify:
      return 'N';
    case core::Verb::inspect:
      return 'i';
    case core::Verb::expire_orphan:
      return 'o';
    case core::Verb::kill_old:
      return 'k';
    case core::Verb::read_clock:
      return 'c';
    case core::Verb::prune_fencing_numbers:
      return 'w';
    case core::Verb::join_queue:
      return 'a';
    case core::Verb::leave_queue:
      return 'b';
    case core::Verb::track:
      return 'T';
    case core::Verb::read_evictions:
      return 'V';
    case core::Verb::read_marker:
      return 'm';
    case core::Verb::read_floor_and_marker:
      return 'F';
    case core::Verb::write_marker:
      return 'M';
    case core::Verb::mark_plain:
      return 'P';
    case core::Verb::write_name:
      return 'A';
    case core::Verb::write_audit:
      return 'U';
  }
  return '?';
}

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

[[nodiscard]] constexpr bool may_answer(core::Verb verb, core::Reply reply) noexcept {
  using core::Reply;
  using core::Verb;
  const bool extends = core::is_extend(verb);
  const bool scripted_extend = verb == Verb::extend || verb == Verb::extend_or_set;
  const bool sets = core::is_set(verb) || core::is_raise(verb);
  const bool releases =
      verb == Verb::release || verb == Verb::break_lock || verb == Verb::release_plain;
  const bool is_free_or_not = verb == Verb::join_queue || verb == Verb::track;
  switch (reply) {
    case Reply::granted:
      return sets;
    case Reply::behind:
      return is_numbered(verb);
    case Reply::taken:
      return sets || extends || releases || is_free_or_not;
    case Reply::extended:
      return scripted_extend;
    case Reply::repaired:
      return core::is_repair(verb);
    case Reply::gone:
      return extends || releases || verb == Verb::inspect || is_free_or_not;
    case Reply::released:
      return releases;
    case Reply::found:
      return verb == Verb::inspect;
    case Reply::done:
      return verb == Verb::kill_old || verb == Verb::expire_orphan ||
             verb == Verb::prune_fencing_numbers || verb == Verb::leave_queue ||
             verb == Verb::notify || verb == Verb::write_name || verb == Verb::write_audit ||
             verb == Verb::read_evictions;
    case Reply::clock:
      return verb == Verb::read_clock;
    case Reply::marker:
      return core::is_marker_reading(verb) || core::is_marker_write(verb);
    case Reply::script_missing:
      return scripted_extend || verb == Verb::release || verb == Verb::break_lock ||
             verb == Verb::inspect || verb == Verb::notify || core::is_taking_script(verb) ||
             verb == Verb::raise_fence || verb == Verb::expire_orphan ||
             verb == Verb::prune_fencing_numbers || verb == Verb::write_audit ||
             core::is_about_queue(verb);
    case Reply::script_needed:
      return verb == Verb::release_plain || verb == Verb::extend_plain ||
             verb == Verb::repair_plain || verb == Verb::set_all;
    case Reply::error:
      return true;
    case Reply::failed:
      return false;
  }
  return false;
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
