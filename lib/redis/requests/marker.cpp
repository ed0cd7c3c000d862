#include <array>
#include <chrono>
#include <string>

#include "core/membership/marker.hpp"
#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/classify.hpp"

/// Requests that read a node's marker, after votes or to confirm it, and that replace it.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

namespace {

/// Sets the quarantine even if the marker is not the expected one: a transaction cannot decide.
void append_marker_transaction(Writer& out, const core::Terms& terms) {
  const core::MarkerWrite& write = *terms.marker;
  using std::chrono::microseconds;
  // The node's clock is known to within a round trip, and a floor may be higher than it has to be.
  constexpr core::Duration margin = std::chrono::seconds(1);
  out.command({"MULTI"});
  const std::array left{std::string_view("PTTL"), keys::quarantine};
  if (write.quarantine > core::Duration::zero()) {
    const auto floor =
        std::chrono::ceil<microseconds>(write.node_clock + write.quarantine + margin);
    const std::string milliseconds =
        std::to_string(std::chrono::ceil<std::chrono::milliseconds>(write.quarantine).count());
    out.command({"SET", keys::quarantine, "enrolled", "NX", "PX", milliseconds});
    out.command({"PEXPIRE", keys::quarantine, milliseconds, "GT"});
    out.command({"ZADD", keys::fencing_numbers, "GT", std::to_string(floor.count()), "", "inf",
                 keys::longest_number_name});
  } else {
    for (int i = 0; i < 3; ++i) out.command(std::span<const std::string_view>(left));
  }
  const std::string text =
      write.text + ' ' + std::to_string(std::chrono::floor<microseconds>(write.node_clock).count());
  if (write.expected.empty()) {
    out.command({"SET", keys::marker, text, "NX"});
  } else {
    out.command({"SET", keys::marker, text, "IFEQ", write.expected});
  }
  out.command({"GET", keys::marker});
  out.command(std::span<const std::string_view>(left));
  out.command({"EXEC"});
}

void append_marker_write(Writer& out, const core::Terms& terms) {
  const core::MarkerWrite& write = *terms.marker;
  const std::string quarantine =
      write.quarantine > core::Duration::zero()
          ? std::to_string(std::chrono::ceil<std::chrono::milliseconds>(write.quarantine).count())
          : "-1";
  out.script(scripts::Mark{.marker = keys::marker,
                           .quarantine = keys::quarantine,
                           .numbers = keys::fencing_numbers,
                           .expected = write.expected,
                           .text = write.text,
                           .quarantine_ms = quarantine,
                           .why = write.as_new ? core::opened_as_new : ""});
}

std::optional<core::Answer> classify_marker(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type == Type::nil) return core::Answer{.reply = Reply::marker};
  if (value.type != Type::bulk) return std::nullopt;
  return core::Answer{.reply = Reply::marker, .text = value.text};
}

}  // namespace

std::optional<core::Answer> classify_floor_and_marker(const Value& scores,
                                                      const Value& marker) noexcept {
  std::optional<core::Answer> result = classify_marker(marker);
  // If either answer is an error, neither floor nor marker is known.
  if (!result || scores.type == Type::error) return result;
  if (scores.type != Type::array || scores.elements.size() != 1) return std::nullopt;
  const Value& floor = *scores.elements[0];
  if (floor.type != Type::bulk && floor.type != Type::nil) return std::nullopt;
  if (result->reply == Reply::marker && floor.type == Type::bulk) {
    result->number = fencing_number_of(floor);
  }
  return result;
}

namespace {

/// {written, the marker, quarantine left}. It does not matter which client wrote the marker.
std::optional<core::Answer> classify_marker_written(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::array || value.elements.size() != 3) return std::nullopt;
  const Value& marker = *value.elements[1];
  const Value& left = *value.elements[2];
  if (marker.type != Type::bulk || left.type != Type::integer) return std::nullopt;
  return marker_and_quarantine(marker, left);
}

/// EXEC: the last but one is the marker, the last the quarantine that is left.
std::optional<core::Answer> classify_marker_transaction(const Value& value) noexcept {
  if (value.type == Type::error) return error_of(value);
  if (value.type != Type::array || value.elements.size() != 6) return std::nullopt;
  // A transaction goes on after a command that failed.
  for (const Value* done : value.elements) {
    if (done->type == Type::error) return error_of(*done);
  }
  const Value& marker = *value.elements[4];
  const Value& left = *value.elements[5];
  if (marker.type != Type::bulk || !is_duration(left)) return std::nullopt;
  return marker_and_quarantine(marker, left);
}

constexpr std::array all_marker_requests{
    Row{
        .verb = Verb::read_marker,
        .letter = 'm',
        .replies = {Reply::marker, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              out.command({"GET", keys::marker});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_marker(*v[0]); },
        .always_same = true,
    },
    Row{
        .verb = Verb::read_floor_and_marker,
        .letter = 'F',
        .replies = {Reply::marker, Reply::error},
        .values = 2,
        .encode =
            [](Writer& out, const core::Terms&) {
              // The floor is read first: if the marker after it is unchanged, the floor was in
              // force for the votes.
              out.command({"ZMSCORE", keys::fencing_numbers, ""});
              out.command({"GET", keys::marker});
            },
        .meaning = [](Dialect,
                      Values v) noexcept { return classify_floor_and_marker(*v[0], *v[1]); },
        .always_same = true,
    },
    Row{
        .verb = Verb::write_marker,
        .letter = 'M',
        .replies = {Reply::marker, Reply::error},
        .values = 1,
        .encode = append_marker_write,
        .meaning = [](Dialect, Values v) noexcept { return classify_marker_written(*v[0]); },
    },
    Row{
        .verb = Verb::mark_plain,
        .letter = 'P',
        .replies = {Reply::marker, Reply::error},
        .values = 8,
        .encode = append_marker_transaction,
        .meaning = [](Dialect, Values v) noexcept { return classify_marker_transaction(*v[7]); },
    },
};

}  // namespace

std::span<const Row> marker_rows() noexcept { return all_marker_requests; }

}  // namespace redlock::redis
