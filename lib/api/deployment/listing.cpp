#include "redlock/listing.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "api/deployment/lock_verdicts.hpp"
#include "api/options/adapted.hpp"
#include "runtime/configuration.hpp"
#include "runtime/listing.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {
namespace admin {
namespace {

Error invalid(std::string message) { return {Errc::invalid_argument, std::move(message), {}}; }

/// The prefix needs no escapes: none of its characters has a meaning in a pattern.
std::string pattern_of_keys(const std::string& prefix, const std::string& pattern) {
  return pattern.empty() && !prefix.empty() ? prefix + '*' : prefix + pattern;
}

/// Removes the prefix from the names. Keys without the prefix, which a node should not have sent,
/// are dropped.
LockList with_names(LockList list, const std::string& prefix) {
  std::erase_if(list.locks,
                [&](const ListedLock& lock) { return !lock.resource.starts_with(prefix); });
  for (ListedLock& lock : list.locks) lock.resource.erase(0, prefix.size());
  return list;
}

}  // namespace

Result<LockList> list_locks(const ClientOptions& options, const ListOptions& list) {
  const ClientOptions own = api::adapted(options);
  const ListOptions own_list = api::adapted(list);
  const auto configuration = runtime::configure(own);
  if (!configuration) return configuration.error();
  if (own_list.keys_per_node == 0 || own_list.keys_per_node > limits::most_keys_listed) {
    return invalid("keys_per_node: 1 to " + std::to_string(limits::most_keys_listed) +
                   " are allowed");
  }
  if (own_list.pattern.size() > limits::pattern_bytes) {
    return invalid("pattern: has " + std::to_string(own_list.pattern.size()) + " bytes: at most " +
                   std::to_string(limits::pattern_bytes) + " are allowed");
  }
  const std::string& prefix = configuration->prefix;
  const runtime::LockQuery query{pattern_of_keys(prefix, own_list.pattern), own_list.keys_per_node,
                                 std::chrono::ceil<std::chrono::milliseconds>(own.max_ttl)};
  try {
    auto nodes = runtime::Listing(*configuration, query).run();
    const std::size_t quorum = api::add_unlisted_members(nodes, configuration->settings.quorum);
    return with_names(api::judge_locks(nodes, quorum), prefix);
  } catch (const std::system_error& problem) {
    return Error{
        Errc::limit_reached, std::string("the nodes cannot be asked: ") + problem.what(), {}};
  }
}

}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
