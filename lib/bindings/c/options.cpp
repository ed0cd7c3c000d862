#include "redlock/options.hpp"

#include "bindings/c/boundary.hpp"
#include "redlock/target.hpp"

namespace redlock::bindings {
namespace {

// A struct without padding at its end can grow by appended members.
template <typename Options, typename Last>
[[nodiscard]] constexpr bool ends_with(std::size_t offset_of_last) {
  return offset_of_last + sizeof(Last) == sizeof(Options);
}
static_assert(ends_with<redlock_target, std::int64_t>(offsetof(redlock_target, interval_ns)));
static_assert(ends_with<redlock_client_options, void (*)(void*)>(offsetof(redlock_client_options,
                                                                          free_context)));
static_assert(ends_with<redlock_acquire_options, void (*)(void*)>(offsetof(redlock_acquire_options,
                                                                           free_context)));

static_assert(static_cast<int>(Target::Kind::exclusive) == REDLOCK_TARGET_EXCLUSIVE &&
              static_cast<int>(Target::Kind::shared) == REDLOCK_TARGET_SHARED &&
              static_cast<int>(Target::Kind::owned) == REDLOCK_TARGET_OWNED &&
              static_cast<int>(Target::Kind::permit) == REDLOCK_TARGET_PERMIT &&
              static_cast<int>(Target::Kind::all_of) == REDLOCK_TARGET_ALL_OF);
static_assert(to_ns(forever) == REDLOCK_FOREVER);

[[nodiscard]] redlock_target default_target() {
  redlock_target target{};
  target.size = sizeof(target);
  return target;
}

// A member of an option in C and in C++, in both directions. In C, zero is the default of an option
// that has none in C++.
void put(bool from, bool& to) { to = from; }
void put(std::uint64_t from, std::uint64_t& to) { to = from; }
void put(std::uint64_t from, std::optional<std::size_t>& to) {
  if (from != 0) to = from;
}
void put(std::int64_t from, std::chrono::nanoseconds& to) { to = from_ns(from); }
void put(std::int64_t from, std::optional<std::chrono::nanoseconds>& to) {
  if (from != 0) to = from_ns(from);
}
void put(std::chrono::nanoseconds from, std::int64_t& to) { to = to_ns(from); }
void put(const char* from, std::string& to) { to = text_or_empty(from); }
void put(const char* from, CredentialsProvider& to) {
  if (from != nullptr) to = password_file(from);
}
void put(const std::string& /*empty*/, const char*& /*to*/) {}
void put(const CredentialsProvider& /*none*/, const char*& /*to*/) {}
void put(const std::optional<std::size_t>& /*none*/, std::uint64_t& /*to*/) {}
void put(const std::optional<std::chrono::nanoseconds>& /*none*/, std::int64_t& /*to*/) {}

[[nodiscard]] redlock_client_options default_client_options() {
  const ClientOptions from;
  redlock_client_options options{};
  options.size = sizeof(options);
#define CLIENT(kind, member, c_member, ...) put(from.member, options.c_member);
#include "redlock/face.def"
  return options;
}

[[nodiscard]] redlock_acquire_options default_acquire_options() {
  const AcquireOptions from;
  redlock_acquire_options options{};
  options.size = sizeof(options);
#define ACQUIRE(kind, member, c_member, ...) put(from.member, options.c_member);
#include "redlock/face.def"
  return options;
}

/// Fields that the kind has no use for must be zero: other values would be ignored silently.
void check_unused(const redlock_target& target) {
  const auto complain = [](const char* member) {
    throw refusal(std::string("target.") + member + " has no meaning for this kind of target");
  };
  const bool may_last = target.kind != REDLOCK_TARGET_SHARED && target.kind != REDLOCK_TARGET_OWNED;
  if (target.owner != nullptr && target.kind != REDLOCK_TARGET_OWNED) complain("owner");
  if (target.permits != 0 && target.kind != REDLOCK_TARGET_PERMIT) complain("permits");
  if (target.more_resource_count != 0 && target.kind != REDLOCK_TARGET_ALL_OF) {
    complain("more_resources");
  }
  if (target.interval_ns != 0 && !may_last) complain("interval_ns");
}

/// Wraps `call`; empty if `call` is NULL.
std::function<void(const NodeEvent&)> event_callback(std::shared_ptr<void> context,
                                                     void (*call)(void* context,
                                                                  const redlock_node_event* event),
                                                     Dispatcher dispatcher) {
  if (call == nullptr) return {};
  const auto tell = [context = std::move(context), call](const NodeEvent& event) noexcept {
    const redlock_node_event seen{static_cast<redlock_node_event_kind>(event.kind),
                                  event.node,
                                  event.url.c_str(),
                                  event.message.c_str(),
                                  static_cast<redlock_event_level>(event.level),
                                  event.times};
    call(context.get(), &seen);
  };
  return [dispatcher = std::move(dispatcher), tell](const NodeEvent& event) noexcept {
    deliver_copy(dispatcher, event, tell);
  };
}

}  // namespace

std::vector<std::string> texts(const char* const* first, std::size_t count,
                               const std::string& name) {
  std::vector<std::string> all;
  if (count != 0 && first == nullptr) throw refusal(name + " is NULL");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string one = name + "[" + std::to_string(i) + "]";
    all.push_back(required_text(first[i], one.c_str()));
  }
  return all;
}

