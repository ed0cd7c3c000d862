#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/messages.hpp"
#include "redis/dialect.hpp"
#include "redis/reply.hpp"

namespace redlock::redis {

/// A server's answer in the core's terms. `text` points into the value it was read from.
struct Classified {
  core::Reply reply = core::Reply::error;
  std::string_view text{};
  std::optional<core::Duration> remaining{};
  std::uint64_t number = 0;
  core::Duration time{};
  std::optional<core::Holds> holds{};
  std::string_view for_people{};  ///< inspect: see core::Answer
  bool queued = false;
  std::int64_t ticket = 0;
  bool is_first = false;
};

/// What one answer to `count` releases by Releases says of each. Nothing: no Redis server answers
/// like this.
[[nodiscard]] std::optional<std::vector<Classified>> classify_releases(const Value& value,
                                                                       std::size_t count);

/// What the answers to a call of FencedSets say of each: first a value for each SET, then two for
/// all. As classify() says of core::Verb::set_fenced_short, but that no number was raised unless
/// all were.
[[nodiscard]] std::optional<std::vector<Classified>> classify_fenced_sets(
    Dialect form, std::span<const Value* const> values);

/// How many values answer a verb.
[[nodiscard]] constexpr std::size_t values_expected(core::Verb verb) noexcept {
  switch (verb) {
    case core::Verb::mark_plain:
      return 8;
    case core::Verb::set_fenced_and_ttl:
      return 5;
    case core::Verb::set_fenced:
    case core::Verb::set_fenced_short_and_ttl:
      return 4;
    case core::Verb::raise_plain:
    case core::Verb::set_fenced_short:
      return 3;
    case core::Verb::set_and_ttl:
    case core::Verb::release_plain:
    case core::Verb::repair_plain:
    case core::Verb::set_all:
    case core::Verb::track:
    case core::Verb::read_floor_and_marker:
      return 2;
    case core::Verb::set:
    case core::Verb::take:
    case core::Verb::take_permit:
    case core::Verb::enter:
    case core::Verb::raise_fence:
    case core::Verb::extend:
    case core::Verb::extend_or_set:
    case core::Verb::release:
    case core::Verb::break_lock:
    case core::Verb::extend_plain:
    case core::Verb::notify:
    case core::Verb::inspect:
    case core::Verb::expire_orphan:
    case core::Verb::kill_old:
    case core::Verb::read_clock:
    case core::Verb::read_evictions:
    case core::Verb::prune_fencing_numbers:
    case core::Verb::join_queue:
    case core::Verb::leave_queue:
    case core::Verb::read_marker:
    case core::Verb::write_marker:
    case core::Verb::write_name:
    case core::Verb::write_audit:
      return 1;
  }
  return 1;
}

/// A score of a fencing number. What is no number of ours is as if no higher one could follow.
[[nodiscard]] std::uint64_t fencing_number_of(const Value& score) noexcept;

/// What TIME answers, since 1970; none: no server answers TIME like this.
[[nodiscard]] std::optional<core::Duration> time_of(const Value& value) noexcept;

/// Total: every value has a meaning or none. Nothing: no Redis server answers the verb like this,
/// so that it is not known whose answer it is, and the connection has to be closed.
/// One value per command of the verb, in their order.
[[nodiscard]] std::optional<Classified> classify(core::Verb verb, Dialect form,
                                                 std::span<const Value* const> values) noexcept;

}  // namespace redlock::redis
