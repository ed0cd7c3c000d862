#include "runtime/driver.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "runtime/boot_time.hpp"
#include "support/assert.hpp"

namespace redlock::runtime {

using core::Command;
using core::NodeIndex;

Driver::Driver(uv_loop_t* loop, const Configuration& configuration, DriverListener& listener)
    : loop_(loop),
      listener_(listener),
      reach_(configuration.reach),
      engine_(configuration.settings, randomness_),
      hook_(loop, uv::Callback::to<&Driver::on_turn>(*this)),
      timer_(loop, uv::Callback::to<&Driver::on_deadline>(*this)) {
  for (std::size_t i = 0; i < configuration.targets.size(); ++i) {
    NodeOwner& owner = *this;
    nodes_.push_back(
        std::make_unique<Node>(loop, static_cast<NodeIndex>(i), configuration.targets[i], owner));
  }
}

Driver::~Driver() {
  // What is still unanswered must not be executed after we are gone; a healthy connection that owes
  // nothing is closed as usual.
  for (const auto& node : nodes_) {
    const bool clean = node->ready() && node->connection().unanswered() == 0;
    node->disconnect(clean ? uv::CloseMode::graceful : uv::CloseMode::reset);
    node->unsubscribe();
  }
  if (destroyed_ != nullptr) *destroyed_ = true;
}

void Driver::start() { step(core::TimePassed{}); }

void Driver::step(const core::Event& event) {
  // Commands refer to what lives until the next step: a step inside a step would pull it away.
  REDLOCK_ASSERT(!stepping_);
  stepping_ = true;
  const core::Instant now = boot_now();
  commands_.clear();
  engine_.step(now, event, commands_);
  for (const Command& command : commands_) carry_out(now, command);
  stepping_ = false;
  // At the end of a turn everything is sent anyway; one more turn would be one more system call.
  if (!in_turn_end_) hook_.request();
}

void Driver::carry_out(core::Instant now, const Command& command) {
  switch (command.kind) {
    case Command::Kind::connect:
      command.nodes.each([&](NodeIndex node) { nodes_[node]->connect(randomness_.token().str()); });
      return;
    case Command::Kind::disconnect:
      command.nodes.each([&](NodeIndex node) {
        // What was sent in this step still goes: a release behind a SET that was given up.
        if (nodes_[node]->ready()) nodes_[node]->connection().flush();
        nodes_[node]->disconnect(uv::CloseMode::reset);
        report(node, NodeEvent::Kind::down, engine_.link(node).failure().why);
      });
      return;
    case Command::Kind::send:
      return command.stamp.claim.generation == 0 ? send_plain(command) : send(now, command);
    case Command::Kind::kill_old:
      return send_plain(command);
    case Command::Kind::write_marker:
      return write_marker(command);
    case Command::Kind::excluded:
      return report_excluded(command);
    case Command::Kind::learned:
      return add_nodes(command);
    case Command::Kind::subscribe:
      return command.nodes.each(
          [&](NodeIndex node) { nodes_[node]->subscribe(engine_.client_id().view()); });
    case Command::Kind::unsubscribe:
      return command.nodes.each([&](NodeIndex node) { nodes_[node]->unsubscribe(); });
    case Command::Kind::undelivered:
      return report_undelivered(command);
    case Command::Kind::drained:
      return listener_.on_drained();
    case Command::Kind::acquired:
    case Command::Kind::extended:
    case Command::Kind::released:
    case Command::Kind::inspected:
    case Command::Kind::failed:
    case Command::Kind::at_risk:
    case Command::Kind::lost:
      return listener_.on_outcome(now, command);
  }
}

void Driver::send(core::Instant now, const Command& command) {
  const core::Claim* claim = engine_.claim(command.stamp.claim);
  REDLOCK_ASSERT(claim != nullptr);
  redis::Terms terms;
  terms.more_resources = claim->terms.more_resources;
  terms.group = claim->terms.group;
  terms.cooldown = claim->cooldown(now);
  terms.writer_reservation = claim->writer_reservation();
  terms.permits = claim->terms.permits;
  std::array<std::string_view, 2> encoded{};
  command.nodes.each([&](NodeIndex node) {
    redis::Connection& connection = nodes_[node]->connection();
    const redis::SetForm form = connection.set_form();
    const auto which = static_cast<std::size_t>(form);
    if (encoded[which].empty()) {
      encoded[which] = encoders_[which].encode(
          command.stamp.verb, command.form, form, claim->terms.resource, claim->token,
          claim->time_to_ask(command.stamp.verb, now),
          claim->fencing() ? static_cast<std::int64_t>(claim->fencing()->number) : 0, terms);
    }
    connection.send(encoded[which], command.stamp);
  });
  dirty_ = dirty_ | command.nodes;
}

void Driver::send_plain(const Command& command) {
  command.nodes.each([&](NodeIndex node) {
    redis::Connection& connection = nodes_[node]->connection();
    connection.send(
        encoders_[0].encode(command.stamp.verb, command.form, connection.set_form(),
                            command.key != nullptr ? std::string_view(*command.key) : "",
                            engine_.client_id(), {}, command.number),
        command.stamp);
  });
  dirty_ = dirty_ | command.nodes;
}

void Driver::write_marker(const Command& command) {
  const NodeIndex node = command.marker->node;
  nodes_[node]->connection().send(redis::marker_write(*command.marker), command.stamp);
  dirty_.add(node);
}

void Driver::on_node_ready(NodeIndex node, const redis::ServerIdentity& identity) noexcept {
  nodes_[node]->reported_down = false;
  report(node, NodeEvent::Kind::up, "Redis " + identity.version);
  core::NodeUp event;
  event.node = node;
  event.server = identity.run_id;
  event.connection = identity.connection_id;
  // What it is made of came with Redis 6.2 and 7.0.
  event.can_fence = identity.set_form == redis::SetForm::with_get;
  event.ineligible = identity.ineligible;
  event.replica = identity.replica;
  event.marker = identity.marker;
  event.quarantine = identity.quarantine;
  event.quarantine_why = identity.quarantine_why;
  step(event);
}

void Driver::on_node_answer(const core::Event& answer) noexcept { step(answer); }

void Driver::on_node_down(NodeIndex node, core::NodeDown::Cause cause, std::string_view why,
                          redis::Conduct conduct) noexcept {
  const bool violated = conduct == redis::Conduct::violated_protocol;
  report(node, violated ? NodeEvent::Kind::protocol : NodeEvent::Kind::down, std::string(why));
  core::NodeDown event;
  event.node = node;
  event.cause = cause;
  event.why = why;
  step(event);
}

void Driver::on_node_subscribed(NodeIndex node) noexcept { step(core::Subscribed{node}); }

void Driver::on_node_notified(const core::Notification& notification) noexcept {
  step(notification);
}

void Driver::on_node_unsubscribed(NodeIndex node) noexcept { step(core::Unsubscribed{node}); }

void Driver::add_nodes(const Command& command) {
  command.nodes.each([&](NodeIndex node) {
    const std::string& name = engine_.settings().nodes[node];
    // A name that came from a node need not be one of ours: then it is never reached.
    const auto target = reach_ ? reach_(name) : Result<redis::ConnectionTarget>(Error{});
    NodeOwner& owner = *this;
    nodes_.push_back(
        std::make_unique<Node>(loop_, node, target ? *target : redis::ConnectionTarget{}, owner));
    report(node, NodeEvent::Kind::learned,
           "it is a member, and the list of nodes does not name it: the list is out of date");
  });
}

void Driver::report_excluded(const Command& command) {
  command.nodes.each(
      [&](NodeIndex node) { report(node, NodeEvent::Kind::excluded, engine_.exclusion(node)); });
}

void Driver::report_undelivered(const Command& command) {
  const auto releases = static_cast<std::size_t>(command.number);
  command.nodes.each([&](NodeIndex node) {
    report(node, NodeEvent::Kind::undelivered,
           std::to_string(releases) + (releases == 1 ? " release was" : " releases were") +
               " not delivered before the client closed: what is locked there stays so until it "
               "expires");
    listener_.on_undelivered(node, releases);
  });
}

void Driver::report(NodeIndex node, NodeEvent::Kind kind, std::string message) {
  if (kind == NodeEvent::Kind::down) {
    if (nodes_[node]->reported_down) return;
    nodes_[node]->reported_down = true;
  }
  listener_.on_node_event({kind, node, engine_.settings().nodes[node], std::move(message)});
}

void Driver::on_deadline() noexcept {
  // Not stepped here: answers that have arrived in this turn are read first, or a process that was
  // paused would take every node for silent.
  time_passed_ = true;
  hook_.request();
}

bool Driver::backlogged() const noexcept {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return node->ready() && node->connection().unsent() != 0;
  });
}

void Driver::on_turn() noexcept {
  bool destroyed = false;
  destroyed_ = &destroyed;
  in_turn_end_ = true;
  if (time_passed_) {
    time_passed_ = false;
    step(core::TimePassed{});
  }
  listener_.on_turn_end();
  if (destroyed) return;
  destroyed_ = nullptr;
  if (!engine_.uncovered().empty()) step(core::TurnEnd{});
  in_turn_end_ = false;
  dirty_.each([&](NodeIndex node) {
    if (nodes_[node]->ready()) nodes_[node]->connection().flush();
  });
  dirty_ = core::NodeSet();
  arm();
}

void Driver::arm() {
  const std::optional<core::Instant> next = engine_.next_deadline();
  if (next) {
    timer_.arm(next->time_since_epoch());
  } else {
    timer_.disarm();
  }
}

}  // namespace redlock::runtime
