#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/messages.hpp"
#include "redis/set_form.hpp"
#include "redlock/token.hpp"

namespace redlock::redis {

/// Appends one command in Redis' wire format.
void append_command(std::string& out, std::initializer_list<std::string_view> words);

/// Turns a request of the core into bytes: once per round and form, for any number of connections.
///
/// hiredis formats with sprintf, which would be the dearest thing in a lock cycle. So what it made
/// is kept, and while only the letters of resource and token change, and not their number, they are
/// written over the old ones.
class Encoder {
 public:
  /// What a verb does not need is ignored. TTLs are cut to whole milliseconds, Redis' unit;
  /// validity must be computed from the TTL so cut, or a key could expire before the lease does.
  /// `number` is the fencing token, or the connection to kill.
  /// The view is valid until the next call.
  [[nodiscard]] std::string_view encode(core::Verb verb, core::ScriptForm script_form,
                                        SetForm set_form, std::string_view resource,
                                        const Token& token, core::Duration ttl,
                                        std::int64_t number = 0);

 private:
  struct Frame {
    std::string bytes{};
    core::ScriptForm script_form{};
    SetForm set_form{};
    core::Duration ttl{};
    std::size_t resource_size = 0;
    std::size_t token_size = 0;
    std::size_t number_size = 0;
    std::array<std::size_t, 5> resource_at{};  // some name it more than once
    std::size_t token_at = 0;
    std::size_t number_at = 0;
  };

  static void format(Frame& frame, core::Verb verb, std::string_view resource, const Token& token,
                     std::int64_t number);

  std::array<Frame, core::verbs> frames_;
};

}  // namespace redlock::redis
