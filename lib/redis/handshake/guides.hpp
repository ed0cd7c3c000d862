#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/values/reply.hpp"
#include "uv/callback.hpp"
#include "uv/handle.hpp"
#include "uv/stream.hpp"

namespace redlock::redis {

/// Those who know the primary of a service: sentinels, or servers of a cluster. Shared by the
/// connections to the service.
struct Guides {
  std::vector<uv::Endpoint> endpoints{};
  std::string service{};                ///< the name that the sentinels have for it
  std::optional<std::uint16_t> slot{};  ///< whose primary a cluster is asked for; none: sentinels
  std::string user{};
  std::string password{};  ///< empty together with `user`: no authentication
  std::size_t next = 0;    ///< the one to be asked first: it answered last, or its turn has come
};

/// Asks the guides for the address of the primary, one after the other until one answers, each for
/// 200 ms.
///
/// Belongs to the loop's thread.
class PrimaryQuery final : private uv::StreamListener {
 public:
  PrimaryQuery(uv_loop_t* loop, uv::Callback answered) noexcept
      : loop_(loop), answered_(answered) {}
  PrimaryQuery(const PrimaryQuery&) = delete;
  PrimaryQuery& operator=(const PrimaryQuery&) = delete;
  ~PrimaryQuery() = default;

  /// `answered` is called once afterwards, never inside this call. `guides` outlive the query.
  void ask(Guides& guides);
  /// `answered` is no longer called.
  void give_up() noexcept;
  [[nodiscard]] bool asking() const noexcept { return stream_.has_value(); }

  /// Why no address was found, in one line; empty: one was.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  void ask_next();
  [[nodiscard]] const uv::Endpoint& asked() const noexcept;
  void take(const Value& value);
  void take_primary(const Value& host, const Value& port);
  void take_slots(const Value& slots);
  void found(const std::string& host, std::uint16_t port);
  void failed(std::string_view why);
  static void on_timer(uv_timer_t* timer) noexcept;
  void on_open() noexcept override;
  void on_bytes(std::string_view bytes) noexcept override;
  void on_failure(const uv::Failure& failure) noexcept override;

  uv_loop_t* loop_;
  uv::Callback answered_;
  Guides* guides_ = nullptr;
  std::size_t first_ = 0;  // the one that was asked first
  std::size_t tried_ = 0;  // how many had no answer
  bool authenticating_ = false;
  std::string problem_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::optional<ReplyReader> reader_;
  std::optional<uv::Stream> stream_;
  uv::Handle<uv_timer_t> timer_;  // until the next one is asked
};

}  // namespace redlock::redis
