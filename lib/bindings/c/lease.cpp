#include "redlock/lease.hpp"

#include "bindings/c/boundary.hpp"

redlock_lease::redlock_lease(redlock::Lease granted)
    : lease(std::move(granted)), token(lease.token().str()), resources(lease.resources()) {
  if (resources.empty()) resources.push_back(lease.resource());
}

redlock_lease* bound::make_lease(Lease lease) {
  return new_object<redlock_lease>(std::move(lease));
}

const char* redlock_lease_resource(const redlock_lease* lease) {
  return lease == nullptr ? "" : lease->resources.front().c_str();
}

size_t redlock_lease_resource_count(const redlock_lease* lease) {
  return lease == nullptr ? 0 : lease->resources.size();
}

const char* redlock_lease_resource_at(const redlock_lease* lease, size_t i) {
  return i < redlock_lease_resource_count(lease) ? lease->resources[i].c_str() : nullptr;
}

const char* redlock_lease_token(const redlock_lease* lease) {
  return lease == nullptr ? "" : lease->token.c_str();
}

uint64_t redlock_lease_fencing_token(const redlock_lease* lease) {
  if (lease == nullptr) return 0;
  return lease->lease.fencing_token().value_or(redlock::FencingToken()).value();
}

bool redlock_lease_valid(const redlock_lease* lease) {
  return lease != nullptr && lease->lease.valid();
}

int64_t redlock_lease_remaining_ns(const redlock_lease* lease) {
  return lease == nullptr ? 0 : bound::to_ns(lease->lease.remaining());
}

int64_t redlock_lease_valid_until_ns(const redlock_lease* lease) {
  if (lease == nullptr) return 0;
  return bound::to_ns(lease->lease.valid_until().time_since_epoch());
}

bool redlock_lease_lost(const redlock_lease* lease) {
  return bound::asked_of(
      [&] { return bound::required(lease, "lease").lease.lost().stop_requested(); });
}

redlock_status redlock_lease_round(const redlock_lease* lease, redlock_round** round,
                                   redlock_error** error) {
  return bound::guarded(error, [&] {
    static_cast<void>(bound::required_out(round, "round"));
    bound::hand_out(bound::required(lease, "lease").lease.round(), round);
  });
}

const char* redlock_lease_detach(redlock_lease* lease) {
  if (lease == nullptr) return "";
  bound::guarded(nullptr, [&] {
    const redlock::DetachedLease detached = lease->lease.detach();
    // A second call returns the same text.
    if (!detached.resources.empty()) lease->detached = detached.str();
  });
  return lease->detached.c_str();
}

void redlock_lease_free(redlock_lease* lease) { bound::dispose<redlock_lease>(lease); }
