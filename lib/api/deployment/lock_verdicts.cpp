#include "api/deployment/lock_verdicts.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/vocabulary/holder_words.hpp"
#include "core/vocabulary/permits.hpp"
#include "core/votes/quorum.hpp"
#include "redlock/token.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {
namespace {

using runtime::NodeLocks;
using runtime::StoredLock;
using std::chrono::milliseconds;
using LockState = admin::ListedLock::State;

/// The part of a stored lock by which nodes are compared.
struct Content {
  LockKind kind = LockKind::none;
  std::string_view text;  ///< exclusive: the token; owned: the owner

  friend bool operator<(const Content& a, const Content& b) {
    return std::tie(a.kind, a.text) < std::tie(b.kind, b.text);
  }
};

Content content_of(const StoredLock& stored) {
  const std::string_view text = stored.text;
  if (stored.form == StoredLock::Form::holds) {
    const auto owner = core::owner_of(text);
    return owner ? Content{LockKind::owned, *owner} : Content{LockKind::shared, {}};
  }
  if (text == interval_token) return {LockKind::interval, {}};
  if (!Token::parse(text)) return {LockKind::other, {}};
  return {LockKind::exclusive, text};
}

/// The votes of all nodes on one resource.
struct Votes {
  std::map<Content, std::vector<const StoredLock*>> contents;
  std::size_t taken = 0;    ///< nodes on which somebody holds the resource
  std::size_t unknown = 0;  ///< nodes that did not answer, or whose key could not be read
  std::vector<milliseconds> reserved;
  std::size_t waiters = 0;
};

Votes count_votes(const std::vector<NodeLocks>& nodes, const std::string& resource) {
  Votes votes;
  for (const NodeLocks& node : nodes) {
    const auto found = node.locks.find(resource);
    if (!node.problem.empty()) ++votes.unknown;
    if (!node.problem.empty() || found == node.locks.end()) continue;
    const StoredLock& stored = found->second;
    votes.waiters = std::max<std::size_t>(votes.waiters, stored.waiters);
    switch (stored.form) {
      case StoredLock::Form::none:
        break;
      case StoredLock::Form::token:
      case StoredLock::Form::holds:
        ++votes.taken;
        votes.contents[content_of(stored)].push_back(&stored);
        break;
      case StoredLock::Form::reserved:
        votes.reserved.push_back(stored.left);
        break;
      case StoredLock::Form::unreadable:
        ++votes.unknown;
        break;
    }
  }
  return votes;
}

/// The largest number that at least `count` of `numbers` reach. With fewer than `count` numbers:
/// their largest.
template <typename Number>
Number reached_by(std::vector<Number> numbers, std::size_t count) {
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  return numbers.size() < count ? numbers.front() : numbers[count - 1];
}

void describe(const Content& content, const std::vector<const StoredLock*>& stored,
              std::size_t quorum, admin::ListedLock& lock) {
  lock.kind = content.kind;
  if (content.kind == LockKind::exclusive) lock.holder = Token::parse(content.text);
  if (content.kind == LockKind::owned) lock.owner = content.text;
  // The lease's own name says more than that of its client, as in an inspection.
  if (lock.holder) lock.holder_name = lock.holder->name();
  lock.nodes = stored.size();
  std::vector<milliseconds> left;
  std::vector<std::uint32_t> holds;
  for (const StoredLock* one : stored) {
    if (lock.holder_name.empty()) lock.holder_name = one->name;
    left.push_back(one->left);
    holds.push_back(one->holds);
  }
  lock.remaining = reached_by(std::move(left), quorum);
  lock.holds = reached_by(std::move(holds), quorum);
}

/// The lock on one resource. None: nothing is left of the lock, and nobody is queued.
std::optional<admin::ListedLock> judge_lock(const std::vector<NodeLocks>& nodes,
                                            const std::string& resource, std::size_t quorum) {
  const Votes votes = count_votes(nodes, resource);
  admin::ListedLock lock;
  lock.resource = resource;
  lock.waiters = votes.waiters;
  const auto most = std::max_element(
      votes.contents.begin(), votes.contents.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const std::size_t count = most == votes.contents.end() ? 0 : most->second.size();
  if (count >= quorum) {
    lock.state = LockState::held;
  } else if (count > 0 && count + votes.unknown >= quorum) {
    lock.state = LockState::indeterminate;
  } else if (votes.taken > nodes.size() - quorum) {
    lock.state = LockState::split;
  } else if (!votes.reserved.empty() && votes.reserved.size() >= count) {
    lock.state = LockState::reserved;
    lock.nodes = votes.reserved.size();
    lock.remaining = reached_by(votes.reserved, quorum);
    return lock;
  } else if (count > 0) {
    lock.state = LockState::minority;
  } else {
    if (votes.waiters == 0) return std::nullopt;
    return lock;
  }
  describe(most->first, most->second, quorum, lock);
  return lock;
}

/// The name of the semaphore to which a permit belongs, or a queue for any of its permits. None:
/// neither is one.
std::optional<std::string_view> semaphore_of(const admin::ListedLock& lock) {
  const std::string_view resource = lock.resource;
  // Only tokens are permits: a resource of readers or of an owner can have such a name.
  if (lock.kind != LockKind::exclusive && lock.kind != LockKind::none) return std::nullopt;
  if (lock.state == LockState::free && resource.size() > 1 && resource.ends_with('#')) {
    return resource.substr(0, resource.size() - 1);
  }
  const auto prefix = core::any_permit_of(resource);
  if (!prefix || prefix->size() == 1) return std::nullopt;
  const std::string_view digits = resource.substr(prefix->size());
  std::size_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool padded = digits.size() > 1 && digits.front() == '0';
  if (parsed.ec != std::errc{} || padded || number >= limits::permits) return std::nullopt;
  return prefix->substr(0, prefix->size() - 1);
}

/// A permit that is held says most about its semaphore; the remains of a released one say least.
int weight_of(LockState state) {
  switch (state) {
    case LockState::held:
      return 5;
    case LockState::split:
      return 4;
    case LockState::indeterminate:
      return 3;
    case LockState::minority:
      return 2;
    case LockState::reserved:
      return 1;
    case LockState::free:
      return 0;
  }
  return 0;
}

void add_permit(admin::ListedLock& semaphore, const admin::ListedLock& permit) {
  const std::size_t waiters = std::max(semaphore.waiters, permit.waiters);
  const std::size_t held = *semaphore.permits + (permit.state == LockState::held ? 1 : 0);
  const int difference = weight_of(permit.state) - weight_of(semaphore.state);
  if (difference > 0 || (difference == 0 && semaphore.nodes == 0)) {
    semaphore.kind = permit.kind;
    semaphore.state = permit.state;
    semaphore.remaining = permit.remaining;
    semaphore.nodes = permit.nodes;
  } else if (difference == 0) {
    semaphore.remaining = std::min(semaphore.remaining, permit.remaining);
    semaphore.nodes = std::min(semaphore.nodes, permit.nodes);
  }
  semaphore.waiters = waiters;
  semaphore.permits = held;
}

bool carries(const NodeLocks& node, const std::string& deployment) {
  return node.marker && node.marker->state == core::Marker::State::active &&
         node.marker->deployment == deployment;
}

}  // namespace

std::size_t add_unlisted_members(std::vector<NodeLocks>& nodes, std::size_t quorum) {
  const core::Marker* deployment = nullptr;
  std::ptrdiff_t most = 0;
  for (const NodeLocks& node : nodes) {
    if (!node.marker || node.marker->state != core::Marker::State::active) continue;
    const std::ptrdiff_t count = std::count_if(
        nodes.begin(), nodes.end(),
        [&node](const NodeLocks& other) { return carries(other, node.marker->deployment); });
    if (count <= most) continue;
    deployment = &*node.marker;
    most = count;
  }
  if (deployment == nullptr) return quorum;
  const core::Marker found = *deployment;
  for (const std::string& member : found.members) {
    const bool listed = std::any_of(nodes.begin(), nodes.end(), [&](const NodeLocks& node) {
      return node.url == member || (carries(node, found.deployment) && node.marker->self == member);
    });
    if (listed) continue;
    NodeLocks missing;
    missing.url = member;
    missing.problem = runtime::explain_unlisted(found.members.size());
    nodes.push_back(std::move(missing));
  }
  return std::max(quorum, core::majority(found.members.size()));
}

admin::LockList judge_locks(const std::vector<NodeLocks>& nodes, std::size_t quorum) {
  admin::LockList list;
  list.quorum = quorum;
  std::set<std::string> resources;
  bool all_read = true;
  for (const NodeLocks& node : nodes) {
    list.nodes.push_back({node.url, node.problem, node.stopped_early, node.unread});
    if (!node.problem.empty()) continue;
    ++list.answered;
    all_read = all_read && !node.stopped_early && node.unread == 0;
    for (const auto& [resource, stored] : node.locks) resources.insert(resource);
  }
  list.complete = all_read && list.answered >= quorum;
  std::map<std::string, admin::ListedLock, std::less<>> semaphores;
  for (const std::string& resource : resources) {
    auto lock = judge_lock(nodes, resource, quorum);
    if (!lock) continue;
    const auto name = semaphore_of(*lock);
    if (!name) {
      list.locks.push_back(*std::move(lock));
      continue;
    }
    auto found = semaphores.find(*name);
    if (found == semaphores.end()) {
      admin::ListedLock semaphore;
      semaphore.resource = *name;
      semaphore.permits = 0;
      found = semaphores.emplace(*name, std::move(semaphore)).first;
    }
    add_permit(found->second, *lock);
  }
  for (auto& [name, semaphore] : semaphores) list.locks.push_back(std::move(semaphore));
  std::stable_sort(list.locks.begin(), list.locks.end(),
                   [](const admin::ListedLock& a, const admin::ListedLock& b) {
                     return a.resource < b.resource;
                   });
  return list;
}

}  // namespace redlock::api
