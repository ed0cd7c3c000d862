#include <ostream>
#include <string_view>

#include "redlock/enums.def"
#include "redlock/error.hpp"
#include "redlock/report.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

REDLOCK_TO_STRING(Vote, vote, REDLOCK_VOTES)
REDLOCK_TO_STRING(Errc, code, REDLOCK_ERRORS)

std::ostream& operator<<(std::ostream& out, Errc code) { return out << to_string(code); }

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.message; }

std::ostream& operator<<(std::ostream& out, Vote vote) { return out << to_string(vote); }

}  // namespace REDLOCK_ABI
}  // namespace redlock
