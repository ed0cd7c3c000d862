#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redlock::core {

/// One request to a node, as a row of lib/redis/requests encodes it. `verb_rows` has the purpose
/// and form of each.
enum class Verb : std::uint8_t {
  set,                 ///< SET resource token NX PX ttl
  set_and_ttl,         ///< set, then PTTL: for a caller that waits
  set_fenced,          ///< set, the node's fencing number, ours if higher, and the key's holder
  set_fenced_and_ttl,  ///< set_fenced, then PTTL
  set_fenced_short,    ///< set_fenced, but its answer only says whether our number was higher
  set_fenced_short_and_ttl,  ///< set_fenced_short, then PTTL
  set_all,                   ///< MSETEX NX of several resources, and their holders
  take,            ///< one or several resources, all or none; keeps new readers out if readers are
                   ///< in the way
  take_permit,     ///< one of several keys; a refusal names those that are free
  enter,           ///< a hold of a resource that others of the same group may hold too
  raise_fence,     ///< a higher number for a key that is ours
  raise_plain,     ///< raise_fence by the commands that follow the SET of set_fenced
  extend,          ///< raise the expiry of our key
  extend_plain,    ///< SET IFEQ, for at least the longest TTL that this claim has requested
  extend_or_set,   ///< extend, or give the key back to a node that lost it
  repair_plain,    ///< extend_plain, then SET NX
  downgrade,       ///< a writer's key becomes a reader's hold, with the expiry that it has
  release,         ///< compare and delete
  release_plain,   ///< DELIFEQ, and whether a client is queued
  break_lock,      ///< compare, and keep everybody out for a while
  notify,          ///< after a release_plain: the free resource is reserved for the first in
                   ///< the queue
  inspect,         ///< holder and remaining TTL
  expire_orphan,   ///< an expiry for a key that has none
  write_audit,     ///< which lock an operator broke, after its release
  kill_old,        ///< CLIENT KILL of the connection before this one
  read_clock,      ///< TIME
  read_evictions,  ///< how many keys the server has evicted
  prune_fencing_numbers,  ///< forget fencing numbers that are days old
  join_queue,             ///< be queued for a key, to be notified in turn
  leave_queue,
  check_queue,            ///< whether the key is free although clients are queued for it
  track,                  ///< notify us of the next change of a key
  read_marker,            ///< GET of the marker, after votes or to confirm it
  read_floor_and_marker,  ///< read_marker, and before it the floor of fencing numbers
  read_reign,             ///< at a replicated node: floor, marker, the record of its reign, and how
                          ///< many servers follow a write
  write_reign,            ///< compare-and-set of that record, by reign.lua
  write_marker,           ///< compare-and-set of the marker, by mark.lua
  mark_plain,             ///< write_marker by a transaction
  write_name,             ///< the client's name, for people
};
inline constexpr std::size_t verbs = static_cast<std::size_t>(Verb::write_name) + 1;

/// The purpose of a request: how the core handles its answer.
enum class Operation : std::uint8_t {
  take,     ///< requests the lock: a vote
  raise,    ///< raises the fencing number of a key that is ours: a vote
  extend,   ///< raises the expiry of our key: a vote
  release,  ///< deletes our key
  notify,
  inspect,
  expire_orphan,
  write_audit,
  upkeep,  ///< belongs to no claim, is not a vote
};

/// How it is executed: a script costs the node more, can do more, and may be forbidden.
enum class Form : std::uint8_t { plain, script };

/// A verb's properties. To add a request, see tools/docs/design/adding.md.
struct VerbRow {
  enum Trait : std::uint8_t {
    is_fenced = 1,   ///< take: plain commands that also raise the fencing number
    is_short = 2,    ///< the answer does not name the number that there was
    is_divided = 4,  ///< several commands: the last answer says whose key it is then
    repairs = 8,     ///< extend: gives the key to a node that lost it
    compares = 16,   ///< a plain command that compares whose key it is, and answers in other words
                     ///< than the script: see Sender::in_terms_of_scripts
  };
  Verb verb{};
  std::string_view name;  ///< for people
  Operation operation{};
  Form form{};
  std::uint8_t traits = 0;
  Verb script = verb;  ///< the script that a plain command replaces; otherwise the verb itself

