#include "core/fencing.hpp"
#include "core/for_people.hpp"
#include "core/texts.hpp"
#include "redis/classify_parts.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {

namespace {

using core::Reply;
using Type = Value::Type;

/// {1, holds}
[[nodiscard]] std::optional<Classified> classify_hold(Reply reply, const Value& value) noexcept {
  if (value.elements.size() != 2) return std::nullopt;
  const Value& what = *value.elements[0];
  Classified result{.reply = reply};
  result.holds = holds_of(*value.elements[1]);
  const bool done = what.type == Type::integer && what.integer == 1 && result.holds;
  return done ? std::optional(result) : std::nullopt;
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

/// {-1, holder, PTTL}
[[nodiscard]] std::optional<Classified> classify_refusal(const Value& value,
                                                         std::size_t size = 3) noexcept {
  if (value.elements.size() != size || value.elements[1]->type != Type::bulk) return std::nullopt;
  const Value& pttl = *value.elements[2];
  if (!is_duration(pttl)) return std::nullopt;
  return Classified{
      .reply = Reply::taken, .text = holder_of(*value.elements[1]), .remaining = duration_of(pttl)};
}

/// Where a client is queued: its ticket, and 1 if it is first.
[[nodiscard]] bool read_place(const Value& ticket, const Value& first,
                              Classified& result) noexcept {
  constexpr std::int64_t highest = std::int64_t{1} << 53;
  if (ticket.type != Type::integer || ticket.integer < 0 || ticket.integer > highest) return false;
  if (first.type != Type::integer || first.integer < 0 || first.integer > 1) return false;
  result.ticket = ticket.integer;
  result.is_first = first.integer == 1;
  return true;
}

/// {-1, holder, PTTL, which of the resources}; of a client that was queued also where.
[[nodiscard]] std::optional<Classified> classify_refused_take(const Value& value) noexcept {
  const std::size_t size = value.elements.size();
  if (size != 4 && size != 6) return classify_refusal(value);  // of a fencing number
  const Value& which = *value.elements[3];
  if (which.type != Type::integer || which.integer < 1) return std::nullopt;
  if (static_cast<std::size_t>(which.integer) > limits::resources) return std::nullopt;
  std::optional<Classified> result = classify_refusal(value, size);
  if (!result) return std::nullopt;
  result->number = static_cast<std::uint64_t>(which.integer);
  const bool placed = size == 4 || read_place(*value.elements[4], *value.elements[5], *result);
  return placed ? result : std::nullopt;
}

}  // namespace

std::optional<Classified> classify_extend(core::Verb verb, const Value& value) noexcept {
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

std::optional<Classified> classify_release(const Value& value) noexcept {
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

std::optional<std::vector<Classified>> classify_releases(const Value& value, std::size_t count) {
  if (value.type == Type::error) {
    return std::vector<Classified>(count, error_of_script(value));
  }
  const auto all = static_cast<std::int64_t>(count);
  if (value.type == Type::integer && value.integer >= 0 && value.integer <= all) {
    // Fewer: some had expired meanwhile, and nobody knows which. None of them is there any more.
    const Reply reply = value.integer == all ? Reply::released : Reply::gone;
    return std::vector<Classified>(count, Classified{.reply = reply});
  }
  if (value.type != Type::array || value.elements.size() != count) return std::nullopt;
  std::vector<Classified> answers;
  for (const Value* element : value.elements) {
    const std::optional<Classified> answer = classify_release(*element);
    if (!answer || answer->holds) return std::nullopt;
    answers.push_back(*answer);
  }
  return answers;
}

std::optional<Classified> classify_inspect(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array) return std::nullopt;
  const bool of_holds = value.elements.size() == 9;
  if (!of_holds && value.elements.size() != 6) return std::nullopt;
  const Value& holder = *value.elements[0];
  const Value& pttl = *value.elements[1];
  const Value& kind = *value.elements[2];
  const Value& number = *value.elements[3];
  const Value& quarantine = *value.elements[4];
  if (!is_duration(pttl) || kind.type != Type::bulk) return std::nullopt;
  if (number.type != Type::integer || number.integer < 0) return std::nullopt;
  if (!is_duration(quarantine)) return std::nullopt;
  const Value& for_people = *value.elements[5];
  // Names are short there, and lists too.
  constexpr std::size_t most_for_people = 8192;
  const bool good = for_people.type == Type::bulk && for_people.text.size() <= most_for_people &&
                    core::parse_for_people(for_people.text);
  if (!good) return std::nullopt;
  Classified result;
  result.for_people = for_people.text;
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
  const Value& texts = *value.elements[6];
  const Value& mine = *value.elements[8];
  result.holds = holds_of(*value.elements[7]);
  const bool flag = mine.type == Type::integer && (mine.integer == 0 || mine.integer == 1);
  if (texts.type != Type::bulk || !are_texts_of_holds(texts.text)) return std::nullopt;
  if (!result.holds || !flag) return std::nullopt;
  result.text = texts.text;
  result.holds->asked_for = mine.integer == 1;
  return result;
}

std::optional<Classified> classify_enter(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.empty()) return std::nullopt;
  const Value& what = *value.elements[0];
  if (what.type == Type::integer && what.integer == -1) return classify_refusal(value);
  return classify_hold(Reply::granted, value);
}

std::optional<Classified> classify_place(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.size() < 2) return std::nullopt;
  const Value& what = *value.elements[0];
  if (what.type != Type::integer) return std::nullopt;
  if (what.integer == 1 && value.elements.size() == 2) return Classified{.reply = Reply::granted};
  const std::size_t size = value.elements.size();
  if (what.integer != -1 || (size != 3 && size != 5)) return std::nullopt;
  std::optional<Classified> result = classify_refusal(value, size);
  if (!result) return std::nullopt;
  if (size == 5 && !read_place(*value.elements[3], *value.elements[4], *result)) {
    return std::nullopt;
  }
  result->text = std::string_view(value.elements[1]->text).substr(0, limits::permits);
  return result;
}

std::optional<Classified> classify_fence(const Value& value) noexcept {
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

std::optional<Classified> classify_count(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::integer) return std::nullopt;
  return Classified{.reply = Reply::done};
}

std::optional<Classified> classify_queued(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.size() != 3) return std::nullopt;
  const Value& taken = *value.elements[0];
  if (taken.type != Type::integer || taken.integer < 0 || taken.integer > 1) return std::nullopt;
  Classified result{.reply = taken.integer == 1 ? Reply::taken : Reply::gone};
  if (!read_place(*value.elements[1], *value.elements[2], result)) return std::nullopt;
  return result;
}

std::optional<Classified> classify_marker_written(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::array || value.elements.size() != 3) return std::nullopt;
  const Value& marker = *value.elements[1];
  const Value& left = *value.elements[2];
  if (marker.type != Type::bulk || left.type != Type::integer) return std::nullopt;
  return marker_and_quarantine(marker, left);
}

}  // namespace redlock::redis
