#include "queue.hpp"

namespace redlock::node {
namespace {

using Owner = std::shared_ptr<void>;

/// Delivers a message on JavaScript's thread. A null `env` means that the environment is being
/// taken down.
void deliver(napi_env env, napi_value handler, void*, void* data) noexcept {
  const std::unique_ptr<Message> message(static_cast<Message*>(data));
  if (env == nullptr) return;
  try {
    message->deliver(Js(env), handler);
  } catch (const Pending&) {
    // Node.js reports the pending exception. The handler itself catches all its exceptions.
  }
}

void free_owner(napi_env, void* owner, void*) noexcept {
  const std::unique_ptr<Owner> freed(static_cast<Owner*>(owner));
}

}  // namespace

void Queue::open(napi_value handler, std::shared_ptr<void> owner) {
  napi_value name = nullptr;
  check(env_, napi_create_string_utf8(env_, "quorum-redlock", NAPI_AUTO_LENGTH, &name));
  auto kept = std::make_unique<Owner>(std::move(owner));
  check(env_, napi_create_threadsafe_function(env_, handler, nullptr, name, 0, 1, kept.get(),
                                              free_owner, nullptr, deliver, &function_));
  static_cast<void>(kept.release());
}

void Queue::set_referenced(bool referenced) const {
  if (function_ == nullptr) return;
  check(env_, referenced ? napi_ref_threadsafe_function(env_, function_)
                         : napi_unref_threadsafe_function(env_, function_));
}

void Queue::close() noexcept {
  if (function_ == nullptr) return;
  static_cast<void>(
      napi_release_threadsafe_function(std::exchange(function_, nullptr), napi_tsfn_release));
}

void Queue::enqueue(std::unique_ptr<Message> message) noexcept {
  // Unbounded, so it is refused only when the queue has ended.
  const auto status =
      napi_call_threadsafe_function(function_, message.get(), napi_tsfn_nonblocking);
  if (status == napi_ok) static_cast<void>(message.release());
}

}  // namespace redlock::node
