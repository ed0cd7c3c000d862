#include "credentials.hpp"

#include "client.hpp"

namespace redlock::node {

void CredentialsGate::open(Client& client) noexcept {
  const std::lock_guard lock(mutex_);
  client_ = &client;
}

void CredentialsGate::close() noexcept {
  const std::lock_guard lock(mutex_);
  client_ = nullptr;
}

void CredentialsGate::ask(redlock_credentials_request* request) noexcept {
  auto owned = std::make_unique<CredentialsRequest>(request);
  const std::lock_guard lock(mutex_);
  if (client_ != nullptr) client_->send_request(std::move(owned));
}

}  // namespace redlock::node
