#include "bindings/c/boundary.hpp"
#include "redlock/clock.hpp"
#include "redlock/enums.def"
#include "redlock/inspection.hpp"
#include "redlock/options.hpp"
#include "redlock/report.hpp"
#include "redlock/version.hpp"

namespace {

// The numbers of redlock.h are those of C++, and those of holders one more: zero is no holder.
#define SAME_NUMBER(enumerator, text, number) \
  static_cast<int>(Enumeration::enumerator) + more == (number)&&
#define SAME_NUMBERS(enumeration, LIST, more_in_c) \
  static_assert([] {                               \
    using Enumeration = enumeration;               \
    constexpr int more = more_in_c;                \
    return LIST(SAME_NUMBER) true;                 \
  }())
SAME_NUMBERS(redlock::Errc, REDLOCK_ERRORS, 0);
SAME_NUMBERS(redlock::Vote, REDLOCK_VOTES, 0);
SAME_NUMBERS(redlock::Holder::Kind, REDLOCK_HOLDERS, 1);
SAME_NUMBERS(redlock::LockKind, REDLOCK_LOCKS, 0);
SAME_NUMBERS(redlock::Inspection::State, REDLOCK_STATES, 0);
SAME_NUMBERS(redlock::NodeEvent::Kind, REDLOCK_NODE_EVENTS, 0);
SAME_NUMBERS(redlock::NodeEvent::Level, REDLOCK_LEVELS, 0);
#undef SAME_NUMBERS
#undef SAME_NUMBER

/// The name of an enumerator. All names are literals, and so end with a NUL.
template <typename Enumeration>
[[nodiscard]] const char* name_of(std::int32_t number, Enumeration first, Enumeration last) {
  if (number < static_cast<std::int32_t>(first) || number > static_cast<std::int32_t>(last)) {
    return "unknown";
  }
  return to_string(static_cast<Enumeration>(number)).data();
}

}  // namespace

const char* redlock_status_name(redlock_status status) {
  if (status == REDLOCK_OK) return "ok";
  if (status == REDLOCK_NO_MEMORY) return "no_memory";
  if (status == REDLOCK_INTERNAL) return "internal";
  return name_of(status, redlock::Errc::held, redlock::Errc::limit_reached);
}

const char* redlock_vote_name(redlock_vote vote) {
  return name_of(vote, redlock::Vote::pending, redlock::Vote::excluded);
}

const char* redlock_holder_kind_name(redlock_holder_kind kind) {
  if (kind == REDLOCK_HOLDER_NONE) return "none";
  return name_of(kind - 1, redlock::Holder::Kind::exclusive, redlock::Holder::Kind::writer);
}

const char* redlock_lock_kind_name(redlock_lock_kind kind) {
  return name_of(kind, redlock::LockKind::none, redlock::LockKind::other);
}

const char* redlock_state_name(redlock_state state) {
  return name_of(state, redlock::Inspection::State::free,
                 redlock::Inspection::State::indeterminate);
}

const char* redlock_version() { return redlock::version.data(); }

int64_t redlock_now_ns() {
  return redlock::bindings::to_ns(redlock::BootClock::now().time_since_epoch());
}
