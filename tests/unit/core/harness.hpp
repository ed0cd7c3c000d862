#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/votes/round.hpp"

namespace redlock::core::test {

using namespace std::chrono_literals;

/// Tokens t1, t2, …; every random pause is the longest or the shortest that is allowed.
class ScriptedRandomness final : public Randomness {
 public:
  [[nodiscard]] Token token() override { return *Token::parse("t" + std::to_string(++tokens_)); }
  [[nodiscard]] Duration between(Duration from, Duration to) override {
    return shortest ? from : to;
  }
  bool shortest = false;

 private:
  int tokens_ = 0;
};

/// Drives an engine in virtual time and records its commands as text, so that a test reads as a
/// dialogue. Requests name their token: "set t1 -> 0 1 2". Instants and limits count from the start
/// of the test.
class Harness {
 public:
  static Settings settings_for(std::size_t nodes, std::size_t quorum = 0) {
    Settings settings;
    for (std::size_t i = 0; i < nodes; ++i) settings.nodes.push_back("node" + std::to_string(i));
    settings.shortest_limit = 100ms;
    settings.most_idle = 0;  // so that every test meets idle leases
    settings.quorum = quorum == 0 ? majority(nodes) : quorum;
    return settings;
  }

  explicit Harness(std::size_t nodes, std::size_t quorum = 0)
      : Harness(settings_for(nodes, quorum)) {}
  explicit Harness(Settings settings)
      : open_(settings.nodes.size()), engine_(std::move(settings), random) {}

  /// All nodes up, as at the start of most tests.
  static std::string ready(Harness& h) {
    std::string out = h.tick();
    for (NodeIndex node = 0; node < h.open_.size(); ++node) h.up(node);
    return out;
  }

  ScriptedRandomness random;

  // --- events. Each function returns the engine's commands, separated by "; ". ---
  std::string step(const Event& event) {
    out_.clear();
    engine_.step(now_, event, out_);
    std::string text;
    for (const Command& command : out_) {
      note(command);
      const Request* request = request_in(command);
      // Pruning is left out of the text: see pruned().
      if (request != nullptr && request->stamp.verb == Verb::prune_fencing_numbers) continue;
      if (is_about_notifications(command) && !shows_notifications) continue;
      if (request != nullptr && is_check(request->stamp) && !shows_checks) continue;
      if (std::holds_alternative<ProbeSubscription>(command) && answers_probes) continue;
      if (!text.empty()) text += "; ";
      text += std::visit([&](const auto& alternative) { return describe(alternative); }, command);
    }
    if (!shows_notifications) answer_about_queues();
    if (releases_lost) {
      for (const ClaimId claim : std::exchange(lost_, {})) {
        append(text, step(Release{CallId::none, claim}));
      }
    }
    if (!shows_checks) append(text, answer_checks());
    const NodeSet probed = std::exchange(probed_, NodeSet());
    if (!answers_probes) return text;
    probed.each([&](NodeIndex node) { append(text, step(Subscribed{node})); });
    return text;
  }
  /// Whether lost leases are released after the step, as by the library if no holder was first.
  bool releases_lost = true;
  /// Whether nodes answer at once that notifications still arrive.
  bool answers_probes = true;
  /// Whether the text shows commands about notifications; otherwise the harness answers those about
  /// queues.
  bool shows_notifications = false;
  /// Whether the text shows checks of keys that are waited for; otherwise they find nothing.
  bool shows_checks = false;
  std::string tick() { return step(TimePassed{}); }
  std::string end_turn() { return step(TurnEnd{}); }

  /// Lets time pass as a driver does: with a step at every deadline in between.
  std::string pass(Duration by) {
    const Instant end = later(now_, by);
    std::string text;
    while (const auto next = engine_.next_deadline()) {
      if (*next > end) break;
      now_ = std::max(now_, *next);
      append(text, tick());
    }
    now_ = end;
    return text;
  }
  /// Lets time pass without a step, as if the driver slept too long.
  void oversleep(Duration by) { now_ = later(now_, by); }

