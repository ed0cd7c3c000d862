#include "credentials.hpp"

#include "queue.hpp"

namespace redlock::node {

void CredentialsGate::open(Queue& queue, double id) noexcept {
  const std::lock_guard lock(mutex_);
  queue_ = &queue;
  id_ = id;
}

void CredentialsGate::close() noexcept {
  const std::lock_guard lock(mutex_);
  queue_ = nullptr;
}

void CredentialsGate::ask(redlock_credentials_request* request) noexcept {
  auto owned = std::make_unique<CredentialsRequest>(request);
  const std::lock_guard lock(mutex_);
  if (queue_ == nullptr) return;
  queue_->send(id_, "credentials", [request = std::move(owned)](const Js& js) mutable {
    napi_value url = js.text(request->url());
    return Outcome{js.null(),
                   js.object({{"url", url}, {"request", js.external(std::move(request))}})};
  });
}

}  // namespace redlock::node
