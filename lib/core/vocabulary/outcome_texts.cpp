#include <ostream>
#include <string_view>

#include "redlock/error.hpp"
#include "redlock/report.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

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

std::ostream& operator<<(std::ostream& out, Errc code) { return out << to_string(code); }

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.message; }

std::ostream& operator<<(std::ostream& out, Vote vote) { return out << to_string(vote); }

}  // namespace REDLOCK_ABI
}  // namespace redlock
