#include "redis/classify.hpp"

#include "redis/classify_parts.hpp"

namespace redlock::redis {

std::optional<Classified> classify(core::Verb verb, Dialect form,
                                   std::span<const Value* const> values) noexcept {
  if (values.size() != values_expected(verb)) return std::nullopt;
  const Value& first = *values[0];
  switch (verb) {
    case core::Verb::set:
      return classify_set(form, first);
    case core::Verb::set_and_ttl:
      return classify_set_and_ttl(form, first, *values[1]);
    case core::Verb::set_fenced:
    case core::Verb::set_fenced_and_ttl:
      return classify_numbered(form, values);
    case core::Verb::set_fenced_short:
    case core::Verb::set_fenced_short_and_ttl:
      return classify_exceeding(form, values);
    case core::Verb::extend:
    case core::Verb::extend_or_set:
      return classify_extend(verb, first);
    case core::Verb::release:
    case core::Verb::break_lock:
      return classify_release(first);
    case core::Verb::release_plain:
      return classify_plain_release(first, *values[1]);
    case core::Verb::extend_plain:
      return classify_plain_extend(first);
    case core::Verb::repair_plain:
      return classify_plain_repair(form, first, *values[1]);
    case core::Verb::raise_plain:
      if (values[1]->type == Value::Type::error) return error_of(*values[1]);
      return classify_raise(values);
    case core::Verb::set_all:
      return classify_set_all(first, *values[1]);
    case core::Verb::notify:
      return classify_count(first);
    case core::Verb::inspect:
      return classify_inspect(first);
    case core::Verb::take_permit:
      return classify_place(first);
    case core::Verb::enter:
      return classify_enter(first);
    case core::Verb::take:
    case core::Verb::raise_fence:
      return classify_fence(first);
    case core::Verb::expire_orphan:
      return classify_count(first);
    case core::Verb::kill_old:
      return classify_kill(first);
    case core::Verb::read_clock:
      return classify_time(first);
    case core::Verb::read_evictions:
      return classify_evictions(first);
    case core::Verb::prune_fencing_numbers:
    case core::Verb::leave_queue:
      return classify_count(first);
    case core::Verb::join_queue:
      return classify_queued(first);
    case core::Verb::track:
      return classify_track(first, *values[1]);
    case core::Verb::read_marker:
      return classify_marker(first);
    case core::Verb::read_floor_and_marker:
      return classify_floor_and_marker(first, *values[1]);
    case core::Verb::write_marker:
      return classify_marker_written(first);
    case core::Verb::write_name:
      return classify_written(first);
    case core::Verb::write_audit:
      return classify_count(first);
    case core::Verb::mark_plain:
      return classify_marker_transaction(*values[7]);
  }
  return std::nullopt;
}

}  // namespace redlock::redis
