#include "api/options/admission.hpp"

#include <cstddef>

#include "core/vocabulary/durations.hpp"
#include "core/vocabulary/kind.hpp"
#include "core/vocabulary/permits.hpp"

namespace redlock::api {

using core::Duration;
using core::format_duration;
using core::Kind;
using core::Settings;
using core::SpecialTerms;

std::optional<std::string> refuse_resource(const Settings& settings, std::string_view resource) {
  if (resource.starts_with("redlock:node:")) {
    return "resource: names that begin with redlock:node: are the library's own";
  }
  if (!resource.empty() && resource.size() <= settings.longest_name) return std::nullopt;
  return "resource: " + std::to_string(resource.size()) + " bytes; 1 to " +
         std::to_string(settings.longest_name) + " are allowed";
}

std::optional<std::string> refuse_ttl(const Settings& settings, Duration ttl) {
  if (ttl >= limits::shortest_ttl && ttl <= settings.max_ttl) return std::nullopt;
  return "ttl: " + format_duration(ttl) + "; " + format_duration(limits::shortest_ttl) +
         " to the max TTL of " + format_duration(settings.max_ttl) + " is allowed";
}

std::optional<std::string> refuse_break(const Settings& settings, const BreakOptions& options) {
  // A node that forgets the delay has no vote for the max TTL.
  if (options.delay >= Duration::zero() && options.delay <= settings.max_ttl) return std::nullopt;
  return "delay: " + format_duration(options.delay) + "; up to the max TTL of " +
         format_duration(settings.max_ttl) + " is allowed";
}

namespace {

/// Checks the parts of a target that only one kind has.
std::optional<std::string> refuse_parts(const Settings& settings, const Target& target) {
  switch (target.kind()) {
    case Target::Kind::exclusive:
    case Target::Kind::shared:
      return std::nullopt;
    case Target::Kind::owned: {
      const std::size_t owner = target.owner().size();
      if (owner >= 1 && owner <= limits::name_bytes) return std::nullopt;
      return "owner: " + std::to_string(owner) + " bytes; 1 to " +
             std::to_string(limits::name_bytes) + " are allowed";
    }
    case Target::Kind::permit: {
      const std::size_t permits = target.permits();
      if (permits >= 1 && permits <= limits::permits) return std::nullopt;
      return "permits: " + std::to_string(permits) + "; 1 to " + std::to_string(limits::permits) +
             " are allowed";
    }
    case Target::Kind::all_of: {
      const std::size_t resources = target.more_resources().size() + 1;
      if (resources > limits::resources) {
        return "resources: " + std::to_string(resources) + "; at most " +
               std::to_string(limits::resources) + " are allowed";
      }
      for (const std::string& other : target.more_resources()) {
        if (auto why = refuse_resource(settings, other)) return why;
      }
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::string> refuse_target(const Settings& settings, const Target& target) {
  if (auto why = refuse_resource(settings, target.resource())) return why;
  if (auto why = refuse_parts(settings, target)) return why;
  if (target.interval() < Duration::zero() || target.interval() > limits::longest_max_ttl) {
    return "interval: " + format_duration(target.interval()) + "; 0 to " +
           format_duration(limits::longest_max_ttl) + " is allowed";
  }
  return std::nullopt;
}

Kind kind_of(const Target& target) noexcept {
  switch (target.kind()) {
    case Target::Kind::exclusive:
      return Kind::exclusive;
    case Target::Kind::shared:
      return Kind::shared;
    case Target::Kind::owned:
      return Kind::owned;
    case Target::Kind::permit:
      return Kind::permit;
    case Target::Kind::all_of:
      return Kind::several;
  }
  return Kind::exclusive;
}

/// Checks the terms that not every target can have.
std::optional<std::string> refuse_together(const Target& target, const AcquireOptions& options) {
  if (options.fencing && !traits_of(kind_of(target)).can_be_fenced) {
    return "fencing: not for shared, owned and permit, which may have several holders";
  }
  if (options.orphan_ttl && !target.more_resources().empty()) {
    return "orphan ttl: not for several resources";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuse_acquire(const Settings& settings, const Target& target,
                                          const AcquireOptions& options) {
  if (auto why = refuse_target(settings, target)) return why;
  if (auto why = refuse_ttl(settings, options.ttl)) return why;
  if (options.orphan_ttl) {
    if (auto why = refuse_ttl(settings, *options.orphan_ttl)) return "orphan " + *why;
  }
  if (options.name.size() > limits::name_bytes) {
    return "name: " + std::to_string(options.name.size()) + " bytes; at most " +
           std::to_string(limits::name_bytes) + " are allowed";
  }
  if (auto why = refuse_together(target, options)) return why;
  if (options.max_hold < limits::shortest_ttl) {
    return "max hold: " + format_duration(options.max_hold) + "; " +
           format_duration(limits::shortest_ttl) + " or more is allowed";
  }
  return std::nullopt;
}

std::optional<std::string> refuse_adopt(const Settings& settings, const DetachedLease& lease,
                                        const AcquireOptions& options) {
  if (lease.resources.empty()) return "detached lease: it names no resource";
  const bool owned_or_not = lease.owner.empty() != (lease.kind == Target::Kind::owned);
  const bool has_kind = lease.kind == Target::Kind::exclusive ||
                        (lease.resources.size() == 1 && lease.kind != Target::Kind::permit &&
                         lease.kind != Target::Kind::all_of);
  if (!owned_or_not || !has_kind) {
    return "detached lease: exclusive, or shared or owned with one resource, is allowed";
  }
  if (auto why = refuse_by_token(settings, all_of(lease.resources), lease.token)) return why;
  if (options.fencing && !lease.fencing_token) {
    return "fencing: the detached lease has no fencing token, and cannot get one";
  }
  if (options.orphan_ttl) return "orphan_ttl: a lock that is adopted is no orphan";
  if (!options.name.empty()) return "name: a detached lease keeps the one that it has";
  return refuse_acquire(settings, lease.resources.front(),
                        {.ttl = options.ttl, .max_hold = options.max_hold});
}

std::optional<std::string> refuse_by_token(const Settings& settings, const Target& target,
                                           const Token& token) {
  if (auto why = refuse_target(settings, target)) return why;
  if (target.kind() == Target::Kind::permit) {
    return "resource: '" + target.resource() +
           "' is a semaphore; by token the name of the permit is allowed: '" + target.resource() +
           "#0' to '" + target.resource() + '#' + std::to_string(target.permits() - 1) + "'";
  }
  if (token.empty()) return "token: empty";
  return std::nullopt;
}

std::optional<std::string> refuse_downgrade(const SpecialTerms& terms) {
  const std::string allowed = "; the lease of one resource, as a writer, is allowed";
  switch (terms.kind()) {
    case Kind::permit:
      return "downgrade: a permit has no readers" + allowed;
    case Kind::owned:
      return "downgrade: an owner may have other leases of the resource" + allowed;
    case Kind::several:
      return "downgrade: several resources are locked together" + allowed;
    case Kind::exclusive:
    case Kind::shared:
      break;
  }
  if (terms.interval == Duration::zero()) return std::nullopt;
  return "downgrade: an interval keeps readers out" + allowed;
}

std::optional<std::string> refuse_downgrade(const Settings& settings, std::string_view resource,
                                            const Token& token) {
  if (auto why = refuse_by_token(settings, std::string(resource), token)) return why;
  if (!core::any_permit_of(resource)) return std::nullopt;
  return "resource: '" + std::string(resource) + "' is the name of a permit, which has no readers";
}

}  // namespace redlock::api
