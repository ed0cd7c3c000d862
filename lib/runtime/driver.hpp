#pragma once

#include <uv.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.hpp"
#include "redis/batches/encoder.hpp"
#include "redlock/metrics.hpp"
#include "runtime/configuration.hpp"
#include "runtime/gathered.hpp"
#include "runtime/kernel_randomness.hpp"
#include "runtime/node.hpp"
#include "uv/deadline_timer.hpp"
#include "uv/turn_hook.hpp"

namespace redlock::runtime {

/// Receives the outcomes of its calls. Called on the loop, in the middle of a step: it copies what
/// it needs, and must not step the driver or call the user's code outside `on_turn_end`.
class DriverListener {
 public:
  /// The round and the claim of an outcome live until the call returns.
  virtual void on_outcome(core::Instant now, const core::Acquired& outcome) noexcept = 0;
  virtual void on_outcome(core::Instant now, const core::Extended& outcome) noexcept = 0;
  virtual void on_outcome(core::Instant now, const core::Released& outcome) noexcept = 0;
  virtual void on_outcome(core::Instant now, const core::Inspected& outcome) noexcept = 0;
  virtual void on_outcome(core::Instant now, const core::Failed& outcome) noexcept = 0;
  virtual void on_outcome(core::Instant now, const core::AtRisk& outcome) noexcept = 0;
  virtual void on_outcome(core::Instant now, const core::QueueWatched& outcome) noexcept = 0;
  virtual void on_outcome(core::Instant now, const core::Lost& outcome) noexcept = 0;
  virtual void on_node_event(NodeEvent event) noexcept = 0;
  /// An event that only a log reports.
  virtual void on_log(NodeEvent event) noexcept = 0;
  /// The releases that did not reach a node before the end.
  virtual void on_undelivered(const core::Undelivered& report) noexcept = 0;
  /// Nothing is left to wait for; the driver may be destroyed from the next `on_turn_end` on.
  virtual void on_drained() noexcept = 0;
  /// Called once in each turn of the loop in which anything happened, before the loop polls again.
  /// May destroy the driver.
  virtual void on_turn_end() noexcept = 0;

 protected:
  ~DriverListener() = default;
};

/// Drives the engine on a libuv loop: reads the clock, steps the engine, carries out its commands,
/// keeps one timer. Makes no decisions. Belongs to the loop's thread.
class Driver final : private NodeOwner {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  Driver(uv_loop_t* loop, const Configuration& configuration, DriverListener& listener);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Begins to connect.
  void start();

  void step(const core::Event& event);

  /// Whether a step is under way: no other step may begin then.
  [[nodiscard]] bool stepping() const noexcept { return stepping_; }

  /// Has `on_turn_end` called before the loop polls again.
  void request_turn_end() noexcept { hook_.request(); }

  /// For the listener's `on_turn_end`: the latest instant of its next call. None: no limit.
  void wake_at(std::optional<core::Instant> instant) noexcept { wanted_ = instant; }

  /// Ends a turn now, and sends what is to be sent. For callers that turn the loop step by step.
  void end_turn() noexcept { hook_.serve(); }

  /// Whether a node accepts less than is sent to it, so that libuv still writes by itself.
  [[nodiscard]] bool backlogged() const noexcept;

  [[nodiscard]] const core::Engine& engine() const noexcept { return engine_; }

  /// Must not be called within a step.
  [[nodiscard]] Metrics metrics();

 private:
  void on_node_ready(core::NodeIndex node, const redis::ServerIdentity& identity) noexcept override;
  void on_node_answer(const core::Event& answer) noexcept override;
  void on_node_down(core::NodeIndex node, core::NodeDown::Cause cause, std::string_view why,
                    redis::ProtocolError protocol_error) noexcept override;
  void on_node_subscribed(core::NodeIndex node) noexcept override;
  void on_node_notified(const core::Notification& notification) noexcept override;
  void on_node_changed(const core::Changed& change) noexcept override;
  void on_node_unsubscribed(core::NodeIndex node) noexcept override;

  void carry_out(const core::Connect& command);
  void carry_out(const core::Disconnect& command);
  void carry_out(const core::Subscribe& command);
  void carry_out(const core::ProbeSubscription& command);
  void carry_out(const core::Unsubscribe& command);
  void carry_out(const core::Request& request);
  void carry_out(const core::NodeExcluded& command);
  void carry_out(const core::StoodStill& command);
  void carry_out(const core::CountersReset& command);
  void carry_out(const core::NodeLearned& command);
  void carry_out(const core::Undelivered& command);
  void carry_out(const core::Drained& command);
  /// Passes an outcome on to the listener.
  template <class Outcome>
  void carry_out(const Outcome& outcome) {
    listener_.on_outcome(stepped_at_, outcome);
  }
  [[nodiscard]] static bool may_share_call(const core::Request& request) noexcept;
  /// Whether the request joins a redis::SharedCall, or is alone in one.
  [[nodiscard]] static bool joins_call(const core::Request& request) noexcept;
  void gather(const core::Request& request, redis::Dialect dialect);
  [[nodiscard]] std::string_view encode(const core::Request& request, core::Verb verb,
                                        redis::Dialect dialect);
  void report(core::NodeIndex node, NodeEvent::Kind kind, std::string message,
              NodeEvent::Level level = NodeEvent::Level::warning);
  void on_deadline() noexcept;
  void on_turn() noexcept;
  void arm();

  uv_loop_t* loop_;
  DriverListener& listener_;
  std::function<redis::ConnectionTarget(const std::string& name)> reach_;
  KernelRandomness randomness_;
  core::Engine engine_;
  std::array<redis::Encoder, redis::dialects> encoders_;  // by dialect
  // The dialect of all ready nodes; none: they differ.
  std::optional<redis::Dialect> common_dialect_;
  std::vector<core::Command> commands_;
  bool stepping_ = false;
  core::Instant stepped_at_{};
  bool in_turn_end_ = false;
  bool time_passed_ = false;
  std::optional<core::Instant> wanted_;  // the instant that the listener wants to be called at
  bool* destroyed_ = nullptr;  // on the stack of on_turn, for listeners that destroy us there
  core::NodeSet dirty_;
  Gathered::Nodes nodes_;
  Gathered gathered_{nodes_};
  uv::TurnHook hook_;
  uv::DeadlineTimer timer_;
};

}  // namespace redlock::runtime
