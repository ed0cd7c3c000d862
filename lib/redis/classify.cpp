#include "redis/classify.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "core/fencing.hpp"
#include "core/texts.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {
namespace {

using core::Reply;
using Type = Value::Type;

/// PTTL's two answers that are no time.
constexpr std::int64_t no_expiry = -1;
constexpr std::int64_t no_key = -2;

/// Longer values are no token of any client and no group, so one byte more than a token can have is
/// enough to make sure that what is left of it equals none.
[[nodiscard]] std::string_view holder_of(const Value& value) noexcept {
  return std::string_view(value.text).substr(0, limits::token_bytes + 1);
}

[[nodiscard]] bool is_duration(const Value& value) noexcept {
  return value.type == Type::integer && value.integer >= no_key;
}

[[nodiscard]] std::optional<core::Duration> duration_of(const Value& pttl) noexcept {
  using std::chrono::milliseconds;
  if (pttl.integer == no_expiry) return std::nullopt;
  if (pttl.integer == no_key) return core::Duration::zero();
  // Expiries reach further than 64-bit nanoseconds do.
  constexpr auto longest = std::chrono::floor<milliseconds>(core::Duration::max()).count();
  if (pttl.integer > longest) return core::Duration::max();
  return milliseconds(pttl.integer);
}

/// Redis refuses before it executes: every error to a SET, and every error our scripts can end
/// with, means that nothing was written.
[[nodiscard]] Classified error_of(const Value& value) noexcept {
  return {.reply = Reply::error, .text = value.text};
}

[[nodiscard]] std::optional<Classified> classify_set(Dialect form, const Value& value) noexcept {
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

[[nodiscard]] std::optional<Classified> classify_set_and_ttl(Dialect form, const Value& set,
                                                             const Value& pttl) noexcept {
  // PTTL may fail where SET did not (an ACL without it): then only the remaining time is unknown.
  if (pttl.type != Type::error && !is_duration(pttl)) return std::nullopt;
  std::optional<Classified> result = classify_set(form, set);
  if (result && result->reply == Reply::taken && pttl.type == Type::integer) {
    result->remaining = duration_of(pttl);
  }
  return result;
}

[[nodiscard]] Classified error_of_script(const Value& value) noexcept {
  if (value.text.starts_with("NOSCRIPT")) {
    return {.reply = Reply::script_missing, .text = value.text};
  }
  return error_of(value);
}

/// Of a hold, one of several: how many there are.
[[nodiscard]] std::optional<core::Holds> holds_of(const Value& count) noexcept {
  if (count.type != Type::integer || count.integer < 0 || count.integer > UINT32_MAX) {
    return std::nullopt;
  }
  return core::Holds{.count = static_cast<std::uint32_t>(count.integer)};
}

/// {1, holds}
[[nodiscard]] std::optional<Classified> classify_hold(Reply reply, const Value& value) noexcept {
  if (value.elements.size() != 2) return std::nullopt;
  const Value& what = *value.elements[0];
  Classified result{.reply = reply};
  result.holds = holds_of(*value.elements[1]);
  const bool done = what.type == Type::integer && what.integer == 1 && result.holds;
  return done ? std::optional(result) : std::nullopt;
}

[[nodiscard]] std::optional<Classified> classify_extend(core::Verb verb,
                                                        const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type == Type::array) return classify_hold(Reply::extended, value);
  if (value.type != Type::integer) return std::nullopt;
  switch (value.integer) {
    case 1:
      return Classified{.reply = Reply::extended};
    case 0:
      return Classified{.reply = Reply::gone};
    case 2:
      // A write that was not asked for.
      if (verb != core::Verb::extend_or_set) return std::nullopt;
      return Classified{.reply = Reply::repaired};
    case -1:
      return Classified{.reply = Reply::taken};
    default:
      return std::nullopt;
  }
}

[[nodiscard]] std::optional<Classified> classify_release(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  const bool of_holds = value.type == Type::array && value.elements.size() == 2;
  const Value& what = of_holds ? *value.elements[0] : value;
  if (what.type != Type::integer) return std::nullopt;
  Classified result;
  if (of_holds) {
    result.holds = holds_of(*value.elements[1]);
    if (!result.holds) return std::nullopt;
  }
  switch (what.integer) {
    case 1:
      result.reply = Reply::released;
      return result;
    case 0:
      result.reply = Reply::gone;
      return result;
    case -1:
      result.reply = Reply::taken;
      return result;
    default:
      return std::nullopt;
  }
}

/// A group and tokens, none longer than holder_of() would leave it.
[[nodiscard]] bool are_texts_of_holds(std::string_view texts) noexcept {
  std::size_t count = 0;
  while (const auto text = core::take_text(texts)) {
    if (text->size() > limits::token_bytes + 1) return false;
    ++count;
  }
  return texts.empty() && count >= 1 && count <= 1 + limits::holds_listed;
}

[[nodiscard]] std::optional<Classified> classify_inspect(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array) return std::nullopt;
  const bool of_holds = value.elements.size() == 8;
  if (!of_holds && value.elements.size() != 5) return std::nullopt;
  const Value& holder = *value.elements[0];
  const Value& pttl = *value.elements[1];
  const Value& kind = *value.elements[2];
  const Value& number = *value.elements[3];
  const Value& quarantine = *value.elements[4];
  if (!is_duration(pttl) || kind.type != Type::bulk) return std::nullopt;
  if (number.type != Type::integer || number.integer < 0) return std::nullopt;
  if (!is_duration(quarantine)) return std::nullopt;
  Classified result;
  result.number = static_cast<std::uint64_t>(number.integer);
  result.time = duration_of(quarantine).value_or(core::Duration::max());
  if (kind.text == "none") {
    if (holder.type != Type::nil) return std::nullopt;
    result.reply = Reply::gone;
    return result;
  }
  // Another type of key blocks the resource, and nobody's token is in it.
  if (holder.type != Type::bulk && holder.type != Type::nil) return std::nullopt;
  if (holder.type == Type::bulk) result.text = holder_of(holder);
  result.reply = Reply::found;
  result.remaining = duration_of(pttl);
  if (!of_holds) return result;
  const Value& texts = *value.elements[5];
  const Value& mine = *value.elements[7];
  result.holds = holds_of(*value.elements[6]);
  const bool flag = mine.type == Type::integer && (mine.integer == 0 || mine.integer == 1);
  if (texts.type != Type::bulk || !are_texts_of_holds(texts.text)) return std::nullopt;
  if (!result.holds || !flag) return std::nullopt;
  result.text = texts.text;
  result.holds->asked_for = mine.integer == 1;
  return result;
}