  [[nodiscard]] constexpr bool has(Trait trait) const noexcept { return (traits & trait) != 0; }
};

namespace verbs_detail {

using enum Operation;
using enum Form;
using enum VerbRow::Trait;

inline constexpr std::array<VerbRow, verbs> rows{{
    {Verb::set, "set", take, plain},
    {Verb::set_and_ttl, "set-and-ttl", take, plain},
    {Verb::set_fenced, "set-fenced", take, plain, is_fenced | is_divided},
    {Verb::set_fenced_and_ttl, "set-fenced-and-ttl", take, plain, is_fenced | is_divided},
    {Verb::set_fenced_short, "set-fenced-short", take, plain, is_fenced | is_short | is_divided},
    {Verb::set_fenced_short_and_ttl, "set-fenced-short-and-ttl", take, plain,
     is_fenced | is_short | is_divided},
    {Verb::set_all, "set-all", take, plain, 0, Verb::take},
    {Verb::take, "take", take, script},
    {Verb::take_permit, "take-permit", take, script},
    {Verb::enter, "enter", take, script},
    {Verb::raise_fence, "raise-fence", raise, script},
    {Verb::raise_plain, "raise-plain", raise, plain, is_divided, Verb::raise_fence},
    {Verb::extend, "extend", extend, script},
    {Verb::extend_plain, "extend-plain", extend, plain, compares, Verb::extend},
    {Verb::extend_or_set, "extend-or-set", extend, script, repairs},
    {Verb::repair_plain, "repair-plain", extend, plain, repairs | compares, Verb::extend_or_set},
    {Verb::downgrade, "downgrade", extend, script},
    {Verb::release, "release", release, script},
    {Verb::release_plain, "release-plain", release, plain, compares, Verb::release},
    {Verb::break_lock, "break-lock", release, script},
    {Verb::notify, "notify", notify, script},
    {Verb::inspect, "inspect", inspect, script},
    {Verb::expire_orphan, "expire-orphan", expire_orphan, script},
    {Verb::write_audit, "write-audit", write_audit, script},
    {Verb::kill_old, "kill-old", upkeep, plain},
    {Verb::read_clock, "read-clock", upkeep, plain},
    {Verb::read_evictions, "read-evictions", upkeep, plain},
    {Verb::prune_fencing_numbers, "prune-fencing-numbers", upkeep, script},
    {Verb::join_queue, "join-queue", upkeep, script},
    {Verb::leave_queue, "leave-queue", upkeep, script},
    {Verb::check_queue, "check-queue", upkeep, script},
    {Verb::track, "track", upkeep, plain},
    {Verb::read_marker, "read-marker", upkeep, plain},
    {Verb::read_floor_and_marker, "read-floor-and-marker", upkeep, plain},
    {Verb::read_reign, "read-reign", upkeep, plain},
    {Verb::write_reign, "write-reign", upkeep, script},
    {Verb::write_marker, "write-marker", upkeep, script},
    {Verb::mark_plain, "mark-plain", upkeep, plain},
    {Verb::write_name, "write-name", upkeep, plain},
}};

[[nodiscard]] constexpr bool are_in_order() noexcept {
  for (std::size_t i = 0; i < verbs; ++i) {
    if (static_cast<std::size_t>(rows[i].verb) != i || rows[i].name.empty()) return false;
  }
  return true;
}
static_assert(are_in_order(), "each verb has its row");

}  // namespace verbs_detail

inline constexpr const std::array<VerbRow, verbs>& verb_rows = verbs_detail::rows;

[[nodiscard]] constexpr const VerbRow& about(Verb verb) noexcept {
  return verb_rows[static_cast<std::size_t>(verb)];
}
[[nodiscard]] constexpr std::string_view name_of(Verb verb) noexcept { return about(verb).name; }

