#include "simulation/model_node.hpp"

#include <algorithm>

namespace redlock::simulation {

using core::Reply;
using core::Verb;

bool ModelNode::knows(Script script, core::ScriptForm form) {
  bool& known = knows_[static_cast<std::size_t>(script)];
  if (form == core::ScriptForm::text) known = true;
  return known;
}

Response ModelNode::execute(const Request& request, True now) {
  Response response;
  response.stamp = request.stamp;
  switch (request.stamp.verb) {
    case Verb::set:
    case Verb::set_and_ttl:
      set(request, now, response);
      break;
    case Verb::extend:
    case Verb::extend_or_set:
      if (!knows(Script::extend, request.form)) {
        response.reply = Reply::script_missing;
      } else {
        extend(request, now, response);
      }
      break;
    case Verb::release:
      if (!knows(Script::release, request.form)) {
        response.reply = Reply::script_missing;
      } else {
        release(request, now, response);
      }
      break;
    case Verb::inspect:
      if (!knows(Script::inspect, request.form)) {
        response.reply = Reply::script_missing;
      } else {
        inspect(request, now, response);
      }
      break;
    case Verb::kill_old:
      response.reply = Reply::done;
      break;
  }
  return response;
}

void ModelNode::set(const Request& request, True now, Response& response) {
  const std::uint64_t there = holder(request.resource, now);
  Key& key = keys_[request.resource];
  if (there != 0 && mutant_ != Mutant::set_without_nx) {
    response.reply = Reply::taken;
    response.holder = there;
    if (request.stamp.verb == Verb::set_and_ttl) {
      response.remaining_ms = key.expires - clock_.milliseconds(now);
    }
    return;
  }
  key = {request.token, clock_.milliseconds(now) + request.ttl_ms};
  response.reply = Reply::granted;
}

void ModelNode::extend(const Request& request, True now, Response& response) {
  const std::uint64_t there = holder(request.resource, now);
  Key& key = keys_[request.resource];
  const std::int64_t expires = clock_.milliseconds(now) + request.ttl_ms;
  if (there == request.token) {
    key.expires = std::max(key.expires, expires);
    response.reply = Reply::extended;
  } else if (there != 0) {
    response.reply = Reply::taken;
  } else if (request.stamp.verb == Verb::extend_or_set) {
    key = {request.token, expires};
    response.reply = Reply::repaired;
  } else {
    response.reply = Reply::gone;
  }
}

void ModelNode::release(const Request& request, True now, Response& response) {
  const std::uint64_t there = holder(request.resource, now);
  if (there == request.token || (there != 0 && mutant_ == Mutant::release_without_compare)) {
    keys_[request.resource] = {};
    response.reply = Reply::released;
  } else {
    response.reply = there == 0 ? Reply::gone : Reply::taken;
  }
}

void ModelNode::inspect(const Request& request, True now, Response& response) const {
  response.holder = holder(request.resource, now);
  response.reply = response.holder == 0 ? Reply::gone : Reply::found;
  if (response.holder != 0) {
    response.remaining_ms = keys_[request.resource].expires - clock_.milliseconds(now);
  }
}

}  // namespace redlock::simulation
