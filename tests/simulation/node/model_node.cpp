#include "simulation/node/model_node.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::simulation {

using core::Reply;
using core::Verb;

bool ModelNode::knows(Script script, core::ScriptForm form) {
  bool& known = knows_[static_cast<std::size_t>(script)];
  if (form == core::ScriptForm::text) known = true;
  return known;
}

void ModelNode::expire(std::size_t resource, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  if (Key& key = memory_.keys[resource]; millis >= key.last()) key = {};
  memory_.queues[resource].expire(millis);
}

std::int64_t ModelNode::Key::last() const {
  std::int64_t last = std::max({expires, writer, next});
  for (const auto& [holder, ends] : holds) last = std::max(last, ends);
  return last;
}

void ModelNode::remove_ended(Key& key, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  std::erase_if(key.holds, [&](const auto& hold) { return hold.second <= millis; });
  if (!key.holds.contains(key.keeper)) key.keeper = 0;
  if (key.writer <= millis) key.writer = 0;
  if (key.next <= millis) key.next = 0;
}

std::int64_t ModelNode::held_for(const Key& key, True now) const {
  std::int64_t last = key.next;
  for (const auto& [token, ends] : key.holds) last = std::max(last, ends);
  return last - clock.milliseconds(now);
}

void ModelNode::name_holders(const Key& key, Response& response) {
  const bool only_delay = key.keeper != 0 && key.leases() == 0;
  (only_delay ? response.holder : response.group) = only_delay ? key.keeper : key.group;
}

bool ModelNode::is_for_readers(std::size_t resource, True now) {
  Key& key = memory_.keys[resource];
  remove_ended(key, now);
  return key.group == 1 && key.keeper == 0;
}

std::vector<std::uint64_t> ModelNode::holders(std::size_t resource, True now) const {
  std::vector<std::uint64_t> all;
  const std::uint64_t alone = holder(resource, now);
  if (alone != 0 && !is_reservation(alone)) all.push_back(alone);
  for (const auto& [token, ends] : memory_.keys[resource].holds) {
    if (clock.milliseconds(now) < ends) all.push_back(token);
  }
  return all;
}

bool ModelNode::ends_within(std::size_t resource, True from, True until) const {
  const Key& key = memory_.keys[resource];
  const auto ends = [&](std::int64_t at) {
    return clock.milliseconds(from) < at && at <= clock.milliseconds(until);
  };
  return ends(memory_.queues[resource].ends()) || ends(key.expires) || ends(key.writer) ||
         std::any_of(key.holds.begin(), key.holds.end(),
                     [&](const auto& hold) { return ends(hold.second); });
}

bool ModelNode::has(std::size_t resource, std::uint64_t token, True now) const {
  const std::vector<std::uint64_t> all = holders(resource, now);
  return std::find(all.begin(), all.end(), token) != all.end();
}

bool ModelNode::has_turn(std::size_t resource, std::uint64_t client) const {
  if (resource == any_permit) {
    return std::any_of(memory_.keys.begin(), memory_.keys.end(), [client](const Key& permit) {
      return permit.token == (reservation | client);
    });
  }
  const Key& key = memory_.keys[resource];
  return key.token == (reservation | client) ||
         (key.next != 0 && memory_.admitted[resource].contains(client));
}

bool ModelNode::has_waiter(std::size_t resource, std::uint64_t client) const {
  const ModelQueue& queue = memory_.queues[resource];
  const bool queued = queue.has(client) || queue.has(client | sharing);
  const Memory::Standby& standby = memory_.standbys[resource];
  const bool watches = standby.ends != 0 && client_of(standby.client) == client;
  return queued || has_turn(resource, client) || watches;
}

bool ModelNode::has_keys(True now) const {
  return std::any_of(memory_.keys.begin(), memory_.keys.end(),
                     [&](const Key& key) { return clock.milliseconds(now) < key.last(); });
}

core::Capabilities ModelNode::capabilities() const noexcept {
  using core::Capability;
  core::Capabilities can;
  if (runs_scripts) can = can.with({Capability::run_scripts});
  if (version != Servers::old) can = can.with({Capability::name_holder});
  if (version == Servers::modern) can = can.with({Capability::set_fenced});
  if (compares) can = can.with({Capability::compare, Capability::set_all});
  return can;
}

