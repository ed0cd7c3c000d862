#include <optional>
#include <string>

#include "redis/requests/parts.hpp"
#include "redis/requests/row.hpp"

/// Requests that delete a key from a node, and notify waiters of it.
namespace redlock::redis {

using core::Reply;
using core::Verb;
using Type = Value::Type;

std::optional<core::Answer> classify_release(const Value& value) noexcept {
  if (value.type == Type::error) return error_of_script(value);
  const bool of_holds = value.type == Type::array && value.elements.size() == 2;
  const Value& what = of_holds ? *value.elements[0] : value;
  if (what.type != Type::integer) return std::nullopt;
  core::Answer result;
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

namespace {

/// For how long a node remembers which locks an operator broke.
constexpr core::Duration audit_kept_for = std::chrono::hours(24);

/// The queue position at which the release of a lost attempt queues its client, if the client keeps
/// waiting.
enum class PositionAtRelease : std::uint8_t { none, as_before, for_any_permit, of_several };

PositionAtRelease position_at_release(const core::Terms& terms) noexcept {
  if (terms.client.empty()) return PositionAtRelease::none;
  if (terms.kept != 0) return PositionAtRelease::of_several;
  if (!terms.more_resources.empty()) return PositionAtRelease::none;
  return terms.permits > 0 ? PositionAtRelease::for_any_permit : PositionAtRelease::as_before;
}

/// '1' for each resource that stays reserved, otherwise '0'.
std::string kept_of(const core::Terms& terms) {
  std::string kept(terms.kept != 0 ? 1 + terms.more_resources.size() : 0, '0');
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if ((terms.kept >> i & 1U) != 0) kept[i] = '1';
  }
  return kept;
}

void append_release(Writer& out, const core::Terms& terms) {
  const Decimal cooldown = milliseconds_rounded_up(terms.cooldown);
  const Decimal remember = milliseconds_of(core::queued_for);
  const Decimal keep = milliseconds_of(terms.keep);
  const std::string kept = kept_of(terms);
  scripts::Release release{.resources = out.resources(),
                           .token = out.token(),
                           .cooldown_ms = cooldown.view(),
                           .reservation_ms = out.reserved_for()};
  switch (position_at_release(terms)) {
    case PositionAtRelease::none:
      break;
    case PositionAtRelease::of_several:
      release.client = terms.client;
      release.kept = kept;
      release.keep_ms = keep.view();
      break;
    case PositionAtRelease::for_any_permit:
      release.prefix = core::permits_prefix(out.resource());
      [[fallthrough]];
    case PositionAtRelease::as_before:
      release.client = terms.client;
      release.ticket = out.ticket();
      release.remember_ms = remember.view();
      release.quiet = terms.quiet ? "1" : "0";
      break;
  }
  out.script(release);
}

/// DELIFEQ or DELEX, and whether the resource is there and anybody is queued. EXISTS counts a key
/// twice if it is named twice: 1 for the resource, 2 for its queue.
void append_plain_release(Writer& out, const core::Terms&) {
  if (out.dialect() == Dialect::with_delex) {
    out.command({"DELEX", out.resource(), "IFEQ", out.token()});
  } else {
    out.command({"DELIFEQ", out.resource(), out.token()});
  }
  const std::string_view queue = out.queue();
  if (const auto any = core::any_permit_of(out.resource())) {
    const std::string others = std::string(keys::queue_prefix).append(*any);
    out.command({"EXISTS", out.resource(), queue, queue, others, others});
    return out.not_again();
  }
  out.command({"EXISTS", out.resource(), queue, queue});
}

/// DELIFEQ or DELEX; EXISTS of the resource, and of its queue twice.
std::optional<core::Answer> classify_plain_release(const Value& deleted,
                                                   const Value& left) noexcept {
  // A user without the right to read the queue has no right to notify it either.
  const bool counted = left.type == Type::integer && left.integer >= 0 && left.integer <= 5;
  if (!counted && left.type != Type::error) return std::nullopt;
  if (deleted.type == Type::error) return error_of_plain(deleted);
  if (deleted.type != Type::integer) return std::nullopt;
  const bool taken = counted && left.integer % 2 == 1;
  if (deleted.integer == 0) return core::Answer{.reply = taken ? Reply::taken : Reply::gone};
  if (deleted.integer != 1) return std::nullopt;
  return core::Answer{.reply = Reply::released, .queued = counted && left.integer >= 2};
}

static_assert(core::shortest_reservation == std::chrono::milliseconds(20),
              "what releases.lua takes for it");
constexpr SharedForm releases_in_one_call{
    .script = &scripts::releases,
    .common = &core::Terms::reserved_for,
    .unsaid = core::shortest_reservation,
    .all = Reply::released,
    // The script counts fewer if some keys had expired before the call. None of the keys is left.
    .fewer = Reply::gone,
    .each = classify_release,
};

constexpr std::array all_releases{
    Row{
        .verb = Verb::release,
        .letter = 'd',
        .replies = {Reply::taken, Reply::gone, Reply::released, Reply::script_missing,
                    Reply::error},
        .values = 1,
        .encode = append_release,
        .meaning = [](Dialect, Values v) noexcept { return classify_release(*v[0]); },
        .yes = one,
        .yes_means = Reply::released,
        .shared = &releases_in_one_call,
    },
    Row{
        .verb = Verb::break_lock,
        .letter = 'B',
        .replies = {Reply::taken, Reply::gone, Reply::released, Reply::script_missing,
                    Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              const Decimal delay = milliseconds_rounded_up(terms.ttl);
              out.script(scripts::BreakLock{.resource = out.resource(),
                                            .token = out.token(),
                                            .delay_ms = delay.view(),
                                            .keeper = terms.keeper});
            },
        .meaning = [](Dialect, Values v) noexcept { return classify_release(*v[0]); },
    },
    Row{
        .verb = Verb::release_plain,
        .letter = 'D',
        .replies = {Reply::taken, Reply::gone, Reply::released, Reply::script_needed, Reply::error},
        .values = 2,
        .encode = append_plain_release,
        .meaning = [](Dialect, Values v) noexcept { return classify_plain_release(*v[0], *v[1]); },
    },
    Row{
        .verb = Verb::notify,
        .letter = 'N',
        .replies = {Reply::done, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms&) {
              out.script(scripts::Notify{.resource = out.resource(),
                                         .reservation_ms = out.reserved_for()});
            },
        .meaning = count,
    },
    Row{
        .verb = Verb::write_audit,
        .letter = 'U',
        .replies = {Reply::done, Reply::script_missing, Reply::error},
        .values = 1,
        .encode =
            [](Writer& out, const core::Terms& terms) {
              const Decimal kept = milliseconds_of(audit_kept_for);
              out.script(scripts::Audit{.resource = out.resource(),
                                        .token = out.token(),
                                        .name = terms.name,
                                        .remember_ms = kept.view()});
            },
        .meaning = count,
    },
};

}  // namespace

std::span<const Row> release_rows() noexcept { return all_releases; }

}  // namespace redlock::redis
