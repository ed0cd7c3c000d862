#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "unit/core/harness.hpp"

/// Many callers of one engine: too many to write their commands down as text.
namespace redlock::core::test {

class Crowd {
 public:
  static constexpr NodeIndex nodes = 3;
  using What = std::pair<Reply, std::string>;

  explicit Crowd(std::size_t most) : engine_(settings(most), random_) {
    step(TimePassed{});
    for (NodeIndex node = 0; node < nodes; ++node) up(node);
  }

  void step(const Event& event) {
    out_.clear();
    engine_.step(now_, event, out_);
    for (const Command& command : out_) {
      if (const auto* acquired = std::get_if<Acquired>(&command))
        granted_.push_back(acquired->claim);
      if (std::holds_alternative<Failed>(command)) ++failed_;
      if (std::holds_alternative<Released>(command)) ++released_;
      if (const auto* to = std::get_if<Subscribe>(&command)) subscribing_ = to->nodes;
      const Request* request = request_in(command);
      if (request == nullptr) continue;
      ++requests_;
      request->nodes.each([&](NodeIndex node) { open_[node].push_back(request->stamp); });
    }
    subscribing_.each([this](NodeIndex node) {
      subscribing_.remove(node);
      step(Subscribed{node});
    });
  }
  void up(NodeIndex node) { step(NodeUp{node, "server" + std::to_string(node), ++connections_}); }
  void down(NodeIndex node) {
    open_[node].clear();
    step(NodeDown{node, NodeDown::Cause::unreachable, "gone away"});
  }
  /// Answers all open requests, until none is open.
  void answer_all(Reply to_attempts) {
    for (bool any = true; any;) {
      any = false;
      for (NodeIndex node = 0; node < nodes; ++node) {
        const std::vector<Stamp> open = std::exchange(open_[node], {});
        for (const Stamp& stamp : open) answer(node, stamp, to_attempts);
        any = any || !open.empty();
      }
    }
  }
  void acquire(std::uint64_t request, const std::string& resource, Duration wait) {
    Acquire event;
    event.request = CallId{request};
    event.resource = resource;
    event.ttl = 20s;
    event.wait = wait;
    step(event);
  }
  /// A caller waits; on all nodes another client has the resource.
  void wait_for(std::uint64_t request, const std::string& resource) {
    acquire(request, resource, 60s);
    answer_all(Reply::taken);
  }
  void hold(std::uint64_t request, const std::string& resource) {
    acquire(request, resource, 0s);
    answer_all(Reply::granted);
  }

  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] const std::vector<ClaimId>& granted() const { return granted_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  [[nodiscard]] std::size_t released() const { return released_; }
  [[nodiscard]] std::size_t requests() const { return requests_; }

 private:
  static Settings settings(std::size_t most) {
    Settings all;
    for (NodeIndex i = 0; i < nodes; ++i) all.nodes.push_back("node" + std::to_string(int{i}));
    all.quorum = 2;
    all.max_operations = 4 * most;
    all.max_unanswered = 8 * most;
    return all;
  }
  void answer(NodeIndex node, const Stamp& stamp, Reply to_attempts) {
    Answer event{node, stamp, to_attempts};
    if (stamp.verb == Verb::release || stamp.verb == Verb::release_plain) {
      event.reply = to_attempts == Reply::granted ? Reply::released : Reply::gone;
    } else if (stamp.verb == Verb::join_queue || stamp.verb == Verb::check_queue) {
      event.reply = Reply::taken;
      event.ticket = 1;
    } else if (stamp.verb == Verb::leave_queue) {
      event.reply = Reply::done;
    } else if (to_attempts == Reply::taken) {
      event.text = others_;
      event.remaining = 10s;
    }
    step(event);
  }

  ScriptedRandomness random_;
  Engine engine_;
  Instant now_{};
  std::string others_ = std::string(40, 'a');
  std::vector<Command> out_;
  std::array<std::vector<Stamp>, nodes> open_;
  NodeSet subscribing_;
  std::vector<ClaimId> granted_;
  std::size_t failed_ = 0;
  std::size_t released_ = 0;
  std::size_t requests_ = 0;
  std::int64_t connections_ = 0;
};

}  // namespace redlock::core::test
