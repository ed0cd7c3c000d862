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

/// A lock on its way to a new owner, in this process or another. `Lease::detach` makes it, and
/// `Client::adopt` turns it into a lease again. The key stays on the nodes until its TTL has
/// passed: adopt it before that. If handing it on takes long, extend the lease by a long TTL before
/// you detach it. A lease that is lost cannot be handed on: its value is empty.
///
/// Anyone who has this value can use the lock, so hand it to one owner only: two would both hold
/// it.
struct REDLOCK_EXPORT DetachedLease {
  /// Declared, so that g++ 12 destroys a temporary once within an expression that awaits: see
  /// Awaitable.
  DetachedLease() = default;

  /// The resources without `ClientOptions::prefix`, the first one first; for a `permit`, the
  /// permit's name: "jobs#3". Only clients with the same prefix can adopt it.
  std::vector<std::string> resources{};
  Token token{};
  /// The fencing token. `Client::adopt` keeps or raises it. None: it was acquired without fencing.
  std::optional<FencingToken> fencing_token{};
  /// `shared` or `owned`; `exclusive` for all others. An `interval` is not handed on: it ends when
  /// the lock is released.
  Target::Kind kind = Target::Kind::exclusive;
  /// The owner's name, for an `owned` hold.
  std::string owner{};

  /// One word of printable ASCII characters, for an argument, a file or a message. It is a secret,
  /// like the token. Empty for an empty value, which `parse` refuses.
  [[nodiscard]] std::string str() const;

  /// Reads what `str` of this version or an earlier one wrote; blanks and newlines around it are
  /// left out. None if the text is anything else.
  [[nodiscard]] static std::optional<DetachedLease> parse(std::string_view text);

  friend bool operator==(const DetachedLease&, const DetachedLease&) = default;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
