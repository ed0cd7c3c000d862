#include "simulation/node/model_node.hpp"

#include <algorithm>

#include "simulation/random.hpp"

namespace redlock::simulation {

using core::Reply;

void ModelNode::release(const Request& request, True now, Response& response) {
  Key& mine = memory_.keys[request.resource];
  if (request.client != 0 && request.ticket && !request.both && !is_reserved_for(mine, request)) {
    const std::size_t queued = request.permits > 0 ? any_permit : request.resource;
    enqueue(queued, request.client, *request.ticket, now);
  }
  remove_ended(mine, now);
  const bool waits_for_interval = mine.holds.empty() && request.cooldown_ms > 0;
  if (mine.group != 0 && !request.both && !waits_for_interval) {
    return leave(request, now, response);
  }
  response.reply = Reply::gone;
  const bool keeps = request.both && request.keep_ms > 0 && mutant_ != Mutant::nothing_is_kept;
  for (std::size_t i = 0; i < (request.both ? 2U : 1U); ++i) {
    Key& key = memory_.keys[i == 0 ? request.resource : 1U - request.resource];
    remove_ended(key, now);
    const bool deletes = key.token == request.token ||
                         (key.token != 0 && mutant_ == Mutant::release_without_compare);
    if (deletes) {
      response.reply = Reply::released;
      key = {};
      const std::size_t resource = i == 0 ? request.resource : 1U - request.resource;
      if (request.cooldown_ms > 0) {
        key.token = cooldown;
        key.expires = clock.milliseconds(now) + request.cooldown_ms;
        if (mutant_ != Mutant::cooldown_untold) notify(resource);
      } else if (keeps && (request.kept >> i & 1U) != 0) {
        key.token = reservation | request.client;
        key.expires = clock.milliseconds(now) + request.keep_ms;
      } else if (!request.quiet) {
        pass_on(resource, request, now);
      }
    } else if ((key.token == 0 || key.token == cooldown) && key.holds.empty() &&
               request.cooldown_ms > 0) {
      if (mutant_ == Mutant::cooldown_where_the_key_was) continue;
      const std::int64_t ends = clock.milliseconds(now) + request.cooldown_ms;
      const std::int64_t known = key.token == cooldown ? key.expires : 0;
      key = {};
      key.token = cooldown;
      key.expires = std::max(known, ends);
    } else if ((key.token != 0 || !key.holds.empty()) && response.reply == Reply::gone) {
      response.reply = Reply::taken;
    }
  }
}

void ModelNode::leave(const Request& request, True now, Response& response) {
  Key& key = memory_.keys[request.resource];
  const std::uint64_t group = key.group;
  remove_ended(key, now);
  const bool delays = key.keeper != 0;
  if (key.holds.erase(request.token) == 1) {
    if (key.keeper == request.token) key.keeper = 0;
    if (mutant_ == Mutant::delay_ends_with_the_holds && delays && key.leases() == 0) key.holds = {};
    response.reply = Reply::released;
    response.holds = core::Holds{.count = key.leases()};
    if (!key.holds.empty() || key.next != 0) {
      if (key.leases() == 0 || delays || key.writer == 0) notify(request.resource);
      return;
    }
    const std::int64_t writer = key.writer;
    key = {};
    pass_on(request.resource, request, now);
    if (!is_free(request.resource) || writer == 0) return;
    key.group = group;
    key.writer = writer;
  } else {
    response.reply = key.holds.empty() ? Reply::gone : Reply::taken;
    response.holds = core::Holds{.count = key.leases()};
  }
}

void ModelNode::break_lock(const Request& request, True now, Response& response) {
  Key& key = memory_.keys[request.resource];
  remove_ended(key, now);
  const std::int64_t millis = clock.milliseconds(now);
  std::int64_t ends = millis + request.ttl_ms;
  const auto not_before = [&](std::int64_t other) {
    if (mutant_ != Mutant::delay_is_shortened) ends = std::max(ends, other);
  };
  response.reply = Reply::gone;
  if (key.group != 0) {
    if (key.keeper != 0) not_before(key.holds.at(key.keeper));
    const bool was_there = key.holds.erase(request.token) == 1;
    if (was_there && key.keeper == request.token) key.keeper = 0;
    response.holds = core::Holds{.count = key.leases()};
    response.reply = was_there ? Reply::released : !key.holds.empty() ? Reply::taken : Reply::gone;
    if (was_there && key.leases() > 0) delay_new_holds(key, request.keeper, ends);
    if (!was_there || key.leases() > 0) return;
  } else if (key.token != request.token) {
    if (key.token != 0) response.reply = Reply::taken;
    return;
  } else if (is_delay(key.token)) {
    not_before(key.expires);
  }
  response.reply = Reply::released;
  key = {};
  key.token = request.keeper;
  key.expires = ends;
  notify(request.resource);
}

void ModelNode::delay_new_holds(Key& key, std::uint64_t keeper, std::int64_t ends) {
  key.holds.erase(key.keeper);
  key.keeper = keeper;
  key.holds[keeper] = ends;
}

}  // namespace redlock::simulation
