#include "redlock/listing.hpp"

#include "bindings/c/boundary.hpp"

namespace redlock::bindings {
namespace {

struct Listed : View<redlock_lock_list, admin::LockList> {
  explicit Listed(admin::LockList given) : View(std::move(given)) {
    quorum = from.quorum;
    answered = from.answered;
    complete = from.complete;
    lock_count = from.locks.size();
    for (const admin::ListedLock& lock : from.locks) {
      locks.push_back(
          {lock.resource.c_str(), static_cast<redlock_lock_kind>(lock.kind),
           to_string(lock.state).data(), tokens.add(lock.holder), text_or_null(lock.owner),
           lock.holds, lock.permits ? static_cast<std::int64_t>(*lock.permits) : -1,
           to_ns(lock.remaining), lock.waiters, lock.nodes, text_or_null(lock.holder_name)});
    }
    node_count = from.nodes.size();
    for (const admin::ListedNode& node : from.nodes) {
      nodes.push_back({node.url.c_str(), node.error.c_str(), node.unread, node.stopped_early});
    }
  }

  TokenTexts tokens{};
  std::vector<redlock_listed_lock> locks{};
  std::vector<redlock_listed_node> nodes{};
};

}  // namespace
}  // namespace redlock::bindings

REDLOCK_PART(redlock_lock_list_lock, redlock_lock_list, Listed, locks)
REDLOCK_PART(redlock_lock_list_node, redlock_lock_list, Listed, nodes)

void redlock_lock_list_free(redlock_lock_list* list) { bound::dispose<bound::Listed>(list); }

redlock_status redlock_list_locks(const redlock_client_options* options, const char* pattern,
                                  uint64_t keys_per_node, redlock_lock_list** list,
                                  redlock_error** error) {
  bound::clear(list);
  return bound::guarded(error, [&] {
    const auto read = bound::client_options_from(options);
    auto*& out = bound::required_out(list, "list");
    redlock::admin::ListOptions which;
    which.pattern = bound::text_or_empty(pattern);
    if (keys_per_node != 0) which.keys_per_node = keys_per_node;
    out =
        bound::new_object<bound::Listed>(bound::unwrapped(redlock::admin::list_locks(read, which)));
  });
}
