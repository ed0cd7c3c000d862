#include "core/votes/round.hpp"

#include <algorithm>
#include <utility>

#include "core/vocabulary/holder_words.hpp"
#include "redlock/inspection.hpp"
#include "support/assert.hpp"

namespace redlock::core {

void Round::begin(std::uint16_t number, std::size_t nodes, std::size_t quorum, Instant start,
                  Duration ttl) {
  REDLOCK_ASSERT(nodes >= 1 && nodes <= limits::nodes);
  // The quorum is above the number of nodes if this client knows too few members of a deployment:
  // the round cannot be won. It is below their majority if some nodes are not members: their votes
  // are not recorded as grants.
  REDLOCK_ASSERT(quorum >= 1);
  number_ = number;
  nodes_ = static_cast<std::uint8_t>(nodes);
  quorum_ = static_cast<std::uint8_t>(quorum);
  granted_ = NodeSet();
  denied_ = NodeSet();
  grants_ = denials_ = 0;
  detailed_ = left_out_ = NodeSet();
  verdict_ = Verdict::pending;
  start_ = start;
  ttl_ = ttl;
  Votes& votes = votes_.make();
  for (std::size_t node = 0; node < nodes; ++node) votes.brief[node] = {};
}

void Round::restore(std::unique_ptr<Votes> votes) {
  votes_ = Boxed<Votes>(std::move(votes));
  Votes& said = votes_.make();
  for (std::size_t node = 0; node < nodes_; ++node) {
    const bool granted = granted_.has(static_cast<NodeIndex>(node));
    said.brief[node] = {granted ? Vote::granted : Vote::pending, std::nullopt};
  }
}

void Round::record(NodeIndex node, Vote vote, const Details& details) {
  REDLOCK_ASSERT(vote != Vote::pending);
  if (vote == Vote::granted && details.plain()) return record_grant(node, details.round_trip);
  REDLOCK_ASSERT(node < nodes_);
  Votes::Brief& mine = votes_->brief[node];
  if (mine.vote != Vote::pending) return;
  mine = {vote, details.round_trip};
  if (vote == Vote::granted) {
    granted_.add(node);
    ++grants_;
  } else {
    denied_.add(node);
    ++denials_;
  }
  decide();
  if (!details.plain()) note_details(node, details);
}

void Round::note_details(NodeIndex node, const Details& details) {
  // Allocated for all nodes at once, and kept: a steady state allocates nothing per round.
  if (votes_->stored.size() < nodes_) votes_->stored.resize(nodes_);
  Votes::Stored& stored = votes_->stored[node];
  stored.remaining = details.remaining;
  stored.text.assign(details.text);
  stored.number = details.number;
  stored.quarantine = details.quarantine;
  stored.holds = details.holds;
  stored.for_people.assign(details.for_people);
  detailed_.add(node);
}

NodeVote Round::vote(NodeIndex node) const {
  if (!votes_) return {granted_.has(node) ? Vote::granted : Vote::pending};
  NodeVote vote{votes_->brief[node].vote, votes_->brief[node].round_trip};
  if (!detailed_.has(node)) return vote;
  const Votes::Stored& stored = votes_->stored[node];
  vote.remaining = stored.remaining;
  vote.text = stored.text;
  vote.number = stored.number;
  vote.quarantine = stored.quarantine;
  vote.holds = stored.holds;
  vote.for_people = stored.for_people;
  return vote;
}

std::string_view Round::text(NodeIndex node) const noexcept {
  return detailed_.has(node) ? std::string_view(votes_->stored[node].text) : std::string_view();
}

NodeSet Round::with(Vote vote) const noexcept {
  if (vote == Vote::granted) return granted_;
  if (vote == Vote::pending) return pending();
  NodeSet set;
  denied_.each([&](NodeIndex node) {
    if (votes_->brief[node].vote == vote) set.add(node);
  });
  return set;
}

NodeSet Round::gone() const noexcept {
  NodeSet set;
  (with(Vote::refused) & detailed_).each([&](NodeIndex node) {
    const Votes::Stored& stored = votes_->stored[node];
    if (stored.remaining == Duration::zero() && stored.text.empty()) set.add(node);
  });
  return set;
}

std::size_t Round::naming(NodeSet nodes, std::string_view holder) const {
  std::size_t count = 0;
  nodes.each([&](NodeIndex node) { count += text(node) == holder ? 1U : 0U; });
  return count;
}

std::string_view Round::leading_holder() const {
  std::string_view leader;
  std::size_t most = 0;
  const NodeSet refused = with(Vote::refused);
  refused.each([&](NodeIndex node) {
    const std::string_view holder = text(node);
    // Servers before 7.0 do not name the holder, which may be anybody. And a holder that an earlier
    // node named has been counted already.
    if (holder.empty() || holder == leader) return;
    const std::size_t count = naming(refused, holder);
    if (count > most) {
      most = count;
      leader = holder;
    }
  });
  return leader;
}

bool Round::is_named_by_quorum() const {
  const std::string_view leader = leading_holder();
  return !leader.empty() && leader != interval_token &&
         naming(with(Vote::refused), leader) >= quorum_;
}

bool Round::is_anothers() const {
  return is_named_by_quorum() && !leading_holder().starts_with(reservation_prefix);
}

Errc Round::why_lost() const {
  const std::size_t excluded = with(Vote::excluded).size();
  const NodeSet refusing = with(Vote::refused);
  const std::size_t refused = refusing.size();
  const std::size_t failed = denied_.size() - excluded - refused;
  if (failed > spare()) return Errc::unavailable;
  if (failed + excluded > spare()) return excluded > 0 ? Errc::excluded : Errc::unavailable;
  // Somebody may own a majority unless our own grants prove that nobody does. Nodes that have not
  // answered, or that did not name their holder, may be the holder's. So may dead nodes, as long as
  // no living node is free.
  const std::string_view leader = leading_holder();
  std::size_t possible = naming(refusing, "") + pending().size();
  if (!leader.empty()) possible += naming(refusing, leader);
  if (granted_.empty()) possible += failed;
  return possible >= quorum_ ? Errc::held : Errc::split;
}

std::optional<Duration> Round::free_in() const {
  std::array<Duration, limits::nodes> left{};
  std::size_t known = 0;
  NodeSet::first(nodes_).each([&](NodeIndex node) {
    const NodeVote vote = this->vote(node);
    if (vote.vote == Vote::granted) left[known++] = Duration::zero();
    if (vote.vote == Vote::refused && vote.remaining) left[known++] = *vote.remaining;
  });
  // With an even number of nodes, half of them decide that a round is lost. Nodes that have not
  // answered count as free.
  for (std::size_t i = pending().size(); i > 0 && known < quorum_; --i) {
    left[known++] = Duration::zero();
  }
  if (known < quorum_) return std::nullopt;
  const auto end = left.begin() + static_cast<std::ptrdiff_t>(known);
  const auto nth = left.begin() + static_cast<std::ptrdiff_t>(quorum_ - 1);
  std::nth_element(left.begin(), nth, end);
  return *nth;
}

}  // namespace redlock::core
