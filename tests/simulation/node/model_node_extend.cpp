#include "simulation/node/model_node.hpp"

#include <algorithm>
#include <utility>

namespace redlock::simulation {

using core::Reply;
using core::Verb;

bool ModelNode::repairs(const Request& request) const {
  return request.stamp.verb == Verb::extend_or_set ||
         ((mutant_ == Mutant::renewals_repair || mutant_ == Mutant::number_is_not_checked) &&
          request.stamp.verb == Verb::extend && !request.by_token);
}

void ModelNode::extend(const Request& request, True now, Response& response) {
  Key& mine = memory_.keys[request.resource];
  const bool downgrades = request.stamp.verb == Verb::downgrade;
  if (downgrades || request.group != 0 || (mine.group != 0 && !request.both))
    return extend_hold(request, now, response);
  const std::int64_t ends = clock.milliseconds(now) + request.ttl_ms;
  bool gone = false;
  for (std::size_t i = 0; i < (request.both ? 2U : 1U); ++i) {
    Key& key = memory_.keys[i == 0 ? request.resource : 1U - request.resource];
    remove_ended(key, now);
    response.reply = Reply::taken;
    const bool held = !key.holds.empty() || key.next != 0;
    if (key.token != 0 ? key.token != request.token : held) return;
    gone = gone || key.token == 0;
  }
  response.reply = gone ? Reply::gone : Reply::extended;
  if (gone && !repairs(request)) return;
  for (std::size_t i = 0; i < (request.both ? 2U : 1U); ++i) {
    Key& key = memory_.keys[i == 0 ? request.resource : 1U - request.resource];
    if (key.token == 0) key = {};
    key.token = request.token;
    key.expires = std::max(key.expires, ends);
  }
  if (gone) response.reply = Reply::repaired;
}

void ModelNode::extend_hold(const Request& request, True now, Response& response) {
  Key& key = memory_.keys[request.resource];
  const bool downgrades = request.stamp.verb == Verb::downgrade;
  const std::int64_t ends = clock.milliseconds(now) + (downgrades ? 0 : request.ttl_ms);
  const bool restores = repairs(request);
  const bool ours = key.token != 0 && key.token == request.token;
  response.reply = ours ? Reply::extended : Reply::taken;
  if (ours) key.expires = std::max(key.expires, ends);
  if (ours && (request.downgraded || downgrades) && mutant_ != Mutant::adopted_writers_stay) {
    share_with_readers(request, now);
    response.holds = core::Holds{.count = 1};
    return;
  }
  if (key.token != 0) return;
  const bool none = key.group == 0;
  remove_ended(key, now);
  // A caller that extends by the token alone does not know the group.
  const bool is_unknown = downgrades || (request.by_token && !restores);
  const std::uint64_t group = is_unknown ? 0 : request.group;
  const bool is_alone = !is_unknown && group == 0;
  const auto mine = key.holds.find(request.token);
  if (mine != key.holds.end() && !is_alone) {
    if ((request.downgraded || downgrades) && key.group != 1) return;
    response.holds = core::Holds{.count = key.leases()};
    mine->second = std::max(mine->second, ends);
    response.reply = Reply::extended;
    return;
  }
  if (key.keeper != 0) return;
  if (!none && key.group != group && (!key.holds.empty() || key.next != 0)) return;
  response.reply = Reply::gone;
  if (!restores || (key.writer != 0 && group == 1)) return;
  response.reply = Reply::repaired;
  if (key.group != group) key = {};
  if (group == 0) {
    key.token = request.token;
    key.expires = ends;
    return;
  }
  key.group = group;
  key.holds[request.token] = ends;
}

void ModelNode::share_with_readers(const Request& request, True now) {
  Key& key = memory_.keys[request.resource];
  const std::int64_t ends = std::exchange(key, {}).expires;
  memory_.admitted[request.resource].clear();
  if (mutant_ == Mutant::downgrade_leaves_a_gap) return;
  key.group = 1;
  key.holds[request.token] = ends;
  if (memory_.awaited_until <= clock.milliseconds(now)) return;
  if (mutant_ != Mutant::downgrade_is_quiet) let_in_readers(request.resource, request, now);
  if (key.next != 0) keep_watch(request.resource, request, clock.milliseconds(now));
}

}  // namespace redlock::simulation
