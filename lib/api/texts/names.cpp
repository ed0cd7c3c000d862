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

std::string_view to_string(Finding::Kind kind) noexcept {
  switch (kind) {
    case Finding::Kind::unreachable:
      return "unreachable";
    case Finding::Kind::auth:
      return "auth";
    case Finding::Kind::duplicate:
      return "duplicate";
    case Finding::Kind::replica:
      return "replica";
    case Finding::Kind::cluster:
      return "cluster";
    case Finding::Kind::sentinel:
      return "sentinel";
    case Finding::Kind::evicting:
      return "evicting";
    case Finding::Kind::loading:
      return "loading";
    case Finding::Kind::old_version:
      return "version";
    case Finding::Kind::not_durable:
      return "not-durable";
    case Finding::Kind::clock:
      return "clock";
    case Finding::Kind::fencing_floor:
      return "fencing-floor";
    case Finding::Kind::replicas:
      return "replicas";
    case Finding::Kind::membership:
      return "membership";
    case Finding::Kind::quarantined:
      return "quarantined";
    case Finding::Kind::not_bootstrapped:
      return "not-bootstrapped";
    case Finding::Kind::other_deployment:
      return "other-deployment";
    case Finding::Kind::stale_client:
      return "stale-client";
    case Finding::Kind::tracking_table:
      return "tracking-table";
    case Finding::Kind::no_scripts:
      return "no-scripts";
    case Finding::Kind::forgetting_commands:
      return "forgetting-commands";
    case Finding::Kind::client_limit:
      return "client-limit";
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
