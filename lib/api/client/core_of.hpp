#pragma once

#include <memory>

#include "redlock/async_client.hpp"
#include "redlock/client.hpp"

namespace redlock::api {

/// Gets the core of a client object, for classes that keep the core. Null if the object was moved
/// from.
struct CoreOf {
  [[nodiscard]] static const std::shared_ptr<ClientCore>& client(const Client& client) noexcept {
    return client.core_;
  }
  [[nodiscard]] static const std::shared_ptr<ClientCore>& client(
      const AsyncClient& client) noexcept {
    return client.core_;
  }
};

}  // namespace redlock::api
