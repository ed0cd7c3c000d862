#include "simulation/model_node.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/membership/marker.hpp"
#include "core/waiting/waited_keys.hpp"

namespace redlock::simulation {

using core::Reply;
using core::Verb;

namespace {

constexpr std::int64_t day = 24 * hour / 1000;  // in microseconds
constexpr int queue_longer_than_any = 1 << 30;

}  // namespace

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

void ModelNode::look(Key& key, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  std::erase_if(key.holds, [&](const auto& hold) { return hold.second <= millis; });
  if (key.writer <= millis) key.writer = 0;
  if (key.next <= millis) key.next = 0;
}

std::int64_t ModelNode::held_for(const Key& key, True now) const {
  std::int64_t last = key.next;
  for (const auto& [token, ends] : key.holds) last = std::max(last, ends);
  return last - clock.milliseconds(now);
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
  const bool watches =
      memory_.watches[resource] != 0 && client_of(memory_.watchers[resource]) == client;
  return queued || has_turn(resource, client) || watches;
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
  if (now < read_only_until && !core::is_marker_reading(request.stamp.verb) &&
      request.stamp.verb != Verb::read_clock && request.stamp.verb != Verb::kill_old) {
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
    case Verb::read_marker:
      response.reply = Reply::marker;
      response.marker = memory_.marker;
      break;
    case Verb::read_floor_and_marker:
      response.reply = Reply::marker;
      response.number = memory_.floor.value_or(0);
      response.marker = memory_.marker;
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
      response.number =
          mutant_ == Mutant::evictions_untold ? 0 : static_cast<std::int64_t>(evicted);
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

void ModelNode::prune(True now) {
  if (!memory_.floor) return;
  memory_.floor = std::max(*memory_.floor, clock.local(now) / 1000 - 2 * day);
  for (std::int64_t& number : memory_.numbers) {
    if (number < *memory_.floor) number = 0;
  }
}

void ModelNode::enter(const Request& request, True now, Response& response) {
  const std::int64_t millis = clock.milliseconds(now);
  Key& key = memory_.keys[request.resource];
  if (is_reserved_for(key, request)) key = {};
  response.reply = Reply::taken;
  response.holder = key.token;
  response.remaining_ms = key.expires - millis;
  if (key.token != 0) return;
  look(key, now);
  response.group = key.group;
  response.remaining_ms = held_for(key, now);
  const bool mine = key.group == request.group || mutant_ == Mutant::readers_let_all_in;
  if (key.group != 0 && !mine && (!key.holds.empty() || key.next != 0)) {
    if (request.writer_reservation_ms > 0)
      refuse_new_holds(request.resource, request.writer_reservation_ms, now);
    return;
  }
  response.group = 0;
  const std::int64_t left = held_for(key, now);
  response.remaining_ms = left > 0 ? std::min(left, key.writer - millis) : key.writer - millis;
  const bool admitted = key.next != 0 && admit(request.resource, request.client);
  if (admitted) let_in_more(request.resource, request, now);
  const bool is_owner = request.group > 1 && key.group == request.group;
  const bool let_in = admitted || (is_owner && has_older_hold(request.resource, now));
  response.writer = key.writer != 0 && !let_in;
  if (response.writer) {
    const bool waits = request.client != 0;
    if (waits && is_open(request.resource, now)) pass_on(request.resource, request, now);
    return;
  }
  if (key.group != request.group) key = {};
  key.group = request.group;
  key.holds[request.token] = millis + request.ttl_ms;
  response.reply = Reply::granted;
  response.remaining_ms = -1;
  response.holds = core::Holds{.count = static_cast<std::uint32_t>(key.holds.size())};
}

void ModelNode::take_permit(const Request& request, True now, Response& response) {
  const std::int64_t millis = clock.milliseconds(now);
  std::size_t permit = request.resource;
  if (mutant_ == Mutant::count_permits) {
    // Any permit, as long as not all are taken: so many tokens and no more are on this node.
    while (permit < request.permits && memory_.keys[permit].token != 0) ++permit;
    if (permit == request.permits) permit = 0;
  }
  ModelQueue& queue = memory_.queues[any_permit];
  const bool waits = request.client != 0 && memory_.awaited_until > millis;
  const auto take = [&] {
    Key& key = memory_.keys[permit];
    key = {};
    key.token = request.token;
    key.expires = millis + request.ttl_ms;
    if (waits) queue.remove(request.client);
    response.reply = Reply::granted;
  };
  if (waits ? is_reserved_for(memory_.keys[permit], request) : is_free(permit)) return take();
  response.reply = Reply::taken;
  std::optional<std::size_t> mine;
  enum class State : std::uint8_t { taken, reserved, free };
  std::vector<State> states(request.permits, State::taken);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < request.permits; ++i) {
    Key& key = memory_.keys[i];
    const bool for_it = is_reserved_for(key, request);
    if (for_it && mine) key = {};
    if (key.last() == 0) {
      free.push_back(i);
      states[i] = State::free;
      continue;
    }
    if (for_it) mine = i;
    if (for_it) states[i] = State::free;
    if (!for_it && request.client != 0 && is_reservation(key.token)) states[i] = State::reserved;
    const std::int64_t left = key.last() - millis;
    if (response.remaining_ms < 0 || left < response.remaining_ms) response.remaining_ms = left;
  }
  if (waits && mine && states[permit] != State::taken &&
      mutant_ != Mutant::permits_are_not_exchanged) {
    const Key wanted = memory_.keys[permit];
    take();
    response.remaining_ms = -1;
    if (states[permit] == State::reserved) {
      memory_.keys[*mine] = wanted;
    } else {
      memory_.keys[*mine] = {};
      pass_on(*mine, request, now);
    }
    return;
  }
  const auto is_first = [&] { return queue.at(0) == request.client; };
  if (request.client != 0 && states[permit] == State::free && (queue.empty() || is_first())) {
    response.remaining_ms = -1;
    return take();
  }
  const bool queues = request.client != 0 && request.ticket;
  if (queues && !mine) {
    response.ticket = enqueue(any_permit, request.client, *request.ticket, now);
  }
  const bool others = !queue.empty();
  for (const std::size_t i : free) {
    if (!others) break;
    pass_on(i, request, now);
    if (is_free(i)) break;
    if (is_reserved_for(memory_.keys[i], request)) mine = i;
  }
  response.free.assign(request.permits, '0');
  for (std::size_t i = 0; i < request.permits; ++i) {
    const bool can_have =
        states[i] != State::taken && (mine || (states[i] == State::free && !others));
    if (can_have) response.free[i] = '1';
  }
  response.is_first = queues && is_first();
}

bool ModelNode::is_taken(std::size_t resource, const Request& request, True now,
                         Response& response) {
  Key& key = memory_.keys[resource];
  const std::int64_t millis = clock.milliseconds(now);
  if (is_reserved_for(key, request)) return false;
  response.reply = Reply::taken;
  response.holder = key.token;
  response.remaining_ms = key.expires - millis;
  if (key.token != 0) return true;
  look(key, now);
  if (key.holds.empty() && key.next == 0) return false;
  response.group = key.group;
  response.remaining_ms = held_for(key, now);
  if (request.writer_reservation_ms > 0)
    refuse_new_holds(resource, request.writer_reservation_ms, now);
  return mutant_ != Mutant::writer_ignores_readers;
}

void ModelNode::reserve(Key& key, const Request& request, True now) const {
  key = {};
  key.token = reservation | request.client;
  key.expires = clock.milliseconds(now) + request.writer_reservation_ms;
}

void ModelNode::take(const Request& request, True now, Response& response) {
  const std::int64_t micros = clock.local(now) / 1000;
  if (request.number > micros + day) return;  // the error that names the clocks
  if (request.number > 0 && !memory_.floor) {
    memory_.floor = mutant_ == Mutant::no_floor ? 0 : micros;
  }
  const std::size_t other = 1U - request.resource;
  const bool queues = request.client != 0 && request.ticket && !request.both;
  const bool keeps = request.client != 0 && request.both;
  std::array<std::size_t, 2> order{request.resource, other};
  if (request.both) std::sort(order.begin(), order.end());
  for (std::size_t place = 0; place < (request.both ? 2U : 1U); ++place) {
    const std::size_t resource = order.at(place);
    // The client does not read any more: its place among the readers that were let in is given up.
    if (Key& key = memory_.keys[resource]; key.token == 0) {
      look(key, now);
      if (key.next != 0) static_cast<void>(admit(resource, request.client));
    }
    const ModelQueue& queue = memory_.queues[resource];
    const bool others_first = !queue.empty() && queue.at(0) != request.client;
    if ((queues || keeps) && is_open(resource, now) && others_first) {
      if (queues) enqueue(resource, request.client, *request.ticket, now);
      pass_on(resource, request, now);
    }
    response.number = resource == request.resource ? 1 : 2;
    if (!is_taken(resource, request, now, response)) continue;
    if (queues) queue_refused(request, now, response);
    const bool kept = keeps && request.writer_reservation_ms > 0 && place > 0;
    if (kept && mutant_ != Mutant::nothing_is_kept) {
      reserve(memory_.keys[order.front()], request, now);
    }
    return;
  }
  if (queues) memory_.queues[request.resource].remove(request.client);
  response.number = 0;
  response.holder = response.group = 0;
  response.remaining_ms = -1;
  std::int64_t last = memory_.floor.value_or(0);
  for (const std::size_t resource : {std::size_t{request.resource}, other}) {
    if (resource == other && !request.both) continue;
    Key& key = memory_.keys[resource];
    key = {};
    key.token = request.token;
    key.expires = clock.milliseconds(now) + request.ttl_ms;
    last = std::max(last, memory_.numbers[resource]);
  }
  response.reply = Reply::granted;
  if (request.number > 0) raise(request, last, response);
}

std::int64_t ModelNode::enqueue(std::size_t resource, std::uint64_t client, std::int64_t ticket,
                                True now) {
  const auto remember = std::chrono::duration_cast<std::chrono::milliseconds>(core::queued_for);
  ModelQueue& queue = memory_.queues[resource];
  if (queue.keep_for(remember.count(), clock.milliseconds(now))) {
    memory_.awaited_until =
        std::max(memory_.awaited_until, clock.milliseconds(now) + remember.count());
  }
  if (client == client_of(client)) queue.remove(client | sharing);
  return queue.enqueue(client, ticket);
}

void ModelNode::queue_refused(const Request& request, True now, Response& response) {
  response.ticket = enqueue(request.resource, request.client, *request.ticket, now);
  response.is_first = memory_.queues[request.resource].at(0) == request.client;
}

void ModelNode::raise(const Request& request, std::int64_t last, Response& response) {
  const bool rises = last < request.number;
  if (rises) memory_.numbers[request.resource] = request.number;
  if (rises && request.both) memory_.numbers[1U - request.resource] = request.number;
  response.reply = rises ? Reply::granted : Reply::behind;
  response.number = rises ? request.number : last;
}

void ModelNode::fence(const Request& request, True now, Response& response) {
  const std::int64_t micros = clock.local(now) / 1000;
  if (!memory_.floor) memory_.floor = mutant_ == Mutant::no_floor ? 0 : micros;
  std::int64_t last = *memory_.floor;
  for (std::size_t i = 0; i < (request.both ? 2U : 1U); ++i) {
    const std::size_t resource = i == 0 ? request.resource : 1U - request.resource;
    const Key& key = memory_.keys[resource];
    if (key.token != request.token) {
      response.reply = Reply::taken;
      response.holder = key.token;
      const std::int64_t ends = key.last();
      response.remaining_ms = ends > 0 ? ends - clock.milliseconds(now) : 0;
      return;
    }
    last = std::max(last, memory_.numbers[resource]);
  }
  raise(request, last, response);
}

bool ModelNode::write_back_as_planted(const Request& request, True now, Response& response) {
  std::int64_t& number = memory_.numbers[request.resource];
  const bool raise = request.stamp.verb == Verb::raise_fence;
  const std::uint64_t there = holder(request.resource, now);
  if (mutant_ == Mutant::maximum_of_counters && !raise && there == 0) {
    // Said to be the number that was asked for; the driver makes the maximum of what was counted.
    memory_.keys[request.resource].token = request.token;
    memory_.keys[request.resource].expires = clock.milliseconds(now) + request.ttl_ms;
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

GuardResponse ModelNode::guard(const GuardRequest& request, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  const std::optional<core::Marker> there = core::parse_marker(memory_.marker);
  const bool own = there && there->run_id == request.run_id && there->replid == request.replid;
  if (!own && request.marks) {
    core::Marker marker = there.value_or(core::Marker{});
    const bool keeps = there && there->run_id != request.run_id && request.trusted &&
                       marker.durable && !marker.self.empty() && marker.self == request.name;
    if (!keeps) {
      const std::int64_t old = there ? there->max_ttl.count() : request.max_ttl_ms;
      quarantine(old != request.max_ttl_ms ? old + (old + 99) / 100 + 2 : request.quarantine_ms,
                 now);
      marker.state = core::Marker::State::blank;
      marker.deployment.clear();
      marker.members.clear();
      marker.admissions.clear();
      marker.self = request.name;
      marker.max_ttl = std::chrono::milliseconds(old);
      marker.remembers_since = there ? core::Marker::from_its_writing : core::Marker::always;
    }
    marker.incarnation = request.incarnation;
    marker.run_id = request.run_id;
    marker.replid = request.replid;
    marker.durable = request.trusted;
    memory_.marker = core::format_marker(marker) + ' ' + std::to_string(clock.local(now) / 1000);
  }
  return {memory_.marker, std::max<std::int64_t>(0, memory_.quarantine_until - millis),
          !own && !request.marks};
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
    look(key, now);
    response.reply = Reply::taken;
    const bool held = !key.holds.empty() || key.next != 0;
    if (key.token != 0 ? key.token != request.token : held) return;
    gone = gone || key.token == 0;
  }
  response.reply = gone ? Reply::gone : Reply::extended;
  if (gone && request.stamp.verb != Verb::extend_or_set) return;
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
  const bool repairs = request.stamp.verb == Verb::extend_or_set;
  const bool ours = key.token != 0 && key.token == request.token;
  response.reply = ours ? Reply::extended : Reply::taken;
  if (ours) key.expires = std::max(key.expires, ends);
  if (ours && (request.downgraded || downgrades)) {
    share_with_readers(request, now);
    response.holds = core::Holds{.count = 1};
    return;
  }
  if (key.token != 0) return;
  const bool none = key.group == 0;
  look(key, now);
  // A caller that extends by the token alone does not know the group.
  const std::uint64_t group = repairs ? request.group : 0;
  const bool is_alone = repairs && group == 0;
  const auto mine = key.holds.find(request.token);
  if (mine != key.holds.end() && !is_alone) {
    if ((request.downgraded || downgrades) && key.group != 1) return;
    response.holds = core::Holds{.count = static_cast<std::uint32_t>(key.holds.size())};
    mine->second = std::max(mine->second, ends);
    response.reply = Reply::extended;
    return;
  }
  if (!none && key.group != group && (!key.holds.empty() || key.next != 0)) return;
  response.reply = Reply::gone;
  if (!repairs || (key.writer != 0 && group == 1)) return;
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

void ModelNode::release(const Request& request, True now, Response& response) {
  Key& mine = memory_.keys[request.resource];
  if (request.client != 0 && request.ticket && !request.both && !is_reserved_for(mine, request)) {
    const std::size_t queued = request.permits > 0 ? any_permit : request.resource;
    enqueue(queued, request.client, *request.ticket, now);
  }
  look(mine, now);
  const bool waits_for_interval = mine.holds.empty() && request.cooldown_ms > 0;
  if (mine.group != 0 && !request.both && !waits_for_interval) {
    return leave(request, now, response);
  }
  response.reply = Reply::gone;
  for (std::size_t i = 0; i < (request.both ? 2U : 1U); ++i) {
    Key& key = memory_.keys[i == 0 ? request.resource : 1U - request.resource];
    look(key, now);
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
      } else if (request.keeps_first && resource == 0) {
        reserve(key, request, now);
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

bool ModelNode::has_holder(std::size_t resource, True now) {
  Key& key = memory_.keys[resource];
  if (key.token != 0) return key.token != cooldown;
  look(key, now);
  return !key.holds.empty() || key.next != 0;
}

bool ModelNode::is_open(std::size_t resource, True now) {
  Key& key = memory_.keys[resource];
  if (key.token != 0) return false;
  look(key, now);
  return key.holds.empty() && key.next == 0;
}

std::uint64_t ModelNode::tell(std::size_t queued, From end, std::size_t position,
                              std::uint32_t before, std::size_t resource) {
  ModelQueue& queue = memory_.queues[queued];
  const int most_gone = mutant_ == Mutant::the_gone_are_too_many ? 1 : queue_longer_than_any;
  for (int gone = 0; gone <= most_gone && position < queue.size(); ++gone) {
    const std::size_t place = end == From::front ? position : queue.size() - 1 - position;
    const std::uint64_t client = queue.at(place);
    if (publish(client_of(client), resource, before)) return client;
    queue.remove(client);
  }
  return 0;
}

bool ModelNode::is_permit(std::size_t resource) const {
  return has_permits && resource != any_permit && mutant_ != Mutant::any_permit_is_quiet;
}

void ModelNode::notify(std::size_t resource) {
  if (tell(resource, From::front, 0, 0, resource) != 0) {
    tell(resource, From::front, 1, 1, resource);
  } else if (is_permit(resource)) {
    notify(any_permit);
  }
}

void ModelNode::refuse_new_holds(std::size_t resource, std::int64_t wait_ms, True now) {
  Key& key = memory_.keys[resource];
  Memory::Before& before = memory_.before[resource];
  const std::int64_t ends = clock.milliseconds(now) + wait_ms;
  if (key.group != 1) {
    if (key.writer == 0) {
      before.holds.clear();
      for (const auto& [token, until] : key.holds) before.holds.insert(token);
    }
    before.ends = ends;
  }
  key.writer = ends;
}

bool ModelNode::has_older_hold(std::size_t resource, True now) const {
  const Memory::Before& before = memory_.before[resource];
  if (before.ends <= clock.milliseconds(now)) return false;
  const auto& holds = memory_.keys[resource].holds;
  return std::any_of(before.holds.begin(), before.holds.end(),
                     [&](std::uint64_t token) { return holds.contains(token); });
}

bool ModelNode::admit(std::size_t resource, std::uint64_t client) {
  if (client == 0 || memory_.admitted[resource].erase(client) == 0) return false;
  if (memory_.admitted[resource].empty()) memory_.keys[resource].next = 0;
  return true;
}

void ModelNode::pass_on_to_readers(std::size_t resource, std::uint64_t reader,
                                   const Request& request, True now) {
  memory_.keys[resource] = {};
  memory_.keys[resource].group = 1;
  memory_.admitted[resource] = {client_of(reader)};
  let_in_readers(resource, request, now);
}

void ModelNode::let_in_readers(std::size_t resource, const Request& request, True now) {
  // Longer than a client sleeps that waits.
  constexpr std::int64_t refused_for = 4000;
  ModelQueue& queue = memory_.queues[resource];
  auto& admitted = memory_.admitted[resource];
  const std::int64_t millis = clock.milliseconds(now);
  const int most = mutant_ == Mutant::readers_come_one_by_one ? 0 : let_in_at_once;
  for (int i = 0; i < most && (queue.at(0) & sharing) != 0; ++i) {
    const std::uint64_t next = queue.at(0);
    queue.remove(next);
    if (publish(client_of(next), resource, 0)) admitted.insert(client_of(next));
  }
  Key& key = memory_.keys[resource];
  if (!admitted.empty()) key.next = millis + request.reserved_ms;
  const bool writes = (queue.at(0) & sharing) == 0 || mutant_ == Mutant::one_more_reader_writes;
  if (!queue.empty() && writes) key.writer = millis + std::max(refused_for, request.reserved_ms);
}

void ModelNode::let_in_more(std::size_t resource, const Request& request, True now) {
  const Key& key = memory_.keys[resource];
  const bool reads = (memory_.queues[resource].at(0) & sharing) != 0;
  if (!reads || mutant_ == Mutant::readers_come_one_by_one) return;
  if (key.next == 0) memory_.admitted[resource].clear();
  let_in_readers(resource, request, now);
}

void ModelNode::pass_on(std::size_t resource, const Request& request, True now) {
  const std::int64_t millis = clock.milliseconds(now);
  std::size_t queued = resource;
  memory_.queues[queued].expire(millis);
  std::uint64_t successor = tell(queued, From::front, 0, 0, resource);
  if (successor == 0 && is_permit(resource)) {
    queued = any_permit;
    memory_.queues[queued].expire(millis);
    successor = tell(queued, From::front, 0, 0, resource);
  }
  if (successor == 0) return;
  memory_.queues[queued].remove(successor);
  if ((successor & sharing) != 0) {
    pass_on_to_readers(resource, successor, request, now);
  } else {
    memory_.keys[resource] = {};
    memory_.keys[resource].token = reservation | successor;
    memory_.keys[resource].expires = millis + request.reserved_ms;
  }
  keep_watch(queued, request, millis);
}

void ModelNode::keep_watch(std::size_t resource, const Request& request, std::int64_t millis) {
  const ModelQueue& queue = memory_.queues[resource];
  std::uint64_t& watcher = memory_.watchers[resource];
  if (memory_.watches[resource] > millis && queue.has(watcher)) return;
  const std::uint64_t last = tell(resource, From::back, 0, 1, resource);
  memory_.watches[resource] = last != 0 ? millis + request.reserved_ms : 0;
  watcher = last;
}

void ModelNode::join_queue(const Request& request, True now, Response& response) {
  ModelQueue& queue = memory_.queues[request.resource];
  constexpr std::array<std::uint64_t, 2> forms{0, sharing};
  const bool behind = request.number % 2 == 1;
  const bool any = request.number >= 6;
  const std::uint64_t form = !any && request.number >= 4 ? sharing : 0;
  const std::uint64_t client = request.token | form;
  if (form == sharing && is_first_alone(request)) {
    if (Key& key = memory_.keys[request.resource]; key.group == 1) key.writer = 0;
  }
  for (const std::uint64_t other : forms) {
    if (behind || other != form) queue.remove(request.token | other);
  }
  const bool is_new = !queue.has(client);
  response.ticket = enqueue(request.resource, client, behind ? 0 : request.ticket.value_or(0), now);
  if (any) {
    response.is_first = queue.at(0) == client;
    response.reply = is_new ? Reply::gone : Reply::taken;
    return;
  }
  Key& key = memory_.keys[request.resource];
  const bool of_several = request.number == 2 || request.number == 3;
  if (const std::uint64_t next = client_of(key.token & ~reservation);
      of_several && is_reservation(key.token) && queue.has(next) && queue.at(0) != next) {
    key = {};
  }
  if (is_open(request.resource, now)) {
    pass_on(request.resource, request, now);
  } else if (form == sharing && key.group == 1 && key.writer == 0 &&
             mutant_ != Mutant::readers_stay_queued && has_holder(request.resource, now)) {
    if (key.next == 0) memory_.admitted[request.resource].clear();
    let_in_readers(request.resource, request, now);
  }
  const bool reserved = key.writer != 0 && form == sharing;
  const bool has_one = has_holder(request.resource, now) || reserved;
  response.reply = has_one ? Reply::taken : Reply::gone;
  response.is_first = queue.at(0) == client;
}

bool ModelNode::is_first_alone(const Request& request) {
  const std::uint64_t first = memory_.queues[request.resource].at(0);
  const bool alone = client_of(first) == request.token && (first & sharing) == 0;
  return alone && mutant_ != Mutant::readers_stay_queued;
}

void ModelNode::leave_queue(const Request& request, True now, Response& response) {
  const bool was_first = is_first_alone(request);
  memory_.queues[request.resource].remove_all(request.token);
  if (client_of(memory_.watchers[request.resource]) == request.token) {
    memory_.watches[request.resource] = 0;
  }
  response.reply = Reply::done;
  if (request.permits > 0) return give_permits_back(request, now);
  Key& key = memory_.keys[request.resource];
  const bool lets_in = request.number == 2 || (was_first && key.group == 1);
  if (key.group != 0) {
    look(key, now);
    if (key.next != 0) static_cast<void>(admit(request.resource, request.token));
    if (lets_in) key.writer = 0;
    if (key.holds.empty() && key.next == 0 && key.writer == 0) key = {};
  }
  const bool was_reserved = key.token == (reservation | request.token);
  if (was_reserved && mutant_ != Mutant::reservations_are_kept) key = {};
  const bool readers_hold = key.group == 1 && has_holder(request.resource, now);
  if (lets_in && readers_hold) {
    if (key.next == 0) memory_.admitted[request.resource].clear();
    let_in_readers(request.resource, request, now);
  } else if (readers_hold && key.writer == 0) {
    let_in_more(request.resource, request, now);
  }
  if (is_open(request.resource, now)) {
    pass_on(request.resource, request, now);
  } else if (request.number == 1 || !has_holder(request.resource, now)) {
    notify(request.resource);
  } else if (key.next != 0 || (is_reservation(key.token) && !was_reserved)) {
    keep_watch(request.resource, request, clock.milliseconds(now));
  }
}

void ModelNode::give_permits_back(const Request& request, True now) {
  for (std::size_t permit = 0; permit < request.permits; ++permit) {
    Key& key = memory_.keys[permit];
    if (key.token == (reservation | request.token)) {
      if (mutant_ == Mutant::reservations_are_kept) continue;
      key = {};
      pass_on(permit, request, now);
    } else if (is_reservation(key.token)) {
      keep_watch(any_permit, request, clock.milliseconds(now));
    }
  }
}

void ModelNode::leave(const Request& request, True now, Response& response) {
  Key& key = memory_.keys[request.resource];
  const std::uint64_t group = key.group;
  look(key, now);
  if (key.holds.erase(request.token) == 1) {
    response.reply = Reply::released;
    response.holds = core::Holds{.count = static_cast<std::uint32_t>(key.holds.size())};
    if (!key.holds.empty() || key.next != 0) {
      if (key.holds.empty() || key.writer == 0) notify(request.resource);
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
    response.holds = core::Holds{.count = static_cast<std::uint32_t>(key.holds.size())};
  }
}

void ModelNode::break_lock(const Request& request, True now, Response& response) {
  Key& key = memory_.keys[request.resource];
  look(key, now);
  response.reply = Reply::gone;
  if (key.group != 0) {
    const bool was_there = key.holds.erase(request.token) == 1;
    response.holds = core::Holds{.count = static_cast<std::uint32_t>(key.holds.size())};
    if (!key.holds.empty()) {
      response.reply = was_there ? Reply::released : Reply::taken;
      if (was_there) refuse_new_holds(request.resource, request.ttl_ms, now);
      return;
    }
    if (!was_there) return;
  } else if (key.token != request.token) {
    if (key.token != 0) response.reply = Reply::taken;
    return;
  }
  response.reply = Reply::released;
  key = {};
  key.token = request.keeper;
  key.expires = clock.milliseconds(now) + request.ttl_ms;
  notify(request.resource);
}

void ModelNode::inspect(const Request& request, True now, Response& response) const {
  const Key& key = memory_.keys[request.resource];
  const std::int64_t millis = clock.milliseconds(now);
  response.holder = key.token;
  response.group = key.group;
  response.reply = key.token + key.group == 0 ? Reply::gone : Reply::found;
  if (response.reply == Reply::found) response.remaining_ms = key.last() - millis;
  if (key.group == 0) return;
  response.holds.emplace();
  for (const auto& [token, ends] : key.holds) {
    if (ends <= millis) continue;
    ++response.holds->count;
    response.holds->asked_for = response.holds->asked_for || token == request.token;
  }
}

void ModelNode::quarantine(std::int64_t milliseconds, True now) {
  memory_.quarantine_until =
      std::max(memory_.quarantine_until, clock.milliseconds(now) + milliseconds);
  const std::int64_t end = clock.local(now) / 1000 + milliseconds * 1000;
  const std::int64_t floor = mutant_ == Mutant::no_floor ? 0 : end;
  memory_.floor = std::max(memory_.floor.value_or(0), floor);
}

bool ModelNode::has_keys(True now) const {
  return std::any_of(memory_.keys.begin(), memory_.keys.end(),
                     [&](const Key& key) { return clock.milliseconds(now) < key.last(); });
}

void ModelNode::pretend_to_remember() {
  core::Marker marker = core::parse_marker(memory_.marker).value();
  marker.remembers_since = core::Marker::always;
  memory_.marker = core::format_marker(marker) + ' ' + std::to_string(marker.written_at.count());
}

void ModelNode::write_marker(const core::MarkerWrite& write, True now, Response& response) {
  if (memory_.marker == write.expected) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(write.quarantine);
    if (write.quarantine > core::Duration::zero()) quarantine(milliseconds.count(), now);
    memory_.marker = write.text + ' ' + std::to_string(clock.local(now) / 1000);
    if (mutant_ == Mutant::memory_is_not_asked_for) pretend_to_remember();
  }
  response.reply = Reply::marker;
  response.marker = memory_.marker;
  response.time =
      ms * std::max<std::int64_t>(0, memory_.quarantine_until - clock.milliseconds(now));
}

}  // namespace redlock::simulation
