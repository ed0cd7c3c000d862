#include "options.hpp"

#include <cstdint>
#include <utility>

#include "js.hpp"

namespace redlock::node {
namespace {

/// Copies the members that an object has into options of C.
class Reader {
 public:
  Reader(napi_env env, napi_value given, Texts& texts) noexcept
      : env_(env), given_(given), texts_(&texts) {}

  void read(const char* name, const char*& to) const {
    if_given(name, [&](napi_value value) { to = texts_->keep(text_from(env_, value)); });
  }
  void read(const char* name, bool& to) const {
    if_given(name, [&](napi_value value) { to = boolean_from(env_, value); });
  }
  void read(const char* name, std::int64_t& nanoseconds) const {
    if_given(name, [&](napi_value value) { nanoseconds = nanoseconds_from(env_, value); });
  }
  void read(const char* name, std::uint64_t& to) const {
    if_given(name, [&](napi_value value) { to = count_from(env_, value); });
  }
  void list(const char* name, const char* const*& to, std::size_t& size) const {
    if_given(name, [&](napi_value value) {
      const auto& all = texts_->keep_all(env_, value);
      to = all.data();
      size = all.size();
    });
  }

 private:
  template <typename Read>
  void if_given(const char* name, Read read) const {
    napi_value value = member_of(env_, given_, name);
    if (is_given(env_, value)) read(value);
  }

  napi_env env_;
  napi_value given_;
  Texts* texts_;
};

}  // namespace

const std::vector<const char*>& Texts::keep_all(napi_env env, napi_value array) {
  std::uint32_t size = 0;
  check(env, napi_get_array_length(env, array, &size));
  auto& all = lists_.emplace_back();
  for (std::uint32_t i = 0; i < size; ++i) {
    napi_value element = nullptr;
    check(env, napi_get_element(env, array, i, &element));
    all.push_back(keep(text_from(env, element)));
  }
  return all;
}

redlock_client_options client_options_from(napi_env env, napi_value given, Texts& texts) {
  redlock_client_options options{};
  redlock_client_options_init(&options, sizeof(options));
  const Reader read(env, given, texts);
  read.list("nodes", options.nodes, options.node_count);
#define CLIENT(kind, member, c_member, ...) read.read(#c_member, options.c_member);
#include "redlock/face.def"
  return options;
}

redlock_acquire_options acquire_options_from(napi_env env, napi_value given, Texts& texts) {
  redlock_acquire_options options{};
  redlock_acquire_options_init(&options, sizeof(options));
  const Reader read(env, given, texts);
#define ACQUIRE(kind, member, c_member, ...) read.read(#c_member, options.c_member);
#include "redlock/face.def"
  return options;
}

redlock_change_options change_options_from(napi_env env, napi_value given, Texts& texts) {
  redlock_change_options options{};
  redlock_change_options_init(&options, sizeof(options));
  const Reader read(env, given, texts);
  read.read("patience_ns", options.patience_ns);
  read.read("after_loss", options.after_loss);
  return options;
}

redlock_target target_from(napi_env env, napi_value given, Texts& texts) {
  redlock_target target{};
  redlock_target_init(&target, sizeof(target));
  const Reader read(env, given, texts);
  std::uint64_t kind = REDLOCK_TARGET_EXCLUSIVE;
  read.read("kind", kind);
  target.kind = static_cast<redlock_target_kind>(kind);
  read.read("resource", target.resource);
  read.list("moreResources", target.more_resources, target.more_resource_count);
  read.read("owner", target.owner);
  read.read("permits", target.permits);
  read.read("interval", target.interval_ns);
  return target;
}

}  // namespace redlock::node
