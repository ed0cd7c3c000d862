#include <algorithm>
#include <array>

#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/classify.hpp"

/// Requests that take a lock with a fencing number, or raise the number of a key that is ours.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

std::optional<core::Answer> classify_exceeding(Dialect dialect, Values values) noexcept {
  const std::optional<core::Answer> set =
      values.size() == 4 ? classify_set_and_ttl(dialect, *values[0], *values[3])
                         : classify_set(dialect, *values[0]);
  if (!set || set->reply != Reply::granted) return set;
  const Value& raised = *values[1];
  const Value& holder = *values[2];
  const bool one_or_none =
      raised.type == Type::integer && (raised.integer == 0 || raised.integer == 1);
  if (!one_or_none && raised.type != Type::error) return std::nullopt;
  const bool exceeds = one_or_none && raised.integer == 1;
  if (!exceeds || holder.type != Type::bulk) return core::Answer{.reply = Reply::behind};
  return core::Answer{.reply = Reply::granted, .text = holder_of(holder)};
}

namespace {

/// Reads the node's number, or the floor; writes our number if it is higher; then reads whose key
/// it is.
void append_raise(Writer& out) {
  out.command({"ZMSCORE", keys::fencing_numbers, out.resource(), ""});
  out.command({"ZADD", keys::fencing_numbers, "GT", out.number(), out.resource()});
  out.command({"GET", out.resource()});
}

/// Answers 1 if the number is now higher, or there was none.
void append_short_raise(Writer& out) {
  out.command({"ZADD", keys::fencing_numbers, "GT", "CH", out.number(), out.resource()});
  out.command({"GET", out.resource()});
}

/// ZMSCORE of resource and floor; ZADD; GET.
std::optional<core::Answer> classify_raise(Values values) noexcept {
  const Value& scores = *values[0];
  const Value& raised = *values[1];
  const Value& holder = *values[2];
  std::optional<core::Answer> result = core::Answer{};
  // If a score is missing, only the script can decide whether our number is the highest.
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

/// The answers to SET, then those of classify_raise(); for some requests also PTTL.
std::optional<core::Answer> classify_numbered(Dialect dialect, Values values) noexcept {
  const std::optional<core::Answer> set =
      values.size() == 5 ? classify_set_and_ttl(dialect, *values[0], *values[4])
                         : classify_set(dialect, *values[0]);
  if (!set || set->reply != Reply::granted) return set;
  return classify_raise(values.subspan(1, 3));
}

constexpr std::array all_fencing_requests{
    Row{
        .verb = Verb::set_fenced,
        .letter = 'n',
        .replies = {Reply::granted, Reply::behind, Reply::taken, Reply::error},
        .values = 4,
        .encode =
            [](Writer& out, const core::Terms&) {
              append_set(out);
              append_raise(out);
            },
        .meaning = classify_numbered,
    },
    Row{
        .verb = Verb::set_fenced_and_ttl,
        .letter = 'Z',
        .replies = {Reply::granted, Reply::behind, Reply::taken, Reply::error},
        .values = 5,
        .encode =
            [](Writer& out, const core::Terms&) {
              append_set(out);
              append_raise(out);
              out.command({"PTTL", out.resource()});
            },
        .meaning = classify_numbered,
    },
    Row{
        .verb = Verb::set_fenced_short,
        .letter = 'q',
        .replies = {Reply::granted, Reply::behind, Reply::taken, Reply::error},
        .values = 3,
        .encode =
            [](Writer& out, const core::Terms&) {
              append_set(out);
              append_short_raise(out);
            },
        .meaning = classify_exceeding,
    },
    Row{
        .verb = Verb::set_fenced_short_and_ttl,
        .letter = 'Q',
        .replies = {Reply::granted, Reply::behind, Reply::taken, Reply::error},
        .values = 4,
        .encode =
            [](Writer& out, const core::Terms&) {
              append_set(out);
              append_short_raise(out);
              out.command({"PTTL", out.resource()});
            },
        .meaning = classify_exceeding,
    },
    Row{
        .verb = Verb::raise_fence,
        .letter = 'r',
        .replies = {Reply::granted, Reply::behind, Reply::taken, Reply::script_missing,
                    Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              out.script(scripts::Fence{.numbers = keys::fencing_numbers,
                                        .resources = out.resources(),
                                        .token = out.token(),
                                        .number = out.number()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_fence(*v[0]); },
    },
    Row{
        .verb = Verb::raise_plain,
        .letter = 'R',
        .replies = {Reply::granted, Reply::behind, Reply::taken, Reply::error},
        .values = 3,
        .encode = [](Writer& out, const core::Terms&) { append_raise(out); },
        .meaning = [](Dialect, Values v) noexcept -> std::optional<core::Answer> {
          if (v[1]->type == Type::error) return error_of(*v[1]);
          return classify_raise(v);
        },
    },
    Row{
        .verb = Verb::prune_fencing_numbers,
        .letter = 'w',
        .replies = {Reply::done, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              out.script(scripts::Prune{.numbers = keys::fencing_numbers});
            },
        .meaning = count,
    },
};

}  // namespace

std::span<const Row> fencing_rows() noexcept { return all_fencing_requests; }

}  // namespace redlock::redis
