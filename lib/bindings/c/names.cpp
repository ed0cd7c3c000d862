#include "bindings/c/boundary.hpp"
#include "redlock/clock.hpp"
#include "redlock/enums.def"
#include "redlock/inspection.hpp"
#include "redlock/options.hpp"
#include "redlock/report.hpp"
#include "redlock/version.hpp"

// The numbers of redlock.h are those of C++, and those of holders one more: zero is no holder.
#define SAME_NUMBER(enumerator, text, number) \
  same = same && static_cast<int>(Enumeration::enumerator) + more == (number);
#define SAME_NUMBERS(enumeration, LIST, more_in_c) \
  static_assert([] {                               \
    using Enumeration = enumeration;               \
    constexpr int more = more_in_c;                \
    bool same = true;                              \
    LIST(SAME_NUMBER)                              \
    return same;                                   \
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

#define CASE(enumerator, text, number) \
  case number:                         \
    return text;

const char* redlock_status_name(redlock_status status) {
  switch (status) {
    REDLOCK_ERRORS(CASE)
    CASE(ok, "ok", REDLOCK_OK)
    CASE(no_memory, "no_memory", REDLOCK_NO_MEMORY)
    CASE(internal, "internal", REDLOCK_INTERNAL)
    default:
      return "unknown";
  }
}

// clang-format off
#define NAME(function, LIST) \
  const char* function(std::int32_t number) { \
    switch (number) { LIST(CASE) default: return "unknown"; } \
  }
// clang-format on
NAME(redlock_vote_name, REDLOCK_VOTES)
NAME(redlock_lock_kind_name, REDLOCK_LOCKS)
NAME(redlock_state_name, REDLOCK_STATES)

const char* redlock_holder_kind_name(redlock_holder_kind kind) {
  switch (kind) {
    REDLOCK_HOLDERS(CASE)
    CASE(none, "none", REDLOCK_HOLDER_NONE)
    default:
      return "unknown";
  }
}
#undef NAME
#undef CASE

const char* redlock_version() { return redlock::version.data(); }

int64_t redlock_now_ns() { return bound::to_ns(redlock::BootClock::now().time_since_epoch()); }