/// The verbs of which `is_true` holds, a bit for each: every request and answer is tested several
/// times.
template <typename IsTrue>
[[nodiscard]] consteval std::uint64_t verbs_that(IsTrue is_true) noexcept {
  static_assert(verbs <= 64);
  std::uint64_t bits = 0;
  for (const VerbRow& row : verb_rows) {
    if (is_true(row)) bits |= std::uint64_t{1} << static_cast<unsigned>(row.verb);
  }
  return bits;
}
[[nodiscard]] constexpr bool is_in(std::uint64_t bits, Verb verb) noexcept {
  return ((bits >> static_cast<unsigned>(verb)) & 1U) != 0;
}
[[nodiscard]] consteval std::uint64_t verbs_for(Operation operation) noexcept {
  return verbs_that([=](const VerbRow& row) { return row.operation == operation; });
}
[[nodiscard]] consteval std::uint64_t verbs_with(VerbRow::Trait trait) noexcept {
  return verbs_that([=](const VerbRow& row) { return row.has(trait); });
}

[[nodiscard]] constexpr bool is_set(Verb verb) noexcept {
  return is_in(verbs_for(Operation::take), verb);
}
[[nodiscard]] constexpr bool is_extend(Verb verb) noexcept {
  return is_in(verbs_for(Operation::extend), verb);
}
[[nodiscard]] constexpr bool is_raise(Verb verb) noexcept {
  return is_in(verbs_for(Operation::raise), verb);
}
[[nodiscard]] constexpr bool is_release(Verb verb) noexcept {
  return is_in(verbs_for(Operation::release), verb);
}
[[nodiscard]] constexpr bool is_upkeep(Verb verb) noexcept {
  return is_in(verbs_for(Operation::upkeep), verb);
}
/// Whether the answer counts only if the node's marker is unchanged after it. Before it executed
/// the request, the node may have forgotten somebody else's vote.
[[nodiscard]] constexpr bool is_vote(Verb verb) noexcept {
  return is_in(
      verbs_for(Operation::take) | verbs_for(Operation::raise) | verbs_for(Operation::extend),
      verb);
}
/// May change the key of a resource, or delete it.
[[nodiscard]] constexpr bool is_write(Verb verb) noexcept {
  return is_in(verbs_for(Operation::extend) | verbs_for(Operation::release) |
                   verbs_for(Operation::notify) | verbs_for(Operation::expire_orphan),
               verb);
}
/// Asks for the lock by a script.
[[nodiscard]] constexpr bool is_taking_script(Verb verb) noexcept {
  return is_in(verbs_that([](const VerbRow& row) {
                 return row.operation == Operation::take && row.form == Form::script;
               }),
               verb);
}
[[nodiscard]] constexpr bool is_fenced(Verb verb) noexcept {
  return is_in(verbs_with(VerbRow::is_fenced), verb);
}
[[nodiscard]] constexpr bool is_short(Verb verb) noexcept {
  return is_in(verbs_with(VerbRow::is_short), verb);
}
[[nodiscard]] constexpr bool is_divided(Verb verb) noexcept {
  return is_in(verbs_with(VerbRow::is_divided), verb);
}
[[nodiscard]] constexpr bool repairs(Verb verb) noexcept {
  return is_in(verbs_with(VerbRow::repairs), verb);
}
[[nodiscard]] constexpr bool compares(Verb verb) noexcept {
  return is_in(verbs_with(VerbRow::compares), verb);
}
/// Reads the marker after votes, or to confirm it.
[[nodiscard]] constexpr bool is_marker_reading(Verb verb) noexcept {
  return verb == Verb::read_marker || verb == Verb::read_floor_and_marker ||
         verb == Verb::read_reign;
}
[[nodiscard]] constexpr bool is_marker_write(Verb verb) noexcept {
  return verb == Verb::write_marker || verb == Verb::mark_plain;
}
[[nodiscard]] constexpr bool is_about_queue(Verb verb) noexcept {
  return verb == Verb::join_queue || verb == Verb::leave_queue || verb == Verb::check_queue;
}

}  // namespace redlock::core
