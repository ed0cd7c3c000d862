#include <string>
#include <vector>

#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"

/// Scripts that take a lock, and MSETEX instead of one of them.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

/// {-1, holder, PTTL, which of the resources}; for a client that was queued also its queue
/// position.
std::optional<core::Answer> classify_refused_take(const Value& value) noexcept {
  const std::size_t size = value.elements.size();
  if (size != 4 && size != 6) return classify_refusal(value);  // refusal of a fencing number
  const Value& which = *value.elements[3];
  if (which.type != Type::integer || which.integer < 1) return std::nullopt;
  if (static_cast<std::size_t>(which.integer) > limits::resources) return std::nullopt;
  std::optional<core::Answer> result = classify_refusal(value, size);
  if (!result) return std::nullopt;
  result->number = static_cast<std::uint64_t>(which.integer);
  const bool positioned =
      size == 4 || read_position(*value.elements[4], *value.elements[5], *result);
  return positioned ? result : std::nullopt;
}

std::optional<core::Answer> classify_fence(const Value& value) noexcept {
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
  if (what.integer == 1) return core::Answer{.reply = Reply::granted, .number = number};
  if (what.integer == 2) return core::Answer{.reply = Reply::behind, .number = number};
  return std::nullopt;
}

namespace {

[[nodiscard]] std::string_view ticket_or_none(const Writer& out, const core::Terms& terms) {
  return terms.ticket ? out.ticket() : std::string_view();
}
[[nodiscard]] Decimal remembered() noexcept { return milliseconds_of(core::queued_for); }

/// Sets several resources with one command, and reads their holders with another.
void append_set_all(Writer& out, const core::Terms& terms) {
  const Decimal count(static_cast<std::int64_t>(terms.more_resources.size() + 1));
  std::vector<std::string_view> words{"MSETEX", count.view(), out.resource(), out.token()};
  std::vector<std::string_view> names{"MGET", out.resource()};
  for (const std::string& other : terms.more_resources) {
    words.insert(words.end(), {other, out.token()});
    names.push_back(other);
  }
  words.insert(words.end(), {"NX", "PX", out.ttl()});
  out.command(words);
  out.command(names);
}

/// MSETEX answers 1 or 0; MGET answers the holders.
std::optional<core::Answer> classify_set_all(const Value& set, const Value& holders) noexcept {
  if (holders.type != Type::array && holders.type != Type::error) return std::nullopt;
  if (set.type == Type::error) return error_of_plain(set);
  if (set.type != Type::integer || set.integer < 0 || set.integer > 1) return std::nullopt;
  if (set.integer == 1) return core::Answer{.reply = Reply::granted};
  core::Answer refused{.reply = Reply::taken};
  if (holders.elements.size() > limits::resources) return std::nullopt;
  for (std::size_t i = 0; i < holders.elements.size(); ++i) {
    if (holders.elements[i]->type != Type::bulk) continue;
    refused.text = holder_of(*holders.elements[i]);
    refused.number = i + 1;
    break;
  }
  return refused;
}

/// {1, holds}, or {-1, holder, milliseconds until its lease ends}.
std::optional<core::Answer> classify_enter(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.empty()) return std::nullopt;
  const Value& what = *value.elements[0];
  if (what.type == Type::integer && what.integer == -1) return classify_refusal(value);
  return classify_hold(Reply::granted, value);
}

/// {1, ''}, or {-1, which permits are free, milliseconds until the next can be free}.
std::optional<core::Answer> classify_permit(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.size() < 2) return std::nullopt;
  const Value& what = *value.elements[0];
  if (what.type != Type::integer) return std::nullopt;
  if (what.integer == 1 && value.elements.size() == 2) return core::Answer{.reply = Reply::granted};
  const std::size_t size = value.elements.size();
  if (what.integer != -1 || (size != 3 && size != 5)) return std::nullopt;
  std::optional<core::Answer> result = classify_refusal(value, size);
  if (!result) return std::nullopt;
  if (size == 5 && !read_position(*value.elements[3], *value.elements[4], *result)) {
    return std::nullopt;
  }
  result->text = std::string_view(value.elements[1]->text).substr(0, limits::permits);
  return result;
}

constexpr std::array all_takes{
    Row{
        .verb = Verb::take,
        .letter = 'f',
        .replies = {Reply::granted, Reply::behind, Reply::taken, Reply::script_missing,
                    Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              const Decimal waits_for(static_cast<std::int64_t>(terms.waits_for));
              const Decimal keep = milliseconds_of(terms.keep);
              const auto if_it_waits = [&terms](const Decimal& number) {
                return terms.waits_for > 0 ? scripts::Optional(number.view()) : std::nullopt;
              };
              out.script(scripts::Take{.numbers = keys::fencing_numbers,
                                       .resources = out.resources(),
                                       .token = out.token(),
                                       .ttl_ms = out.ttl(),
                                       .number = out.number(),
                                       .writer_reservation_ms = out.writer_reservation(),
                                       .client = terms.client,
                                       .ticket = ticket_or_none(out, terms),
                                       .remember_ms = remembered().view(),
                                       .reservation_ms = out.reserved_for(),
                                       .waits_for = if_it_waits(waits_for),
                                       .keep_ms = if_it_waits(keep)});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_fence(*v[0]); },
    },
    Row{
        .verb = Verb::take_permit,
        .letter = 'p',
        .replies = {Reply::granted, Reply::taken, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              const Decimal permits(terms.permits);
              out.script(scripts::Permit{.permit = out.resource(),
                                         .token = out.token(),
                                         .ttl_ms = out.ttl(),
                                         .prefix = core::permits_prefix(out.resource()),
                                         .permits = permits.view(),
                                         .client = terms.client,
                                         .ticket = ticket_or_none(out, terms),
                                         .remember_ms = remembered().view(),
                                         .reservation_ms = out.reserved_for()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_permit(*v[0]); },
    },
    Row{
        .verb = Verb::enter,
        .letter = 'j',
        .replies = {Reply::granted, Reply::taken, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              out.script(scripts::Enter{.resource = out.resource(),
                                        .token = out.token(),
                                        .ttl_ms = out.ttl(),
                                        .group = terms.group,
                                        .client = terms.client,
                                        .writer_reservation_ms = out.writer_reservation(),
                                        .reservation_ms = out.reserved_for()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_enter(*v[0]); },
    },
    Row{
        .verb = Verb::set_all,
        .letter = 'S',
        .replies = {Reply::granted, Reply::taken, Reply::script_needed, Reply::error},
        .values = 2,
        .encode = append_set_all,
        .meaning = [](Dialect, Values v) noexcept { return classify_set_all(*v[0], *v[1]); },
    },
};

}  // namespace

std::span<const Row> take_rows() noexcept { return all_takes; }

}  // namespace redlock::redis
