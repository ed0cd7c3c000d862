#include "runtime/driver.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/vocabulary/durations.hpp"
#include "redis/requests/row.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"
#include "support/assert.hpp"

namespace redlock::runtime {

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
  // Unanswered requests must not be executed after we are gone; a healthy connection without any is
  // closed as usual.
  for (const auto& node : nodes_) {
    const bool clean = node->ready() && node->connection().unanswered() == 0;
    node->disconnect(clean ? uv::CloseMode::graceful : uv::CloseMode::reset);
    node->unsubscribe();
  }
  if (destroyed_ != nullptr) *destroyed_ = true;
}

void Driver::start() { step(core::TimePassed{}); }

void Driver::step(const core::Event& event) {
  // Commands refer to data that lives until the next step, so a step inside a step would destroy
  // it.
  REDLOCK_ASSERT(!stepping_);
  stepping_ = true;
  stepped_at_ = boot_now();
  commands_.clear();
  engine_.step(stepped_at_, event, commands_);
  for (const core::Command& command : commands_) {
    std::visit([this](const auto& alternative) { carry_out(alternative); }, command);
  }
  stepping_ = false;
  // At the end of a turn, everything is sent anyway; one more turn would cost one more system call.
  if (!in_turn_end_) hook_.request();
}

void Driver::carry_out(const core::Connect& command) {
  Node& node = *nodes_[command.node];
  node.connect(randomness_.token().str(), command.marks);
  std::string warning = node.take_warning();
  if (!warning.empty()) report(command.node, NodeEvent::Kind::warning, std::move(warning));
}

void Driver::carry_out(const core::Disconnect& command) {
  Node& node = *nodes_[command.node];
  gathered_.send();
  // Requests of this step are still sent: a release after a SET that was given up.
  if (node.ready()) node.connection().flush();
  std::string why = engine_.link(command.node).contact->failure().why + node.missing();
  node.disconnect(uv::CloseMode::reset);
  // A connection that is not silent was given up for a new one, which shows the node's present
  // state.
  const bool silent = engine_.link(command.node).contact->failure().vote == Vote::timeout;
  report(command.node, NodeEvent::Kind::down, std::move(why),
         silent ? NodeEvent::Level::warning : NodeEvent::Level::debug);
}

void Driver::carry_out(const core::Subscribe& command) {
  command.nodes.each([&](NodeIndex node) { nodes_[node]->subscribe(engine_.client_id().view()); });
}

void Driver::carry_out(const core::ProbeSubscription& command) {
  command.nodes.each([&](NodeIndex node) { nodes_[node]->probe_subscription(); });
}

void Driver::carry_out(const core::Unsubscribe& command) { nodes_[command.node]->unsubscribe(); }

void Driver::carry_out(const core::Request& request) {
  dirty_ = dirty_ | request.nodes;
  if (common_dialect_) {
    gathered_.begin(request.nodes);
    return gather(request, *common_dialect_);
  }
  if (joins_call(request)) {
    gathered_.begin(request.nodes);
    return gathered_.add_to_call(request);
  }
  gathered_.send();
  std::array<std::string_view, redis::dialects> encoded{};
  request.nodes.each([&](NodeIndex node) {
    redis::Connection& connection = nodes_[node]->connection();
    std::string_view& bytes = encoded[static_cast<std::size_t>(connection.dialect())];
    if (bytes.empty()) bytes = encode(request, request.stamp.verb, connection.dialect());
    connection.send(bytes, request.stamp);
  });
}

bool Driver::may_share_call(const core::Request& request) noexcept {
  return request.terms.may_share_call && request.form == core::ScriptForm::digest;
}

bool Driver::joins_call(const core::Request& request) noexcept {
  return may_share_call(request) && redis::row_of(request.stamp.verb).shared != nullptr;
}

void Driver::gather(const core::Request& request, redis::Dialect dialect) {
  const core::Verb verb = request.stamp.verb;
  if (joins_call(request)) return gathered_.add_to_call(request);
  if (verb == core::Verb::set_fenced_short && may_share_call(request)) {
    return gathered_.add_fenced_set(encode(request, core::Verb::set, dialect), request, dialect);
  }
  gathered_.add(encode(request, verb, dialect), request.stamp);
}

std::string_view Driver::encode(const core::Request& request, core::Verb verb,
                                redis::Dialect dialect) {
  return encoders_[static_cast<std::size_t>(dialect)].encode(verb, request.form, dialect,
                                                             request.terms);
}

void Driver::carry_out(const core::NodeExcluded& command) {
  report(command.node, NodeEvent::Kind::excluded, engine_.exclusion(command.node));
}

void Driver::carry_out(const core::StoodStill& command) {
  const auto first = static_cast<NodeIndex>(std::countr_zero(command.alike.bits()));
  report(first, NodeEvent::Kind::paused,
         "this machine stood still for up to " + core::format_duration(command.most) +
             ": the clocks of " + std::to_string(command.alike.size()) +
             " nodes advanced by as much. Leases are shorter by that, and some may be lost");
}

