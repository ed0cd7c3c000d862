#include "core/admission.hpp"

#include <array>
#include <cstdio>

namespace redlock::core {

std::string spoken(Duration duration) {
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
  return "ttl: " + spoken(ttl) + "; " + spoken(limits::shortest_ttl) + " to the max TTL of " +
         spoken(settings.max_ttl) + " is allowed";
}

std::optional<std::string> refuse_acquire(const Settings& settings, std::string_view resource,
                                          const AcquireOptions& options) {
  if (auto why = refuse_resource(resource)) return why;
  if (auto why = refuse_ttl(settings, options.ttl)) return why;
  if (options.orphan_ttl) {
    if (auto why = refuse_ttl(settings, *options.orphan_ttl)) return "orphan " + *why;
  }
  if (options.wait < Duration::zero()) return "wait: negative; zero or more is allowed";
  if (options.renewal && options.renewal->max_hold < limits::shortest_ttl) {
    return "max hold: " + spoken(options.renewal->max_hold) + "; " + spoken(limits::shortest_ttl) +
           " or more is allowed";
  }
  return std::nullopt;
}

}  // namespace redlock::core
