#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "redlock.h"

namespace redlock::node {

class Queue;

/// Passes requests for credentials from the library's threads to JavaScript. A thread may still ask
/// after the queue has ended.
class CredentialsGate {
 public:
  /// `id`: under which the handler of the queue gets the requests.
  void open(Queue& queue, double id) noexcept;
  void close() noexcept;
  /// The C callback; its context is this object.
  void ask(redlock_credentials_request* request) noexcept;

 private:
  std::mutex mutex_;
  Queue* queue_ = nullptr;
  double id_ = 0;
};

/// JavaScript's handle of a request for credentials. A handle that JavaScript drops fails the
/// request, so that no thread waits for ever.
class CredentialsRequest {
 public:
  explicit CredentialsRequest(redlock_credentials_request* request) noexcept : request_(request) {}
  ~CredentialsRequest() { fail("the client is closed"); }
  CredentialsRequest(const CredentialsRequest&) = delete;
  CredentialsRequest& operator=(const CredentialsRequest&) = delete;

  [[nodiscard]] const char* url() const noexcept { return redlock_credentials_url(request_); }
  void provide(const std::string& user, const std::string& password) noexcept {
    redlock_credentials_provide(std::exchange(request_, nullptr), user.c_str(), password.c_str());
  }
  void fail(const std::string& why) noexcept {
    redlock_credentials_fail(std::exchange(request_, nullptr), why.c_str());
  }

 private:
  redlock_credentials_request* request_;
};

}  // namespace redlock::node
