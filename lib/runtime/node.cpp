#include "runtime/node.hpp"

#include <utility>
#include <variant>

namespace redlock::runtime {

Node::Node(uv_loop_t* loop, core::NodeIndex index, redis::ConnectionTarget target, NodeOwner& owner)
    : loop_(loop),
      index_(index),
      resolver_(loop),
      credentials_call_(loop, redis::running_providers()),
      target_(std::move(target)),
      owner_(owner) {
  target_.endpoint.resolver = &resolver_;
  target_.credentials_call = &credentials_call_;
}

void Node::connect(std::string incarnation, bool marks) {
  if (target_.guard) {
    target_.guard->incarnation = std::move(incarnation);
    target_.guard->marks = marks;
  }
  connection_again_ = false;
  open_connection();
}

void Node::open_connection() {
  redis::ConnectionOwner& owner = *this;
  connection_ = std::make_unique<redis::Connection>(loop_, target_, owner);
  connection_->open();
}

void Node::disconnect(uv::CloseMode mode) {
  if (connection_) connection_->close(mode);
}

void Node::on_ready(const redis::ServerIdentity& identity) noexcept {
  owner_.on_node_ready(index_, identity);
}

void Node::on_answer(const core::Stamp& stamp, const core::Answer& what) noexcept {
  // Built in place, because the driver does nothing more often than this.
  core::Event event(std::in_place_type<core::Answer>, what);
  auto& answer = *std::get_if<core::Answer>(&event);
  answer.node = index_;
  answer.stamp = stamp;
  owner_.on_node_answer(event);
}

void Node::on_plain_yeses(std::span<const core::PlainYes> plain_yeses,
                          std::string_view marker) noexcept {
  owner_.on_node_answer(core::PlainYeses{index_, plain_yeses, marker});
}

void Node::on_changed(core::Tracked kind, std::string_view key) noexcept {
  owner_.on_node_changed({index_, kind, key});
}

void Node::on_down(core::NodeDown::Cause cause, std::string_view why,
                   redis::ProtocolError protocol_error) noexcept {
  if (connection_->login_refused() && target_.credentials && !connection_again_) {
    connection_again_ = true;
    return open_connection();
  }
  owner_.on_node_down(index_, cause, why, protocol_error);
}

void Node::subscribe(std::string_view name) {
  subscriber_name_ = name;
  subscriber_again_ = false;
  open_subscriber();
}

void Node::open_subscriber() {
  redis::SubscriberOwner& owner = *this;
  subscriber_ = std::make_unique<redis::Subscriber>(loop_, target_, subscriber_name_, owner);
  subscriber_->open();
}

void Node::probe_subscription() {
  if (subscriber_) subscriber_->probe();
}

void Node::unsubscribe() {
  if (subscriber_) subscriber_->close();
}

void Node::on_subscribed() noexcept { owner_.on_node_subscribed(index_); }

void Node::on_notified(std::string_view resource, std::uint32_t before) noexcept {
  owner_.on_node_notified({index_, resource, before});
}

void Node::on_unsubscribed(std::string_view /*why*/) noexcept {
  if (subscriber_->login_refused() && target_.credentials && !subscriber_again_) {
    subscriber_again_ = true;
    return open_subscriber();
  }
  owner_.on_node_unsubscribed(index_);
}

}  // namespace redlock::runtime
