#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/vocabulary/messages.hpp"
#include "redis/values/dialect.hpp"
#include "redis/values/reply.hpp"

namespace redlock::redis {

/// The meaning of the answers to a call of FencedSets for each of its requests: first a value for
/// each SET, then two for all. Equal to classify() of core::Verb::set_fenced_short, except that no
/// number counts as raised unless all were.
[[nodiscard]] std::optional<std::vector<core::Answer>> classify_fenced_sets(
    Dialect dialect, std::span<const Value* const> values);

/// The number of values that answer a verb.
[[nodiscard]] std::size_t values_expected(core::Verb verb) noexcept;

/// A score of a fencing number. A score that is not a number of ours counts as one that no higher
/// number can follow.
[[nodiscard]] std::uint64_t fencing_number_of(const Value& score) noexcept;

/// TIME's answer, since 1970; none: no server answers TIME like this.
[[nodiscard]] std::optional<core::Duration> time_of(const Value& value) noexcept;

/// Total: every value has a meaning or none. Nothing: no Redis server answers the verb like this.
/// It is then not known which request the answer belongs to, and the connection has to be closed.
/// One value per command of the verb, in their order.
[[nodiscard]] std::optional<core::Answer> classify(core::Verb verb, Dialect dialect,
                                                   std::span<const Value* const> values) noexcept;

}  // namespace redlock::redis
