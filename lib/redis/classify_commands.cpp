#include <algorithm>
#include <array>
#include <utility>

#include "redis/classify_parts.hpp"
#include "redis/fenced_sets.hpp"
#include "redis/server_info.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {

namespace {

using core::Reply;
using Type = Value::Type;

/// What another command or a script may do all the same: the plain one is unknown here, forbidden,
/// or for another type of key.
[[nodiscard]] Classified error_of_plain(const Value& value) noexcept {
  for (const std::string_view prefix : {"WRONGTYPE ", "NOPERM ", "OOM ", "ERR unknown command"}) {
    if (value.text.starts_with(prefix)) return {.reply = Reply::script_needed, .text = value.text};
  }
  return error_of(value);
}

}  // namespace

std::optional<Classified> classify_set(Dialect form, const Value& value) noexcept {
  switch (form) {
    case Dialect::classic:
      if (value.type == Type::error) return error_of(value);
      if (value.type == Type::nil) return Classified{.reply = Reply::taken};
      if (value.type == Type::status && value.text == "OK") {
        return Classified{.reply = Reply::granted};
      }
      return std::nullopt;
    case Dialect::with_get:
    case Dialect::with_delex:
      if (value.type == Type::nil) return Classified{.reply = Reply::granted};
      if (value.type == Type::bulk) {
        return Classified{.reply = Reply::taken, .text = holder_of(value)};
      }
      if (value.type != Type::error) return std::nullopt;
      // The key exists and is not a string: the resource is taken, and the holder's token is
      // unknown.
      if (value.text.starts_with("WRONGTYPE ")) return Classified{.reply = Reply::taken};
      return error_of(value);
  }
  return std::nullopt;
}

std::optional<Classified> classify_set_and_ttl(Dialect form, const Value& set,
                                               const Value& pttl) noexcept {
  // PTTL may fail where SET did not (an ACL without it): then only the remaining time is unknown.
  if (pttl.type != Type::error && !is_duration(pttl)) return std::nullopt;
  std::optional<Classified> result = classify_set(form, set);
  if (result && result->reply == Reply::taken && pttl.type == Type::integer) {
    result->remaining = duration_of(pttl);
  }
  return result;
}

std::optional<Classified> classify_raise(std::span<const Value* const> values) noexcept {
  const Value& scores = *values[0];
  const Value& raised = *values[1];
  const Value& holder = *values[2];
  std::optional<Classified> result = Classified{};
  // With a score missing, only the script can decide whether our number is the highest.
  result->reply = Reply::behind;
  if (scores.type == Type::error) return result;
  if (scores.type != Type::array || scores.elements.size() != 2) return std::nullopt;
  for (const Value* score : scores.elements) {
    if (score->type != Type::bulk && score->type != Type::nil) return std::nullopt;
    if (score->type == Type::bulk)
      result->number = std::max(result->number, fencing_number_of(*score));
  }
  const bool has_floor = scores.elements[1]->type == Type::bulk;
  if (!has_floor || raised.type != Type::integer || holder.type != Type::bulk) return result;
  result->reply = Reply::granted;
  result->text = holder_of(holder);
  return result;
}

std::optional<Classified> classify_numbered(Dialect form,
                                            std::span<const Value* const> values) noexcept {
  const std::optional<Classified> set = values.size() == 5
                                            ? classify_set_and_ttl(form, *values[0], *values[4])
                                            : classify_set(form, *values[0]);
  if (!set || set->reply != Reply::granted) return set;
  return classify_raise(values.subspan(1, 3));
}

std::optional<Classified> classify_exceeding(Dialect form,
                                             std::span<const Value* const> values) noexcept {
  const std::optional<Classified> set = values.size() == 4
                                            ? classify_set_and_ttl(form, *values[0], *values[3])
                                            : classify_set(form, *values[0]);
  if (!set || set->reply != Reply::granted) return set;
  const Value& raised = *values[1];
  const Value& holder = *values[2];
  const bool one_or_none =
      raised.type == Type::integer && (raised.integer == 0 || raised.integer == 1);
  if (!one_or_none && raised.type != Type::error) return std::nullopt;
  const bool exceeds = one_or_none && raised.integer == 1;
  if (!exceeds || holder.type != Type::bulk) return Classified{.reply = Reply::behind};
  return Classified{.reply = Reply::granted, .text = holder_of(holder)};
}

std::optional<std::vector<Classified>> classify_fenced_sets(Dialect form,
                                                            std::span<const Value* const> values) {
  const std::size_t count = values.size() - FencedSets::further_values;
  const Value& raised = *values[count];
  const Value& holders = *values[count + 1];
  const bool is_count = raised.type == Type::integer && raised.integer >= 0 &&
                        raised.integer <= static_cast<std::int64_t>(count);
  const bool names_each = holders.type == Type::array && holders.elements.size() == count;
  if (!is_count && raised.type != Type::error) return std::nullopt;
  if (!names_each && holders.type != Type::error) return std::nullopt;
  Value all_raised;
  all_raised.type = Type::integer;
  all_raised.integer = is_count && raised.integer == static_cast<std::int64_t>(count) ? 1 : 0;
  std::vector<Classified> answers;
  answers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Value& holder = names_each ? *holders.elements[i] : holders;
    const auto answer =
        classify_exceeding(form, std::array{values[i], &std::as_const(all_raised), &holder});
    if (!answer) return std::nullopt;
    answers.push_back(*answer);
  }
  return answers;
}

