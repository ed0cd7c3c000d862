#include "core/duties/closing.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace redlock::core {
namespace {

/// How long a client that closes waits for first contacts.
constexpr Duration longest_greeting = std::chrono::milliseconds(100);

/// A node is given up after this many of its connections have ended during the close. A node that
/// refuses them all, or answers with nonsense, is not worth waiting for until the grace ends.
constexpr std::uint8_t most_connections = 5;

/// Nodes on which the claim may have left something that a release is to remove.
NodeSet undelivered(const Claim& claim) {
  if (claim.finished) return {};
  const NodeSet ours = claim.keys->undelivered();
  return claim.purpose == Claim::Purpose::release ? ours | claim.keys->present() : ours;
}

}  // namespace

void Closing::begin(Duration grace) {
  until_ = later(now_, grace);
  greet_until_ = std::min(*until_, later(now_, longest_greeting));
}

void Closing::keep_connections() {
  const NodeSet indeterminate = to_be_delivered();
  nodes_.all().each([&](NodeIndex node) {
    Link& link = nodes_[node];
    // A node that returns may come back to be marked: see Enroller::may_still_enrol().
    if (link.up() || link.contact->returning() || indeterminate.has(node)) {
      link.contact.by(me).retry_now(now_);
    } else {
      link.contact.by(me).stop_retrying();
    }
  });
}

void Closing::dropped(NodeIndex node) {
  if (!until_ || ++drops_[node] < most_connections) return;
  given_up_.add(node);
  nodes_[node].contact.by(me).stop_retrying();
}

bool Closing::must_wait(NodeSet forgetting, bool may_enrol) const {
  if (is_late()) return false;
  if (awaits_answers(forgetting) || !to_be_delivered().empty()) return true;
  if (!may_meet_nodes()) return false;
  bool unasked = false;
  claims_.each([&](const Claim& claim) { unasked = unasked || !claim.unasked->empty(); });
  return may_enrol || unasked;
}

bool Closing::awaits_answers(NodeSet forgetting) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    // A node that only has to forget our name is not worth a long wait.
    const bool late = forgetting.has(static_cast<NodeIndex>(i)) && !may_meet_nodes();
    if (nodes_[i].in_flight->size() > (late ? 1U : 0U)) return true;
  }
  return false;
}

NodeSet Closing::to_be_delivered() const {
  // The keys of a node that went away expire. A request that the node may execute long after we are
  // gone is worth another connection.
  NodeSet nodes;
  claims_.each_pending([&](const Claim& claim) {
    nodes = nodes | (claim.keys->to_release() & (claim.keys->indeterminate() | nodes_.up()));
  });
  const NodeSet replicas = nodes_.up() - nodes_.able().to_write;
  return nodes - given_up_ - replicas;
}

void Closing::end() {
  over_ = true;
  for (Link& link : nodes_) link.contact.by(me).stop_retrying();
  report_undelivered();
}

void Closing::report_undelivered() const {
  nodes_.all().each([&](NodeIndex node) {
    Undelivered report;
    report.node = node;
    claims_.each([&](const Claim& claim) {
      if (!undelivered(claim).has(node)) return;
      const bool late = claim.keys->may_be_written(node);
      const Duration left = claim.keys->left(now_);
      ++report.releases;
      report.left = std::max({report.left, left, late ? claim.keys->left_once_written() : left});
      report.may_write_late = report.may_write_late || late;
    });
    if (report.releases != 0) outbox_.emit(report);
  });
}

}  // namespace redlock::core
