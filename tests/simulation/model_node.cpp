#include "simulation/model_node.hpp"

#include <algorithm>

namespace redlock::simulation {

using core::Reply;
using core::Verb;

namespace {

constexpr std::int64_t day = 24 * hour / 1000;  // in microseconds

}  // namespace

bool ModelNode::knows(Script script, core::ScriptForm form) {
  bool& known = knows_[static_cast<std::size_t>(script)];
  if (form == core::ScriptForm::text) known = true;
  return known;
}

void ModelNode::expire(std::size_t resource, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  if (Key& key = memory_.keys[resource]; millis >= key.expires) key = {};
}

Response ModelNode::execute(const Request& request, True now) {
  expire(request.resource, now);
  Response response;
  response.stamp = request.stamp;
  switch (request.stamp.verb) {
    case Verb::set:
    case Verb::set_and_ttl:
      set(request, now, response);
      break;
    case Verb::set_numbered:
    case Verb::set_numbered_and_ttl:
      response = begin_numbered(request, now);
      end_numbered(request, now, response);
      break;
    case Verb::tend_numbers:
      response.reply = knows(Script::tend, request.form) ? Reply::done : Reply::script_missing;
      if (response.reply == Reply::done) tend(now);
      break;
    case Verb::set_fenced:
    case Verb::raise_fence:
      if (!knows(Script::fence, request.form)) {
        response.reply = Reply::script_missing;
      } else if (!write_back_as_planted(request, now, response)) {
        fence(request, now, response);
      }
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
    case Verb::expire_orphan:
    case Verb::kill_old:
      response.reply = Reply::done;
      break;
    case Verb::read_clock:
      response.reply = Reply::clock;
      response.time = clock.local(now);
      break;
  }
  return response;
}

void ModelNode::set(const Request& request, True now, Response& response) {
  const std::uint64_t there = holder(request.resource, now);
  Key& key = memory_.keys[request.resource];
  if (there != 0 && mutant_ != Mutant::set_without_nx) {
    response.reply = Reply::taken;
    response.holder = there;
    const bool tells =
        request.stamp.verb == Verb::set_and_ttl || request.stamp.verb == Verb::set_numbered_and_ttl;
    if (tells) {
      response.remaining_ms = key.expires - clock.milliseconds(now);
    }
    return;
  }
  key = {request.token, clock.milliseconds(now) + request.ttl_ms};
  response.reply = Reply::granted;
}

Response ModelNode::begin_numbered(const Request& request, True now) {
  expire(request.resource, now);
  Response response;
  response.stamp = request.stamp;
  set(request, now, response);
  if (response.reply != Reply::granted) return response;
  if (!memory_.floor) response.reply = Reply::behind;
  response.number = std::max(memory_.numbers[request.resource], memory_.floor.value_or(0));
  return response;
}

void ModelNode::end_numbered(const Request& request, True now, Response& response) {
  expire(request.resource, now);
  std::int64_t& number = memory_.numbers[request.resource];
  number = std::max(number, request.number);
  if (response.reply != Reply::granted) return;
  response.holder = holder(request.resource, now);
  if (response.holder == 0) response.reply = Reply::behind;
  if (mutant_ == Mutant::trust_the_set) response.holder = request.token;
}

void ModelNode::tend(True now) {
  if (!memory_.floor) return;
  memory_.floor = std::max(*memory_.floor, clock.local(now) / 1000 - 2 * day);
  for (std::int64_t& number : memory_.numbers) {
    if (number < *memory_.floor) number = 0;
  }
}

void ModelNode::fence(const Request& request, True now, Response& response) {
  const std::int64_t micros = clock.local(now) / 1000;
  const std::int64_t millis = clock.milliseconds(now);
  const bool takes = request.stamp.verb == Verb::set_fenced;
  if (takes && request.number > micros + day) return;  // the error that names the clocks
  if (!memory_.floor) memory_.floor = mutant_ == Mutant::no_floor ? 0 : micros;
  Key& key = memory_.keys[request.resource];
  const std::uint64_t there = holder(request.resource, now);
  if (takes ? there != 0 : there != request.token) {
    response.reply = Reply::taken;
    response.holder = there;
    response.remaining_ms = there != 0 ? key.expires - millis : 0;
    return;
  }
  if (takes) key = {request.token, millis + request.ttl_ms};
  std::int64_t& number = memory_.numbers[request.resource];
  const std::int64_t last = std::max(number, *memory_.floor);
  const bool rises = last < request.number;
  if (rises) number = request.number;
  response.reply = rises ? Reply::granted : Reply::behind;
  response.number = rises ? request.number : last;
}

bool ModelNode::write_back_as_planted(const Request& request, True now, Response& response) {
  std::int64_t& number = memory_.numbers[request.resource];
  const bool raise = request.stamp.verb == Verb::raise_fence;
  const std::uint64_t there = holder(request.resource, now);
  if (mutant_ == Mutant::maximum_of_counters && !raise && there == 0) {
    // Said to be the number that was asked for; the driver makes the maximum of what was counted.
    memory_.keys[request.resource] = {request.token, clock.milliseconds(now) + request.ttl_ms};
    response.counted = ++number;
  } else if (mutant_ == Mutant::unconditional_write_back && raise) {
    number = request.number;
  } else if (mutant_ == Mutant::count_unseen_numbers && raise && there == request.token) {
    number = std::max(number, request.number);
  } else {
    return false;
  }
  response.reply = Reply::granted;
  response.number = request.number;
  return true;
}

std::int64_t ModelNode::guard(const GuardRequest& request, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  if (memory_.marker != run) {
    if (memory_.marker == 0 || !request.trusted) {
      const std::int64_t until = millis + request.quarantine_ms;
      memory_.quarantine_until = std::max(memory_.quarantine_until, until);
      const std::int64_t end = clock.local(now) / 1000 + request.quarantine_ms * 1000;
      const std::int64_t floor = mutant_ == Mutant::no_floor ? 0 : end;
      memory_.floor = std::max(memory_.floor.value_or(0), floor);
    }
    memory_.marker = run;
  }
  return std::max<std::int64_t>(0, memory_.quarantine_until - millis);
}

void ModelNode::extend(const Request& request, True now, Response& response) {
  const std::uint64_t there = holder(request.resource, now);
  Key& key = memory_.keys[request.resource];
  const std::int64_t expires = clock.milliseconds(now) + request.ttl_ms;
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
    memory_.keys[request.resource] = {};
    response.reply = Reply::released;
  } else {
    response.reply = there == 0 ? Reply::gone : Reply::taken;
  }
}

void ModelNode::inspect(const Request& request, True now, Response& response) const {
  response.holder = holder(request.resource, now);
  response.reply = response.holder == 0 ? Reply::gone : Reply::found;
  if (response.holder != 0) {
    response.remaining_ms = memory_.keys[request.resource].expires - clock.milliseconds(now);
  }
}

}  // namespace redlock::simulation
