#include "redlock/client.hpp"

#include "bindings/c/boundary.hpp"
#include "bindings/c/close_report.hpp"

using redlock::bindings::from_ns;
using redlock::bindings::guarded;
using redlock::bindings::required;
using redlock::bindings::required_out;
using redlock::bindings::target_from;
using redlock::bindings::token_from;
using redlock::bindings::unwrapped;

redlock_status redlock_client_create(const redlock_client_options* options, redlock_client** client,
                                     redlock_error** error) {
  redlock::bindings::clear(client);
  return guarded(error, [&] {
    auto read = redlock::bindings::client_options_from(options);
    auto*& out = required_out(client, "client");
    out = redlock::bindings::new_object<redlock_client>(
        unwrapped(redlock::Client::create(std::move(read))),
        redlock::bindings::dispatcher_of(options));
  });
}

const redlock_undelivered* redlock_close_report_undelivered(const redlock_close_report* report,
                                                            size_t i) {
  if (report == nullptr || i >= report->undelivered_count) return nullptr;
  return &static_cast<const redlock::bindings::Closing*>(report)->undelivered[i];
}

void redlock_close_report_free(redlock_close_report* report) {
  redlock::bindings::dispose<redlock::bindings::Closing>(report);
}

redlock_status redlock_client_close(redlock_client* client, redlock_close_report** report,
                                    redlock_error** error) {
  redlock::bindings::clear(report);
  return guarded(error, [&] {
    auto closed = unwrapped(required(client, "client").client.close());
    if (report != nullptr)
      *report = redlock::bindings::new_object<redlock::bindings::Closing>(std::move(closed));
  });
}

void redlock_client_free(redlock_client* client) {
  redlock::bindings::dispose<redlock_client>(client);
}

namespace redlock::bindings {
namespace {

redlock_status acquire_within(std::chrono::nanoseconds wait, redlock_client* client,
                              const redlock_target* target, const redlock_acquire_options* options,
                              const redlock_stop* stop, redlock_lease** lease,
                              redlock_error** error) {
  clear(lease);
  return guarded(error, [&] {
    auto read = acquire_options_from(options, dispatcher_in(client));
    auto*& out = required_out(lease, "lease");
    auto& caller = required(client, "client").client;
    out = make_lease(unwrapped(
        caller.try_acquire_for(target_from(target), wait, std::move(read), stop_token_from(stop))));
  });
}

}  // namespace
}  // namespace redlock::bindings

redlock_status redlock_acquire(redlock_client* client, const redlock_target* target,
                               const redlock_acquire_options* options, const redlock_stop* stop,
                               redlock_lease** lease, redlock_error** error) {
  return redlock::bindings::acquire_within(redlock::forever, client, target, options, stop, lease,
                                           error);
}

redlock_status redlock_try_acquire(redlock_client* client, const redlock_target* target,
                                   const redlock_acquire_options* options, redlock_lease** lease,
                                   redlock_error** error) {
  return redlock::bindings::acquire_within({}, client, target, options, nullptr, lease, error);
}

redlock_status redlock_try_acquire_for(redlock_client* client, const redlock_target* target,
                                       int64_t wait_ns, const redlock_acquire_options* options,
                                       const redlock_stop* stop, redlock_lease** lease,
                                       redlock_error** error) {
  return redlock::bindings::acquire_within(from_ns(wait_ns), client, target, options, stop, lease,
                                           error);
}

redlock_status redlock_adopt(redlock_client* client, const char* detached,
                             const redlock_acquire_options* options, redlock_lease** lease,
                             redlock_error** error) {
  redlock::bindings::clear(lease);
  return guarded(error, [&] {
    auto read =
        redlock::bindings::acquire_options_from(options, redlock::bindings::dispatcher_in(client));
    auto*& out = required_out(lease, "lease");
    auto& caller = required(client, "client").client;
    out = redlock::bindings::make_lease(
        unwrapped(caller.adopt(redlock::bindings::detached_from(detached), std::move(read))));
  });
}

redlock_status redlock_ownership(redlock_client* client, const char* resource, const char* token,
                                 bool* held, redlock_error** error) {
  if (held != nullptr) *held = false;
  return guarded(error, [&] {
    auto& caller = required(client, "client").client;
    required(held, "held") =
        unwrapped(caller.ownership(&required(resource, "resource"), token_from(token))) ==
        redlock::Ownership::held;
  });
}

redlock_status redlock_inspect(redlock_client* client, const char* resource,
                               redlock_inspection** inspection, redlock_error** error) {
  return guarded(error, [&] {
    auto*& out = required_out(inspection, "inspection");
    auto& caller = required(client, "client").client;
    out = redlock::bindings::make_inspection(
        unwrapped(caller.inspect(&required(resource, "resource"))));
  });
}
