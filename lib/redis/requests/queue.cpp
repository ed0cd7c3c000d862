#include <string_view>

#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"

/// Requests for the queue of waiters, and for keys whose changes are tracked.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

namespace {

/// {1 if the resource is taken, the client's queue position}
std::optional<core::Answer> classify_queued(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::array || value.elements.size() != 3) return std::nullopt;
  const Value& taken = *value.elements[0];
  if (taken.type != Type::integer || taken.integer < 0 || taken.integer > 1) return std::nullopt;
  core::Answer result{.reply = taken.integer == 1 ? Reply::taken : Reply::gone};
  if (!read_position(*value.elements[1], *value.elements[2], result)) return std::nullopt;
  return result;
}

std::optional<core::Answer> classify_track(const Value& caching, const Value& state) noexcept {
  if (caching.type != Type::error && caching.type != Type::status) return std::nullopt;
  const bool exists = state.type == Type::integer;  // EXISTS
  const bool first = state.type == Type::array;     // the first client in the queue
  if (state.type != Type::error && !exists && !first) return std::nullopt;
  if (caching.type == Type::error) return error_of(caching);
  if (state.type == Type::error) return error_of(state);
  // The last member of a queue is '', which is not a client.
  const bool none =
      exists ? state.integer == 0 : state.elements.empty() || state.elements[0]->text.empty();
  return core::Answer{.reply = none ? Reply::gone : Reply::taken};
}

/// A server tracks the keys that are read after CLIENT CACHING YES.
void append_track(Writer& out, const core::Terms& terms) {
  out.command({"CLIENT", "CACHING", "YES"});
  switch (terms.tracked) {
    case core::Tracked::resource:
      return out.command({"EXISTS", out.resource()});
    case core::Tracked::queue:
      return out.command({"ZRANGE", out.queue(), "0", "0"});
  }
}

void append_leave(Writer& out, const core::Terms& terms) {
  const Decimal mode(terms.queue_mode);
  const Decimal permits(terms.permits);
  scripts::Leave leave{.resource = out.resource(),
                       .client = terms.client,
                       .mode = mode.view(),
                       .reservation_ms = out.reserved_for()};
  if (terms.permits > 0) leave.permits = permits.view();
  out.script(leave);
}

void append_check(Writer& out, const core::Terms& terms) {
  const Decimal permits(terms.permits);
  scripts::Check check{.resource = out.resource(), .client = terms.client};
  if (terms.permits > 0) check.permits = permits.view();
  out.script(check);
}

constexpr std::array all_queue_requests{
    Row{
        .verb = Verb::join_queue,
        .letter = 'a',
        .replies = {Reply::taken, Reply::gone, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              const Decimal mode(terms.queue_mode);
              const Decimal remember = milliseconds_of(core::queued_for);
              out.script(scripts::Queue{.resource = out.resource(),
                                        .client = terms.client,
                                        .remember_ms = remember.view(),
                                        .mode = mode.view(),
                                        .ticket = out.ticket(),
                                        .reservation_ms = out.reserved_for()});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_queued(*v[0]); },
    },
    Row{
        .verb = Verb::leave_queue,
        .letter = 'b',
        .replies = {Reply::done, Reply::script_missing, Reply::error},
        .values = 1,
        .encode = append_leave,
        .meaning = count,
    },
    Row{
        .verb = Verb::check_queue,
        .letter = 'C',
        .replies = {Reply::taken, Reply::gone, Reply::script_missing, Reply::error},
        .values = 1,
        .encode = append_check,
        .meaning = [](Dialect, Values v) noexcept { return classify_queued(*v[0]); },
    },
    Row{
        .verb = Verb::track,
        .letter = 'T',
        .replies = {Reply::taken, Reply::gone, Reply::error},
        .values = 2,
        .encode = append_track,
        .meaning = [](Dialect, Values v) noexcept { return classify_track(*v[0], *v[1]); },
    },
};

}  // namespace

std::span<const Row> queue_rows() noexcept { return all_queue_requests; }

}  // namespace redlock::redis