/// ZMSCORE of resource and floor; ZADD; GET.
[[nodiscard]] std::optional<Classified> classify_raise(
    std::span<const Value* const> values) noexcept {
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

/// SET, then as classify_raise(); for some also PTTL.
[[nodiscard]] std::optional<Classified> classify_numbered(
    Dialect form, std::span<const Value* const> values) noexcept {
  const std::optional<Classified> set = values.size() == 5
                                            ? classify_set_and_ttl(form, *values[0], *values[4])
                                            : classify_set(form, *values[0]);
  if (!set || set->reply != Reply::granted) return set;
  return classify_raise(values.subspan(1, 3));
}

/// What another command or a script may do all the same: the plain one is unknown here, forbidden,
/// or for another type of key.
[[nodiscard]] Classified error_of_plain(const Value& value) noexcept {
  for (const std::string_view prefix : {"WRONGTYPE ", "NOPERM ", "OOM ", "ERR unknown command"}) {
    if (value.text.starts_with(prefix)) return {.reply = Reply::script_needed, .text = value.text};
  }
  return error_of(value);
}

/// DELIFEQ or DELEX; EXISTS of the resource, and of its queue twice.
[[nodiscard]] std::optional<Classified> classify_plain_release(const Value& deleted,
                                                               const Value& left) noexcept {
  // A user who may not ask for the queue may not notify it either.
  const bool counted = left.type == Type::integer && left.integer >= 0 && left.integer <= 3;
  if (!counted && left.type != Type::error) return std::nullopt;
  if (deleted.type == Type::error) return error_of_plain(deleted);
  if (deleted.type != Type::integer) return std::nullopt;
  const bool taken = counted && left.integer % 2 == 1;
  if (deleted.integer == 0) return Classified{.reply = taken ? Reply::taken : Reply::gone};
  if (deleted.integer != 1) return std::nullopt;
  return Classified{.reply = Reply::released, .queued = counted && left.integer >= 2};
}

/// SET … IFEQ … GET: whose key it was. The core compares that with the token.
[[nodiscard]] std::optional<Classified> classify_plain_extend(const Value& value) noexcept {
  if (value.type == Type::nil) return Classified{.reply = Reply::gone};
  if (value.type == Type::bulk) {
    return Classified{.reply = Reply::taken, .text = holder_of(value)};
  }
  if (value.type != Type::error) return std::nullopt;
  if (value.text.starts_with("WRONGTYPE ")) return Classified{.reply = Reply::taken};
  return error_of_plain(value);
}

/// The same; SET … NX GET.
[[nodiscard]] std::optional<Classified> classify_plain_repair(Dialect form, const Value& extended,
                                                              const Value& set) noexcept {
  const auto first = classify_plain_extend(extended);
  const auto second = classify_set(form, set);
  if (!first || !second || first->reply != Reply::gone) return second ? first : second;
  if (second->reply == Reply::granted) return Classified{.reply = Reply::repaired};
  // Whose it became in between is not named: were it our own token, the key would have the TTL of
  // an earlier request.
  return second->reply == Reply::taken ? Classified{.reply = Reply::taken} : second;
}

/// MSETEX: 1 or 0; MGET: whose they are.
[[nodiscard]] std::optional<Classified> classify_set_all(const Value& set,
                                                         const Value& holders) noexcept {
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

/// {-1, holder, PTTL}
[[nodiscard]] std::optional<Classified> classify_refusal(const Value& value,
                                                         std::size_t size = 3) noexcept {
  if (value.elements.size() != size || value.elements[1]->type != Type::bulk) return std::nullopt;
  const Value& pttl = *value.elements[2];
  if (!is_duration(pttl)) return std::nullopt;
  return Classified{
      .reply = Reply::taken, .text = holder_of(*value.elements[1]), .remaining = duration_of(pttl)};
}

/// {1, holds}, or {-1, whose, how long}.
[[nodiscard]] std::optional<Classified> classify_enter(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.empty()) return std::nullopt;
  const Value& what = *value.elements[0];
  if (what.type == Type::integer && what.integer == -1) return classify_refusal(value);
  return classify_hold(Reply::granted, value);
}

/// {1, ''}, or {-1, which permits are free, how long until the next is}.
[[nodiscard]] std::optional<Classified> classify_place(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.size() < 2) return std::nullopt;
  const Value& what = *value.elements[0];
  if (what.type != Type::integer) return std::nullopt;
  if (what.integer == 1 && value.elements.size() == 2) return Classified{.reply = Reply::granted};
  if (what.integer != -1) return std::nullopt;
  std::optional<Classified> result = classify_refusal(value);
  if (result) result->text = std::string_view(value.elements[1]->text).substr(0, limits::permits);
  return result;
}

