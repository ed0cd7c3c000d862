#include <array>
#include <string>
#include <string_view>
#include <system_error>

#include "redlock/deployment.hpp"
#include "redlock/error.hpp"
#include "redlock/inspection.hpp"
#include "redlock/listing.hpp"
#include "redlock/report.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

std::string_view to_string(NodeEvent::Level level) noexcept {
  switch (level) {
    case NodeEvent::Level::debug:
      return "debug";
    case NodeEvent::Level::info:
      return "info";
    case NodeEvent::Level::warning:
      return "warning";
  }
  return "unknown";
}

std::string_view to_string(NodeEvent::Kind kind) noexcept {
  switch (kind) {
    case NodeEvent::Kind::up:
      return "up";
    case NodeEvent::Kind::down:
      return "down";
    case NodeEvent::Kind::protocol:
      return "protocol";
    case NodeEvent::Kind::excluded:
      return "excluded";
    case NodeEvent::Kind::undelivered:
      return "undelivered";
    case NodeEvent::Kind::learned:
      return "learned";
    case NodeEvent::Kind::paused:
      return "paused";
    case NodeEvent::Kind::warning:
      return "warning";
    case NodeEvent::Kind::counters_reset:
      return "counters-reset";
  }
  return "";
}

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

std::string_view to_string(Ownership ownership) noexcept {
  switch (ownership) {
    case Ownership::not_held:
      return "not_held";
    case Ownership::held:
      return "held";
  }
  return "unknown";
}

std::string_view to_string(Holder::Kind kind) noexcept {
  switch (kind) {
    case Holder::Kind::exclusive:
      return "exclusive";
    case Holder::Kind::shared:
      return "shared";
    case Holder::Kind::owned:
      return "owned";
    case Holder::Kind::interval:
      return "interval";
    case Holder::Kind::reserved:
      return "reserved";
    case Holder::Kind::other:
      return "other";
    case Holder::Kind::writer:
      return "writer";
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
    case LockKind::owned:
      return "owned";
    case LockKind::interval:
      return "interval";
    case LockKind::reserved:
      return "reserved";
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
    case Inspection::State::indeterminate:
      return "indeterminate";
  }
  return "unknown";
}

namespace admin {

std::string_view to_string(NodeCheck::Role role) noexcept {
  switch (role) {
    case NodeCheck::Role::unknown:
      return "unknown";
    case NodeCheck::Role::master:
      return "master";
    case NodeCheck::Role::replica:
      return "replica";
    case NodeCheck::Role::sentinel:
      return "sentinel";
  }
  return "unknown";
}

std::string_view to_string(NodeCheck::Persistence persistence) noexcept {
  switch (persistence) {
    case NodeCheck::Persistence::unknown:
      return "unknown";
    case NodeCheck::Persistence::none:
      return "none";
    case NodeCheck::Persistence::rdb:
      return "rdb";
    case NodeCheck::Persistence::aof:
      return "aof";
    case NodeCheck::Persistence::aof_no:
      return "aof no";
    case NodeCheck::Persistence::aof_everysec:
      return "aof everysec";
    case NodeCheck::Persistence::aof_always:
      return "aof always";
  }
  return "unknown";
}

std::string_view to_string(ListedLock::State state) noexcept {
  switch (state) {
    case ListedLock::State::held:
      return "held";
    case ListedLock::State::split:
      return "split";
    case ListedLock::State::minority:
      return "minority";
    case ListedLock::State::indeterminate:
      return "indeterminate";
    case ListedLock::State::reserved:
      return "reserved";
    case ListedLock::State::free:
      return "free";
  }
  return "unknown";
}

}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
