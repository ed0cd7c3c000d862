#include <string>

#include "core/vocabulary/for_people.hpp"
#include "core/vocabulary/texts.hpp"
#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/classify.hpp"
#include "redis/values/server_info.hpp"

/// Requests that are not about taking or releasing locks.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

namespace {

/// Whether the texts are a group and tokens, none longer than holder_of() leaves it.
[[nodiscard]] bool are_texts_of_holds(std::string_view texts) noexcept {
  std::size_t count = 0;
  while (const auto text = core::take_text(texts)) {
    if (text->size() > limits::token_bytes + 1) return false;
    ++count;
  }
  return texts.empty() && count >= 1 && count <= 1 + limits::holds_listed;
}

std::optional<core::Answer> classify_inspect(const Value& value) noexcept {
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
  // Names and lists for people are short.
  constexpr std::size_t most_for_people = 8192;
  const bool good = for_people.type == Type::bulk && for_people.text.size() <= most_for_people &&
                    core::parse_for_people(for_people.text);
  if (!good) return std::nullopt;
  core::Answer result;
  result.for_people = for_people.text;
  result.number = static_cast<std::uint64_t>(number.integer);
  result.time = duration_of(quarantine).value_or(core::Duration::max());
  if (kind.text == "none") {
    if (holder.type != Type::nil) return std::nullopt;
    result.reply = Reply::gone;
    return result;
  }
  // A key of another type blocks the resource, and contains no token.
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

std::optional<core::Answer> classify_time(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  const auto time = time_of(value);
  if (!time) return std::nullopt;
  return core::Answer{.reply = Reply::clock, .time = *time};
}

/// INFO of the section with the number of evicted keys.
std::optional<core::Answer> classify_evictions(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::bulk) return std::nullopt;
  return core::Answer{.reply = Reply::done, .number = evicted_keys(value.text)};
}

std::optional<core::Answer> classify_kill(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  // The number of connections killed: 0 if the connection was dead already.
  if (value.type != Type::integer || value.integer < 0) return std::nullopt;
  return core::Answer{.reply = Reply::done};
}

/// SET without a condition.
std::optional<core::Answer> classify_written(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::status) return std::nullopt;
  return core::Answer{.reply = Reply::done};
}

constexpr std::array all_upkeep_requests{
    Row{
        .verb = Verb::inspect,
        .letter = 'i',
        .replies = {Reply::gone, Reply::found, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              out.script(scripts::Inspect{.resource = out.resource(),
                                          .numbers = keys::fencing_numbers,
                                          .quarantine = keys::quarantine,
                                          .token = out.token()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_inspect(*v[0]); },
    },
    Row{
        .verb = Verb::kill_old,
        .letter = 'k',
        .replies = {Reply::done, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              out.command({"CLIENT", "KILL", "ID", Decimal(terms.connection).view()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_kill(*v[0]); },
    },
    Row{
        .verb = Verb::read_clock,
        .letter = 'c',
        .replies = {Reply::clock, Reply::error},
        .values = 1,
        .encode = [](Writer& out, const core::Terms&) { out.command({"TIME"}); },
        .meaning = [](Dialect, Values v) noexcept { return classify_time(*v[0]); },
        .always_same = true,
    },
    Row{
        .verb = Verb::read_evictions,
        .letter = 'V',
        .replies = {Reply::done, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              out.command({"INFO", "stats"});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_evictions(*v[0]); },
        .always_same = true,
    },
    Row{
        .verb = Verb::write_name,
        .letter = 'A',
        .replies = {Reply::done, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              const std::string key = std::string(keys::client_prefix).append(terms.client);
              out.command(
                  {"SET", key, terms.name, "PX", milliseconds_rounded_up(terms.ttl).view()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_written(*v[0]); },
    },
};

}  // namespace

std::span<const Row> upkeep_rows() noexcept { return all_upkeep_requests; }

}  // namespace redlock::redis
