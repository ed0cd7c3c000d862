#include <algorithm>
#include <chrono>
#include <string>

#include "core/engine.hpp"
#include "core/hints.hpp"
#include "core/places.hpp"

namespace redlock::core {
namespace {

/// Who is in the way of more keys than these looks again and again instead.
constexpr std::size_t most_keys = 16;

constexpr Duration asked_again_after = tells_for / 3;
/// Of what a node promised: its clock need not run as ours does.
constexpr Duration counted_on_for = tells_for - std::chrono::seconds(5);
constexpr Duration deaf_for = std::chrono::seconds(5);

std::size_t keys_of(const Acquisition& acquisition) {
  return acquisition.places > 0 ? acquisition.places : 1 + acquisition.also.size();
}

template <typename Visit>
void each_key(const Acquisition& acquisition, Visit&& visit) {
  if (acquisition.places == 0) {
    visit(acquisition.resource);
    for (const std::string& other : acquisition.also) visit(other);
    return;
  }
  for (std::uint32_t place = 0; place < acquisition.places; ++place) {
    visit(place_name(acquisition.resource, place));
  }
}

}  // namespace

bool Engine::worth_listening(const Acquisition& acquisition) {
  if (acquisition.why != Errc::held || keys_of(acquisition) > most_keys) return false;
  return acquisition.places > 0 || tells_when_free(acquisition.last.leading_holder());
}

void Engine::listen(Acquisition& acquisition) {
  NodeSet able;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (link.up() && link.hinting.deaf_until <= now_) able.add(static_cast<NodeIndex>(i));
  }
  if (able.size() < settings_.quorum) return;
  each_key(acquisition, [&](const std::string& key) {
    Hints::Keys::value_type& entry =
        acquisition.listening ? *hints_.find(key) : hints_.wait(key, acquisition.index);
    const NodeSet ask = able - entry.second.asked;
    if (ask.empty()) return;
    entry.second.asked = entry.second.asked | ask;
    Command& command = emit(Command::Kind::listen);
    command.nodes = ask;
    command.key = &entry.first;
  });
  acquisition.listening = true;
  ask_to_tell(able);
}

void Engine::stop_listening(Acquisition& acquisition) {
  if (!acquisition.listening) return;
  acquisition.listening = false;
  each_key(acquisition, [&](const std::string& key) {
    Hints::Keys::value_type* const given_up = hints_.stop(key, acquisition.index);
    if (given_up == nullptr) return;
    Command& command = emit(Command::Kind::unlisten);
    command.nodes = given_up->second.asked;
    command.key = &given_up->first;
    given_up->second.asked = given_up->second.telling = NodeSet();
    unlistened_.push_back(given_up->first);
  });
}

void Engine::ask_to_tell(NodeSet nodes) {
  NodeSet due;
  nodes.each([&](NodeIndex node) {
    Link& link = links_[node];
    if (link.congested() || later(link.hinting.asked_at, asked_again_after) > now_) return;
    link.hinting.asked_at = now_;
    due.add(node);
  });
  if (due.empty()) return;
  Command& command = emit(Command::Kind::send);
  command.nodes = due;
  command.stamp.verb = Verb::ask_to_tell;
  due.each([&](NodeIndex node) { links_[node].sent(command.stamp, now_); });
}

void Engine::note_hinting(NodeIndex node, const Answer& answer) {
  if (answer.reply != Reply::done) return;
  Link::Hinting& hinting = links_[node].hinting;
  hinting.until = later(hinting.asked_at, counted_on_for);
  acquisitions_.each([this](Acquisition& acquisition) { look_once_told(acquisition); });
}

NodeSet Engine::telling(const Acquisition& acquisition) {
  NodeSet nodes;
  if (!acquisition.listening) return nodes;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (link.up() && link.hinting.until > now_) nodes.add(static_cast<NodeIndex>(i));
  }
  each_key(acquisition,
           [&](const std::string& key) { nodes = nodes & hints_.find(key)->second.telling; });
  return nodes;
}

bool Engine::is_told(const Acquisition& acquisition) {
  if (!acquisition.listening || !worth_listening(acquisition)) return false;
  // Told from before the last look on: nothing that was given up since can have been missed.
  return (acquisition.told_by & telling(acquisition)).size() >= settings_.quorum;
}

bool Engine::heard_enough(const Acquisition& acquisition) const {
  return (acquisition.heard | acquisition.last.granted()).size() >= settings_.quorum;
}

void Engine::look_once_told(Acquisition& acquisition) {
  if (acquisition.state != Acquisition::State::pausing || !acquisition.listening) return;
  // What was given up while nobody told has to be looked for once.
  if (acquisition.told_by.size() >= settings_.quorum) return;
  if (telling(acquisition).size() >= settings_.quorum) try_again(acquisition);
}

template <typename Visit>
void Engine::each_waiter(const Hints::Key& key, Visit&& visit) {
  // Looking may end an acquisition, and so change who waits.
  std::vector<std::uint32_t> waiters = std::move(waiters_);
  waiters.assign(key.waiters.begin(), key.waiters.end());
  for (const std::uint32_t index : waiters) {
    Acquisition& acquisition = acquisitions_.at(index);
    if (acquisition.listening && visit(acquisition) == Visited::enough) break;
  }
  waiters_ = std::move(waiters);
}

void Engine::wake(const Hints::Key& key) {
  each_waiter(key, [this](Acquisition& acquisition) {
    if (acquisition.state == Acquisition::State::pausing) {
      if (!is_told(acquisition) || !heard_enough(acquisition)) return Visited::more;
      acquisition.setbacks = 0;
      // At the next deadline, which is now: one that ends wakes another, and that one may end too.
      timers_.set(timer_of(acquisition), now_);
    }
    // One of us, who comes first, is enough to find out, unless several may be let in.
    const bool alone = acquisition.group.empty() && acquisition.places == 0;
    return alone ? Visited::enough : Visited::more;
  });
}

void Engine::pass_on(const Acquisition& acquisition) {
  each_key(acquisition, [&](const std::string& key) {
    const Hints::Keys::value_type* const entry = hints_.find(key);
    if (entry != nullptr) wake(entry->second);
  });
}

void Engine::on(const Telling& event) {
  Hints::Keys::value_type* const entry = hints_.find(event.key);
  if (entry == nullptr || !entry->second.asked.has(event.node)) return;
  entry->second.telling.add(event.node);
  each_waiter(entry->second, [this](Acquisition& acquisition) {
    look_once_told(acquisition);
    return Visited::more;
  });
}

void Engine::on(const Hint& event) {
  Hints::Keys::value_type* const entry = hints_.find(event.key);
  if (entry == nullptr) return;
  for (const std::uint32_t index : entry->second.waiters) {
    acquisitions_.at(index).heard.add(event.node);
  }
  wake(entry->second);
  fire_due();
}

void Engine::on(const Deaf& event) {
  links_[event.node].hinting.deaf_until = later(now_, deaf_for);
  if (hints_.lost(event.node)) wake_deaf(event.node);
}

void Engine::wake_deaf(NodeIndex node) {
  acquisitions_.each([&](Acquisition& acquisition) {
    if (!acquisition.listening || !acquisition.told_by.has(node)) return;
    acquisition.told_by.remove(node);
    const bool asleep = acquisition.state == Acquisition::State::pausing;
    // It may have missed what it slept for.
    if (asleep && acquisition.told_by.size() < settings_.quorum) try_again(acquisition);
  });
}

}  // namespace redlock::core