Response ModelNode::execute(const Request& request, True now) {
  for (std::size_t resource = 0; resource < resources; ++resource) expire(resource, now);
  if (has_permits) expire(any_permit, now);
  Response response;
  response.stamp = request.stamp;
  // The reading of a reign begins with a write.
  const bool reads_marker =
      core::is_marker_reading(request.stamp.verb) && request.stamp.verb != Verb::read_reign;
  if (now < read_only_until && !reads_marker && request.stamp.verb != Verb::read_clock &&
      request.stamp.verb != Verb::kill_old) {
    response.reply = Reply::error;
    response.read_only = true;
    return response;
  }
  if (!runs_scripts && core::about(request.stamp.verb).form == core::Form::script)
    return response;  // NOPERM
  const auto by_script = [&](Script script, auto&& what) {
    if (knows(script, request.form)) return what();
    response.reply = Reply::script_missing;
  };
  switch (request.stamp.verb) {
    case Verb::set:
    case Verb::set_and_ttl:
      set(request, now, response);
      break;
    case Verb::set_fenced:
    case Verb::set_fenced_and_ttl:
    case Verb::set_fenced_short:
    case Verb::set_fenced_short_and_ttl:
      response = begin_numbered(request, now);
      end_numbered(request, now, response);
      break;
    case Verb::prune_fencing_numbers:
      response.reply = knows(Script::prune, request.form) ? Reply::done : Reply::script_missing;
      if (response.reply == Reply::done) prune(now);
      break;
    case Verb::enter:
      by_script(Script::enter, [&] { enter(request, now, response); });
      break;
    case Verb::take_permit:
      by_script(Script::permit, [&] { take_permit(request, now, response); });
      break;
    case Verb::take:
      by_script(Script::take, [&] {
        if (!write_back_as_planted(request, now, response)) take(request, now, response);
      });
      break;
    case Verb::raise_fence:
      by_script(Script::fence, [&] {
        if (!write_back_as_planted(request, now, response)) fence(request, now, response);
      });
      break;
    case Verb::extend:
    case Verb::extend_or_set:
    case Verb::downgrade:
      by_script(Script::extend, [&] { extend(request, now, response); });
      response.had_it = response.reply == Reply::extended;
      break;
    case Verb::release:
      by_script(Script::release, [&] { release(request, now, response); });
      break;
    case Verb::break_lock:
      by_script(Script::break_lock, [&] { break_lock(request, now, response); });
      break;
    case Verb::release_plain:
      release_plain(request, now, response);
      break;
    case Verb::extend_plain:
    case Verb::repair_plain:
      extend_plain(request, now, response);
      break;
    case Verb::raise_plain:
      response.number = std::max(memory_.numbers[request.resource], memory_.floor.value_or(0));
      response.reply = memory_.floor ? Reply::granted : Reply::behind;
      end_numbered(request, now, response);
      break;
    case Verb::set_all:
      set_all(request, now, response);
      break;
    case Verb::notify:
      response.reply = Reply::done;
      if (is_free(request.resource)) {
        pass_on(request.resource, request, now);
      } else {
        notify(request.resource);
      }
      break;
    case Verb::inspect:
      by_script(Script::inspect, [&] { inspect(request, now, response); });
      break;
    case Verb::expire_orphan:
    case Verb::kill_old:
      response.reply = Reply::done;
      break;
    case Verb::track:
      response.reply = is_free(request.resource) ? Reply::gone : Reply::taken;
      break;
    case Verb::join_queue:
      by_script(Script::queue, [&] { join_queue(request, now, response); });
      break;
    case Verb::leave_queue:
      by_script(Script::leave, [&] { leave_queue(request, now, response); });
      break;
    case Verb::check_queue:
      by_script(Script::check, [&] { check_queue(request, now, response); });
      break;
    case Verb::read_marker:
      response.reply = Reply::marker;
      response.marker = memory_.marker;
      break;
    case Verb::read_floor_and_marker:
      response.reply = Reply::marker;
      response.number = memory_.floor.value_or(0);
      response.marker = memory_.marker;
      break;
    case Verb::read_reign:
      response.reign = memory_.reign;
      response.reply = Reply::marker;
      response.number = memory_.floor.value_or(0);
      response.marker = memory_.marker;
      break;
    case Verb::write_reign:
      by_script(Script::reign, [&] { write_reign(request.reign.value(), now, response); });
      break;
    case Verb::write_marker:
      by_script(Script::mark, [&] { write_marker(request.write, now, response); });
      break;
    case Verb::mark_plain:
      // A transaction cannot decide: the quarantine begins in any case.
      if (request.write.quarantine > core::Duration::zero()) {
        quarantine(std::chrono::ceil<std::chrono::milliseconds>(request.write.quarantine).count(),
                   now);
      }
      write_marker(request.write, now, response);
      break;
    case Verb::write_name:
    case Verb::write_audit:
      response.reply = Reply::done;
      break;
    case Verb::read_evictions:
      response.reply = Reply::done;
      response.number = static_cast<std::int64_t>(evictions_told());
      break;
    case Verb::read_clock:
      response.reply = Reply::clock;
      response.time = clock.local(now);
      break;
  }
  if (Key& key = memory_.keys[request.resource];
      keeps_no_lock && response.reply == Reply::granted && key.token == request.token) {
    key = {};
  }
  return response;
}

std::uint64_t ModelNode::evictions_told() const noexcept {
  switch (mutant_) {
    case Mutant::evictions_untold:
      return 0;
    case Mutant::falls_prove_nothing_evicted:
      return evicted < evicted_before_reset ? 0 : evicted;
    case Mutant::falls_are_ignored:
      return std::max(evicted, evicted_before_reset);
    default:
      return evicted;
  }
}

void ModelNode::inspect(const Request& request, True now, Response& response) const {
  const Key& key = memory_.keys[request.resource];
  const std::int64_t millis = clock.milliseconds(now);
  response.holder = key.token;
  response.group = key.group;
  response.reply = key.token + key.group == 0 ? Reply::gone : Reply::found;
  if (response.reply == Reply::found) response.remaining_ms = key.last() - millis;
  if (key.group == 0) return;
  core::Holds holds;
  std::int64_t delayed_until = 0;
  for (const auto& [token, ends] : key.holds) {
    if (ends <= millis) continue;
    holds.asked_for = holds.asked_for || token == request.token;
    if (token != key.keeper) ++holds.count;
    if (token == key.keeper) delayed_until = ends;
  }
  if (holds.count > 0 || delayed_until == 0) {
    response.holds = holds;
    return;
  }
  response.group = 0;
  response.holder = key.keeper;
  response.remaining_ms = delayed_until - millis;
}

}  // namespace redlock::simulation
