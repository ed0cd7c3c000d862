#include "results.hpp"

#include <utility>

namespace redlock::node {
namespace {

[[nodiscard]] napi_value count_value(const Js& js, std::uint64_t count) {
  return js.number(static_cast<double>(count));
}

[[nodiscard]] napi_value holder_value(const Js& js, const redlock_node_vote& vote) {
  if (vote.holder_kind == REDLOCK_HOLDER_NONE) return js.null();
  return js.object({{"kind", js.text(redlock_holder_kind_name(vote.holder_kind))},
                    {"token", js.text(vote.holder)},
                    {"owner", js.text(vote.owner)}});
}

[[nodiscard]] napi_value vote_value(const Js& js, const redlock_node_vote& vote) {
  return js.object({{"url", js.text(vote.url)},
                    {"vote", js.text(redlock_vote_name(vote.vote))},
                    {"roundTrip", js.milliseconds(vote.round_trip_ns)},
                    {"holder", holder_value(js, vote)},
                    {"remaining", js.milliseconds(vote.remaining_ns)},
                    {"message", js.text(vote.message)}});
}

[[nodiscard]] napi_value texts_value(const Js& js, const char* const* texts, std::uint64_t count) {
  return js.list(count, [&](std::size_t i) { return js.text(texts[i]); });
}

[[nodiscard]] napi_value next_value(const Js& js, const char* id, const char* name) {
  if (*id == '\0') return js.null();
  return js.object({{"id", js.text(id)}, {"name", js.text(name)}});
}

[[nodiscard]] napi_value node_value(const Js& js, const redlock_node_inspection& node) {
  return js.object({{"url", js.text(node.url)},
                    {"kind", js.text(redlock_lock_kind_name(node.kind))},
                    {"holder", js.text(node.holder)},
                    {"owner", js.text(node.owner)},
                    {"holderName", js.text(node.holder_name)},
                    {"holds", js.number(node.holds)},
                    {"waiters", js.number(node.waiters)},
                    {"tokens", texts_value(js, node.tokens, node.token_count)},
                    {"names", texts_value(js, node.names, node.name_count)},
                    {"next", next_value(js, node.next, node.next_name)},
                    {"remaining", js.milliseconds(node.remaining_ns)},
                    {"fencingToken", js.fencing_token(node.fencing_token)},
                    {"quarantine", js.milliseconds(node.quarantine_ns)},
                    {"error", js.text(node.error)}});
}

[[nodiscard]] napi_value broken_value(const Js& js, const redlock_broken_lock& broken) {
  return js.object({{"time", js.milliseconds(broken.time_ns)},
                    {"token", js.text(broken.token)},
                    {"by", js.text(broken.by)}});
}

}  // namespace

napi_value to_js(const Js& js, const redlock_round& round) {
  return js.object(
      {{"quorum", count_value(js, round.quorum)},
       {"ttl", js.milliseconds(round.ttl_ns)},
       {"elapsed", js.milliseconds(round.elapsed_ns)},
       {"remaining", js.milliseconds(round.remaining_ns)},
       {"holdsLeft",
        round.holds_left < 0 ? js.null() : js.number(static_cast<double>(round.holds_left))},
       {"votes", js.list(round.node_count, [&](std::size_t i) {
          return vote_value(js, *redlock_round_node(&round, i));
        })}});
}

napi_value to_js(const Js& js, const redlock_error& error) {
  return js.object({{"code", js.text(redlock_status_name(error.status))},
                    {"message", js.text(error.message)},
                    {"holderName", js.text(error.holder_name)},
                    {"round", error.round == nullptr ? js.null() : to_js(js, *error.round)}});
}

napi_value to_js(const Js& js, const redlock_inspection& inspection) {
  return js.object({{"state", js.text(redlock_state_name(inspection.state))},
                    {"kind", js.text(redlock_lock_kind_name(inspection.kind))},
                    {"holder", js.text(inspection.holder)},
                    {"owner", js.text(inspection.owner)},
                    {"holderName", js.text(inspection.holder_name)},
                    {"waiters", js.number(inspection.waiters)},
                    {"next", next_value(js, inspection.next, inspection.next_name)},
                    {"quorum", count_value(js, inspection.quorum)},
                    {"broken", js.list(inspection.broken_count,
                                       [&](std::size_t i) {
                                         return broken_value(
                                             js, *redlock_inspection_broken(&inspection, i));
                                       })},
                    {"nodes", js.list(inspection.node_count, [&](std::size_t i) {
                       return node_value(js, *redlock_inspection_node(&inspection, i));
                     })}});
}

napi_value to_js(const Js& js, const redlock_close_report& report) {
  return js.object({{"undelivered", js.list(report.undelivered_count, [&](std::size_t i) {
                       const auto& node = *redlock_close_report_undelivered(&report, i);
                       return js.object({{"url", js.text(node.url)},
                                         {"releases", count_value(js, node.releases)},
                                         {"left", js.milliseconds(node.left_ns)},
                                         {"mayWriteLate", js.boolean(node.may_write_late)}});
                     })}});
}

napi_value to_js(const Js& js, Ptr<redlock_lease> lease) {
  const redlock_lease* granted = lease.get();
  napi_value resources = js.list(redlock_lease_resource_count(granted), [&](std::size_t i) {
    return js.text(redlock_lease_resource_at(granted, i));
  });
  napi_value token = js.text(redlock_lease_token(granted));
  napi_value fencing_token = js.fencing_token(redlock_lease_fencing_token(granted));
  return js.object(
      {{"resources", resources},
       {"token", token},
       {"fencingToken", fencing_token},
       {"handle", js.external(std::make_unique<HeldLease>(HeldLease{std::move(lease)}))}});
}

}  // namespace redlock::node
