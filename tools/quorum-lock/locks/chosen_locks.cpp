#include "quorum-lock/locks/chosen_locks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include "common/session/holder_text.hpp"
#include "common/session/verdict.hpp"
#include "common/text/glob.hpp"
#include "redlock/limits.hpp"

namespace redlock::cli {
namespace {

using NamesById = std::map<std::string, std::string>;

struct SeenLock {
  std::string resource{};
  Inspection seen{};
};

/// A listed lock, as the nodes describe it.
struct CheckedLock {
  std::vector<SeenLock> parts{};  ///< one, or the permits of a semaphore that are taken
  std::optional<Error> error{};
};

/// Inspects a resource. Fails if fewer than a quorum of the nodes answer, because they could leave
/// out the holder.
Result<Inspection> inspect(Client& client, const std::string& resource) {
  Result<Inspection> seen = client.inspect(resource);
  if (!seen || count_answered(*seen) >= seen->quorum) return seen;
  return Error{Errc::unavailable, too_few_answered(resource, *seen), {}};
}

/// Inspects every permit: the list does not say which permits are taken, nor how many there are.
CheckedLock check_permits(Client& client, const std::string& semaphore) {
  CheckedLock checked;
  for (std::size_t number = 0; number < limits::permits; ++number) {
    std::string permit = fmt::format("{}#{}", semaphore, number);
    Result<Inspection> seen = inspect(client, permit);
    if (!seen) return {.error = std::move(seen).error()};
    if (!tokens_on(*seen).empty()) checked.parts.push_back({std::move(permit), *std::move(seen)});
  }
  return checked;
}

CheckedLock check(Client& client, const admin::ListedLock& lock) {
  if (lock.permits) return check_permits(client, lock.resource);
  // Clients only wait for this resource; nobody holds it.
  if (lock.nodes == 0) return {};
  Result<Inspection> seen = inspect(client, lock.resource);
  if (!seen) return {.error = std::move(seen).error()};
  return {.parts = {{lock.resource, *std::move(seen)}}};
}

/// The nodes name only some of the holders of a lock, so each name counts for all tokens of its
/// client.
void learn_names(const Inspection& inspection, NamesById& names) {
  const auto learn = [&names](const Token& token, const std::string& name) {
    if (!name.empty() && !token.client_id().empty()) names.emplace(token.client_id(), name);
  };
  for (const NodeInspection& node : inspection.nodes) {
    if (node.holder && !node.holder->is_delay()) learn(*node.holder, node.holder_name);
    for (std::size_t i = 0; i < std::min(node.names.size(), node.tokens.size()); ++i) {
      learn(node.tokens[i], node.names[i]);
    }
  }
}

/// Decides whether a token belongs to a holder that the user means.
class HolderFilter {
 public:
  HolderFilter(const std::optional<std::string>& holder, const NamesById& names)
      : holder_(holder), names_(names) {}

  [[nodiscard]] bool takes(const Token& token, const Inspection& inspection) const {
    if (!holder_) return true;
    // If an operator or an interval keeps everybody out, the resource has no holder.
    if (token.is_delay() || token.view() == interval_token) return false;
    const auto known = names_.find(std::string(token.client_id()));
    const bool is_of_owner = std::any_of(
        inspection.nodes.begin(), inspection.nodes.end(), [&](const NodeInspection& node) {
          const bool has =
              std::find(node.tokens.begin(), node.tokens.end(), token) != node.tokens.end();
          return has && !node.owner.empty() && matches_glob(*holder_, node.owner);
        });
    return is_of_owner || matches_glob(*holder_, token.view()) ||
           (!token.name().empty() && matches_glob(*holder_, token.name())) ||
           (known != names_.end() && matches_glob(*holder_, known->second));
  }

 private:
  const std::optional<std::string>& holder_;
  const NamesById& names_;
};

ChosenLock choose_tokens(const SeenLock& lock, const HolderFilter& filter,
                         const ManyBreaking& many) {
  ChosenLock chosen{.what = {.resource = lock.resource, .delay = many.delay}, .before = lock.seen};
  for (const Token& token : tokens_on(lock.seen)) {
    if (filter.takes(token, lock.seen)) chosen.what.tokens.push_back(token);
  }
  chosen.what.has_unlisted_holds = has_unlisted_holds(lock.seen);
  return chosen;
}

/// The row of a lock, as the inspection has found it, because exactly that is broken.
admin::ListedLock row_of(admin::ListedLock row, const std::vector<ChosenLock>& chosen,
                         bool all_holders) {
  const ChosenLock& first = chosen.front();
  if (row.permits) {
    row.permits = chosen.size();
    return row;
  }
  const std::vector<Token>& tokens = first.what.tokens;
  row.kind = first.before.kind;
  row.owner = first.before.owner;
  row.holder = first.before.holder;
  if (row.holder && tokens.size() == 1) row.holder = tokens.front();
  row.holds = most_holds(first.before);
  if (!all_holders && row.holds > 0) row.holds = static_cast<std::uint32_t>(tokens.size());
  return row;
}

/// Whether the user means this lock. A permit is meant if its semaphore is meant, or the permit
/// itself.
bool is_meant(const SeenLock& part, const admin::ListedLock& lock, const ManyBreaking& many) {
  return !lock.permits || many.pattern.empty() || matches_glob(many.pattern, lock.resource) ||
         matches_glob(many.pattern, part.resource);
}

}  // namespace

Result<ChosenLocks> choose_locks(Client& client, const admin::LockList& list,
                                 const ManyBreaking& many) {
  std::vector<CheckedLock> checked(list.locks.size());
  for_each_at_once(list.locks.size(),
                   [&](std::size_t i) { checked[i] = check(client, list.locks[i]); });
  NamesById names;
  for (const CheckedLock& each : checked) {
    if (each.error) return *each.error;
    for (const SeenLock& part : each.parts) learn_names(part.seen, names);
  }
  const HolderFilter filter(many.holder, names);
  ChosenLocks result{.rows = list};
  result.rows.locks.clear();
  for (std::size_t i = 0; i < checked.size(); ++i) {
    std::vector<ChosenLock> chosen;
    for (const SeenLock& part : checked[i].parts) {
      if (!is_meant(part, list.locks[i], many)) continue;
      if (has_what_is_no_token(part.seen)) {
        if (!many.holder) result.values.push_back(part.resource);
        continue;
      }
      ChosenLock lock = choose_tokens(part, filter, many);
      if (!lock.what.tokens.empty()) chosen.push_back(std::move(lock));
    }
    if (chosen.empty()) continue;
    result.rows.locks.push_back(row_of(list.locks[i], chosen, !many.holder));
    const bool is_one = !list.locks[i].permits && chosen.front().what.tokens.size() == 1;
    const auto known = is_one
                           ? names.find(std::string(chosen.front().what.tokens.front().client_id()))
                           : names.end();
    const bool is_named = known != names.end() && list.locks[i].kind == LockKind::exclusive;
    result.names.push_back(is_named ? known->second : std::string());
    std::move(chosen.begin(), chosen.end(), std::back_inserter(result.locks));
  }
  return result;
}

void for_each_at_once(std::size_t count, const std::function<void(std::size_t)>& task) {
  constexpr std::size_t most_threads = 16;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) task(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(count, most_threads); ++i) threads.emplace_back(work);
  work();
}

}  // namespace redlock::cli
