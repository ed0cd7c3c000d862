#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/messages.hpp"
#include "core/request.hpp"
#include "redis/dialect.hpp"
#include "redlock/token.hpp"

namespace redlock::redis {

/// Appends one command in Redis' wire format.
void append_command(std::string& out, std::span<const std::string_view> words);
inline void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  append_command(out, std::span(words.begin(), words.size()));
}

/// For how long a node remembers which locks an operator broke.
inline constexpr core::Duration audit_kept_for = std::chrono::hours(24);

/// Turns a request of the core into bytes: once per round and form, for any number of connections.
///
/// hiredis formats with sprintf, which would be the dearest thing in a lock cycle. So what it made
/// is kept, and while only the letters of resource and token change, and not their number, they are
/// written over the old ones.
class Encoder {
 public:
  /// TTLs are cut to whole milliseconds, Redis' unit; validity must be computed from the TTL so
  /// cut, or a key could expire before the lease does. The view is valid until the next call.
  [[nodiscard]] std::string_view encode(core::Verb verb, core::ScriptForm script_form,
                                        Dialect dialect, const core::Terms& terms);

 private:
  struct Frame {
    std::string bytes{};
    bool plain = false;  ///< without terms: then it can be written over
    core::ScriptForm script_form{};
    Dialect dialect{};
    core::Duration ttl{};
    std::optional<core::Duration> reserved_for{};  ///< none: it does not say
    std::size_t resource_size = 0;
    std::size_t token_size = 0;
    std::size_t number_size = 0;
    std::size_t names = 0;  // of the resource: some name it more than once
    std::array<std::size_t, 5> resource_at{};
    std::size_t token_at = 0;
    std::size_t number_at = 0;
  };

  /// Over the old one, if it is as long.
  [[nodiscard]] static bool write_number(Frame& frame, std::uint64_t number);
  static void format(Frame& frame, core::Verb verb, const core::Terms& terms);

  /// By the length of the resource's name, so that a few lengths in turn do not displace each
  /// other.
  static constexpr std::size_t lengths = 4;
  std::array<std::array<Frame, lengths>, core::verbs> frames_;
};

}  // namespace redlock::redis
