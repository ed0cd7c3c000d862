#include "simulation/checker.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "core/votes/fencing.hpp"
#include "simulation/node/model_node.hpp"

namespace redlock::simulation {

std::string Checker::rule_of(const Lease& a, const Lease& b) {
  return a.group == 0 && b.group == 0 ? "invariant 1: " : "invariant 3: ";
}

void Checker::check_alone(const Lease& lease, True now) {
  if (any_clocks_ || judged_at_the_end()) return;
  for (const Lease& other : leases_) {
    if (!exclude_each_other(lease, other)) continue;
    if (other.until <= now || lease.until <= now) continue;
    const std::uint64_t both = lease.resources & other.resources;
    if (is_broken(other.token, both, now) || is_broken(lease.token, both, now)) continue;
    violated(rule_of(lease, other) + "two leases on one resource are valid at once, for " +
             std::to_string((std::min(other.until, lease.until) - now) / 1000) + " us");
  }
}

bool Checker::is_broken(std::uint64_t token, std::uint64_t resources, True now) {
  const Trail& mine = trail(token);
  return now >= mine.broken_until && (resources & ~mine.broken) == 0;
}

void Checker::broken(std::uint64_t token, std::uint64_t resource, True until) {
  Trail& mine = trail(token);
  mine.broken |= resource;
  mine.broken_until = std::min(mine.broken_until, until);
}

Checker::Trail& Checker::trail(std::uint64_t token) {
  if (auto older = older_tokens_.extract(token)) tokens_.insert(std::move(older));
  const auto [found, is_new] = tokens_.try_emplace(token);
  if (is_new) ++heard_of_;
  return found->second;
}

void Checker::forget_old_tokens(True now) {
  // Longer than any request is late and any key lives.
  constexpr True memory = 20'000 * ms;
  if (now < forget_at_) return;
  forget_at_ = now + memory;
  older_tokens_ = std::exchange(tokens_, {});
}

Checker::Lease* Checker::find(std::uint64_t token) {
  const auto found = std::find_if(leases_.begin(), leases_.end(),
                                  [&](const Lease& lease) { return lease.token == token; });
  return found == leases_.end() ? nullptr : &*found;
}

void Checker::check_interval(const Grant& grant) {
  True& taken_until = taken_until_[grant.resources];
  if (interval_ppm_ >= 0 && grant.now < taken_until) {
    violated("invariant 3: an interval was not kept: granted " +
             std::to_string((taken_until - grant.now) / 1000) + " us before its end");
  }
  // The nodes count the interval from the attempt's first request, by clocks that may be fast.
  const True kept = grant.at_least - grant.at_least / 1'000'000 * (interval_ppm_ + 1) - 1 * ms;
  taken_until = grant.began + kept;
  last_interval_[grant.resources] = grant.token;
}

std::uint32_t Checker::interval_released_on(std::size_t resource) {
  const auto last = last_interval_.find(1U << resource);
  return last == last_interval_.end() ? 0 : trail(last->second).released_on;
}

void Checker::granted(const Grant& grant) {
  const auto [token, resources, group, at_least, began, now, until] = grant;
  if (at_least > 0) check_interval(grant);
  std::erase_if(kept_out_, [&](const KeptOut& delay) { return delay.until <= grant.now; });
  for (const KeptOut& delay : kept_out_) {
    if ((delay.resource & resources) == 0 || began < delay.since) continue;
    violated("invariant 1: nobody was to get a resource until " +
             std::to_string(delay.until / 1000) + ", after an operator broke its lock");
  }
  ++grants_;
  ++by_group_[group];
  forget_old_tokens(now);
  // Drops leases that nobody can hold any longer.
  std::erase_if(leases_, [&](const Lease& lease) {
    const Trail& mine = trail(lease.token);
    return !judged_at_the_end() && lease.until <= grant.now &&
           (mine.ended || (mine.abandoned && !mine.adopted));
  });
  if (find(token) != nullptr) violated("invariant 9: a token was granted twice");
  if (until <= now) violated("invariant 6: a lease was handed out that was over already");
  trail(token).granted = true;
  if (at_least > 0) trail(token).taken_until = now + at_least;
  leases_.push_back({token, resources, group, until, now, began});
  check_alone(leases_.back(), now);
}

void Checker::extended(std::uint64_t token, True now, True until) {
  Lease* lease = find(token);
  if (lease == nullptr || trail(token).ended) {
    return violated("invariant 6: a lease that was over was extended");
  }
  if (until < lease->until) violated("invariant 6: an extend lowered the deadline");
  lease->until = std::max(lease->until, until);
  check_alone(*lease, now);
}

void Checker::downgraded(std::uint64_t token, True now) {
  Lease* lease = find(token);
  if (lease == nullptr || trail(token).ended) {
    return violated("invariant 6: a lease that was over was downgraded");
  }
  if (judged_at_the_end()) {
    past_.push_back(*lease);
    past_.back().until = std::min(lease->until, now);
    lease->from = now;
  }
  lease->group = 1;
  ++downgrades_;
}

void Checker::ended(std::uint64_t token, True now) {
  Trail& mine = trail(token);
  if (mine.ended) violated("invariant 6: a lease ended twice");
  mine.ended = true;
  archive(token, now);
}

void Checker::abandoned(std::uint64_t token, True now) {
  trail(token).abandoned = true;
  // From now on nobody reads clocks for the lease, and nobody acts on the deadline that it had
  // here.
  if (overlap_window_ > 0) archive(token, now);
}

void Checker::adopted(const Grant& grant) {
  const auto [token, resources, group, at_least, began, now, until] = grant;
  ++adoptions_;
  if (trail(token).ended) violated("invariant 6: a lease that was over was adopted");
  if (find(token) == nullptr) leases_.push_back({token, resources, group, until, now, began});
  Lease& lease = *find(token);
  trail(token).adopted = true;
  lease.until = until;  // nobody acts by the deadline that it had elsewhere
  check_alone(lease, now);
}

void Checker::archive(std::uint64_t token, True now) {
  const Lease* lease = find(token);
  if (lease == nullptr) return;
  if (judged_at_the_end()) {
    past_.push_back(*lease);
    past_.back().until = std::min(lease->until, now);
  }
  std::erase_if(leases_, [&](const Lease& other) { return other.token == token; });
}

void Checker::lowered(std::uint64_t token, True now, True until) {
  if (Lease* lease = find(token)) lease->until = std::max(now, until);
}

bool Checker::a_step_explains(const Lease& later, True until) const {
  if (vote_window_ > 0) {
    return std::any_of(steps_.begin(), steps_.end(), [&](True step) {
      return step <= later.from && later.began <= step + vote_window_;
    });
  }
  True explained = later.from;
  for (const True step : steps_) {
    if (step <= explained) explained = std::max(explained, step + overlap_window_);
  }
  return explained >= until;
}

void Checker::stood_still(True from, True until) {
  for (True at = from; at < until; at += overlap_window_) steps_.push_back(at);
  steps_.push_back(until);
}

void Checker::check_overlaps() {
  if (!judged_at_the_end()) return;
  past_.insert(past_.end(), leases_.begin(), leases_.end());
  for (const Lease& a : past_) {
    for (const Lease& b : past_) {
      if (!exclude_each_other(a, b) || a.from > b.from) continue;
      const True until = std::min(a.until, b.until);
      if (b.from >= until || a_step_explains(b, until)) continue;
      violated(rule_of(a, b) + std::to_string(a.token % 10'000) + " and " +
               std::to_string(b.token % 10'000) + " were both valid from " +
               std::to_string(b.from / 1000) + " to " + std::to_string(until / 1000) +
               " us, longer than a step of a clock may go unnoticed");
    }
  }
}

void Checker::lost(std::uint64_t token, True now) {
  ++losses_;
  const Lease* lease = find(token);
  if (lease == nullptr || trail(token).ended) {
    return violated("invariant 6: a loss was reported of what was no lease, or twice");
  }
  if (now < lease->until) violated("invariant 6: a loss was reported before the deadline");
  ended(token, now);
}

void Checker::fenced(std::size_t resource, std::uint64_t number, True began, True now) {
  if (number == 0 || number >= core::fence_limit) {
    violated("invariant 2: a fencing token is not within 53 bits: " + std::to_string(number));
  }
  std::vector<Numbered>& all = numbered_[resource];
  const std::uint64_t highest = all.empty() ? 0 : all.back().highest;
  std::uint64_t before = highest;
  const bool out_of_order = any_clocks_ || judged_at_the_end();
  if (out_of_order) {
    // While a clock that steps can end a lease, two attempts may reach the nodes in different
    // orders, so the order of their numbers is not that of the grants. A round that begins after a
    // grant still meets the number of that grant.
    const auto later = std::lower_bound(all.begin(), all.end(), began,
                                        [](const Numbered& a, True at) { return a.at < at; });
    before = later == all.begin() ? 0 : std::prev(later)->highest;
  }
  if (number <= before) {
    violated("invariant 2: a fencing token is not above that of a lease granted before, by " +
             std::to_string(before - number));
  }
  if (!out_of_order) {
    // A number above all others is distinct from them; only the last one need be kept.
    all.clear();
  } else if (!numbers_.emplace(resource, number).second) {
    violated("invariant 2: a fencing token was given out twice");
  }
  all.push_back({now, std::max(highest, number)});
}

void Checker::adopted_number(std::size_t resource, std::uint64_t handed_on, std::uint64_t number,
                             True now) {
  if (number < handed_on) violated("invariant 2: a fencing token fell when its lease was adopted");
  if (any_clocks_ || judged_at_the_end()) return;
  std::vector<Numbered>& all = numbered_[resource];
  const std::uint64_t highest = all.empty() ? 0 : all.back().highest;
  if (number < highest || (number == highest && number != handed_on)) {
    violated(
        "invariant 2: an adopted lease has a fencing token below that of a lease granted before");
  }
  all.push_back({now, std::max(highest, number)});
}

void Checker::key_written(std::uint64_t token, std::size_t node) {
  Trail& mine = trail(token);
  if (((mine.released_on >> node) & 1U) == 0 || mine.restored) return;
  if (!mine.abandoned) {
    return violated("invariant 4: a key came back on node " + std::to_string(node) +
                    " behind its release");
  }
  // Nothing orders the requests of a former owner before a release of the new one.
  mine.back_on |= std::uint32_t{1} << node;
  if (static_cast<std::size_t>(std::popcount(mine.back_on)) <= nodes_ - quorum_) return;
  violated("invariant 4: a key came back on a majority behind the release of its new owner");
}

void Checker::closed(std::uint64_t token, std::size_t node, bool there, True now) {
  Trail& mine = trail(token);
  if (mine.abandoned || mine.restored) return;
  if (there && now >= mine.taken_until) {
    violated("invariant 4: a client closed and left a key on node " + std::to_string(node) +
             " without a word");
  }
  mine.released_on |= 1U << node;
}

void Checker::closed_with_a_word(std::uint64_t token, std::size_t node, bool still_there) {
  const Trail& mine = trail(token);
  if (mine.abandoned || mine.restored || !still_there) return;
  violated("invariant 4: a client closed, and its key stays on node " + std::to_string(node) +
           " for longer than it said");
}

void Checker::release_executed(std::uint64_t token, std::size_t node) {
  trail(token).released_on |= 1U << node;
}

void Checker::found_at_the_end(std::uint64_t token) {
  if (token == 0 || token == cooldown || trail(token).abandoned || trail(token).restored) return;
  violated("invariant 4: a key of " + std::to_string(token % 10'000) +
           " was left though nothing is asked for any more");
}

void Checker::release_answered(std::uint64_t token, std::size_t still_there) {
  if (trail(token).restored) return;
  // A client that needs `quorum_` nodes is blocked if more than `nodes_ - quorum_` nodes are taken.
  if (still_there > nodes_ - quorum_) {
    violated("invariant 4: a release was answered while a majority was taken by " +
             std::to_string(token));
  }
}

}  // namespace redlock::simulation
