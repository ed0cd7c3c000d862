#include <string_view>

#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"

/// SET … NX, the form that other Redlock clients use, followed by PTTL for a caller that waits.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

void append_set(Writer& out) {
  if (out.dialect() == Dialect::classic) {
    return out.command({"SET", out.resource(), out.token(), "NX", "PX", out.ttl()});
  }
  out.command({"SET", out.resource(), out.token(), "NX", "PX", out.ttl(), "GET"});
}

std::string_view yes_to_set(Dialect dialect, Protocol protocol) noexcept {
  if (dialect == Dialect::classic) return "+OK\r\n";
  // The answer to SET … GET when there was no key.
  return protocol == Protocol::resp3 ? "_\r\n" : "$-1\r\n";
}

std::optional<core::Answer> classify_set(Dialect dialect, const Value& value) noexcept {
  switch (dialect) {
    case Dialect::classic:
      if (value.type == Type::error) return error_of(value);
      if (value.type == Type::nil) return core::Answer{.reply = Reply::taken};
      if (value.type == Type::status && value.text == "OK") {
        return core::Answer{.reply = Reply::granted};
      }
      return std::nullopt;
    case Dialect::with_get:
    case Dialect::with_delex:
      if (value.type == Type::nil) return core::Answer{.reply = Reply::granted};
      if (value.type == Type::bulk) {
        return core::Answer{.reply = Reply::taken, .text = holder_of(value)};
      }
      if (value.type != Type::error) return std::nullopt;
      // The key exists and is not a string: the resource is taken, and the holder's token is
      // unknown.
      if (value.text.starts_with("WRONGTYPE ")) return core::Answer{.reply = Reply::taken};
      return error_of(value);
  }
  return std::nullopt;
}

std::optional<core::Answer> classify_set_and_ttl(Dialect dialect, const Value& set,
                                                 const Value& pttl) noexcept {
  // PTTL may fail where SET did not (an ACL without it): then only the remaining time is unknown.
  if (pttl.type != Type::error && !is_duration(pttl)) return std::nullopt;
  std::optional<core::Answer> result = classify_set(dialect, set);
  if (result && result->reply == Reply::taken && pttl.type == Type::integer) {
    result->remaining = duration_of(pttl);
  }
  return result;
}

namespace {

constexpr std::array all_sets{
    Row{
        .verb = Verb::set,
        .letter = 's',
        .replies = {Reply::granted, Reply::taken, Reply::error},
        .values = 1,
        .encode = [](Writer& out, const core::Terms&) { append_set(out); },
        .meaning = [](Dialect dialect, Values v) noexcept { return classify_set(dialect, *v[0]); },
        .yes = yes_to_set,
        .yes_means = Reply::granted,
    },
    Row{
        .verb = Verb::set_and_ttl,
        .letter = 't',
        .replies = {Reply::granted, Reply::taken, Reply::error},
        .values = 2,
        .encode =
            [](Writer& out, const core::Terms&) {
              append_set(out);
              out.command({"PTTL", out.resource()});
            },
        .meaning = [](Dialect dialect,
                      Values v) noexcept { return classify_set_and_ttl(dialect, *v[0], *v[1]); },
    },
};

}  // namespace

std::span<const Row> set_rows() noexcept { return all_sets; }

}  // namespace redlock::redis
