#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/vocabulary/request.hpp"
#include "redis/requests/writer.hpp"
#include "redis/values/dialect.hpp"

namespace redlock::redis {

/// Turns a request of the core into bytes: once per round and form, for any number of connections.
///
/// hiredis formats with sprintf, which would be the most expensive part of a lock cycle. The
/// encoder keeps what hiredis made. If only the letters of resource, token and fencing number
/// change, and not their lengths, it writes them over the old ones.
class Encoder {
 public:
  /// TTLs are cut to whole milliseconds, Redis' unit; validity must be computed from the cut TTL,
  /// or a key could expire before the lease does. The view is valid until the next call.
  [[nodiscard]] std::string_view encode(core::Verb verb, core::ScriptForm script_form,
                                        Dialect dialect, const core::Terms& terms);

 private:
  /// Number of frames kept, chosen by the length of the resource's name, so that a few alternating
  /// lengths do not displace each other.
  static constexpr std::size_t lengths = 4;
  std::array<std::array<Frame, lengths>, core::verbs> frames_;
};

}  // namespace redlock::redis
