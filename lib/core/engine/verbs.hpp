#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redlock::core {

/// One request to a node, as a row of lib/redis/requests encodes it. What it is for, and in which
/// form, is in `verb_rows`.
enum class Verb : std::uint8_t {
  set,                 ///< SET resource token NX PX ttl
  set_and_ttl,         ///< set, then PTTL: for a caller that waits for the holder
  set_fenced,          ///< set, the number there is, ours if it is higher, and whose key it is
  set_fenced_and_ttl,  ///< set_fenced, then PTTL
  set_fenced_short,    ///< set_fenced, but of the numbers only whether ours was higher
  set_fenced_short_and_ttl,  ///< set_fenced_short, then PTTL
  set_all,                   ///< MSETEX NX of several resources, and whose they are
  take,            ///< one or several resources, all or none; keeps new readers out if readers are
                   ///< in the way
  take_permit,     ///< one of several keys; a refusal names those that are free
  enter,           ///< a hold of a resource that others of the same group may hold too
  raise_fence,     ///< a higher number for a key that is ours
  raise_plain,     ///< raise_fence by the commands that follow the SET of set_fenced
  extend,          ///< raise the expiry of our key
  extend_plain,    ///< SET IFEQ: never for less time than before
  extend_or_set,   ///< extend, or give the key back to a node that lost it
  repair_plain,    ///< extend_plain, then SET NX
  release,         ///< compare and delete
  release_plain,   ///< DELIFEQ, and whether anybody is queued
  break_lock,      ///< compare, and keep everybody out for a while
  notify,          ///< the clients that are queued, after a release_plain
  inspect,         ///< holder and remaining TTL
  expire_orphan,   ///< an expiry for a key that has none
  write_audit,     ///< which lock an operator broke, after its release
  kill_old,        ///< CLIENT KILL of the connection before this one
  read_clock,      ///< TIME
  read_evictions,  ///< how many keys the server has evicted
  prune_fencing_numbers,  ///< forget what was numbered days ago
  join_queue,             ///< be queued for a key, to be notified in turn
  leave_queue,
  track,                  ///< notify us of the next change of a key
  read_marker,            ///< GET of the marker, after votes or to confirm it
  read_floor_and_marker,  ///< read_marker, and before it the floor of fencing numbers
  write_marker,           ///< compare-and-set of the marker, by mark.lua
  mark_plain,             ///< write_marker by a transaction
  write_name,             ///< the client's name, for people
};
inline constexpr std::size_t verbs = static_cast<std::size_t>(Verb::write_name) + 1;

/// What a request is for: what the core does with its answer.
enum class Operation : std::uint8_t {
  take,     ///< asks for the lock: a vote
  raise,    ///< raises the fencing number of a key that is ours: a vote
  extend,   ///< raises the expiry of our key: a vote
  release,  ///< deletes our key
  notify,
  inspect,
  expire_orphan,
  write_audit,
  upkeep,  ///< belongs to no claim: nobody waits for the answer
};

/// How it is executed: a script costs the node more, can do more, and may be forbidden.
enum class Form : std::uint8_t { plain, script };

/// What the core knows of a verb. To add a request is to add a verb, its row here, and its row in
/// lib/redis/requests.
struct VerbRow {
  Verb verb{};
  std::string_view name;  ///< for people
  Operation operation{};
  Form form{};
  Verb script = verb;       ///< of plain commands: the script that does the same
  bool is_fenced = false;   ///< take: by commands of its own, where `take` is a script
  bool is_short = false;    ///< the answer does not name the number that there was
  bool is_divided = false;  ///< the answer names that number, or the floor, and whose key it was at
                            ///< the end
  bool repairs = false;     ///< extend: gives the key to a node that lost it
  bool compares = false;  ///< a plain command that compares whose key it is: its answer may say it
                          ///< in other words than the script's
};

