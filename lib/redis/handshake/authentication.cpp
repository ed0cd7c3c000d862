#include "redis/handshake/authentication.hpp"

#include "redis/batches/encoder.hpp"

namespace redlock::redis {

bool append_authentication(std::string& out, const ConnectionTarget& target) {
  if (!target.user.empty()) {
    append_command(out, {"AUTH", target.user, target.password});
  } else if (!target.password.empty()) {
    append_command(out, {"AUTH", target.password});
  } else {
    return false;
  }
  return true;
}

}  // namespace redlock::redis
