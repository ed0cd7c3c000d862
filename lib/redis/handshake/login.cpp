#include "redis/handshake/login.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "redis/values/visible.hpp"

namespace redlock::redis {
namespace {

/// More than for name lookups: the tokens of a hundred clients can expire at one moment.
constexpr std::size_t most_providers = 256;

/// Calls the provider. Runs on a thread of its own.
[[nodiscard]] ProvidedCredentials ask_provider(const CredentialsProvider& provider,
                                               const std::string& url) noexcept {
  try {
    auto answer = provider(url);
    if (answer) return {{}, *std::move(answer)};
    if (answer.error().message.empty()) return {"the provider failed", {}};
    return {visible(answer.error().message), {}};
  } catch (const std::exception& error) {
    return {visible(error.what()), {}};
  } catch (...) {
    return {"the provider threw what is no std::exception", {}};
  }
}

}  // namespace

uv::CallLimit& running_providers() noexcept {
  static uv::CallLimit limit(most_providers);
  return limit;
}

void Login::ask() {
  if (target_.tls_files) target_.endpoint.tls = target_.tls_files->current();
  if (!target_.credentials) return find_primary();
  calls().ask(
      [provider = target_.credentials, url = target_.name] { return ask_provider(provider, url); },
      *this);
}

void Login::on_answer(const ProvidedCredentials& answer) noexcept {
  if (answer.failed()) {
    target_.endpoint.refused = "no credentials: " + answer.problem;
    return answered_();
  }
  target_.endpoint.refused.clear();
  if (!answer.credentials.user.empty()) target_.user = answer.credentials.user;
  target_.password = answer.credentials.password;
  find_primary();
}

void Login::find_primary() {
  if (target_.guides == nullptr) return answered_();
  Guides& guides = *target_.guides;
  for (uv::Endpoint& guide : guides.endpoints) {
    guide.tls = target_.endpoint.tls;
    guide.server_name = target_.endpoint.server_name;
  }
  // The servers of a cluster know the same users.
  if (guides.slot) {
    guides.user = target_.user;
    guides.password = target_.password;
  }
  primary_.ask(guides);
}

void Login::look_again(uv::Callback moved) {
  if (target_.guides == nullptr) return;
  constexpr std::chrono::duration<std::uint64_t, std::milli> period = std::chrono::seconds(1);
  moved_ = moved;
  again_ = uv::make_handle<uv_timer_t>(
      this, "time to look again", [&](uv_timer_t* timer) { return uv_timer_init(loop_, timer); });
  uv_timer_start(again_.get(), on_again, period.count(), period.count());
}

void Login::on_again(uv_timer_t* timer) noexcept {
  auto& login = *static_cast<Login*>(timer->data);
  if (login.primary_.asking()) return;
  // The one that was asked may be the last to know.
  ++login.target_.guides->next;
  login.primary_.ask(*login.target_.guides);
}

void Login::on_primary() noexcept {
  uv::Endpoint& endpoint = target_.endpoint;
  if (moved_) {
    const bool same = endpoint.host == primary_.host() && endpoint.port == primary_.port();
    if (primary_.problem().empty() && !same) (*moved_)();
    return;
  }
  endpoint.refused = primary_.problem();
  endpoint.host = primary_.host();
  endpoint.port = primary_.port();
  // The resolver that the node's connections share remembers another host.
  endpoint.resolver = nullptr;
  answered_();
}

namespace {

/// The primary that the guides name; empty: they name none, or there are no guides.
std::string named_primary(const ConnectionTarget& target) {
  const uv::Endpoint& endpoint = target.endpoint;
  if (target.guides == nullptr || !endpoint.refused.empty()) return {};
  const bool is_v6 = endpoint.host.find(':') != std::string::npos;
  return (is_v6 ? '[' + endpoint.host + ']' : endpoint.host) + ':' + std::to_string(endpoint.port);
}

}  // namespace

std::string at_primary(const ConnectionTarget& target, std::string_view what) {
  const std::string primary = named_primary(target);
  return (primary.empty() ? primary : "its primary, " + primary + ": ") + std::string(what);
}

std::string missing_to_connect(const Login& login, const uv::Stream& stream) {
  if (login.asking()) return ": the provider of credentials has not answered";
  if (login.looking()) return ": nobody has named the primary";
  if (stream.shaking_hands()) {
    return ": the TLS handshake was not answered. Does the server speak TLS on this port?";
  }
  const std::string primary = named_primary(login.target());
  return primary.empty() ? primary : " to its primary, " + primary;
}

bool is_login_refusal(std::string_view error) noexcept {
  return error.starts_with("WRONGPASS") || error.starts_with("NOAUTH") ||
         error.starts_with("ERR invalid password");  // before Redis 6
}

}  // namespace redlock::redis
