#pragma once

#include <uv.h>

#include <optional>
#include <string>
#include <string_view>

#include "redis/handshake/connection_target.hpp"
#include "redlock/credentials.hpp"
#include "uv/blocking_call.hpp"
#include "uv/callback.hpp"
#include "uv/handle.hpp"

namespace redlock::redis {

/// A provider's answer. `problem` is one line; empty if there are credentials.
struct ProvidedCredentials {
  std::string problem{};
  Credentials credentials{};

  [[nodiscard]] bool failed() const noexcept { return !problem.empty(); }
};

/// The calls of a provider for one node, which its connections share.
using CredentialsCall = uv::BlockingCall<ProvidedCredentials>;

/// The limit on calls of providers that run at once in one process.
[[nodiscard]] uv::CallLimit& running_providers() noexcept;

/// Completes the target of one connection: with the credentials that its provider, if any, returns
/// now, with the primary that its guides, if any, name now, and with TLS files as they are now.
///
/// Belongs to the loop's thread.
class Login final : private CredentialsCall::Listener {
 public:
  /// `answered` is called once after each ask(), perhaps inside it. The target then has user and
  /// password, or `endpoint.refused` says why not.
  Login(uv_loop_t* loop, ConnectionTarget& target, uv::Callback answered) noexcept
      : target_(target),
        answered_(answered),
        own_(loop, running_providers()),
        loop_(loop),
        primary_(loop, uv::Callback::to<&Login::on_primary>(*this)) {}
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;
  ~Login() { give_up(); }

  void ask();
  /// After ask(), while the server that the guides named has not answered: asks them again each
  /// second. `moved` is called once they name another server.
  void look_again(uv::Callback moved);
  /// `answered` and `moved` are no longer called.
  void give_up() noexcept {
    calls().forget(*this);
    primary_.give_up();
    again_.reset();
  }
  /// Whether the provider has not answered.
  [[nodiscard]] bool asking() const noexcept {
    return target_.credentials_call != nullptr ? target_.credentials_call->running()
                                               : own_.running();
  }

  /// Whether no guide has answered.
  [[nodiscard]] bool looking() const noexcept { return primary_.asking(); }
  [[nodiscard]] const ConnectionTarget& target() const noexcept { return target_; }

 private:
  void on_answer(const ProvidedCredentials& answer) noexcept override;
  void find_primary();
  void on_primary() noexcept;
  static void on_again(uv_timer_t* timer) noexcept;
  [[nodiscard]] CredentialsCall& calls() noexcept {
    return target_.credentials_call != nullptr ? *target_.credentials_call : own_;
  }

  ConnectionTarget& target_;
  uv::Callback answered_;
  CredentialsCall own_;
  uv_loop_t* loop_;
  PrimaryQuery primary_;
  std::optional<uv::Callback> moved_;
  uv::Handle<uv_timer_t> again_;
};

/// For a connection that takes too long: what it waits for, to follow the time; empty: not known.
[[nodiscard]] std::string missing_to_connect(const Login& login, const uv::Stream& stream);

/// What happened at a server, and at which, if its guides name it.
[[nodiscard]] std::string at_primary(const ConnectionTarget& target, std::string_view what);

/// Whether an error of a server says that it does not know us by these credentials.
[[nodiscard]] bool is_login_refusal(std::string_view error) noexcept;

}  // namespace redlock::redis
