#include "simulation/node/model_node.hpp"

#include <algorithm>

namespace redlock::simulation {

using core::Reply;
using core::Verb;

void ModelNode::set(const Request& request, True now, Response& response) {
  const std::uint64_t there = holder(request.resource, now);
  Key& key = memory_.keys[request.resource];
  if ((there != 0 || key.group != 0) && mutant_ != Mutant::set_without_nx) {
    response.reply = Reply::taken;
    if (version != Servers::old) response.holder = there;
    const bool tells = request.stamp.verb == Verb::set_and_ttl ||
                       request.stamp.verb == Verb::set_fenced_and_ttl ||
                       request.stamp.verb == Verb::set_fenced_short_and_ttl;
    if (tells) {
      response.remaining_ms = key.last() - clock.milliseconds(now);
    }
    return;
  }
  key = {};
  key.token = request.token;
  key.expires = clock.milliseconds(now) + request.ttl_ms;
  response.reply = Reply::granted;
}

bool ModelNode::lock_foreign(std::size_t resource, std::uint64_t token, std::int64_t ttl_ms,
                             True now) {
  expire(resource, now);
  if (!is_free(resource)) return false;
  memory_.keys[resource].token = token;
  memory_.keys[resource].expires = clock.milliseconds(now) + ttl_ms;
  return true;
}

void ModelNode::unlock_foreign(std::size_t resource, std::uint64_t token, True now) {
  expire(resource, now);
  if (memory_.keys[resource].token == token) memory_.keys[resource] = {};
}

Response ModelNode::begin_numbered(const Request& request, True now) {
  expire(request.resource, now);
  Response response;
  response.stamp = request.stamp;
  set(request, now, response);
  if (response.reply != Reply::granted || core::is_short(request.stamp.verb)) return response;
  if (!memory_.floor) response.reply = Reply::behind;
  response.number = std::max(memory_.numbers[request.resource], memory_.floor.value_or(0));
  return response;
}

void ModelNode::end_numbered(const Request& request, True now, Response& response) {
  expire(request.resource, now);
  std::int64_t& number = memory_.numbers[request.resource];
  const bool rises = request.number > number;
  number = std::max(number, request.number);
  if (response.reply != Reply::granted) return;
  if (core::is_short(request.stamp.verb) && !rises && mutant_ != Mutant::unraised_counts) {
    response.reply = Reply::behind;
    return;
  }
  response.holder = holder(request.resource, now);
  if (response.holder == 0) response.reply = Reply::behind;
  if (mutant_ == Mutant::trust_the_set) response.holder = request.token;
}

void ModelNode::release_plain(const Request& request, True now, Response& response) {
  Key& key = memory_.keys[request.resource];
  if (key.group != 0) {
    response.reply = Reply::script_needed;  // WRONGTYPE
    return;
  }
  const std::uint64_t there = holder(request.resource, now);
  const bool deletes =
      there != 0 && (there == request.token || mutant_ == Mutant::release_without_compare);
  response.reply = deletes ? Reply::released : there != 0 ? Reply::taken : Reply::gone;
  if (!deletes) return;
  key = {};
  response.queued = queue(request.resource).exists() || (has_permits && queue(any_permit).exists());
  if (mutant_ == Mutant::plain_release_is_quiet) response.queued = false;
}

void ModelNode::extend_plain(const Request& request, True now, Response& response) {
  Key& key = memory_.keys[request.resource];
  response.reply = Reply::taken;
  if (key.group != 0) return;
  const std::uint64_t there = holder(request.resource, now);
  response.holder = there;
  response.had_it = there == request.token;
  if (response.had_it) key.expires = clock.milliseconds(now) + request.ttl_ms;
  if (there != 0) return;
  response.reply = Reply::gone;
  if (request.stamp.verb != Verb::repair_plain) return;
  set(request, now, response);
  response.reply = Reply::repaired;
}

void ModelNode::set_all(const Request& request, True now, Response& response) {
  response.reply = Reply::taken;
  bool taken = false;
  for (std::size_t i = 0; i < (request.both ? 2U : 1U); ++i) {
    const std::size_t resource = i == 0 ? request.resource : 1U - request.resource;
    const std::uint64_t there = holder(resource, now);
    taken = taken || there != 0 || memory_.keys[resource].group != 0;
    if (there == 0 || response.holder != 0) continue;
    response.holder = there;
    response.number = static_cast<std::int64_t>(i + 1);
  }
  if (taken) return;
  for (std::size_t i = 0; i < (request.both ? 2U : 1U); ++i) {
    Key& key = memory_.keys[i == 0 ? request.resource : 1U - request.resource];
    key = {};
    key.token = request.token;
    key.expires = clock.milliseconds(now) + request.ttl_ms;
  }
  response.reply = Reply::granted;
}

}  // namespace redlock::simulation