  /// Completes a connection that the engine requested, after the backoff of a node that went down.
  std::string up(NodeIndex node) { return up(node, "server" + std::to_string(node)); }
  std::string up(NodeIndex node, std::string_view server) {
    while (!connecting_.has(node)) pass(until_deadline());
    connecting_.remove(node);
    return step(NodeUp{node, server, ++connection_});
  }
  [[nodiscard]] std::int64_t last_connection() const { return connection_; }
  std::string down(NodeIndex node, std::string_view why = "gone away") {
    open_[node].clear();
    connecting_.remove(node);
    return step(NodeDown{node, NodeDown::Cause::unreachable, why});
  }

  std::string acquire(std::uint64_t request, Duration ttl, Duration wait = 0ms) {
    Acquire event;
    event.request = CallId{request};
    event.resource = "resource";
    event.ttl = ttl;
    event.wait = wait;
    return step(event);
  }
  /// Acquires with a fencing token; `wall_clock` is the time of the caller's clock in microseconds.
  std::string acquire_fenced(std::uint64_t request, Duration ttl, std::int64_t wall_clock) {
    Acquire event;
    event.request = CallId{request};
    event.resource = "resource";
    event.ttl = ttl;
    event.fencing = std::chrono::microseconds(wall_clock) - now_.time_since_epoch();
    return step(event);
  }
  std::string acquire_renewed(std::uint64_t request, Duration ttl, Acquire::Renewal renewal) {
    Acquire event;
    event.request = CallId{request};
    event.resource = "resource";
    event.ttl = ttl;
    event.renewal = renewal;
    return step(event);
  }
  std::string extend(std::uint64_t request, Duration ttl) {
    return step(Extend{CallId{request}, lease, ttl});
  }
  std::string downgrade(std::uint64_t request) { return step(Downgrade{CallId{request}, lease}); }
  std::string release(std::uint64_t request) { return step(Release{CallId{request}, lease}); }
  std::string cancel(std::uint64_t request) { return step(Cancel{CallId{request}}); }

