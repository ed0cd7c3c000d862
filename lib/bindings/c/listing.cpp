#include "redlock/listing.hpp"

#include "bindings/c/boundary.hpp"

namespace redlock::bindings {
namespace {

struct Listed : redlock_lock_list {
  explicit Listed(admin::LockList given) : redlock_lock_list(), from(std::move(given)) {
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
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

  admin::LockList from;
  TokenTexts tokens{};
  std::vector<redlock_listed_lock> locks{};
  std::vector<redlock_listed_node> nodes{};
};

}  // namespace
}  // namespace redlock::bindings

const redlock_listed_lock* redlock_lock_list_lock(const redlock_lock_list* list, size_t i) {
  if (list == nullptr || i >= list->lock_count) return nullptr;
  return &static_cast<const redlock::bindings::Listed*>(list)->locks[i];
}

const redlock_listed_node* redlock_lock_list_node(const redlock_lock_list* list, size_t i) {
  if (list == nullptr || i >= list->node_count) return nullptr;
  return &static_cast<const redlock::bindings::Listed*>(list)->nodes[i];
}

void redlock_lock_list_free(redlock_lock_list* list) {
  redlock::bindings::dispose<redlock::bindings::Listed>(list);
}

redlock_status redlock_list_locks(const redlock_client_options* options, const char* pattern,
                                  uint64_t keys_per_node, redlock_lock_list** list,
                                  redlock_error** error) {
  redlock::bindings::clear(list);
  return redlock::bindings::guarded(error, [&] {
    const auto read = redlock::bindings::client_options_from(options);
    auto*& out = redlock::bindings::required_out(list, "list");
    redlock::admin::ListOptions which;
    which.pattern = redlock::bindings::text_or_empty(pattern);
    if (keys_per_node != 0) which.keys_per_node = keys_per_node;
    out = redlock::bindings::new_object<redlock::bindings::Listed>(
        redlock::bindings::unwrapped(redlock::admin::list_locks(read, which)));
  });
}
