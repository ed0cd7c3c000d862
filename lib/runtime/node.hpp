#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/vocabulary/messages.hpp"
#include "redis/connection/connection.hpp"
#include "redis/connection/subscriber.hpp"
#include "redlock/options.hpp"
#include "uv/resolver.hpp"

namespace redlock::runtime {

class NodeOwner {
 public:
  virtual void on_node_ready(core::NodeIndex node,
                             const redis::ServerIdentity& identity) noexcept = 0;
  /// `answer` is a core::Answer, or core::PlainYeses.
  virtual void on_node_answer(const core::Event& answer) noexcept = 0;
  virtual void on_node_down(core::NodeIndex node, core::NodeDown::Cause cause, std::string_view why,
                            redis::ProtocolError protocol_error) noexcept = 0;
  virtual void on_node_subscribed(core::NodeIndex node) noexcept = 0;
  virtual void on_node_notified(const core::Notification& notification) noexcept = 0;
  virtual void on_node_changed(const core::Changed& change) noexcept = 0;
  virtual void on_node_unsubscribed(core::NodeIndex node) noexcept = 0;

 protected:
  ~NodeOwner() = default;
};

/// One configured node. Owns its current connection, at most one at a time, and another one for
/// notifications after a caller has waited for a lock there.
class Node final : private redis::ConnectionOwner, private redis::SubscriberOwner {
 public:
  Node(uv_loop_t* loop, core::NodeIndex index, redis::ConnectionTarget target, NodeOwner& owner);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() = default;

  /// `incarnation` is for the marker that the handshake may write, if it `marks`.
  void connect(std::string incarnation, bool marks);
  void disconnect(uv::CloseMode mode);
  [[nodiscard]] redis::Connection& connection() noexcept { return *connection_; }
  void subscribe(std::string_view name);
  void probe_subscription();
  void unsubscribe();
  /// The thing that a connection which is not ready waits for: see redis::missing_to_connect().
  [[nodiscard]] std::string missing() const {
    return connection_ && !connection_->ready() ? connection_->missing() : std::string();
  }
  /// A problem in spite of which the connection is made; each is returned once. Empty: nothing new.
  [[nodiscard]] std::string take_warning() {
    return target_.tls_files ? target_.tls_files->take_warning() : std::string();
  }
  [[nodiscard]] bool ready() const noexcept { return connection_ && connection_->ready(); }

  /// The level at which the node's outage was reported; none: it is up, or no outage was reported.
  std::optional<NodeEvent::Level> reported_down{};

 private:
  void open_connection();
  void open_subscriber();
  void on_ready(const redis::ServerIdentity& identity) noexcept override;
  void on_answer(const core::Stamp& stamp, const core::Answer& what) noexcept override;
  void on_plain_yeses(std::span<const core::PlainYes> plain_yeses,
                      std::string_view marker) noexcept override;
  void on_changed(core::Tracked kind, std::string_view key) noexcept override;
  void on_down(core::NodeDown::Cause cause, std::string_view why,
               redis::ProtocolError protocol_error) noexcept override;
  void on_subscribed() noexcept override;
  void on_notified(std::string_view resource, std::uint32_t before) noexcept override;
  void on_unsubscribed(std::string_view why) noexcept override;

  uv_loop_t* loop_;
  core::NodeIndex index_;
  uv::Resolver resolver_;                    // must outlive the connections
  redis::CredentialsCall credentials_call_;  // must outlive the connections
  redis::ConnectionTarget target_;
  NodeOwner& owner_;
  std::string subscriber_name_;
  // Whether the provider of credentials was asked once more after a refusal.
  bool connection_again_ = false;
  bool subscriber_again_ = false;
  std::unique_ptr<redis::Connection> connection_;
  std::unique_ptr<redis::Subscriber> subscriber_;
};

}  // namespace redlock::runtime