  /// Answers the oldest open request of a node.
  std::string answer(NodeIndex node, Reply reply, std::string_view text = {},
                     std::optional<Duration> remaining = {}, std::optional<Holds> holds = {}) {
    if (open_[node].empty()) {
      ADD_FAILURE() << "nothing is open on node " << int{node};
      return {};
    }
    const Stamp stamp = open_[node].front();
    open_[node].pop_front();
    Answer event{node, stamp, reply, text, remaining};
    event.holds = holds;
    const std::string out = step(event);
    answer_pruning(node);
    return out;
  }
  /// The client's queue position in a node's answer.
  struct Place {
    std::int64_t ticket = 0;
    bool is_first = false;
  };
  std::string placed(std::initializer_list<int> nodes, Reply reply, std::string_view text,
                     std::optional<Duration> remaining, Place place) {
    std::string all;
    for (const int index : nodes) {
      const auto node = static_cast<NodeIndex>(index);
      Answer event{node, take_open(node), reply, text, remaining};
      event.ticket = place.ticket;
      event.is_first = place.is_first;
      append(all, step(event));
    }
    return all;
  }
  /// A refusal that queues the client.
  std::string refused(std::initializer_list<int> nodes, std::string_view holder, Duration left,
                      Place place) {
    return placed(nodes, Reply::taken, holder, left, place);
  }
  /// Answers join_queue.
  std::string queued(std::initializer_list<int> nodes, Place place) {
    return placed(nodes, Reply::taken, {}, {}, place);
  }
  /// Removes and returns the oldest open request of a node; the test answers it itself.
  Stamp take_open(NodeIndex node) {
    if (open_[node].empty()) {
      ADD_FAILURE() << "nothing is open on node " << int{node};
      return {};
    }
    const Stamp stamp = open_[node].front();
    open_[node].pop_front();
    return stamp;
  }
  /// Answers a fenced or numbered SET, or a raise; `holder`: whose key it is at the end.
  std::string fenced(NodeIndex node, Reply reply, std::uint64_t number,
                     std::string_view holder = {}) {
    const Stamp stamp = open_[node].front();
    open_[node].pop_front();
    Answer event{node, stamp, reply, holder};
    event.number = number;
    const std::string out = step(event);
    answer_pruning(node);
    return out;
  }
  /// Answers a fenced or numbered SET with a plain yes.
  std::string assented(NodeIndex node) {
    const std::array yes{PlainYes{take_open(node), Reply::granted}};
    const std::string out = step(PlainYeses{node, yes});
    answer_pruning(node);
    return out;
  }
  std::string subscribed(std::initializer_list<int> nodes) {
    std::string all;
    for (const int node : nodes) append(all, step(Subscribed{static_cast<NodeIndex>(node)}));
    return all;
  }
  std::string notified(NodeIndex node, std::string_view key, std::uint32_t before = 0) {
    return step(Notification{node, key, before});
  }
  /// A tracked key has changed.
  std::string changed(std::initializer_list<int> nodes, std::string_view key,
                      Tracked kind = Tracked::resource) {
    std::string all;
    for (const int node : nodes)
      append(all, step(Changed{static_cast<NodeIndex>(node), kind, key}));
    return all;
  }
  std::string unsubscribed(NodeIndex node) { return step(Unsubscribed{node}); }
  /// The number of times that nodes were asked to prune their fencing numbers, and answered.
  [[nodiscard]] std::size_t pruned() const { return pruned_; }
  /// Answers read-clock with the time of the node's clock.
  std::string clock(NodeIndex node, Duration time) {
    const Stamp stamp = open_[node].front();
    EXPECT_EQ(stamp.verb, Verb::read_clock);
    open_[node].pop_front();
    const std::array plain_yeses{PlainYes{stamp, Reply::clock, time}};
    return step(PlainYeses{node, plain_yeses});
  }
  /// Answers write-marker with the node's present marker and the rest of its quarantine.
  std::string marker_answer(NodeIndex node, std::string_view marker, Duration quarantine) {
    const Stamp stamp = open_[node].front();
    EXPECT_TRUE(is_marker_write(stamp.verb));
    open_[node].pop_front();
    Answer event{node, stamp, Reply::marker, marker};
    event.time = quarantine;
    return step(event);
  }
  /// Answers read-reign. If a command was refused, `text` is the error, otherwise the marker.
  std::string reign_answer(NodeIndex node, std::string_view text, const ReignReading& reading) {
    const Stamp stamp = open_[node].front();
    EXPECT_EQ(stamp.verb, Verb::read_reign);
    open_[node].pop_front();
    const bool refused = !reading.refused.empty();
    Answer event{node, stamp, refused ? Reply::error : Reply::marker, text};
    event.reign = reading;
    return step(event);
  }
  /// Completes a connection with the facts from its handshake.
  std::string up_as(NodeIndex node, NodeUp event) {
    while (!connecting_.has(node)) pass(until_deadline());
    connecting_.remove(node);
    event.node = node;
    event.connection = ++connection_;
    const std::string server = "server" + std::to_string(node);
    if (event.server.empty()) event.server = server;
    return step(event);
  }
  /// Several nodes give the same answer, one after the other.
  std::string answers(std::initializer_list<int> nodes, Reply reply, std::string_view text = {},
                      std::optional<Duration> remaining = {}) {
    std::string all;
    for (const int node : nodes) {
      append(all, answer(static_cast<NodeIndex>(node), reply, text, remaining));
    }
    return all;
  }

