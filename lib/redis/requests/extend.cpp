#include <string_view>

#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"

/// Requests that give our key a later expiry, or an expiry to a key that has none.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

namespace {

std::optional<core::Answer> classify_extend(bool may_repair, const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type == Type::array) return classify_hold(Reply::extended, value);
  if (value.type != Type::integer) return std::nullopt;
  switch (value.integer) {
    case 1:
      return core::Answer{.reply = Reply::extended};
    case 0:
      return core::Answer{.reply = Reply::gone};
    case 2:
      // The node wrote a key that it was not to repair.
      if (!may_repair) return std::nullopt;
      return core::Answer{.reply = Reply::repaired};
    case -1:
      return core::Answer{.reply = Reply::taken};
    default:
      return std::nullopt;
  }
}

/// SET … IFEQ … GET answers whose key it was. The core compares the answer with the token.
std::optional<core::Answer> classify_plain_extend(const Value& value) noexcept {
  if (value.type == Type::nil) return core::Answer{.reply = Reply::gone};
  if (value.type == Type::bulk) {
    return core::Answer{.reply = Reply::taken, .text = holder_of(value)};
  }
  if (value.type != Type::error) return std::nullopt;
  if (value.text.starts_with("WRONGTYPE ")) return core::Answer{.reply = Reply::taken};
  return error_of_plain(value);
}

/// The answers to the extend, then to SET … NX GET.
std::optional<core::Answer> classify_plain_repair(Dialect dialect, const Value& extended,
                                                  const Value& set) noexcept {
  const auto first = classify_plain_extend(extended);
  const auto second = classify_set(dialect, set);
  if (!first || !second || first->reply != Reply::gone) return second ? first : second;
  if (second->reply == Reply::granted) return core::Answer{.reply = Reply::repaired};
  // The holder in between is not named: if it were our own token, the key would have the TTL of an
  // earlier request.
  return second->reply == Reply::taken ? core::Answer{.reply = Reply::taken} : second;
}

void append_extend_if_ours(Writer& out) {
  out.command({"SET", out.resource(), out.token(), "IFEQ", out.token(), "GET", "PX", out.ttl()});
}

/// The kind of lock, as extend.lua has it.
std::string_view kind_of(const core::Terms& terms) {
  return terms.group.empty() ? std::string_view("key") : terms.group;
}

/// How long readers have the reservation after a downgrade; none: a key of the token stays as it
/// is.
std::optional<std::string_view> reservation_of(Writer& out, const core::Terms& terms) {
  return terms.downgraded ? std::optional(out.reserved_for()) : std::nullopt;
}

constexpr SharedForm renewals_in_one_call{
    .script = &scripts::extends,
    .common = &core::Terms::ttl,
    .all = Reply::extended,
    .each = [](const Value& value) noexcept { return classify_extend(false, value); },
};

constexpr std::array all_extends{
    Row{
        .verb = Verb::extend,
        .letter = 'e',
        .replies = {Reply::taken, Reply::extended, Reply::gone, Reply::script_missing,
                    Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              out.script(
                  scripts::Extend{.resources = out.resources(),
                                  .token = out.token(),
                                  .ttl_ms = out.ttl(),
                                  .kind = terms.by_token ? std::string_view() : kind_of(terms),
                                  .repair = "",
                                  .reservation_ms = reservation_of(out, terms)});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_extend(false, *v[0]); },
        .yes = one,
        .yes_means = Reply::extended,
        .shared = &renewals_in_one_call,
    },
    Row{
        .verb = Verb::extend_or_set,
        .letter = 'x',
        .replies = {Reply::taken, Reply::extended, Reply::repaired, Reply::gone,
                    Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              out.script(scripts::Extend{.resources = out.resources(),
                                         .token = out.token(),
                                         .ttl_ms = out.ttl(),
                                         .kind = kind_of(terms),
                                         .repair = "1",
                                         .reservation_ms = reservation_of(out, terms)});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_extend(true, *v[0]); },
        .yes = one,
        .yes_means = Reply::extended,
    },
    Row{
        .verb = Verb::downgrade,
        .letter = 'g',
        .replies = {Reply::taken, Reply::extended, Reply::gone, Reply::script_missing,
                    Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              // Downgrades only: extends nothing, and restores nothing.
              out.script(scripts::Extend{.resources = out.resources(),
                                         .token = out.token(),
                                         .ttl_ms = "0",
                                         .kind = "",
                                         .repair = "",
                                         .reservation_ms = out.reserved_for()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_extend(false, *v[0]); },
    },
    Row{
        .verb = Verb::extend_plain,
        .letter = 'E',
        .replies = {Reply::taken, Reply::gone, Reply::script_needed, Reply::error},
        .values = 1,
        .encode = [](Writer& out, const core::Terms&) { append_extend_if_ours(out); },
        .meaning = [](Dialect, Values v) noexcept { return classify_plain_extend(*v[0]); },
    },
    Row{
        .verb = Verb::repair_plain,
        .letter = 'X',
        .replies = {Reply::taken, Reply::repaired, Reply::gone, Reply::script_needed, Reply::error},
        .values = 2,
        .encode =
            [](Writer& out, const core::Terms&) {
              append_extend_if_ours(out);
              append_set(out);
            },
        .meaning = [](Dialect dialect,
                      Values v) noexcept { return classify_plain_repair(dialect, *v[0], *v[1]); },
    },
    Row{
        .verb = Verb::expire_orphan,
        .letter = 'o',
        .replies = {Reply::done, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              const Decimal longest(static_cast<std::int64_t>(limits::token_bytes));
              out.script(scripts::ExpireOrphan{
                  .resource = out.resource(), .ttl_ms = out.ttl(), .token_bytes = longest.view()});
            },
        .meaning = count,
    },
};

}  // namespace

std::span<const Row> extend_rows() noexcept { return all_extends; }

}  // namespace redlock::redis
