#include "simulation/node/model_node.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace redlock::simulation {

using core::Reply;
using core::Verb;

namespace {

constexpr std::int64_t day = 24 * hour / 1000;  // in microseconds

}  // namespace

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
  remove_ended(key, now);
  response.remaining_ms = held_for(key, now);
  const bool only_delay = key.keeper != 0 && key.leases() == 0;
  const bool mine =
      (key.group == request.group && !only_delay) || mutant_ == Mutant::readers_let_all_in;
  if (key.group != 0 && !mine && (!key.holds.empty() || key.next != 0)) {
    name_holders(key, response);
    if (request.writer_reservation_ms > 0)
      refuse_new_holds(request.resource, request.writer_reservation_ms, now);
    return;
  }
  const bool spared = mutant_ == Mutant::owner_is_spared && request.group > 1;
  if (key.keeper != 0 && !spared) {
    response.holder = key.keeper;
    response.remaining_ms = key.holds.at(key.keeper) - millis;
    return;
  }
  const std::int64_t left = held_for(key, now);
  response.remaining_ms = left > 0 ? std::min(left, key.writer - millis) : key.writer - millis;
  const bool admitted = key.next != 0 && admit(request.resource, request.client);
  if (admitted) let_in_more(request.resource, request, now);
  const bool is_owner = request.group > 1 && key.group == request.group;
  const bool let_in = admitted || (is_owner && has_older_hold(request.resource, now));
  response.writer = key.writer != 0 && !let_in;
  if (response.writer) {
    const bool waits = request.client != 0;
    if (waits && is_open(request.resource, now)) {
      stand_by(request.resource, request.client | (request.group == 1 ? sharing : 0), millis);
      pass_on(request.resource, request, now);
    }
    return;
  }
  if (key.group != request.group) key = {};
  key.group = request.group;
  key.holds[request.token] = millis + request.ttl_ms;
  response.reply = Reply::granted;
  response.remaining_ms = -1;
  response.holds = core::Holds{.count = key.leases()};
}

void ModelNode::take_permit(const Request& request, True now, Response& response) {
  const std::int64_t millis = clock.milliseconds(now);
  std::size_t permit = request.resource;
  if (mutant_ == Mutant::count_permits) {
    // Takes any permit until all are taken: the node counts its tokens, and nothing else.
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
  if (others && waits && !free.empty()) stand_by(any_permit, request.client, millis);
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
  remove_ended(key, now);
  if (key.holds.empty() && key.next == 0) return false;
  name_holders(key, response);
  response.remaining_ms = held_for(key, now);
  if (request.writer_reservation_ms > 0)
    refuse_new_holds(resource, request.writer_reservation_ms, now);
  return mutant_ != Mutant::writer_ignores_readers;
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
  const std::size_t awaited = request.waits_for == 2 ? other : request.resource;
  if (request.waits_for > 0) order = {awaited, 1U - awaited};
  for (std::size_t place = 0; place < (request.both ? 2U : 1U); ++place) {
    const std::size_t resource = order.at(place);
    // The client no longer reads, so it gives up its admission as a reader.
    if (Key& key = memory_.keys[resource]; key.token == 0) {
      remove_ended(key, now);
      if (key.next != 0) static_cast<void>(admit(resource, request.client));
    }
    const ModelQueue& queue = memory_.queues[resource];
    const bool others_first = !queue.empty() && queue.at(0) != request.client;
    if ((queues || keeps) && is_open(resource, now) && others_first) {
      if (queues) enqueue(resource, request.client, *request.ticket, now);
      stand_by(resource, request.client, clock.milliseconds(now));
      pass_on(resource, request, now);
    }
    response.number = resource == request.resource ? 1 : 2;
    if (!is_taken(resource, request, now, response)) continue;
    if (queues) queue_refused(request, now, response);
    Key& kept = memory_.keys[1U - resource];
    const bool stays = keeps && request.keep_ms > 0 && is_reserved_for(kept, request);
    if (stays && mutant_ != Mutant::nothing_is_kept) {
      kept.expires = clock.milliseconds(now) + request.keep_ms;
    }
    const bool is_free_for_it = kept.last() == 0 || is_reserved_for(kept, request);
    if (mutant_ == Mutant::kept_while_it_waits && keeps && is_free_for_it) {
      kept = {};
      kept.token = reservation | request.client;
      kept.expires = clock.milliseconds(now) + 4'000;
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
    // The answer acknowledges the requested number; the driver takes the maximum of the counters.
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

}  // namespace redlock::simulation
