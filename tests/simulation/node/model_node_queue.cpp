#include "simulation/node/model_node.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/waiting/waited_keys.hpp"

namespace redlock::simulation {

using core::Reply;

namespace {

constexpr int queue_longer_than_any = 1 << 30;

}  // namespace

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

bool ModelNode::has_holder(std::size_t resource, True now) {
  Key& key = memory_.keys[resource];
  if (key.token != 0) return key.token != cooldown;
  remove_ended(key, now);
  return !key.holds.empty() || key.next != 0;
}

bool ModelNode::is_open(std::size_t resource, True now) {
  Key& key = memory_.keys[resource];
  if (key.token != 0) return false;
  remove_ended(key, now);
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
  // Longer than a waiting client sleeps.
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
  if (mutant_ != Mutant::the_late_stay_first) memory_.queues[queued].remove(successor);
  if ((successor & sharing) != 0) {
    pass_on_to_readers(resource, successor, request, now);
  } else {
    memory_.keys[resource] = {};
    memory_.keys[resource].token = reservation | successor;
    memory_.keys[resource].expires = millis + request.reserved_ms;
  }
  keep_watch(queued, request, millis);
}

void ModelNode::stand_by(std::size_t resource, std::uint64_t client, std::int64_t millis) {
  // Longer than it takes until the client asks this node again.
  constexpr std::int64_t remembered_for = 4500;
  if (mutant_ == Mutant::only_the_last_stands_by || !memory_.queues[resource].has(client)) return;
  memory_.standbys[resource] = {client, millis + remembered_for, false};
}

void ModelNode::keep_watch(std::size_t resource, const Request& request, std::int64_t millis) {
  const ModelQueue& queue = memory_.queues[resource];
  Memory::Standby& standby = memory_.standbys[resource];
  const bool is_queued = standby.ends > millis && queue.has(standby.client);
  if (is_queued && standby.notified) return;
  const bool comes = is_queued && publish(client_of(standby.client), resource, 1);
  const std::uint64_t next = comes ? standby.client : tell(resource, From::back, 0, 1, resource);
  standby = {next, next != 0 ? millis + request.reserved_ms : 0, true};
}

void ModelNode::join_queue(const Request& request, True now, Response& response) {
  ModelQueue& queue = memory_.queues[request.resource];
  constexpr std::array<std::uint64_t, 2> forms{0, sharing};
  const bool behind = request.number % 2 == 1;
  const bool any = request.number >= 6;
  const std::uint64_t form = !any && request.number >= 4 ? sharing : 0;
  const std::uint64_t client = request.token | form;
  if (form == sharing && is_first_alone(request) && is_for_readers(request.resource, now)) {
    memory_.keys[request.resource].writer = 0;
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
  } else if (form == sharing && is_for_readers(request.resource, now) && key.writer == 0 &&
             mutant_ != Mutant::readers_stay_queued && has_holder(request.resource, now)) {
    if (key.next == 0) memory_.admitted[request.resource].clear();
    let_in_readers(request.resource, request, now);
  }
  const bool reserved = key.writer != 0 && form == sharing;
  const bool has_one = has_holder(request.resource, now) || reserved;
  response.reply = has_one ? Reply::taken : Reply::gone;
  response.is_first = queue.at(0) == client;
}

void ModelNode::check_queue(const Request& request, True now, Response& response) {
  const ModelQueue& queue = memory_.queues[request.resource];
  const bool alone = queue.has(request.token);
  const std::uint64_t client = request.token | (alone ? 0 : sharing);
  response.ticket = queue.ticket(client);
  response.is_first = queue.at(0) == client;
  const std::int64_t millis = clock.milliseconds(now);
  const Memory::Standby& standby = memory_.standbys[request.resource];
  if (standby.ends <= millis || !standby.notified) stand_by(request.resource, client, millis);
  response.reply = finds_free(request, now) ? Reply::gone : Reply::taken;
}

bool ModelNode::finds_free(const Request& request, True now) {
  if (mutant_ == Mutant::only_the_last_stands_by) return false;
  if (request.resource != any_permit) return is_open(request.resource, now);
  for (std::size_t permit = 0; permit < request.permits; ++permit) {
    if (is_free(permit)) return true;
  }
  return false;
}

bool ModelNode::is_first_alone(const Request& request) {
  const std::uint64_t first = memory_.queues[request.resource].at(0);
  const bool alone = client_of(first) == request.token && (first & sharing) == 0;
  return alone && mutant_ != Mutant::readers_stay_queued;
}

void ModelNode::leave_queue(const Request& request, True now, Response& response) {
  const bool was_first = is_first_alone(request);
  memory_.queues[request.resource].remove_all(request.token);
  Memory::Standby& standby = memory_.standbys[request.resource];
  if (client_of(standby.client) == request.token) standby.ends = 0;
  response.reply = Reply::done;
  if (request.permits > 0) return give_permits_back(request, now);
  Key& key = memory_.keys[request.resource];
  const bool lets_in = request.number == 2 || (was_first && is_for_readers(request.resource, now));
  if (key.group != 0) {
    remove_ended(key, now);
    if (key.next != 0) static_cast<void>(admit(request.resource, request.token));
    if (lets_in) key.writer = 0;
    if (key.holds.empty() && key.next == 0 && key.writer == 0) key = {};
  }
  const bool was_reserved = key.token == (reservation | request.token);
  if (was_reserved && mutant_ != Mutant::reservations_are_kept) key = {};
  const bool readers_hold =
      is_for_readers(request.resource, now) && has_holder(request.resource, now);
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

}  // namespace redlock::simulation
