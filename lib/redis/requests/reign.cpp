#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/server_info.hpp"

/// Requests about the reign of a replicated node's primary: tools/docs/design/reigns.md.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

namespace {

void append_reading(Writer& out, const core::Terms& terms) {
  const auto within = std::chrono::ceil<std::chrono::milliseconds>(terms.within).count();
  // WAIT counts who has the writes before it: a refused vote is none. It waits for ever for 0 ms.
  out.command({"SET", keys::beat, "1"});
  out.command({"ZMSCORE", keys::fencing_numbers, ""});
  out.command({"GET", keys::marker});
  out.command({"GET", keys::reign});
  out.command({"WAIT", Decimal(static_cast<std::int64_t>(terms.acknowledgements)).view(),
               Decimal(std::max<std::int64_t>(within, 1)).view()});
  // Read last: the acknowledgement of a replica that attached in between is not an older
  // follower's.
  out.command({"INFO", "stats"});
  out.command({"INFO", "replication"});
}

/// The commands of append_reading(), for people: some errors of permissions name no key.
constexpr std::array<std::string_view, 7> reading_commands{"SET redlock:node:beat",
                                                           "ZMSCORE redlock:node:numbers",
                                                           "GET redlock:node:marker",
                                                           "GET redlock:node:reign",
                                                           "WAIT",
                                                           "INFO stats",
                                                           "INFO replication"};

/// Without an error in any of them: nothing is proven by a part.
std::optional<core::Answer> classify_reading(Values v) noexcept {
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i]->type != Type::error) continue;
    core::Answer refused = error_of(*v[i]);
    refused.reign.refused = reading_commands.at(i);
    return refused;
  }
  std::optional<core::Answer> result = classify_floor_and_marker(*v[1], *v[2]);
  const Value& record = *v[3];
  const Value& acknowledged = *v[4];
  const Value& stats = *v[5];
  const Value& replication = *v[6];
  const bool fits = v[0]->type == Type::status && result &&
                    (record.type == Type::bulk || record.type == Type::nil) &&
                    acknowledged.type == Type::integer && acknowledged.integer >= 0 &&
                    stats.type == Type::bulk && replication.type == Type::bulk;
  if (!fits) return std::nullopt;
  if (record.type == Type::bulk) result->reign.record = record.text;
  result->reign.acknowledged = static_cast<std::uint64_t>(acknowledged.integer);
  const auto attached = attachments(stats.text);
  if (!attached) return std::nullopt;
  result->reign.attachments = *attached;
  result->reign.attached = replicas_in_step(replication.text);
  return result;
}

void append_write(Writer& out, const core::Terms& terms) {
  const core::ReignWrite& write = *terms.reign;
  const std::string attached = std::to_string(write.attachments);
  const std::string quarantine =
      std::to_string(std::chrono::ceil<std::chrono::milliseconds>(write.quarantine).count());
  out.script(scripts::Reign{.marker = keys::marker,
                            .reign = keys::reign,
                            .quarantine = keys::quarantine,
                            .numbers = keys::fencing_numbers,
                            .expected_marker = write.marker,
                            .expected_reign = write.expected,
                            .head = write.head,
                            .attachments = attached,
                            .confirmed = write.confirmed,
                            .quarantine_ms = quarantine});
}

std::optional<core::Answer> classify_reign_written(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::integer || (value.integer != 0 && value.integer != 1))
    return std::nullopt;
  return core::Answer{.reply = Reply::done};
}

constexpr std::array all_reign_requests{
    Row{
        .verb = Verb::read_reign,
        .letter = 'G',
        .replies = {Reply::marker, Reply::error},
        .values = reading_commands.size(),
        .encode = append_reading,
        .meaning = [](Dialect, Values v) noexcept { return classify_reading(v); },
    },
    Row{
        .verb = Verb::write_reign,
        .letter = 'W',
        .replies = {Reply::done, Reply::error},
        .values = 1,
        .encode = append_write,
        .meaning = [](Dialect, Values v) noexcept { return classify_reign_written(*v[0]); },
    },
};

}  // namespace

std::span<const Row> reign_rows() noexcept { return all_reign_requests; }

}  // namespace redlock::redis
