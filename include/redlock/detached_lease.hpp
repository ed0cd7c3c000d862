#pragma once

#include "redlock/language.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// A lock that its lease was detached from, on its way to another owner, of any process, who makes
/// a lease of it again: `Client::adopt`. Its key stays on the nodes until its TTL has passed, so
/// the new owner has to be quick, or the old one extends it well before.
///
/// Whoever has this value can use the lock. Hand it to one owner only: two of them would both hold.
struct REDLOCK_EXPORT DetachedLease {
  /// The resources, the first one first; of a `permit`, the permit's name: "jobs#3".
  std::vector<std::string> resources{};
  Token token{};
  /// The number that the lease had, and that it keeps. None: no fencing was asked for.
  std::optional<FencingToken> fencing_token{};
  /// `shared` or `owned`; `exclusive` for all others. An `interval` is not handed on: it ends when
  /// the lock is released.
  Target::Kind kind = Target::Kind::exclusive;
  /// Of an `owned` hold.
  std::string owner{};

  /// One word of printable ASCII characters, for an argument, a file or a message. It is a secret
  /// as the token is.
  [[nodiscard]] std::string str() const;

  /// What `str` wrote, by this version or an earlier one; anything else is none.
  [[nodiscard]] static std::optional<DetachedLease> parse(std::string_view text);

  friend bool operator==(const DetachedLease&, const DetachedLease&) = default;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
