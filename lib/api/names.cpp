#include "redlock/error.hpp"
#include "redlock/inspection.hpp"
#include "redlock/report.hpp"
#include "support/assert.hpp"

namespace redlock {

std::string_view to_string(Vote vote) noexcept {
  switch (vote) {
    case Vote::pending:
      return "pending";
    case Vote::granted:
      return "granted";
    case Vote::refused:
      return "refused";
    case Vote::timeout:
      return "timeout";
    case Vote::unreachable:
      return "unreachable";
    case Vote::error:
      return "error";
    case Vote::excluded:
      return "excluded";
  }
  return "unknown";
}

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::held:
      return "held";
    case Errc::split:
      return "split";
    case Errc::unavailable:
      return "unavailable";
    case Errc::expired:
      return "expired";
    case Errc::excluded:
      return "excluded";
    case Errc::not_holder:
      return "not_holder";
    case Errc::cancelled:
      return "cancelled";
    case Errc::closed:
      return "closed";
    case Errc::forked:
      return "forked";
    case Errc::would_block:
      return "would_block";
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::limit_reached:
      return "limit_reached";
  }
  return "unknown";
}

std::string_view to_string(Ownership ownership) noexcept {
  switch (ownership) {
    case Ownership::not_held:
      return "not_held";
    case Ownership::held:
      return "held";
  }
  return "unknown";
}

std::string_view to_string(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::none:
      return "none";
    case LockKind::exclusive:
      return "exclusive";
    case LockKind::shared:
      return "shared";
    case LockKind::reentrant:
      return "reentrant";
    case LockKind::interval:
      return "interval";
    case LockKind::other:
      return "other";
  }
  return "unknown";
}

std::string_view to_string(Inspection::State state) noexcept {
  switch (state) {
    case Inspection::State::free:
      return "free";
    case Inspection::State::held:
      return "held";
    case Inspection::State::split:
      return "split";
  }
  return "unknown";
}

}  // namespace redlock