/// {-1, holder, PTTL, which of the resources}
[[nodiscard]] std::optional<Classified> classify_refused_take(const Value& value) noexcept {
  if (value.elements.size() != 4) return classify_refusal(value);  // of a fencing number
  const Value& which = *value.elements[3];
  if (which.type != Type::integer || which.integer < 1) return std::nullopt;
  if (static_cast<std::size_t>(which.integer) > limits::resources) return std::nullopt;
  std::optional<Classified> result = classify_refusal(value, 4);
  if (result) result->number = static_cast<std::uint64_t>(which.integer);
  return result;
}

/// {1 or 2, number}, or a refusal.
[[nodiscard]] std::optional<Classified> classify_fence(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.size() < 2) return std::nullopt;
  const Value& what = *value.elements[0];
  const Value& second = *value.elements[1];
  if (what.type != Type::integer) return std::nullopt;
  if (what.integer == -1) return classify_refused_take(value);
  if (value.elements.size() != 2 || second.type != Type::integer) return std::nullopt;
  if (second.integer < 0 || static_cast<std::uint64_t>(second.integer) >= core::fence_limit) {
    return std::nullopt;
  }
  const auto number = static_cast<std::uint64_t>(second.integer);
  if (what.integer == 1) return Classified{.reply = Reply::granted, .number = number};
  if (what.integer == 2) return Classified{.reply = Reply::behind, .number = number};
  return std::nullopt;
}

[[nodiscard]] std::optional<Classified> classify_time(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  const auto time = time_of(value);
  if (!time) return std::nullopt;
  return Classified{.reply = Reply::clock, .time = *time};
}

/// How much was changed.
[[nodiscard]] std::optional<Classified> classify_count(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::integer) return std::nullopt;
  return Classified{.reply = Reply::done};
}

/// Whether the resource is taken.
[[nodiscard]] std::optional<Classified> classify_queued(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::integer || value.integer < 0 || value.integer > 1) return std::nullopt;
  return Classified{.reply = value.integer == 1 ? Reply::taken : Reply::gone};
}

[[nodiscard]] std::optional<Classified> classify_marker(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type == Type::nil) return Classified{.reply = Reply::marker};
  if (value.type != Type::bulk) return std::nullopt;
  return Classified{.reply = Reply::marker, .text = value.text};
}