std::optional<Classified> classify_plain_release(const Value& deleted, const Value& left) noexcept {
  // A user who may not ask for the queue may not notify it either.
  const bool counted = left.type == Type::integer && left.integer >= 0 && left.integer <= 5;
  if (!counted && left.type != Type::error) return std::nullopt;
  if (deleted.type == Type::error) return error_of_plain(deleted);
  if (deleted.type != Type::integer) return std::nullopt;
  const bool taken = counted && left.integer % 2 == 1;
  if (deleted.integer == 0) return Classified{.reply = taken ? Reply::taken : Reply::gone};
  if (deleted.integer != 1) return std::nullopt;
  return Classified{.reply = Reply::released, .queued = counted && left.integer >= 2};
}

std::optional<Classified> classify_plain_extend(const Value& value) noexcept {
  if (value.type == Type::nil) return Classified{.reply = Reply::gone};
  if (value.type == Type::bulk) {
    return Classified{.reply = Reply::taken, .text = holder_of(value)};
  }
  if (value.type != Type::error) return std::nullopt;
  if (value.text.starts_with("WRONGTYPE ")) return Classified{.reply = Reply::taken};
  return error_of_plain(value);
}

std::optional<Classified> classify_plain_repair(Dialect form, const Value& extended,
                                                const Value& set) noexcept {
  const auto first = classify_plain_extend(extended);
  const auto second = classify_set(form, set);
  if (!first || !second || first->reply != Reply::gone) return second ? first : second;
  if (second->reply == Reply::granted) return Classified{.reply = Reply::repaired};
  // Whose it became in between is not named: were it our own token, the key would have the TTL of
  // an earlier request.
  return second->reply == Reply::taken ? Classified{.reply = Reply::taken} : second;
}

std::optional<Classified> classify_set_all(const Value& set, const Value& holders) noexcept {
  if (holders.type != Type::array && holders.type != Type::error) return std::nullopt;
  if (set.type == Type::error) return error_of_plain(set);
  if (set.type != Type::integer || set.integer < 0 || set.integer > 1) return std::nullopt;
  if (set.integer == 1) return Classified{.reply = Reply::granted};
  Classified refused{.reply = Reply::taken};
  if (holders.elements.size() > limits::resources) return std::nullopt;
  for (std::size_t i = 0; i < holders.elements.size(); ++i) {
    if (holders.elements[i]->type != Type::bulk) continue;
    refused.text = holder_of(*holders.elements[i]);
    refused.number = i + 1;
    break;
  }
  return refused;
}

std::optional<Classified> classify_time(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  const auto time = time_of(value);
  if (!time) return std::nullopt;
  return Classified{.reply = Reply::clock, .time = *time};
}

std::optional<Classified> classify_evictions(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::bulk) return std::nullopt;
  return Classified{.reply = Reply::done, .number = evicted_keys(value.text)};
}

std::optional<Classified> classify_marker(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type == Type::nil) return Classified{.reply = Reply::marker};
  if (value.type != Type::bulk) return std::nullopt;
  return Classified{.reply = Reply::marker, .text = value.text};
}

std::optional<Classified> classify_floor_and_marker(const Value& scores,
                                                    const Value& marker) noexcept {
  std::optional<Classified> result = classify_marker(marker);
  // An error to either: then none is known.
  if (!result || scores.type == Type::error) return result;
  if (scores.type != Type::array || scores.elements.size() != 1) return std::nullopt;
  const Value& floor = *scores.elements[0];
  if (floor.type != Type::bulk && floor.type != Type::nil) return std::nullopt;
  if (result->reply == Reply::marker && floor.type == Type::bulk) {
    result->number = fencing_number_of(floor);
  }
  return result;
}

std::optional<Classified> classify_marker_transaction(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::array || value.elements.size() != 6) return std::nullopt;
  // A transaction goes on behind a command that failed.
  for (const Value* done : value.elements) {
    if (done->type == Type::error) return error_of(*done);
  }
  const Value& marker = *value.elements[4];
  const Value& left = *value.elements[5];
  if (marker.type != Type::bulk || !is_duration(left)) return std::nullopt;
  return marker_and_quarantine(marker, left);
}

std::optional<Classified> classify_track(const Value& caching, const Value& state) noexcept {
  if (caching.type != Type::error && caching.type != Type::status) return std::nullopt;
  const bool exists = state.type == Type::integer;  // EXISTS
  const bool first = state.type == Type::array;     // who is first in the queue
  if (state.type != Type::error && !exists && !first) return std::nullopt;
  if (caching.type == Type::error) return error_of(caching);
  if (state.type == Type::error) return error_of(state);
  // The last member of a queue is '', which is no client.
  const bool none =
      exists ? state.integer == 0 : state.elements.empty() || state.elements[0]->text.empty();
  return Classified{.reply = none ? Reply::gone : Reply::taken};
}

std::optional<Classified> classify_written(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::status) return std::nullopt;
  return Classified{.reply = Reply::done};
}

std::optional<Classified> classify_kill(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  // The number of connections killed: none, if it was dead already.
  if (value.type != Type::integer || value.integer < 0) return std::nullopt;
  return Classified{.reply = Reply::done};
}

}  // namespace redlock::redis
