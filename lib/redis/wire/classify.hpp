#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/engine/messages.hpp"
#include "redis/wire/dialect.hpp"
#include "redis/wire/reply.hpp"

namespace redlock::redis {

/// What the answers to a call of FencedSets say of each: first a value for each SET, then two for
/// all. As classify() says of core::Verb::set_fenced_short, but that no number was raised unless
/// all were.
[[nodiscard]] std::optional<std::vector<core::Answer>> classify_fenced_sets(
    Dialect dialect, std::span<const Value* const> values);

/// How many values answer a verb.
[[nodiscard]] std::size_t values_expected(core::Verb verb) noexcept;

/// A score of a fencing number. What is no number of ours is as if no higher one could follow.
[[nodiscard]] std::uint64_t fencing_number_of(const Value& score) noexcept;

/// What TIME answers, since 1970; none: no server answers TIME like this.
[[nodiscard]] std::optional<core::Duration> time_of(const Value& value) noexcept;

/// Total: every value has a meaning or none. Nothing: no Redis server answers the verb like this,
/// so that it is not known whose answer it is, and the connection has to be closed.
/// One value per command of the verb, in their order.
[[nodiscard]] std::optional<core::Answer> classify(core::Verb verb, Dialect dialect,
                                                   std::span<const Value* const> values) noexcept;

}  // namespace redlock::redis
