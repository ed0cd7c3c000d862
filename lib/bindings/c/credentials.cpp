#include "redlock/credentials.hpp"

#include "bindings/c/boundary.hpp"
#include "support/handover.hpp"

namespace redlock::bindings {

[[nodiscard]] static Error no_credentials(std::string why) {
  return Error{Errc::unavailable, std::move(why), {}};
}

/// The answer to a request. The library's thread waits for it, and the owner of the request gives
/// it.
using PendingCredentials = support::Handover<Result<Credentials>>;

}  // namespace redlock::bindings

struct redlock_credentials_request {
  redlock_credentials_request(std::string node, std::shared_ptr<bound::PendingCredentials> waiting)
      : url(std::move(node)), pending(std::move(waiting)) {}
  /// Answers a request that a dispatcher has dropped because it ended.
  ~redlock_credentials_request() {
    if (pending != nullptr) answer(bound::no_credentials("nobody answered"));
  }
  redlock_credentials_request(const redlock_credentials_request&) = delete;
  redlock_credentials_request& operator=(const redlock_credentials_request&) = delete;

  void answer(redlock::Result<redlock::Credentials> given) noexcept {
    const auto waits = std::exchange(pending, nullptr);
    bound::guarded(nullptr, [&] { waits->give(std::move(given)); });
  }

  std::string url;
  std::shared_ptr<bound::PendingCredentials> pending;
};

namespace redlock::bindings {

CredentialsProvider make_provider(std::shared_ptr<void> context, CredentialsCallback call,
                                  Dispatcher dispatcher) {
  return [context = std::move(context), call,
          dispatcher = std::move(dispatcher)](const std::string& url) {
    const auto pending = std::make_shared<PendingCredentials>();
    auto request = std::make_unique<redlock_credentials_request>(url, pending);
    deliver(dispatcher, [context, call, request = std::move(request)]() mutable noexcept {
      call(context.get(), request.release());
    });
    return pending->wait();
  };
}

}  // namespace redlock::bindings

const char* redlock_credentials_url(const redlock_credentials_request* request) {
  return request == nullptr ? nullptr : request->url.c_str();
}

void redlock_credentials_provide(redlock_credentials_request* request, const char* user,
                                 const char* password) {
  const std::unique_ptr<redlock_credentials_request> owned(request);
  if (owned == nullptr) return;
  bound::guarded(nullptr, [&] {
    if (password == nullptr) {
      return owned->answer(bound::no_credentials("the password is NULL"));
    }
    owned->answer(redlock::Credentials{bound::text_or_empty(user), password});
  });
}

void redlock_credentials_fail(redlock_credentials_request* request, const char* message) {
  const std::unique_ptr<redlock_credentials_request> owned(request);
  if (owned == nullptr) return;
  bound::guarded(nullptr,
                 [&] { owned->answer(bound::no_credentials(bound::text_or_empty(message))); });
}
