#include "redlock/client.hpp"

#include "bindings/c/boundary.hpp"
#include "bindings/c/close_report.hpp"

redlock_status redlock_client_create(const redlock_client_options* options, redlock_client** client,
                                     redlock_error** error) {
  bound::clear(client);
  return bound::guarded(error, [&] {
    auto read = bound::client_options_from(options);
    auto*& out = bound::required_out(client, "client");
    out = bound::new_object<redlock_client>(
        bound::unwrapped(redlock::Client::create(std::move(read))), bound::dispatcher_of(options));
  });
}

REDLOCK_PART(redlock_close_report_undelivered, redlock_close_report, Closing, undelivered)

void redlock_close_report_free(redlock_close_report* report) {
  bound::dispose<bound::Closing>(report);
}

redlock_status redlock_client_close(redlock_client* client, redlock_close_report** report,
                                    redlock_error** error) {
  bound::clear(report);
  return bound::guarded(error, [&] {
    auto closed = bound::unwrapped(bound::required(client, "client").client.close());
    if (report != nullptr) *report = bound::new_object<bound::Closing>(std::move(closed));
  });
}

void redlock_client_free(redlock_client* client) { bound::dispose<redlock_client>(client); }

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
  return bound::acquire_within(redlock::forever, client, target, options, stop, lease, error);
}

redlock_status redlock_try_acquire(redlock_client* client, const redlock_target* target,
                                   const redlock_acquire_options* options, redlock_lease** lease,
                                   redlock_error** error) {
  return bound::acquire_within({}, client, target, options, nullptr, lease, error);
}

redlock_status redlock_try_acquire_for(redlock_client* client, const redlock_target* target,
                                       int64_t wait_ns, const redlock_acquire_options* options,
                                       const redlock_stop* stop, redlock_lease** lease,
                                       redlock_error** error) {
  return bound::acquire_within(bound::from_ns(wait_ns), client, target, options, stop, lease,
                               error);
}

redlock_status redlock_adopt(redlock_client* client, const char* detached,
                             const redlock_acquire_options* options, redlock_lease** lease,
                             redlock_error** error) {
  bound::clear(lease);
  return bound::guarded(error, [&] {
    auto read = bound::acquire_options_from(options, bound::dispatcher_in(client));
    auto*& out = bound::required_out(lease, "lease");
    auto& caller = bound::required(client, "client").client;
    out = bound::make_lease(
        bound::unwrapped(caller.adopt(bound::detached_from(detached), std::move(read))));
  });
}

redlock_status redlock_ownership(redlock_client* client, const char* resource, const char* token,
                                 bool* held, redlock_error** error) {
  if (held != nullptr) *held = false;
  return bound::guarded(error, [&] {
    auto& caller = bound::required(client, "client").client;
    bound::required(held, "held") =
        bound::unwrapped(caller.ownership(&bound::required(resource, "resource"),
                                          bound::token_from(token))) == redlock::Ownership::held;
  });
}

redlock_status redlock_inspect(redlock_client* client, const char* resource,
                               redlock_inspection** inspection, redlock_error** error) {
  return bound::guarded(error, [&] {
    auto*& out = bound::required_out(inspection, "inspection");
    auto& caller = bound::required(client, "client").client;
    out = bound::make_inspection(
        bound::unwrapped(caller.inspect(&bound::required(resource, "resource"))));
  });
}
