#include <memory>
#include <string>
#include <utility>

#include "calls.hpp"
#include "client.hpp"
#include "options.hpp"
#include "results.hpp"

namespace redlock::node {
namespace {

/// A blocking call, which runs on a thread of Node's own pool.
struct Listing {
  Texts texts{};
  redlock_client_options options{};
  const char* pattern = nullptr;
  std::uint64_t keys_per_node = 0;
  napi_deferred deferred = nullptr;
  napi_async_work work = nullptr;
  ListPtr list{};
  ErrorPtr error{};

  void run() noexcept {
    redlock_lock_list* listed = nullptr;
    redlock_error* failure = nullptr;
    static_cast<void>(redlock_list_locks(&options, pattern, keys_per_node, &listed, &failure));
    list.reset(listed);
    error.reset(failure);
  }

  [[nodiscard]] napi_value outcome(const Js& js) const {
    return js.object({{"error", error ? error_value(js, *error) : js.null()},
                      {"list", list ? list_value(js, *list) : js.null()}});
  }
};

void execute(napi_env, void* data) noexcept { static_cast<Listing*>(data)->run(); }

void complete(napi_env env, napi_status status, void* data) noexcept {
  const std::unique_ptr<Listing> listing(static_cast<Listing*>(data));
  static_cast<void>(napi_delete_async_work(env, listing->work));
  if (status != napi_ok) return;  // cancelled: the environment is being taken down
  try {
    check(env, napi_resolve_deferred(env, listing->deferred, listing->outcome(Js(env))));
  } catch (const Pending&) {
    // Node.js reports the pending exception.
  }
}

}  // namespace

napi_value list(const Arguments& call) {
  auto listing = std::make_unique<Listing>();
  listing->options = client_options_from(call.env(), call.at(0), listing->texts);
  if (is_given(call.env(), call.at(1))) listing->pattern = listing->texts.keep(call.text(1));
  if (is_given(call.env(), call.at(2))) {
    listing->keys_per_node = static_cast<std::uint64_t>(call.number(2));
  }
  call.external<std::shared_ptr<Client>>(3)->set_provider(listing->options);
  napi_value name = nullptr;
  check(call.env(),
        napi_create_string_utf8(call.env(), "quorum-redlock list", NAPI_AUTO_LENGTH, &name));
  check(call.env(), napi_create_async_work(call.env(), nullptr, name, execute, complete,
                                           listing.get(), &listing->work));
  napi_value promise = nullptr;
  check(call.env(), napi_create_promise(call.env(), &listing->deferred, &promise));
  check(call.env(), napi_queue_async_work(call.env(), listing->work));
  static_cast<void>(listing.release());
  return promise;
}

}  // namespace redlock::node
