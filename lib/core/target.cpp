#include "redlock/target.hpp"

#include <utility>

namespace redlock {

struct Target::Description {
  Kind kind = Kind::exclusive;
  std::string resource;
  std::vector<std::string> more_resources;
  std::string owner;
  std::size_t permits = 0;
  std::chrono::nanoseconds hold_at_least{};
};

Target::Target(Description description)
    : description_(std::make_shared<const Description>(std::move(description))) {}

Target::Target(const char* resource) : Target(std::string(resource)) {}
Target::Target(std::string_view resource) : Target(std::string(resource)) {}
Target::Target(std::string resource)
    : Target(Description{Kind::exclusive, std::move(resource), {}, {}, 0, {}}) {}
Target::Target(const Target&) noexcept = default;
Target::Target(Target&&) noexcept = default;
Target& Target::operator=(const Target&) noexcept = default;
Target& Target::operator=(Target&&) noexcept = default;
Target::~Target() = default;

const Target::Description& Target::description() const noexcept {
  static const Description moved_from;
  return description_ ? *description_ : moved_from;
}

Target::Kind Target::kind() const noexcept { return description().kind; }
const std::string& Target::resource() const noexcept { return description().resource; }
const std::vector<std::string>& Target::more_resources() const noexcept {
  return description().more_resources;
}
const std::string& Target::owner() const noexcept { return description().owner; }
std::size_t Target::permits() const noexcept { return description().permits; }
std::chrono::nanoseconds Target::hold_at_least() const noexcept {
  return description().hold_at_least;
}

/// What the functions of the public header may do.
struct TargetMaker {
  using Description = Target::Description;
  [[nodiscard]] static Target make(Description description) {
    return Target(std::move(description));
  }
};

Target shared(std::string resource) {
  return TargetMaker::make({Target::Kind::shared, std::move(resource), {}, {}, 0, {}});
}

Target owned(std::string resource, std::string owner) {
  return TargetMaker::make({Target::Kind::owned, std::move(resource), {}, std::move(owner), 0, {}});
}

Target permit(std::string resource, std::size_t permits, std::chrono::nanoseconds hold_at_least) {
  return TargetMaker::make(
      {Target::Kind::permit, std::move(resource), {}, {}, permits, hold_at_least});
}

Target all_of(std::vector<std::string> resources, std::chrono::nanoseconds hold_at_least) {
  TargetMaker::Description several{Target::Kind::all_of, {}, {}, {}, 0, hold_at_least};
  if (!resources.empty()) {
    several.resource = std::move(resources.front());
    resources.erase(resources.begin());
  }
  several.more_resources = std::move(resources);
  return TargetMaker::make(std::move(several));
}

Target interval(std::string resource, std::chrono::nanoseconds hold_at_least) {
  return TargetMaker::make(
      {Target::Kind::exclusive, std::move(resource), {}, {}, 0, hold_at_least});
}

}  // namespace redlock