inline constexpr std::array<VerbRow, verbs> verb_rows{{
    {.verb = Verb::set, .name = "set", .operation = Operation::take, .form = Form::plain},
    {.verb = Verb::set_and_ttl,
     .name = "set-and-ttl",
     .operation = Operation::take,
     .form = Form::plain},
    {.verb = Verb::set_fenced,
     .name = "set-fenced",
     .operation = Operation::take,
     .form = Form::plain,
     .is_fenced = true,
     .is_divided = true},
    {.verb = Verb::set_fenced_and_ttl,
     .name = "set-fenced-and-ttl",
     .operation = Operation::take,
     .form = Form::plain,
     .is_fenced = true,
     .is_divided = true},
    {.verb = Verb::set_fenced_short,
     .name = "set-fenced-short",
     .operation = Operation::take,
     .form = Form::plain,
     .is_fenced = true,
     .is_short = true,
     .is_divided = true},
    {.verb = Verb::set_fenced_short_and_ttl,
     .name = "set-fenced-short-and-ttl",
     .operation = Operation::take,
     .form = Form::plain,
     .is_fenced = true,
     .is_short = true,
     .is_divided = true},
    {.verb = Verb::set_all,
     .name = "set-all",
     .operation = Operation::take,
     .form = Form::plain,
     .script = Verb::take},
    {.verb = Verb::take, .name = "take", .operation = Operation::take, .form = Form::script},
    {.verb = Verb::take_permit,
     .name = "take-permit",
     .operation = Operation::take,
     .form = Form::script},
    {.verb = Verb::enter, .name = "enter", .operation = Operation::take, .form = Form::script},
    {.verb = Verb::raise_fence,
     .name = "raise-fence",
     .operation = Operation::raise,
     .form = Form::script},
    {.verb = Verb::raise_plain,
     .name = "raise-plain",
     .operation = Operation::raise,
     .form = Form::plain,
     .script = Verb::raise_fence,
     .is_divided = true},
    {.verb = Verb::extend, .name = "extend", .operation = Operation::extend, .form = Form::script},
    {.verb = Verb::extend_plain,
     .name = "extend-plain",
     .operation = Operation::extend,
     .form = Form::plain,
     .script = Verb::extend,
     .compares = true},
    {.verb = Verb::extend_or_set,
     .name = "extend-or-set",
     .operation = Operation::extend,
     .form = Form::script,
     .repairs = true},
    {.verb = Verb::repair_plain,
     .name = "repair-plain",
     .operation = Operation::extend,
     .form = Form::plain,
     .script = Verb::extend_or_set,
     .repairs = true,
     .compares = true},
    {.verb = Verb::release,
     .name = "release",
     .operation = Operation::release,
     .form = Form::script},
    {.verb = Verb::release_plain,
     .name = "release-plain",
     .operation = Operation::release,
     .form = Form::plain,
     .script = Verb::release,
     .compares = true},
    {.verb = Verb::break_lock,
     .name = "break-lock",
     .operation = Operation::release,
     .form = Form::script},
    {.verb = Verb::notify, .name = "notify", .operation = Operation::notify, .form = Form::script},
    {.verb = Verb::inspect,
     .name = "inspect",
     .operation = Operation::inspect,
     .form = Form::script},
    {.verb = Verb::expire_orphan,
     .name = "expire-orphan",
     .operation = Operation::expire_orphan,
     .form = Form::script},
    {.verb = Verb::write_audit,
     .name = "write-audit",
     .operation = Operation::write_audit,
     .form = Form::script},
    {.verb = Verb::kill_old,
     .name = "kill-old",
     .operation = Operation::upkeep,
     .form = Form::plain},
    {.verb = Verb::read_clock,
     .name = "read-clock",
     .operation = Operation::upkeep,
     .form = Form::plain},
    {.verb = Verb::read_evictions,
     .name = "read-evictions",
     .operation = Operation::upkeep,
     .form = Form::plain},
    {.verb = Verb::prune_fencing_numbers,
     .name = "prune-fencing-numbers",
     .operation = Operation::upkeep,
     .form = Form::script},
    {.verb = Verb::join_queue,
     .name = "join-queue",
     .operation = Operation::upkeep,
     .form = Form::script},
    {.verb = Verb::leave_queue,
     .name = "leave-queue",
     .operation = Operation::upkeep,
     .form = Form::script},
    {.verb = Verb::track, .name = "track", .operation = Operation::upkeep, .form = Form::plain},
    {.verb = Verb::read_marker,
     .name = "read-marker",
     .operation = Operation::upkeep,
     .form = Form::plain},
    {.verb = Verb::read_floor_and_marker,
     .name = "read-floor-and-marker",
     .operation = Operation::upkeep,
     .form = Form::plain},
    {.verb = Verb::write_marker,
     .name = "write-marker",
     .operation = Operation::upkeep,
     .form = Form::script},
    {.verb = Verb::mark_plain,
     .name = "mark-plain",
     .operation = Operation::upkeep,
     .form = Form::plain},
    {.verb = Verb::write_name,
     .name = "write-name",
     .operation = Operation::upkeep,
     .form = Form::plain},
}};

