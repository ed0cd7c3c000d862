#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/commands.hpp"
#include "core/messages.hpp"
#include "core/waited_keys.hpp"
#include "redis/dialect.hpp"
#include "redlock/token.hpp"

namespace redlock::redis {

/// Appends one command in Redis' wire format.
void append_command(std::string& out, std::span<const std::string_view> words);
inline void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  append_command(out, std::span(words.begin(), words.size()));
}

/// The terms of a lock that is not exclusive, has more than one resource, or has an interval.
struct Terms {
  std::span<const std::string> more_resources{};  ///< more resources
  std::string_view group{};                       ///< its members may share the lock
  core::Duration cooldown{};                      ///< release: nobody may have it yet
  core::Duration writer_reservation{};  ///< take, enter: new holds, where others are in the way
  std::uint32_t permits = 0;            ///< of how many the resource is one; 0: it is no permit
  /// In the name of which client it is asked for, for which something may be reserved; a release:
  /// which client is queued again.
  std::string_view client{};
  std::optional<std::int64_t> ticket{};  ///< with which it is queued; none: it is not
  /// Release of an attempt at several resources: those before this one stay reserved for `client`,
  /// as long as `writer_reservation`.
  std::string_view kept_before{};
  bool quiet = false;  ///< release: another client passes the resource on
  /// write_audit: what people call this client; break_lock: the token that keeps everybody out.
  std::string_view name{};
  core::Duration reserved_for{};  ///< and for how long it is reserved; zero: as usual

  [[nodiscard]] bool none() const noexcept {
    return more_resources.empty() && group.empty() && cooldown == core::Duration::zero() &&
           writer_reservation == core::Duration::zero() && permits == 0 && client.empty() &&
           name.empty();
  }
};

/// For how long a node remembers which locks an operator broke.
inline constexpr core::Duration audit_kept_for = std::chrono::hours(24);

/// Turns a request of the core into bytes: once per round and form, for any number of connections.
///
/// hiredis formats with sprintf, which would be the dearest thing in a lock cycle. So what it made
/// is kept, and while only the letters of resource and token change, and not their number, they are
/// written over the old ones.
class Encoder {
 public:
  /// Arguments that a verb does not need are ignored. TTLs are cut to whole milliseconds, Redis'
  /// unit; validity must be computed from the TTL so cut, or a key could expire before the lease
  /// does. `number` is the fencing token, the connection to kill, or for how many milliseconds a
  /// name is kept. The view is valid until the next call.
  [[nodiscard]] std::string_view encode(core::Verb verb, core::ScriptForm script_form,
                                        Dialect dialect, std::string_view resource,
                                        std::string_view token, core::Duration ttl,
                                        std::int64_t number = 0, const Terms& terms = {});
  [[nodiscard]] std::string_view encode(core::Verb verb, core::ScriptForm script_form,
                                        Dialect dialect, std::string_view resource,
                                        const Token& token, core::Duration ttl,
                                        std::int64_t number = 0, const Terms& terms = {}) {
    return encode(verb, script_form, dialect, resource, token.view(), ttl, number, terms);
  }
  /// From now on a node reserves a free resource for so long for who is next.
  void reserve_for(core::Duration duration) noexcept { reserved_for_ = duration; }

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

  [[nodiscard]] bool says_so_still(const Frame& frame) const noexcept {
    return !frame.reserved_for || *frame.reserved_for == reserved_for_;
  }
  /// Over the old one, if it is as long.
  [[nodiscard]] static bool write_number(Frame& frame, std::int64_t number);
  void format(Frame& frame, core::Verb verb, std::string_view resource, std::string_view token,
              std::int64_t number, const Terms& terms) const;

  core::Duration reserved_for_ = core::shortest_reservation;
  /// By the length of the resource's name, so that a few lengths in turn do not displace each
  /// other.
  static constexpr std::size_t lengths = 4;
  std::array<std::array<Frame, lengths>, core::verbs> frames_;
};

/// The request of core::Verb::mark_plain. Where the marker is not the expected one, the node gets
/// the quarantine all the same: a transaction cannot decide.
[[nodiscard]] std::string marker_transaction(const core::MarkerWrite& write);

/// The request of core::Verb::write_marker.
[[nodiscard]] std::string marker_write(const core::MarkerWrite& write);

}  // namespace redlock::redis