  /// A lease of `ttl` on all nodes, granted without any time passing.
  void hold(Duration ttl, std::optional<Acquire::Renewal> renewal = {}) {
    if (renewal) {
      acquire_renewed(1, ttl, *renewal);
    } else {
      acquire(1, ttl);
    }
    for (NodeIndex node = 0; node < open_.size(); ++node) {
      if (!open_[node].empty()) answer(node, Reply::granted);
    }
  }

  // --- state ---
  ClaimId lease;  ///< of the last "acquired"
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] std::size_t open(NodeIndex node) const { return open_[node].size(); }
  /// Whether the node's oldest open request is of this kind.
  [[nodiscard]] bool is_next(NodeIndex node, Verb verb) const {
    return !open_[node].empty() && open_[node].front().verb == verb;
  }
  [[nodiscard]] const std::vector<Command>& commands() const { return out_; }
  /// The round of a command's outcome; none: the command has no outcome, or its outcome no round.
  [[nodiscard]] static const Round* round_of(const Command& command) {
    return std::visit(
        [](const auto& alternative) -> const Round* {
          if constexpr (requires { alternative.round; }) {
            return alternative.round;
          } else {
            return nullptr;
          }
        },
        command);
  }
  /// The round of the last command.
  [[nodiscard]] const Round* decided_by() const { return round_of(out_.back()); }
  [[nodiscard]] Instant valid_until() const { return engine_.claim(lease)->valid_until; }
  /// "yes": the nodes have nothing left of any claim.
  [[nodiscard]] std::string settled() {
    const std::string out = tick();
    return engine_.claims() == 0 ? "yes" : std::to_string(engine_.claims()) + " claims; " + out;
  }
  /// For how long the nodes that were last given the client's name keep it.
  [[nodiscard]] Duration name_kept() const noexcept { return name_kept_; }
  [[nodiscard]] Duration until_deadline() const {
    return engine_.next_deadline().value_or(Instant::max()) - now_;
  }

 private:
  void answer_about_queues() {
    for (NodeIndex node = 0; node < open_.size(); ++node) {
      while (!open_[node].empty() && core::is_about_queue(open_[node].front().verb)) {
        const Stamp stamp = open_[node].front();
        open_[node].pop_front();
        step(Answer{node, stamp, Reply::error});
      }
    }
  }
  static bool is_check(const Stamp& stamp) { return stamp.verb == Verb::check_queue; }
  std::string answer_checks() {
    std::string text;
    for (NodeIndex node = 0; node < open_.size(); ++node) {
      while (!open_[node].empty() && is_check(open_[node].front())) {
        const Stamp stamp = open_[node].front();
        open_[node].pop_front();
        append(text, step(Answer{node, stamp, Reply::error}));
      }
    }
    return text;
  }
  void answer_pruning(NodeIndex node) {
    while (!open_[node].empty() && open_[node].front().verb == Verb::prune_fencing_numbers) {
      const Stamp stamp = open_[node].front();
      open_[node].pop_front();
      step(Answer{node, stamp, Reply::done});
      ++pruned_;
    }
  }
  static void append(std::string& all, const std::string& more) {
    if (more.empty()) return;
    if (!all.empty()) all += "; ";
    all += more;
  }

  static bool is_about_notifications(const Command& command) {
    return std::holds_alternative<Subscribe>(command) ||
           std::holds_alternative<ProbeSubscription>(command) ||
           std::holds_alternative<Unsubscribe>(command) || is_about_queue(command);
  }
  static bool is_about_queue(const Command& command) {
    const Request* request = request_in(command);
    return request != nullptr && core::is_about_queue(request->stamp.verb);
  }
  void note(const Command& command) {
    if (const Request* request = request_in(command)) {
      if (request->stamp.verb == Verb::write_name) name_kept_ = request->terms.ttl;
      request->nodes.each([&](NodeIndex node) { open_[node].push_back(request->stamp); });
    } else if (std::holds_alternative<NodeLearned>(command)) {
      open_.emplace_back();
    } else if (const auto* probe = std::get_if<ProbeSubscription>(&command)) {
      probed_ = probe->nodes;
    } else if (const auto* connect = std::get_if<Connect>(&command)) {
      connecting_.add(connect->node);
    } else if (const auto* disconnect = std::get_if<Disconnect>(&command)) {
      connecting_.remove(disconnect->node);
      open_[disconnect->node].clear();
    } else if (const auto* acquired = std::get_if<Acquired>(&command)) {
      lease = acquired->claim;
    } else if (const auto* lost = std::get_if<Lost>(&command)) {
      lost_.push_back(lost->claim);
    }
  }