namespace verbs_detail {

[[nodiscard]] constexpr bool are_in_order() noexcept {
  for (std::size_t i = 0; i < verbs; ++i) {
    if (static_cast<std::size_t>(verb_rows[i].verb) != i || verb_rows[i].name.empty()) return false;
  }
  return true;
}
static_assert(are_in_order(), "each verb has its row");

}  // namespace verbs_detail

[[nodiscard]] constexpr const VerbRow& about(Verb verb) noexcept {
  return verb_rows[static_cast<std::size_t>(verb)];
}
[[nodiscard]] constexpr std::string_view name_of(Verb verb) noexcept { return about(verb).name; }

[[nodiscard]] constexpr bool is_set(Verb verb) noexcept {
  return about(verb).operation == Operation::take;
}
[[nodiscard]] constexpr bool is_extend(Verb verb) noexcept {
  return about(verb).operation == Operation::extend;
}
[[nodiscard]] constexpr bool is_raise(Verb verb) noexcept {
  return about(verb).operation == Operation::raise;
}
[[nodiscard]] constexpr bool is_release(Verb verb) noexcept {
  return about(verb).operation == Operation::release;
}
[[nodiscard]] constexpr bool is_upkeep(Verb verb) noexcept {
  return about(verb).operation == Operation::upkeep;
}
/// Its answer counts only if the node's marker is unchanged after it: what was forgotten before the
/// request was executed may be somebody else's vote.
[[nodiscard]] constexpr bool is_vote(Verb verb) noexcept {
  return about(verb).operation <= Operation::extend;
}
/// Asks for the lock by a script.
[[nodiscard]] constexpr bool is_taking_script(Verb verb) noexcept {
  return is_set(verb) && about(verb).form == Form::script;
}
/// Changes the key of a resource, or ends it, whatever is asked for next.
[[nodiscard]] constexpr bool is_write(Verb verb) noexcept {
  const Operation operation = about(verb).operation;
  return operation == Operation::extend || operation == Operation::release ||
         operation == Operation::expire_orphan || operation == Operation::notify;
}
/// Reads the marker after votes, or to confirm it.
[[nodiscard]] constexpr bool is_marker_reading(Verb verb) noexcept {
  return verb == Verb::read_marker || verb == Verb::read_floor_and_marker;
}
[[nodiscard]] constexpr bool is_marker_write(Verb verb) noexcept {
  return verb == Verb::write_marker || verb == Verb::mark_plain;
}
[[nodiscard]] constexpr bool is_about_queue(Verb verb) noexcept {
  return verb == Verb::join_queue || verb == Verb::leave_queue;
}

}  // namespace redlock::core