void Driver::carry_out(const core::CountersReset& command) {
  report(command.node, NodeEvent::Kind::counters_reset,
         "an operator reset its counters (CONFIG RESETSTAT): it said that it had evicted " +
             std::to_string(command.evicted) +
             " keys, and says 0 now. It keeps its vote, because it does not evict now. If it "
             "evicted a lock shortly before the reset, nobody has noticed");
}

void Driver::carry_out(const core::NodeLearned& command) {
  const redis::ConnectionTarget target = reach_(engine_.settings().nodes[command.node]);
  NodeOwner& owner = *this;
  nodes_.push_back(std::make_unique<Node>(loop_, command.node, target, owner));
  std::string text = explain_unlisted(engine_.outlook().members);
  if (!target.endpoint.refused.empty()) text += "; " + target.endpoint.refused;
  report(command.node, NodeEvent::Kind::learned, text);
}

void Driver::carry_out(const core::Undelivered& command) {
  report(command.node, NodeEvent::Kind::undelivered, explain_undelivered(command));
  listener_.on_undelivered(command);
}

void Driver::carry_out(const core::Drained&) { listener_.on_drained(); }

void Driver::on_node_ready(NodeIndex node, const redis::ServerIdentity& identity) noexcept {
  const auto down = std::exchange(nodes_[node]->reported_down, std::nullopt);
  const redis::Dialect dialect = redis::dialect_of(identity.capabilities);
  common_dialect_ = dialect;
  for (const auto& other : nodes_) {
    const bool same = !other->ready() || other->connection().dialect() == dialect;
    if (!same) common_dialect_.reset();
  }
  report(node, NodeEvent::Kind::up, identity.product,
         down == NodeEvent::Level::debug ? NodeEvent::Level::debug : NodeEvent::Level::info);
  core::NodeUp event;
  event.node = node;
  event.server = identity.run_id;
  event.connection = identity.connection_id;
  event.capabilities = identity.capabilities;
  event.evicted = identity.evicted;
  event.keeps_keys = identity.keeps_keys;
  event.ineligible = identity.ineligible;
  event.replica = identity.replica;
  event.marker = identity.marker;
  event.reign = identity.reign;
  event.primary = identity.primary;
  event.unmarked = identity.unmarked;
  event.outdated = identity.outdated;
  event.quarantine = identity.quarantine;
  event.quarantine_why = identity.quarantine_why;
  step(event);
}

void Driver::on_node_answer(const core::Event& answer) noexcept { step(answer); }

void Driver::on_node_down(NodeIndex node, core::NodeDown::Cause cause, std::string_view why,
                          redis::ProtocolError protocol_error) noexcept {
  const bool violated = protocol_error == redis::ProtocolError::violation;
  const bool missed = cause == core::NodeDown::Cause::error || !engine_.link(node).idle();
  report(node, violated ? NodeEvent::Kind::protocol : NodeEvent::Kind::down, std::string(why),
         violated || missed ? NodeEvent::Level::warning : NodeEvent::Level::debug);
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

void Driver::on_node_changed(const core::Changed& change) noexcept { step(change); }

void Driver::on_node_unsubscribed(NodeIndex node) noexcept { step(core::Unsubscribed{node}); }

void Driver::report(NodeIndex node, NodeEvent::Kind kind, std::string message,
                    NodeEvent::Level level) {
  NodeEvent event{kind, node, engine_.settings().nodes[node], std::move(message), level};
  if (kind == NodeEvent::Kind::down) {
    // Failed retries are not reported, unless they follow the end of an idle connection.
    std::optional<NodeEvent::Level>& reported = nodes_[node]->reported_down;
    if (reported >= level) return;
    const bool again = std::exchange(reported, level).has_value();
    if (again) return listener_.on_log(std::move(event));
  }
  listener_.on_node_event(std::move(event));
}

Metrics Driver::metrics() {
  REDLOCK_ASSERT(!stepping_);
  return engine_.metrics(boot_now());
}

void Driver::on_deadline() noexcept {
  // The step comes later: answers that have arrived in this turn are read first, or a process that
  // was paused would take every node for silent.
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
  if (!engine_.unproven().empty()) step(core::TurnEnd{});
  in_turn_end_ = false;
  gathered_.send();
  dirty_.each([&](NodeIndex node) {
    if (nodes_[node]->ready()) nodes_[node]->connection().flush();
  });
  dirty_ = core::NodeSet();
  // Every step asks for the end of its turn, and whatever draws is a step.
  randomness_.end_turn();
  arm();
}

void Driver::arm() {
  const std::optional<core::Instant> next = core::earlier(engine_.next_deadline(), wanted_);
  if (next) {
    timer_.arm(next->time_since_epoch());
  } else {
    timer_.disarm();
  }
}

}  // namespace redlock::runtime
