#include <algorithm>
#include <charconv>
#include <utility>

#include "core/votes/validity.hpp"
#include "simulation/simulation.hpp"

namespace redlock::simulation {

using core::Verb;

void Simulation::step(std::uint32_t index, const core::Event& event) {
  Client& client = clients_[index];
  if (!client.alive || !checker_.violation().empty()) return;
  const bool its_clock_stops =
      scenario_.mutant == Mutant::clock_stops_in_pauses || scenario_.between_standstills > 0;
  if (its_clock_stops && client.paused_until > now_) return;
  commands_.clear();
  const core::Instant now = client.clock.instant(now_);
  client.engine->step(now, event, commands_);
  client.invariants.check(*client.engine, now);
  if (!client.invariants.broken().empty()) checker_.violated(client.invariants.broken());
  for (const core::Command& command : commands_) {
    if (!client.alive || !checker_.violation().empty()) break;
    std::visit([&](const auto& alternative) { carry_out(index, alternative); }, command);
  }
  if (!client.alive) return;
  // As the library does at the end of a turn.
  while (!client.lost.empty()) {
    const core::ClaimId lost = client.lost.back();
    client.lost.pop_back();
    step(index, core::Release{core::CallId::none, lost});
    if (!client.alive) return;
  }
  end_turn(index);
  const auto next = client.engine->next_deadline();
  if (!next) return;
  True at = std::max(now_, client.clock.when(*next));
  if (scenario_.mutant == Mutant::sleepy_driver && random_.per_mille(20)) at += 5 * ms;
  if (at >= client.timer_at) return;
  client.timer_at = at;
  plan(at, Kind::timer, index, client.life);
}

void Simulation::end_turn(std::uint32_t index) {
  Client& client = clients_[index];
  if (client.engine->unproven().empty() || client.turn_ends) return;
  // Now and then, several events make one turn.
  if (random_.per_mille(300)) {
    client.turn_ends = true;
    return plan(now_ + 1 + random_.below(100'000), Kind::turn, index, client.life);
  }
  step(index, core::TurnEnd{});
}

void Simulation::carry_out(std::uint32_t index, const core::Connect& command) {
  clients_[index].marks[command.node] = command.marks;
  connect(index, command.node);
}

void Simulation::carry_out(std::uint32_t index, const core::Disconnect& command) {
  Client& client = clients_[index];
  const core::NodeIndex node = command.node;
  ++client.attempt[node];
  if (client.connection[node] < 0) return;
  tell("client ", index, " drops its connection to node ", int{node});
  drop_client_side(static_cast<std::uint32_t>(client.connection[node]));
  client.connection[node] = -1;
}

void Simulation::carry_out(std::uint32_t index, const core::NodeLearned& command) {
  // All members are configured, so only an intruder who could write to a minority names another
  // one.
  checker_.violated("invariant 18: client " + std::to_string(index) + " learns of node " +
                    std::to_string(int{command.node}) + ", which is no member");
}

void Simulation::carry_out(std::uint32_t index, const core::Subscribe& command) {
  command.nodes.each([&](core::NodeIndex node) { subscribe(index, node); });
}

void Simulation::carry_out(std::uint32_t index, const core::ProbeSubscription& command) {
  command.nodes.each([&](core::NodeIndex node) {
    const Subscription& mine = subscription(index, node);
    if (mine.state != Subscription::State::open || mine.silent) return;
    const True there = transit(index, mine.server);
    plan_notification(there + delay(), Kind::subscribed, index, node, 0);
  });
}

void Simulation::carry_out(std::uint32_t index, const core::Unsubscribe& command) {
  unsubscribe(index, command.node);
}

void Simulation::carry_out(std::uint32_t index, const core::Drained&) {
  const Client& client = clients_[index];
  if (!client.closing) return checker_.violated("an open client was drained");
  for (const Slot& slot : client.slots) {
    if (slot.acquire + slot.extend + slot.release != 0) {
      checker_.violated("invariant 7: a request was not answered by the shutdown");
    }
  }
  end_closed(index);
}

void Simulation::carry_out(std::uint32_t index, const core::Undelivered& command) {
  Client& client = clients_[index];
  client.undelivered.add(command.node);
  client.left[command.node] = command.left;
  tell("client ", index, " leaves ", command.releases, " keys on node ", command.node, " for ",
       command.left.count() / 1000, " us");
  if (scenario_.mutant == Mutant::half_the_rest) client.left[command.node] /= 2;
}

void Simulation::end_closed(std::uint32_t index) {
  Client& client = clients_[index];
  for (const std::uint64_t token : client.tokens) {
    for (std::size_t node = 0; node < scenario_.nodes; ++node) {
      // If clocks leap by days, nobody knows when a key is gone.
      if (scenario_.any_clocks) continue;
      const bool told = client.undelivered.has(static_cast<core::NodeIndex>(node));
      // After the time that the client reported, the key is gone, unless the node writes it again
      // or the node's clock is set.
      const bool was_set = stepped_[node].at >= 0;
      if (told && was_set) continue;
      const True gone_by = told ? now_ + client.left[node].count() : now_;
      bool there = false;
      for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
        there = there || leader(static_cast<std::uint32_t>(node)).has(resource, token, gone_by);
      }
      if (told) {
        checker_.closed_with_a_word(token, node, there);
      } else {
        checker_.closed(token, node, there, now_);
      }
    }
    if (!client.undelivered.empty() || scenario_.any_clocks) checker_.left(token);
  }
  client.tokens.clear();
  end_client(index);
}

std::uint8_t Simulation::resource_of(std::string_view key) {
  if (key.back() == '#') return any_permit;
  // The number at the end of the key, which a permit's key has too.
  std::uint8_t number = 0;
  const std::size_t digits = key.find_last_not_of("0123456789") + 1;
  std::from_chars(key.data() + digits, key.data() + key.size(), number);
  return number;
}

std::uint64_t Simulation::group_of(std::string_view group) {
  if (group.empty()) return 0;
  if (group == "shared") return 1;
  return group.back() == 'a' ? 2 : 3;
}

Request Simulation::request_for(std::uint32_t index, const core::Request& command) const {
  using std::chrono::milliseconds;
  const core::Terms& terms = command.terms;
  Request request;
  request.stamp = command.stamp;
  request.form = command.form;
  if (!terms.resource.empty()) request.resource = resource_of(terms.resource);
  if (!terms.token.empty()) request.token = number_of(terms.token);
  request.ttl_ms = std::chrono::floor<milliseconds>(terms.ttl).count();
  request.both = !terms.more_resources.empty();
  request.group = group_of(terms.group);
  request.permits = terms.permits;
  request.number = static_cast<std::int64_t>(terms.fencing_number);
  request.cooldown_ms = std::chrono::ceil<milliseconds>(terms.cooldown).count();
  request.writer_reservation_ms =
      std::chrono::floor<milliseconds>(terms.writer_reservation).count();
  if (!terms.client.empty()) request.client = waiter(index);
  request.ticket = terms.ticket;
  request.quiet = terms.quiet;
  request.downgraded = terms.downgraded;
  request.by_token = terms.by_token;
  request.waits_for = terms.waits_for;
  request.kept = terms.kept;
  request.keep_ms = std::chrono::floor<milliseconds>(terms.keep).count();
  request.reserved_ms = std::chrono::floor<milliseconds>(terms.reserved_for).count();
  if (!terms.keeper.empty()) request.keeper = number_of(terms.keeper);
  if (terms.marker != nullptr) request.write = *terms.marker;
  if (terms.reign != nullptr) request.reign = *terms.reign;
  request.acknowledgements = terms.acknowledgements;
  request.within = terms.within.count();
  switch (command.stamp.verb) {
    case Verb::join_queue:
    case Verb::leave_queue:
    case Verb::check_queue:
      request.number = terms.queue_mode;
      request.token = std::exchange(request.client, 0);
      break;
    case Verb::kill_old:
      request.number = terms.connection;
      break;
    default:
      break;
  }
  return request;
}

void Simulation::carry_out(std::uint32_t index, const core::Request& command) {
  Request request = request_for(index, command);
  plant_in(index, command, request);
  if (command.stamp.verb == Verb::track) return track(index, command, request);
  if (!core::is_upkeep(command.stamp.verb)) note_asked(index, command, request);
  send_all(index, command, request);
}

/// The change that each planted fault makes to a request.
void Simulation::plant_in(std::uint32_t index, const core::Request& command,
                          Request& request) const {
  const Verb verb = command.stamp.verb;
  switch (scenario_.mutant) {
    case Mutant::queue_scripts_stay_away:
      if (core::is_about_queue(verb)) request.form = core::ScriptForm::digest;
      break;
    case Mutant::no_quarantine:
      request.write.quarantine = {};
      break;
    case Mutant::new_reigns_vote_at_once:
    case Mutant::reigns_confirmed_at_once:
      if (request.reign) request.reign->quarantine = {};
      if (scenario_.mutant == Mutant::new_reigns_vote_at_once) request.write.quarantine = {};
      break;
    case Mutant::plain_extend_shortens: {
      const core::Claim* claim = clients_[index].engine->claim(command.stamp.claim());
      if (core::is_extend(verb)) {
        request.ttl_ms = std::chrono::floor<std::chrono::milliseconds>(claim->round->ttl()).count();
      }
      break;
    }
    case Mutant::fenced_writer_lets_in:
      if (command.terms.fencing_number > 0) request.writer_reservation_ms = 0;
      break;
    case Mutant::release_at_once:
      request.cooldown_ms = 0;
      break;
    case Mutant::delay_is_ignored:
      if (verb == Verb::break_lock) request.ttl_ms = 1;
      break;
    case Mutant::leaves_one_of_several:
      // The first resource is the one that is kept while the second one is held for long.
      if (verb == Verb::leave_queue && request.resource == 0) request.token = 1;
      break;
    case Mutant::wins_are_lost:
    case Mutant::reserved_for_the_slowest:
      request.reserved_ms = reserved_ms(index);
      break;
    default:
      break;
  }
}

void Simulation::track(std::uint32_t index, const core::Request& command, const Request& request) {
  if (scenario_.mutant != Mutant::tracks_once) return send_all(index, command, request);
  command.nodes.each([&](core::NodeIndex node) {
    const std::size_t what = (index * scenario_.nodes + node) * most_resources + request.resource;
    Request harmless = request;
    if (!tracked_once_.insert(what).second) harmless.number = 1;
    send(index, node, harmless);
  });
}

/// Notes when a claim's round began, for the checks.
void Simulation::note_asked(std::uint32_t index, const core::Request& command, Request& request) {
  Client& client = clients_[index];
  const core::Claim* claim = client.engine->claim(command.stamp.claim());
  if (claim == nullptr) return checker_.violated("a request refers to no claim");
  // A node whose SET came too late is released while the lease is valid, and may be repaired
  // afterwards.
  request.last =
      (command.stamp.verb == Verb::release || command.stamp.verb == Verb::release_plain) &&
      claim->phase == core::Claim::Phase::cleaning_up;
  if (client.asked.size() <= claim->index) client.asked.resize(claim->index + 1);
  auto& [id, asked] = client.asked[claim->index];
  if (id != claim->id() || asked.round != command.stamp.round()) {
    id = claim->id();
    asked = {client.clock.instant(now_),
             std::chrono::floor<std::chrono::milliseconds>(claim->round->ttl()),
             command.stamp.round(),
             now_,
             0,
             {}};
  }
  if (is_set(command.stamp.verb)) client.tokens.insert(request.token);
}

void Simulation::send_all(std::uint32_t index, const core::Request& command,
                          const Request& request) {
  command.nodes.each(
      [&](core::NodeIndex node) { send(index, node, as_planted(index, node, request)); });
}

Request Simulation::as_planted(std::uint32_t index, core::NodeIndex node, Request request) {
  const Mutant mutant = scenario_.mutant;
  const bool releases =
      request.stamp.verb == Verb::release || request.stamp.verb == Verb::release_plain;
  if (!releases) return request;
  // Acts as if the node had nothing. The request is still sent, so that no answer overtakes the
  // SET's, but it names no token.
  Request harmless = request;
  harmless.token = 1;
  harmless.last = false;
  if (mutant == Mutant::no_release_on_failure && !checker_.was_granted(request.token)) {
    return harmless;
  }
  if (mutant != Mutant::drop_release_behind_set && mutant != Mutant::release_before_set) {
    return request;
  }
  const Connection& connection =
      connections_[static_cast<std::size_t>(clients_[index].connection[node])];
  const bool behind =
      std::any_of(connection.requests.begin(), connection.requests.end(),
                  [&](const Request& other) { return other.token == request.token; });
  if (!behind) return request;
  if (mutant == Mutant::release_before_set && servers_[node].running) {
    request.form = core::ScriptForm::text;
    observe(connection, request, servers_[node].execute(request, now_));
  }
  harmless.last = mutant == Mutant::drop_release_behind_set && request.last;
  return harmless;
}

void Simulation::carry_out(std::uint32_t index, const core::Acquired& command) {
  Client& client = clients_[index];
  Slot* slot = slot_of(index, command.request);
  if (slot != nullptr && slot->phase == Phase::handed_on) return adopted(index, *slot, command);
  if (slot == nullptr || slot->acquire != static_cast<std::uint64_t>(command.request)) {
    return checker_.violated("invariant 7: a grant answers no request");
  }
  const core::Claim* claim = client.engine->claim(command.claim);
  slot->acquire = 0;
  ++client.ended;
  slot->phase = Phase::holding;
  slot->lease = command.claim;
  slot->token = number_of(claim->token());
  slot->ttl = claim->round->ttl();
  slot->valid_until = command.valid_until;
  slot->granted_at = now_;
  slot->lowered_at = 0;
  const Asked& asked = client.asked[claim->index].second;
  if (command.valid_until > core::valid_until(asked.at, asked.ttl)) {
    checker_.violated(
        "invariant 12: a deadline is later than the start of the granting round allows");
  }
  if (scenario_.mutant == Mutant::validity_from_last_reply) {
    slot->valid_until = core::valid_until(client.clock.instant(now_), asked.ttl);
  }
  if (scenario_.mutant == Mutant::no_drift_margin) slot->valid_until = asked.at + asked.ttl;
  if (scenario_.kind == Wanted::permits) {
    slot->resource = resource_of(claim->resource());
    slot->resources = std::uint64_t{1} << slot->resource;
  }
  tell("client ", index, " is granted ", slot->token % 10'000, " on r", slot->resource,
       slot->resources == 3 ? " and the other" : "", " in group ", slot->group);
  checker_.granted({slot->token, slot->resources, slot->group, slot->at_least.count(), asked.began,
                    now_, client.clock.when(slot->valid_until)});
  const auto at = static_cast<std::uint32_t>(slot - client.slots.data());
  progress_.granted(caller(index, at), counted(*slot), now_);
  check_progress();
  if (slot->fenced) fenced(client, *slot, *claim);
  plan_hold(index, at);
}

void Simulation::adopted(std::uint32_t index, Slot& slot, const core::Acquired& command) {
  Client& client = clients_[index];
  const core::Claim* claim = client.engine->claim(command.claim);
  const auto& [id, asked] = client.asked[claim->index];
  if (id != command.claim || command.valid_until > core::valid_until(asked.at, asked.ttl)) {
    checker_.violated("invariant 12: a deadline is later than the adopting round allows");
  }
  if (asked.had_it.size() < scenario_.quorum) {
    checker_.violated("invariant 10: an adopted lease rests on nodes that had lost the key");
  }
  if (slot.group == 1) {
    const auto lets_in = std::count_if(
        servers_.begin(), servers_.end(),
        [&](const ModelNode& node) { return node.has_hold(slot.resource, slot.token); });
    if (scenario_.keeps_data() && static_cast<std::size_t>(lets_in) < scenario_.quorum) {
      checker_.violated("invariant 5: a lease that was adopted as a reader's keeps readers out");
    }
  }
  slot.extend = 0;
  slot.phase = Phase::holding;
  slot.lease = command.claim;
  slot.valid_until = command.valid_until;
  slot.granted_at = now_;
  slot.lowered_at = 0;
  tell("client ", index, " adopts ", slot.token % 10'000);
  checker_.adopted(
      {slot.token, slot.resources, slot.group, 0, now_, now_, client.clock.when(slot.valid_until)});
  // A reader's number is not checked: readers write nothing.
  if (slot.fenced && slot.group == 0) {
    const std::uint64_t number =
        scenario_.mutant == Mutant::number_is_not_checked ? slot.number : claim->fencing()->number;
    checker_.adopted_number(slot.resource, std::exchange(slot.number, number), number, now_);
  }
  plan_hold(index, static_cast<std::uint32_t>(&slot - client.slots.data()));
}

void Simulation::fenced(const Client& client, Slot& slot, const core::Claim& claim) {
  if (!claim.fencing())
    return checker_.violated("invariant 2: a lease has no fencing token that was asked for");
  slot.number = claim.fencing()->number;
  const Asked& asked = client.asked[claim.index].second;
  const std::uint64_t number = scenario_.mutant == Mutant::maximum_of_counters
                                   ? static_cast<std::uint64_t>(asked.counted)
                                   : slot.number;
  tell("its fencing token is ", number);
  for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
    if (((slot.resources >> resource) & 1U) == 0) continue;
    // Others may have been granted the resource before an attempt whose lock was broken.
    if (checker_.is_broken(slot.token, 1U << resource, now_)) continue;
    checker_.fenced(resource, number, asked.began, now_);
  }
}

void Simulation::carry_out(std::uint32_t index, const core::Extended& command) {
  Client& client = clients_[index];
  for (Slot& slot : client.slots) {
    if (slot.lease != command.claim || slot.phase != Phase::holding) continue;
    const auto& [id, asked] = client.asked[command.claim.index];
    const core::Instant most = core::valid_until(asked.at, asked.ttl);
    if (id != slot.lease || command.valid_until > std::max(slot.valid_until, most)) {
      checker_.violated(
          "invariant 12: a deadline is later than the start of the extending round allows");
    }
    const bool stepped = command.request == core::CallId::none && scenario_.clock_guard;
    if (stepped && command.valid_until < slot.valid_until) {
      tell("client ", index, " learns that ", slot.token % 10'000, " ends earlier");
      slot.valid_until = command.valid_until;
      slot.lowered_at = now_;
      checker_.lowered(slot.token, now_, client.clock.when(slot.valid_until));
      continue;
    }
    if (!deceived() || command.valid_until > slot.valid_until) {
      slot.valid_until = command.valid_until;
    }
    if (asked.had_it.size() < scenario_.quorum) {
      checker_.violated("invariant 10: an extend rests on nodes that had lost the key");
    }
    if (slot.fenced && client.engine->claim(slot.lease)->fencing()->number != slot.number) {
      checker_.violated("invariant 2: a fencing token changed while the lease was held");
    }
    tell("client ", index, " extended ", slot.token % 10'000);
    checker_.extended(slot.token, now_, client.clock.when(slot.valid_until));
  }
  if (command.request != core::CallId::none) answered(index, command.request);
}

void Simulation::carry_out(std::uint32_t index, const core::NodeExcluded& command) {
  if (!scenario_.only_stands_still()) return;
  const std::string why = clients_[index].engine->exclusion(command.node);
  tell("client ", index, " counts node ", int{command.node}, " no more: ", why);
  if (why.find("clock") == std::string::npos) return;
  checker_.violated(
      "a node's clock went on, and it lost its vote because that of a client did not");
}

void Simulation::carry_out(std::uint32_t index, const core::StoodStill& command) {
  tell("client ", index, " learns that it stood still for ", command.most.count() / 1000, " us");
}

void Simulation::carry_out(std::uint32_t index, const core::CountersReset& command) {
  tell("client ", index, " learns that the counters of node ", int{command.node}, " were reset");
}

void Simulation::carry_out(std::uint32_t index, const core::Released& command) {
  answered(index, command.request, {}, true);
}

void Simulation::carry_out(std::uint32_t index, const core::Inspected& command) {
  if (is_of_watch(command.request)) return sees(index, *command.round);
  answered(index, command.request);
}

void Simulation::carry_out(std::uint32_t index, const core::Failed& command) {
  if (is_of_watch(command.request)) return;
  answered(index, command.request, command.code);
}

void Simulation::answered(std::uint32_t index, core::CallId request, Errc code, bool released) {
  const auto number = static_cast<std::uint64_t>(request);
  if (scenario_.mutant == Mutant::forget_answer && number % 31 == 0) return;
  Slot* slot = slot_of(index, request);
  if (slot == nullptr) return checker_.violated("invariant 7: an answer belongs to no request");
  const auto at = static_cast<std::uint32_t>(slot - clients_[index].slots.data());
  if (is_operator(index) && slot->release == number) return note_broken(index, at, released);
  // An adopted lease may be lost, and its calls may fail.
  if (is_newcomer(index) && code != Errc{} && !checker_.was_adopted(slot->token)) {
    checker_.violated("invariant 5: a lease that was handed on could not be used by its token");
  }
  if (slot->acquire == number) {
    slot->acquire = 0;
    ++clients_[index].ended;
    slot->phase = Phase::idle;
    progress_.gives_up(caller(index, at), now_);
    tell("client ", index, " fails to acquire: ", static_cast<int>(code));
    expect_it_left(index);
    // A call that no waiting helps is refused at once: who asks again pauses.
    const True pause = code == Errc::excluded ? random_.between(5 * ms, 60 * ms) : 0;
    return plan_act(index, at, pause + random_.below(scenario_.think));
  }
  if (slot->extend == number) {
    slot->extend = 0;
    if (slot->phase == Phase::handed_on) plan_act(index, at, random_.below(scenario_.think));
    return;
  }
  if (slot->release != number)
    return checker_.violated("invariant 7: a request was answered twice");
  slot->release = 0;
  // A database that is swapped in may have a key that the one before it lacked.
  if (released && scenario_.between_swaps == 0) {
    std::size_t there = 0;
    for (std::uint32_t node = 0; node < scenario_.nodes; ++node) {
      there += leader(node).has(slot->resource, slot->token, now_) ? 1U : 0U;
    }
    checker_.release_answered(slot->token, there);
  }
  slot->phase = Phase::idle;
  slot->token = 0;
  if (healed_) slot->served = true;
  plan_act(index, at, random_.below(scenario_.think));
}

bool Simulation::deceived() const {
  return scenario_.mutant == Mutant::validity_from_last_reply ||
         scenario_.mutant == Mutant::no_drift_margin;
}

void Simulation::carry_out(std::uint32_t index, const core::Lost& command) {
  Client& client = clients_[index];
  if (client.has_job_for(command.claim)) {
    // The holder was first: its event is on its way.
    if (scenario_.mutant == Mutant::released_after_detach) client.lost.push_back(command.claim);
    return;
  }
  for (std::uint32_t i = 0; i < client.slots.size(); ++i) {
    Slot& slot = client.slots[i];
    if (slot.lease != command.claim || slot.phase != Phase::holding) continue;
    tell("client ", index, " lost ", slot.token % 10'000);
    client.lost.push_back(command.claim);
    const bool hands_out = scenario_.mutant == Mutant::lost_is_handed_out;
    if (hands_out && wants_to_give(index, i) && give(index, i)) return;
    const True deadline = std::max(client.clock.when(slot.valid_until), slot.lowered_at);
    // Only a pause of the whole process may delay the report to the holder.
    if (now_ > deadline && client.paused_until < deadline) {
      checker_.violated("invariant 6: a loss was reported late");
    }
    if (deceived()) {
      checker_.abandoned(slot.token, now_);
    } else {
      checker_.lost(slot.token, now_);
    }
    slot.phase = Phase::idle;
    slot.token = 0;
    slot.lease = {};
    if (healed_) slot.served = true;
    return plan_act(index, i, random_.below(scenario_.think));
  }
  checker_.violated("invariant 6: a loss was reported of what was no lease, or twice");
}

}  // namespace redlock::simulation