[[nodiscard]] Classified marker_and_quarantine(const Value& marker, const Value& left) noexcept {
  // A quarantine without an end, which no client begins, is as long as any.
  constexpr std::int64_t longest = std::chrono::milliseconds(limits::longest_max_ttl).count() * 2;
  std::int64_t milliseconds = left.integer < 0 ? longest : std::min(left.integer, longest);
  if (left.integer == no_key) milliseconds = 0;
  return {
      .reply = Reply::marker, .text = marker.text, .time = std::chrono::milliseconds(milliseconds)};
}

/// {written, the marker, quarantine left}: who wrote it does not matter.
[[nodiscard]] std::optional<Classified> classify_marker_written(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::array || value.elements.size() != 3) return std::nullopt;
  const Value& marker = *value.elements[1];
  const Value& left = *value.elements[2];
  if (marker.type != Type::bulk || left.type != Type::integer) return std::nullopt;
  return marker_and_quarantine(marker, left);
}

/// MULTI; what six commands are queued with; EXEC: the last but one is the marker, the last the
/// quarantine that is left.
[[nodiscard]] std::optional<Classified> classify_marker_transaction(const Value& value) noexcept {
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

[[nodiscard]] std::optional<Classified> classify_kill(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  // The number of connections killed: none, if it was dead already.
  if (value.type != Type::integer || value.integer < 0) return std::nullopt;
  return Classified{.reply = Reply::done};
}

}  // namespace

std::uint64_t fencing_number_of(const Value& score) noexcept {
  constexpr std::uint64_t highest = core::fence_limit - 1;
  double number = 0;
  const char* end = score.text.data() + score.text.size();
  const auto parsed = std::from_chars(score.text.data(), end, number);
  const bool fits = parsed.ec == std::errc{} && parsed.ptr == end && number >= 0 &&
                    number < static_cast<double>(highest);
  return fits ? static_cast<std::uint64_t>(number) : highest;
}

/// {seconds, microseconds} since 1970, both as text.
std::optional<core::Duration> time_of(const Value& value) noexcept {
  if (value.type != Type::array || value.elements.size() != 2) return std::nullopt;
  std::array<std::int64_t, 2> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Value& part = *value.elements[i];
    if (part.type != Type::bulk) return std::nullopt;
    const char* end = part.text.data() + part.text.size();
    const auto parsed = std::from_chars(part.text.data(), end, parts[i]);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  }
  // Past the year 2255 nanoseconds do not fit.
  constexpr std::int64_t longest = 9'000'000'000;
  if (parts[0] < 0 || parts[0] > longest || parts[1] < 0 || parts[1] > 999'999) {
    return std::nullopt;
  }
  return std::chrono::seconds(parts[0]) + std::chrono::microseconds(parts[1]);
}

std::optional<Classified> classify(core::Verb verb, Dialect form,
                                   std::span<const Value* const> values) noexcept {
  if (values.size() != values_expected(verb)) return std::nullopt;
  const Value& first = *values[0];
  switch (verb) {
    case core::Verb::set:
      return classify_set(form, first);
    case core::Verb::set_and_ttl:
      return classify_set_and_ttl(form, first, *values[1]);
    case core::Verb::set_fenced:
    case core::Verb::set_fenced_and_ttl:
      return classify_numbered(form, values);
    case core::Verb::extend:
    case core::Verb::extend_or_set:
      return classify_extend(verb, first);
    case core::Verb::release:
      return classify_release(first);
    case core::Verb::release_plain:
      return classify_plain_release(first, *values[1]);
    case core::Verb::extend_plain:
      return classify_plain_extend(first);
    case core::Verb::repair_plain:
      return classify_plain_repair(form, first, *values[1]);
    case core::Verb::raise_plain:
      if (values[1]->type == Type::error) return error_of(*values[1]);
      return classify_raise(values);
    case core::Verb::set_all:
      return classify_set_all(first, *values[1]);
    case core::Verb::notify:
      return classify_count(first);
    case core::Verb::inspect:
      return classify_inspect(first);
    case core::Verb::take_permit:
      return classify_place(first);
    case core::Verb::enter:
      return classify_enter(first);
    case core::Verb::take:
    case core::Verb::raise_fence:
      return classify_fence(first);
    case core::Verb::expire_orphan:
      return classify_count(first);
    case core::Verb::kill_old:
      return classify_kill(first);
    case core::Verb::read_clock:
      return classify_time(first);
    case core::Verb::prune_fencing_numbers:
    case core::Verb::leave_queue:
      return classify_count(first);
    case core::Verb::join_queue:
      return classify_queued(first);
    case core::Verb::read_marker:
      return classify_marker(first);
    case core::Verb::write_marker:
      return classify_marker_written(first);
    case core::Verb::mark_plain:
      return classify_marker_transaction(*values[7]);
  }
  return std::nullopt;
}

}  // namespace redlock::redis
