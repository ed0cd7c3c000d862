#include "redlock/target.hpp"

#include <utility>

namespace redlock {
inline namespace REDLOCK_ABI {

struct Target::More {
  std::vector<std::string> more_resources{};
  std::string owner{};
  std::size_t permits = 0;
  std::chrono::nanoseconds interval{};
};

Target::Target(Kind kind, std::string resource, More more)
    : kind_(kind),
      resource_(std::move(resource)),
      more_(std::make_shared<const More>(std::move(more))) {}

Target::Target(const char* resource) : resource_(resource) {}
Target::Target(std::string_view resource) : resource_(resource) {}
Target::Target(std::string resource) : resource_(std::move(resource)) {}
Target::Target(const Target&) = default;
Target::Target(Target&& other) noexcept
    : kind_(std::exchange(other.kind_, Kind::exclusive)),
      resource_(std::exchange(other.resource_, {})),
      more_(std::exchange(other.more_, nullptr)) {}
Target& Target::operator=(const Target&) = default;
Target& Target::operator=(Target&& other) noexcept {
  Target moved(std::move(other));
  std::swap(kind_, moved.kind_);
  resource_.swap(moved.resource_);
  more_.swap(moved.more_);
  return *this;
}
Target::~Target() = default;

const Target::More& Target::more() const noexcept {
  if (more_) return *more_;
  static const More nothing;
  return nothing;
}

Target::Kind Target::kind() const noexcept { return kind_; }
const std::string& Target::resource() const noexcept { return resource_; }
const std::vector<std::string>& Target::more_resources() const noexcept {
  return more().more_resources;
}
const std::string& Target::owner() const noexcept { return more().owner; }
std::size_t Target::permits() const noexcept { return more().permits; }
std::chrono::nanoseconds Target::interval() const noexcept { return more().interval; }

/// Makes targets for the functions of the public header.
struct TargetMaker {
  using More = Target::More;
  [[nodiscard]] static Target make(Target::Kind kind, std::string resource, More more) {
    return Target(kind, std::move(resource), std::move(more));
  }
};

Target shared(std::string resource) {
  return TargetMaker::make(Target::Kind::shared, std::move(resource), {});
}

Target owned(std::string resource, std::string owner) {
  return TargetMaker::make(Target::Kind::owned, std::move(resource), {.owner = std::move(owner)});
}

Target permit(std::string resource, std::size_t permits, std::chrono::nanoseconds interval) {
  return TargetMaker::make(Target::Kind::permit, std::move(resource),
                           {.permits = permits, .interval = interval});
}

Target all_of(std::vector<std::string> resources, std::chrono::nanoseconds interval) {
  std::string first;
  if (!resources.empty()) {
    first = std::move(resources.front());
    resources.erase(resources.begin());
  }
  return TargetMaker::make(Target::Kind::all_of, std::move(first),
                           {.more_resources = std::move(resources), .interval = interval});
}

Target interval(std::string resource, std::chrono::nanoseconds interval) {
  return TargetMaker::make(Target::Kind::exclusive, std::move(resource), {.interval = interval});
}

}  // namespace REDLOCK_ABI
}  // namespace redlock
