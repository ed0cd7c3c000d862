#include "redlock/listing.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "api/adapted.hpp"
#include "api/lock_verdicts.hpp"
#include "runtime/configuration.hpp"
#include "runtime/listing.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {
namespace admin {
namespace {

Error invalid(std::string message) { return {Errc::invalid_argument, std::move(message), {}}; }

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
  const runtime::LockQuery query{own_list.pattern, own_list.keys_per_node,
                                 std::chrono::ceil<std::chrono::milliseconds>(own.max_ttl)};
  try {
    return api::judge_locks(runtime::Listing(*configuration, query).run(),
                            configuration->settings.quorum);
  } catch (const std::system_error& problem) {
    return Error{
        Errc::limit_reached, std::string("the nodes cannot be asked: ") + problem.what(), {}};
  }
}

}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