Target target_from(const redlock_target* target) {
  const redlock_target read = read_sized(required(target, "target"), default_target(), "target");
  std::string resource = required_text(read.resource, "target.resource");
  check_unused(read);
  const auto duration = from_ns(read.interval_ns);
  switch (read.kind) {
    case REDLOCK_TARGET_EXCLUSIVE:
      if (read.interval_ns == 0) return resource;
      return interval(std::move(resource), duration);
    case REDLOCK_TARGET_SHARED:
      return shared(std::move(resource));
    case REDLOCK_TARGET_OWNED:
      return owned(std::move(resource), required_text(read.owner, "target.owner"));
    case REDLOCK_TARGET_PERMIT:
      return permit(std::move(resource), read.permits, duration);
    case REDLOCK_TARGET_ALL_OF: {
      auto resources =
          texts(read.more_resources, read.more_resource_count, "target.more_resources");
      resources.insert(resources.begin(), std::move(resource));
      return all_of(std::move(resources), duration);
    }
    default:
      throw refusal("target.kind is " + std::to_string(read.kind) +
                    ": one of REDLOCK_TARGET_EXCLUSIVE to REDLOCK_TARGET_ALL_OF is allowed");
  }
}

ClientOptions client_options_from(const redlock_client_options* options) {
  const redlock_client_options read =
      read_sized(required(options, "options"), default_client_options(), "options");
  const auto context = keep_context(read.context, read.free_context);
  ClientOptions to;
  to.nodes = texts(read.nodes, read.node_count, "options.nodes");
  if (read.password_file != nullptr && read.on_credentials != nullptr) {
    throw refusal("options.password_file: not together with options.on_credentials");
  }
#define CLIENT(kind, member, c_member, ...) put(read.c_member, to.member);
#include "redlock/face.def"
  const Dispatcher dispatcher = dispatcher_of(options);
  if (read.on_credentials != nullptr) {
    to.credentials = make_provider(context, read.on_credentials, dispatcher);
  }
  if (read.on_observation != nullptr) {
    to.observer = make_observer(context, read.on_observation, dispatcher);
  }
  to.on_node_event = event_callback(context, read.on_node_event, dispatcher);
  to.on_log = event_callback(context, read.on_log, dispatcher);
  return to;
}

SharedCallback<void(const Error&)> loss_callback(std::shared_ptr<void> context,
                                                 void (*call)(void* context,
                                                              const redlock_error* error),
                                                 Dispatcher dispatcher) {
  return [context = std::move(context), call,
          dispatcher = std::move(dispatcher)](const Error& error) noexcept {
    redlock_error* failure = no_memory();
    guarded(nullptr, [&] { failure = make_failure(error); });
    deliver(dispatcher, [context, call, owned = OwnedError(failure)]() noexcept {
      call(context.get(), owned.get());
    });
  };
}

AcquireOptions acquire_options_from(const redlock_acquire_options* options,
                                    const Dispatcher& dispatcher) {
  AcquireOptions to;
  if (options == nullptr) return to;
  const redlock_acquire_options read = read_sized(*options, default_acquire_options(), "options");
  const auto context = keep_context(read.context, read.free_context);
#define ACQUIRE(kind, member, c_member, ...) put(read.c_member, to.member);
#include "redlock/face.def"
  if (read.on_at_risk != nullptr) {
    to.on_at_risk = at_risk_callback(context, read.on_at_risk, dispatcher);
  }
  if (read.on_lost != nullptr) to.on_lost = loss_callback(context, read.on_lost, dispatcher);
  return to;
}

}  // namespace redlock::bindings

void redlock_target_init(redlock_target* target, size_t size) {
  bound::write_sized(target, size, bound::default_target());
}

void redlock_client_options_init(redlock_client_options* options, size_t size) {
  bound::write_sized(options, size, bound::default_client_options());
}

void redlock_acquire_options_init(redlock_acquire_options* options, size_t size) {
  bound::write_sized(options, size, bound::default_acquire_options());
}
