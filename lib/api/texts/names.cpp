#include <string>
#include <system_error>

#include "redlock/deployment.hpp"
#include "redlock/error.hpp"
#include "redlock/inspection.hpp"
#include "redlock/listing.hpp"
#include "redlock/report.hpp"
#include "support/assert.hpp"

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

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "redlock"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::held:
        return "held by somebody else";
      case Errc::split:
        return "contenders divided the nodes";
      case Errc::unavailable:
        return "too few nodes answered";
      case Errc::expired:
        return "granted too late to be of use";
      case Errc::excluded:
        return "guards leave too few voters";
      case Errc::not_holder:
        return "not the holder";
      case Errc::cancelled:
        return "cancelled";
      case Errc::closed:
        return "closed";
      case Errc::forked:
        return "the client belongs to the parent process";
      case Errc::would_block:
        return "the call would wait for itself";
      case Errc::invalid_argument:
        return "invalid argument";
      case Errc::limit_reached:
        return "a limit is reached";
    }
    return "unknown";
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Errc>(value)) {
      case Errc::held:
      case Errc::split:
        return std::errc::device_or_resource_busy;
      case Errc::unavailable:
        return std::errc::host_unreachable;
      case Errc::expired:
        return std::errc::timed_out;
      case Errc::cancelled:
      case Errc::closed:
        return std::errc::operation_canceled;
      case Errc::forked:
        return std::errc::operation_not_permitted;
      case Errc::would_block:
        return std::errc::resource_deadlock_would_occur;
      case Errc::invalid_argument:
        return std::errc::invalid_argument;
      case Errc::limit_reached:
        return std::errc::resource_unavailable_try_again;
      case Errc::excluded:
      case Errc::not_holder:
        break;
    }
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

}  // namespace REDLOCK_ABI
}  // namespace redlock

namespace redlock {
inline namespace REDLOCK_ABI {
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