  static std::string list(NodeSet nodes) {
    std::string text;
    nodes.each([&](NodeIndex node) { text.append(" ").append(std::to_string(node)); });
    return text;
  }
  static std::string milliseconds(Instant instant) {
    const auto us = std::chrono::floor<std::chrono::microseconds>(instant.time_since_epoch());
    std::string text = std::to_string(us.count() / 1000);
    if (us.count() % 1000 != 0) text += "." + std::to_string(1000 + us.count() % 1000).substr(1);
    return text + "ms";
  }
  /// The name of the verb in a dialogue, shortened when the difference does not matter.
  static std::string verb(Verb verb) {
    switch (verb) {
      case Verb::set_and_ttl:
        return "set";
      case Verb::set_fenced_and_ttl:
        return "set-fenced";
      case Verb::set_fenced_short_and_ttl:
        return "set-fenced-short";
      case Verb::prune_fencing_numbers:
        return "tend";
      case Verb::join_queue:
        return "queue";
      case Verb::leave_queue:
        return "leave";
      case Verb::check_queue:
        return "check";
      case Verb::raise_fence:
        return "raise";
      case Verb::break_lock:
        return "break";
      case Verb::kill_old:
        return "kill";
      default:
        return std::string(name_of(verb));
    }
  }
  /// The mode of a queue request: see queue.lua and leave.lua.
  static std::string how(const Request& request) {
    const std::int64_t mode = request.terms.queue_mode;
    if (request.stamp.verb == Verb::leave_queue) return mode == 2 ? " and let others in" : "";
    const std::array<std::string, 4> forms{"", " of several", " as a reader", " for any"};
    const std::string form = forms.at(static_cast<std::size_t>(mode / 2));
    if (mode % 2 == 1) return form + " anew";
    const std::int64_t ticket = request.terms.ticket.value_or(0);
    return form + (ticket > 0 ? " ticket " + std::to_string(ticket) : "");
  }
  /// The client's queue position in a request.
  static std::string queue_position(const Request& request) {
    const Terms& terms = request.terms;
    if (terms.client.empty()) return "";
    const std::string ticket = std::to_string(terms.ticket.value_or(0));
    if (request.stamp.verb == Verb::take && terms.ticket) return " ticket " + ticket;
    if (request.stamp.verb == Verb::take && terms.keep > Duration::zero()) {
      return " and keeps for " + std::to_string(terms.keep / std::chrono::milliseconds(1)) + " ms";
    }
    if (request.stamp.verb != Verb::release) return "";
    if (terms.kept != 0) return " and keeps " + std::to_string(terms.kept);
    const bool keeps = terms.reserved_for > shortest_reservation;
    return " again " + ticket + (terms.quiet ? " quietly" : "") + (keeps ? " for longer" : "");
  }
  static std::string outcome(Errc code) { return std::string(to_string(code)); }
  static std::string of(CallId request) {
    return request == CallId::none ? ""
                                   : " #" + std::to_string(static_cast<std::uint64_t>(request));
  }
  static std::string to(NodeSet nodes) { return " ->" + list(nodes); }

