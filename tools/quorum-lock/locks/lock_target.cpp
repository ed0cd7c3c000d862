#include "quorum-lock/locks/lock_target.hpp"

#include <fmt/format.h>

#include <chrono>
#include <initializer_list>

#include "common/session/settings.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "redlock/limits.hpp"

namespace redlock::cli {
namespace {

bool is_given(const Arguments& given, const char* name) {
  return given.flag(name) || given.find(name) != nullptr;
}

/// At most one of them may be given.
void refuse_together(const Arguments& given, std::initializer_list<const char*> names) {
  const char* first = nullptr;
  for (const char* name : names) {
    if (!is_given(given, name)) continue;
    if (first != nullptr)
      throw UsageError(fmt::format("--{}: not together with --{}", name, first));
    first = name;
  }
}

std::chrono::nanoseconds interval_of(const Arguments& given) {
  const auto span = given.positive_duration("interval").value_or(std::chrono::nanoseconds::zero());
  if (span > limits::longest_max_ttl) {
    throw UsageError(fmt::format("--interval: at most {} h is allowed",
                                 std::chrono::hours(limits::longest_max_ttl).count()));
  }
  return span;
}

}  // namespace

Target target_of(const Arguments& given) {
  refuse_together(given, {"shared", "owner", "permits"});
  for (const char* name : {"shared", "owner"}) refuse_together(given, {name, "interval"});
  for (const char* name : {"shared", "owner", "permits"}) refuse_together(given, {name, "fencing"});
  const std::vector<std::string> resources = resources_of(given);
  if (resources.size() > 1) {
    for (const char* name : {"shared", "owner", "permits", "orphan-ttl"}) {
      if (!is_given(given, name)) continue;
      throw UsageError(fmt::format("--{}: not with several resources ('{}' is a second one)", name,
                                   as_printable(resources[1])));
    }
    return all_of(resources, interval_of(given));
  }
  const std::string& resource = resources.front();
  if (given.flag("shared")) return shared(resource);
  if (std::string owner = name_of(given, "owner"); !owner.empty()) return owned(resource, owner);
  if (const auto permits = given.number("permits")) {
    return permit(resource, *permits, interval_of(given));
  }
  return interval(resource, interval_of(given));
}

Subject subject_of(const std::vector<std::string>& resources) {
  Subject subject;
  for (const std::string& resource : resources) {
    subject.resource += (subject.resource.empty() ? "" : " ") + resource;
  }
  if (resources.size() > 1) subject.resources = resources;
  return subject;
}

}  // namespace redlock::cli
