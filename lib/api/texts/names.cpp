#include <array>
#include <string>
#include <string_view>
#include <system_error>

#include "redlock/deployment.hpp"
#include "redlock/enums.def"
#include "redlock/error.hpp"
#include "redlock/inspection.hpp"
#include "redlock/listing.hpp"
#include "redlock/observer.hpp"
#include "redlock/options.hpp"
#include "redlock/report.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

REDLOCK_TO_STRING(NodeEvent::Kind, kind, REDLOCK_NODE_EVENTS)
REDLOCK_TO_STRING(NodeEvent::Level, level, REDLOCK_LEVELS)
REDLOCK_TO_STRING(HoldObservation::End, end, REDLOCK_ENDS)
REDLOCK_TO_STRING(Ownership, ownership, REDLOCK_OWNERSHIPS)
REDLOCK_TO_STRING(Holder::Kind, kind, REDLOCK_HOLDERS)
REDLOCK_TO_STRING(LockKind, kind, REDLOCK_LOCKS)
REDLOCK_TO_STRING(Inspection::State, state, REDLOCK_STATES)

namespace {

/// The meaning of a code, and the standard's code for it.
struct Meaning {
  Errc code{};
  const char* message = nullptr;
  std::errc condition{};  ///< zero: none
};
constexpr std::array<Meaning, 12> meanings{{
    {Errc::held, "held by somebody else", std::errc::device_or_resource_busy},
    {Errc::split, "contenders divided the nodes", std::errc::device_or_resource_busy},
    {Errc::unavailable, "too few nodes answered", std::errc::host_unreachable},
    {Errc::expired, "granted too late to be of use", std::errc::timed_out},
    {Errc::excluded, "guards leave too few voters"},
    {Errc::not_holder, "not the holder"},
    {Errc::cancelled, "cancelled", std::errc::operation_canceled},
    {Errc::closed, "closed", std::errc::operation_canceled},
    {Errc::forked, "the client belongs to the parent process", std::errc::operation_not_permitted},
    {Errc::would_block, "the call would wait for itself", std::errc::resource_deadlock_would_occur},
    {Errc::invalid_argument, "invalid argument", std::errc::invalid_argument},
    {Errc::limit_reached, "a limit is reached", std::errc::resource_unavailable_try_again},
}};
static_assert(meanings.back().code == Errc::limit_reached);

[[nodiscard]] Meaning meaning_of(int value) noexcept {
  for (const Meaning& meaning : meanings) {
    if (static_cast<int>(meaning.code) == value) return meaning;
  }
  return {{}, "unknown"};
}

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "redlock"; }

  [[nodiscard]] std::string message(int value) const override { return meaning_of(value).message; }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    const std::errc condition = meaning_of(value).condition;
    if (condition != std::errc()) return condition;
    return {value, *this};
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

namespace admin {
REDLOCK_TO_STRING(NodeCheck::Role, role, REDLOCK_ROLES)
REDLOCK_TO_STRING(NodeCheck::Persistence, persistence, REDLOCK_PERSISTENCES)
REDLOCK_TO_STRING(ListedLock::State, state, REDLOCK_LISTED_STATES)
REDLOCK_TO_STRING(MemberReport::State, state, REDLOCK_MEMBER_STATES)
}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
