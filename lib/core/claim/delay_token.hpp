#pragma once

#include <string>
#include <string_view>

#include "redlock/token.hpp"
#include "support/assert.hpp"

namespace redlock::core {

/// The token with which the nodes keep everybody out after this client has broken a lock: see
/// Token::is_delay(). It is the same for every lock that the client breaks, so that nodes agree
/// even if they had different tokens before.
[[nodiscard]] inline Token delay_token(std::string_view client_id, std::string_view name) {
  std::string text(client_id);
  text.resize(Token::digits, '0');
  if (!name.empty()) text.append(1, ':').append(name);
  const auto token = Token::parse(text);
  REDLOCK_ASSERT(token && token->is_delay());
  return *token;
}

}  // namespace redlock::core
