#include "core/votes/key_ledger.hpp"

namespace redlock::core {

void KeyLedger::release_again(NodeIndex node, Release answer, Instant expired) noexcept {
  owed_.add(node);
  if (answer == Release::unanswered) return indeterminate_.add(node);
  if (!indeterminate_.has(node)) return;
  // The node was asked to kill the indeterminate connection first, so it executes nothing more from
  // that connection, and what was written expires. Otherwise a node that always answers with errors
  // would get releases for ever.
  indeterminate_.remove(node);
  write_in_doubt_.remove(node);
  expires_by(expired);
}

std::optional<Instant> KeyLedger::next(NodeSet up) const noexcept {
  if (owed_.empty()) return std::nullopt;
  std::optional<Instant> at;
  if (!(owed_ - indeterminate_).empty()) at = expired_by_;
  if (!(owed_ & up).empty()) at = earlier(at, resend_at_);
  return at;
}

}  // namespace redlock::core
