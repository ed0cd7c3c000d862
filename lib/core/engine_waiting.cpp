#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/engine.hpp"
#include "core/hints.hpp"
#include "core/places.hpp"

namespace redlock::core {
namespace {

/// Who is in the way of more keys than these looks again and again instead.
constexpr std::size_t most_keys = 16;

constexpr Duration queued_again_after = queued_for / 3;
constexpr Duration deaf_for = std::chrono::seconds(5);

/// Where nodes do not agree whose turn it is, they may do so a moment later; and who is second
/// waits for the first to come.
constexpr Duration shortest_patience = std::chrono::milliseconds(1);
constexpr int patience_of_the_second = 4;

std::size_t keys_of(const Acquisition& acquisition) {
  return std::max<std::size_t>(acquisition.places, 1);
}

/// Of several resources, the one in the way on most of the nodes that refused.
std::uint64_t find_blocking(const Acquisition& acquisition) {
  if (acquisition.also.empty()) return 0;
  std::vector<std::size_t> nodes(acquisition.also.size() + 2);
  acquisition.last.with(Vote::refused).each([&](NodeIndex node) {
    const std::uint64_t which = acquisition.last.vote(node).number;
    if (which < nodes.size()) ++nodes[which];
  });
  return static_cast<std::uint64_t>(std::max_element(nodes.begin(), nodes.end()) - nodes.begin());
}

template <typename Visit>
void each_key(const Acquisition& acquisition, Visit&& visit) {
  // Of several resources it waits for one at a time: notified of one that it cannot use, it would
  // keep from the next in that queue what it was notified of.
  if (acquisition.blocked_by > 1) return visit(acquisition.also[acquisition.blocked_by - 2]);
  if (acquisition.places == 0) return visit(acquisition.resource);
  for (std::uint32_t place = 0; place < acquisition.places; ++place) {
    visit(place_name(acquisition.resource, place));
  }
}

/// A writer, which keeps new readers out while it waits for those that hold the resource.
bool is_kept_out_by_readers(const Acquisition& acquisition) {
  return acquisition.keeps_out && acquisition.last.leading_holder() == "shared";
}

/// Several that wait for the same may be let in.
bool makes_room(const Acquisition& acquisition) {
  return !acquisition.group.empty() || acquisition.places > 0;
}

}  // namespace

bool Engine::worth_waiting(const Acquisition& acquisition) {
  if (acquisition.why != Errc::held || keys_of(acquisition) > most_keys) return false;
  return acquisition.places > 0 || tells_when_free(acquisition.last.leading_holder());
}

void Engine::wait_in_line(Acquisition& acquisition) {
  if (const std::uint64_t blocking = find_blocking(acquisition);
      blocking != acquisition.blocked_by) {
    leave_line(acquisition, Left::failed);
    acquisition.blocked_by = blocking;
    acquisition.reserved = false;
    acquisition.heard = NodeSet();
  }
  NodeSet able;
  NodeSet mute;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    if (!link.up() || link.ear.deaf_until > now_) continue;
    able.add(static_cast<NodeIndex>(i));
    if (!link.ear.wanted) mute.add(static_cast<NodeIndex>(i));
    link.ear.wanted = true;
  }
  if (!mute.empty()) {
    if (ear_.empty()) ear_ = random_->token();
    outbox_.emit(Command::Kind::listen).nodes = mute;
  }
  const bool makes_way = acquisition.last.leading_holder() == "writer";
  const bool goes_first = is_kept_out_by_readers(acquisition);
  acquisition.reserved = acquisition.reserved || goes_first;
  each_key(acquisition, [&](const std::string& key) {
    Hints::Entry& entry =
        acquisition.in_line ? *hints_.find(key) : hints_.wait(key, acquisition.index);
    if (later(entry.second.asked_at, queued_again_after) <= now_) entry.second.asked = NodeSet();
    const NodeSet late = able - entry.second.asked;
    // A writer that keeps readers out is next, and has to be notified first.
    if (goes_first) {
      stand_in_queue(entry, able, Queued::at_the_front);
    } else if (makes_way) {
      stand_in_queue(entry, able, place_in_queue(entry.second));
    } else {
      stand_in_queue(entry, late, Queued::once);
    }
  });
  acquisition.in_line = true;
}

template <typename Visit>
void Engine::each_waiter(const Hints::Key& key, Visit&& visit) {
  for (const std::uint32_t index : key.waiters) {
    Acquisition& acquisition = acquisitions_.at(index);
    if (acquisition.in_line && visit(acquisition) == Visited::enough) return;
  }
}

Engine::Queued Engine::place_in_queue(const Hints::Key& key) {
  Queued place = Queued::at_the_back;
  each_waiter(key, [&](const Acquisition& acquisition) {
    if (acquisition.reserved) place = Queued::at_the_front;
    return Visited::more;
  });
  return place;
}

void Engine::stand_in_queue(Hints::Entry& entry, NodeSet nodes, Queued where) {
  Hints::Key& key = entry.second;
  NodeSet asked;
  nodes.each([&](NodeIndex node) {
    // What is told before we listen would be lost, and they are asked again when we do.
    if (links_[node].ear.open && !links_[node].congested()) asked.add(node);
  });
  if (asked.empty()) return;
  if (key.asked.empty()) key.asked_at = now_;
  key.asked = key.asked | asked;
  send_about_queue(entry, Verb::stand_in_queue, asked, static_cast<std::int64_t>(where));
}