  std::string describe(const Connect& command) const {
    return "connect " + std::to_string(command.node) + (command.marks ? " and mark" : "");
  }
  std::string describe(const Disconnect& command) const {
    return "disconnect " + std::to_string(command.node);
  }
  std::string describe(const Subscribe& command) const { return "subscribe" + list(command.nodes); }
  std::string describe(const ProbeSubscription& command) const {
    return "probe" + list(command.nodes);
  }
  std::string describe(const Unsubscribe& command) const {
    return "unsubscribe " + std::to_string(command.node);
  }
  std::string describe(const Request& request) const {
    const Terms& terms = request.terms;
    const Verb asked = request.stamp.verb;
    const std::string in_full = request.form == ScriptForm::text ? " in full" : "";
    const std::string nodes = to(request.nodes);
    switch (asked) {
      case Verb::join_queue:
      case Verb::leave_queue:
        return verb(asked) + " " + std::string(terms.resource) + how(request) + in_full + nodes;
      case Verb::check_queue:
        return verb(asked) + " " + std::string(terms.resource) + in_full + nodes;
      case Verb::track:
        return (terms.tracked == Tracked::queue ? "track queue of " : "track ") +
               std::string(terms.resource) + nodes;
      case Verb::kill_old:
        return "kill " + std::to_string(terms.connection) + nodes;
      case Verb::write_marker:
      case Verb::mark_plain:
        return verb(asked) + list(request.nodes);
      default:
        break;
    }
    if (is_upkeep(asked)) return verb(asked) + nodes;
    const bool numbering = asked == Verb::take || is_raise(asked) || is_fenced(asked);
    const std::string number =
        numbering && terms.fencing_number > 0 ? " " + std::to_string(terms.fencing_number) : "";
    return verb(asked) + " " + std::string(terms.token) + number + queue_position(request) +
           in_full + nodes;
  }
  std::string describe(const Acquired& command) const {
    return "acquired" + of(command.request) + " until " + milliseconds(command.valid_until);
  }
  std::string describe(const Extended& command) const {
    return "extended" + of(command.request) + " until " + milliseconds(command.valid_until);
  }
  std::string describe(const Released& command) const { return "released" + of(command.request); }
  std::string describe(const Inspected& command) const { return "inspected" + of(command.request); }
  std::string describe(const Failed& command) const {
    return "failed" + of(command.request) + " " + outcome(command.code);
  }
  std::string describe(const AtRisk&) const { return "at-risk"; }
  std::string describe(const QueueWatched& command) const {
    switch (command.others) {
      case OtherClients::unknown:
        return "others unknown";
      case OtherClients::none:
        return "others none";
      case OtherClients::waiting:
        return "others waiting";
    }
    return "?";
  }
  std::string describe(const Lost&) const { return "lost"; }
  static std::string describe(const StoodStill& command) {
    std::string text = "stood-still";
    command.alike.each([&](NodeIndex node) { text += ' ' + std::to_string(node); });
    return text;
  }
  static std::string describe(const CountersReset& command) {
    return "counters-reset " + std::to_string(command.node);
  }
  std::string describe(const NodeExcluded& command) const {
    return "excluded " + std::to_string(command.node);
  }
  std::string describe(const NodeLearned& command) const {
    return "learned " + std::to_string(command.node);
  }
  std::string describe(const Undelivered& command) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(command.left);
    return "undelivered " + std::to_string(command.releases) + " for " +
           std::to_string(left.count()) + " ms" + (command.may_write_late ? " once written" : "") +
           " -> " + std::to_string(command.node);
  }
  std::string describe(const Drained&) const { return "drained"; }

  std::vector<std::deque<Stamp>> open_;
  NodeSet connecting_;
  NodeSet probed_;
  std::vector<ClaimId> lost_;
  Duration name_kept_{};
  Engine engine_;
  Instant now_{};
  std::size_t pruned_ = 0;
  std::int64_t connection_ = 100;
  std::vector<Command> out_;
};

struct Connected : Harness {
  explicit Connected(std::size_t nodes, std::size_t quorum = 0) : Harness(nodes, quorum) {
    ready(*this);
  }
  explicit Connected(Settings settings) : Harness(std::move(settings)) { ready(*this); }
};

}  // namespace redlock::core::test
