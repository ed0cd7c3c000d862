#include "core/admission.hpp"

#include <array>
#include <cstdio>

namespace redlock::core {

std::string format_duration(Duration duration) {
  using std::chrono::duration_cast;
  const bool seconds = duration >= std::chrono::seconds(1) || duration <= std::chrono::seconds(-1);
  const double number = seconds ? std::chrono::duration<double>(duration).count()
                                : std::chrono::duration<double, std::milli>(duration).count();
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g %s", number, seconds ? "s" : "ms");
  return text.data();
}

std::optional<std::string> refuse_resource(std::string_view resource) {
  if (resource.starts_with("redlock:node:")) {
    return "resource: names that begin with redlock:node: are the library's own";
  }
  if (!resource.empty() && resource.size() <= limits::resource_bytes) return std::nullopt;
  return "resource: " + std::to_string(resource.size()) + " bytes; 1 to " +
         std::to_string(limits::resource_bytes) + " are allowed";
}

std::optional<std::string> refuse_ttl(const Settings& settings, Duration ttl) {
  if (ttl >= limits::shortest_ttl && ttl <= settings.max_ttl) return std::nullopt;
  return "ttl: " + format_duration(ttl) + "; " + format_duration(limits::shortest_ttl) +
         " to the max TTL of " + format_duration(settings.max_ttl) + " is allowed";
}

namespace {

std::optional<std::string> refuse_kind(const AcquireOptions& options) {
  const int sharing =
      (options.shared ? 1 : 0) + (options.owner.empty() ? 0 : 1) + (options.permits ? 1 : 0);
  if (sharing > 1) return "shared, owner, permits: only one of them at a time is allowed";
  if (options.owner.size() > limits::name_bytes) {
    return "owner: " + std::to_string(options.owner.size()) + " bytes; 1 to " +
           std::to_string(limits::name_bytes) + " are allowed";
  }
  if (options.name.size() > limits::name_bytes) {
    return "name: " + std::to_string(options.name.size()) + " bytes; at most " +
           std::to_string(limits::name_bytes) + " are allowed";
  }
  if (options.permits && (*options.permits < 1 || *options.permits > limits::permits)) {
    return "permits: " + std::to_string(*options.permits) + "; 1 to " +
           std::to_string(limits::permits) + " are allowed";
  }
  if (options.at_least < Duration::zero() || options.at_least > limits::longest_max_ttl) {
    return "at least: " + format_duration(options.at_least) + "; 0 to " +
           format_duration(limits::longest_max_ttl) + " is allowed";
  }
  const bool exclusive = !options.shared && options.owner.empty();
  if (options.at_least > Duration::zero() && !exclusive) {
    return "at least: not for readers and owners";
  }
  if (options.fencing && sharing > 0) {
    return "fencing: not for readers, owners and permits, of which there may be several";
  }
  return std::nullopt;
}

std::optional<std::string> refuse_more(const AcquireOptions& options) {
  if (options.also.empty()) return std::nullopt;
  if (options.also.size() >= limits::resources) {
    return "resources: " + std::to_string(options.also.size() + 1) + "; at most " +
           std::to_string(limits::resources) + " are allowed";
  }
  for (const std::string& other : options.also) {
    if (auto why = refuse_resource(other)) return why;
  }
  const bool plain = !options.shared && options.owner.empty() && !options.permits;
  if (!plain || options.orphan_ttl) {
    return "resources: several are not allowed with shared, owner, permits or an orphan TTL";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuse_acquire(const Settings& settings, std::string_view resource,
                                          const AcquireOptions& options) {
  if (auto why = refuse_resource(resource)) return why;
  if (auto why = refuse_ttl(settings, options.ttl)) return why;
  if (options.orphan_ttl) {
    if (auto why = refuse_ttl(settings, *options.orphan_ttl)) return "orphan " + *why;
  }
  if (auto why = refuse_kind(options)) return why;
  if (auto why = refuse_more(options)) return why;
  if (options.wait < Duration::zero()) return "wait: negative; zero or more is allowed";
  if (options.renewal && options.renewal->max_hold < limits::shortest_ttl) {
    return "max hold: " + format_duration(options.renewal->max_hold) + "; " +
           format_duration(limits::shortest_ttl) + " or more is allowed";
  }
  return std::nullopt;
}

}  // namespace redlock::core