void Engine::leave_line(Acquisition& acquisition, Left left) {
  if (!acquisition.in_line) return;
  acquisition.in_line = false;
  each_key(acquisition, [&](const std::string& key) {
    Hints::Entry& entry = hints_.stop(key, acquisition.index);
    const bool others_wait = !entry.second.waiters.empty();
    if (acquisition.reserved) {
      const NodeSet queued = entry.second.queued;
      leave_queue(entry, Leave::unreserved);
      if (others_wait) stand_in_queue(entry, queued, place_in_queue(entry.second));
      return;
    }
    if (others_wait) {
      // Who came later is to have a turn before others of ours.
      if (left == Left::granted) {
        return stand_in_queue(entry, entry.second.queued, place_in_queue(entry.second));
      }
      // Whoever is behind it was not woken by what it heard.
      return wake(entry.second, 0);
    }
    const bool others_enter = left == Left::granted && makes_room(acquisition);
    leave_queue(entry, others_enter ? Leave::notifying : Leave::quietly);
  });
}

void Engine::leave_queue(Hints::Entry& entry, Leave how) {
  NodeSet nodes;
  entry.second.asked.each([&](NodeIndex node) {
    if (links_[node].up() && !links_[node].congested()) nodes.add(node);
  });
  entry.second.asked = entry.second.queued = NodeSet();
  left_.push_back(entry.second.id);
  if (nodes.empty()) return;
  send_about_queue(entry, Verb::leave_queue, nodes, static_cast<std::int64_t>(how));
}

void Engine::send_about_queue(const Hints::Entry& entry, Verb verb, NodeSet nodes,
                              std::int64_t how) {
  Stamp stamp;
  stamp.verb = verb;
  stamp.claim.index = entry.second.id;
  Command& command = outbox_.send(nodes, stamp);
  command.key = &entry.first;
  command.number = how;
}

void Engine::note_queued(NodeIndex node, const Stamp& stamp, const Answer& answer) {
  Hints::Entry* const entry = hints_.find(stamp.claim.index);
  const bool queued = answer.reply == Reply::taken || answer.reply == Reply::gone;
  if (entry == nullptr || !queued || !entry->second.asked.has(node)) return;
  entry->second.queued.add(node);
  if (answer.reply == Reply::gone) hear(entry->second, node);
  each_waiter(entry->second, [this](Acquisition& acquisition) {
    if (acquisition.state != Acquisition::State::pausing || acquisition.look) return Visited::more;
    if (is_told(acquisition)) plan_next_try(acquisition);
    return Visited::more;
  });
  fire_due();
}

bool Engine::is_told(const Acquisition& acquisition) {
  if (!acquisition.in_line || !worth_waiting(acquisition)) return false;
  NodeSet nodes;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].up() && links_[i].ear.open) nodes.add(static_cast<NodeIndex>(i));
  }
  each_key(acquisition,
           [&](const std::string& key) { nodes = nodes & hints_.find(key)->second.queued; });
  return nodes.size() >= settings_.quorum;
}

bool Engine::heard_enough(const Acquisition& acquisition) const {
  return (acquisition.heard | acquisition.last.granted()).size() >= settings_.quorum;
}

void Engine::hear(const Hints::Key& key, NodeIndex node) {
  each_waiter(key, [node](Acquisition& acquisition) {
    acquisition.heard.add(node);
    return Visited::more;
  });
}

void Engine::wake(const Hints::Key& key, std::uint32_t before) {
  each_waiter(key, [&](Acquisition& acquisition) {
    // One of us, who comes first, is enough to find out, unless several may be let in.
    const Visited visited = makes_room(acquisition) ? Visited::more : Visited::enough;
    if (acquisition.state != Acquisition::State::pausing) return visited;
    if (!is_told(acquisition)) return Visited::more;
    if (heard_enough(acquisition)) {
      acquisition.setbacks = 0;
      acquisition.look = now_;
    } else if (before > 0 || !acquisition.heard.empty()) {
      const Duration patience = std::max(shortest_patience, 2 * slowest_round_trip()) *
                                (before > 0 ? patience_of_the_second : 1);
      const Instant look = later(now_, random_->between(patience, 2 * patience));
      acquisition.look = std::min(look, acquisition.look.value_or(look));
    } else {
      return visited;
    }
    plan_next_try(acquisition);
    return visited;
  });
}

void Engine::on(const Listening& event) {
  Link& link = links_[event.node];
  if (!link.ear.wanted || link.ear.open) return;
  link.ear.open = true;
  for (Hints::Entry& entry : hints_.all()) {
    if (entry.second.waiters.empty() || !link.up()) continue;
    stand_in_queue(entry, NodeSet::of(event.node), Queued::once);
  }
}

void Engine::on(const Hint& event) {
  Hints::Entry* const entry = hints_.find(event.key);
  if (entry == nullptr) return;
  if (event.before == 0) hear(entry->second, event.node);
  wake(entry->second, event.before);
  fire_due();
}

void Engine::on(const Deaf& event) {
  links_[event.node].ear = {false, false, later(now_, deaf_for)};
  hints_.lost(event.node);
  wake_deaf();
}

void Engine::wake_deaf() {
  acquisitions_.each([this](Acquisition& acquisition) {
    const bool asleep = acquisition.in_line && acquisition.state == Acquisition::State::pausing;
    if (!asleep || !worth_waiting(acquisition) || is_told(acquisition)) return;
    // It may have missed what it slept for. Who looks soon anyway is not put off: nodes may come
    // and go more often than that.
    plan_next_try(acquisition, acquisition.next_try);
  });
}

}  // namespace redlock::core
