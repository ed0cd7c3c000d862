#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "redis/connection/connection.hpp"
#include "uv/handle.hpp"
#include "uv/loop.hpp"

namespace redlock::redis {

/// Writes down what a connection says.
class Recorder final : public ConnectionOwner {
 public:
  struct Answered {
    core::Stamp stamp;
    core::Reply reply;
    std::string text;
    std::optional<core::Duration> remaining;
    core::Duration time{};
  };

  void on_ready(const ServerIdentity& identity) noexcept override {
    ready = identity;
    if (react) react();
  }
  void on_changed(core::Tracked kind, std::string_view key) noexcept override {
    changed.emplace_back(kind, key);
  }
  void on_answer(const core::Stamp& stamp, const core::Answer& answer) noexcept override {
    answers.push_back(
        {stamp, answer.reply, std::string(answer.text), answer.remaining, answer.time});
    if (react) react();
  }
  void on_plain_yeses(std::span<const core::PlainYes> plain_yeses,
                      std::string_view marker) noexcept override {
    for (const core::PlainYes& plain_yes : plain_yeses) {
      const bool is_marker = plain_yes.reply == core::Reply::marker;
      answers.push_back({plain_yes.stamp,
                         plain_yes.reply,
                         std::string(is_marker ? marker : ""),
                         {},
                         plain_yes.time});
    }
    if (react) react();
  }
  void on_down(core::NodeDown::Cause why_cause, std::string_view why_text,
               ProtocolError what) noexcept override {
    ++downs;
    cause = why_cause;
    why = why_text;
    protocol_error = what;
    if (react) react();
  }

  std::optional<ServerIdentity> ready;
  std::vector<Answered> answers;
  std::vector<std::pair<core::Tracked, std::string>> changed;
  int downs = 0;
  core::NodeDown::Cause cause{};
  std::string why;
  ProtocolError protocol_error{};
  std::function<void()> react;  ///< called inside every call
};

/// Runs the loop until `condition` holds; false after a generous limit.
template <typename Condition>
[[nodiscard]] bool run_until(uv::Loop& loop, Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto tick = uv::make_handle<uv_timer_t>(
      nullptr, "ticking", [&](uv_timer_t* timer) { return uv_timer_init(loop.get(), timer); });
  uv::check(uv_timer_start(
                tick.get(), [](uv_timer_t*) noexcept {}, 20, 20),
            "ticking");
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    uv_run(loop.get(), UV_RUN_ONCE);
  }
  return true;
}

[[nodiscard]] inline ConnectionTarget tcp_target(std::uint16_t port) {
  return {.endpoint = {.kind = uv::Endpoint::Kind::tcp,
                       .host = "127.0.0.1",
                       .port = port,
                       .path = {},
                       .tls = {}}};
}

[[nodiscard]] inline ConnectionTarget unix_target(std::string path) {
  return {.endpoint = {.kind = uv::Endpoint::Kind::unix_socket,
                       .host = {},
                       .port = 0,
                       .path = std::move(path),
                       .tls = {}}};
}

}  // namespace redlock::redis
