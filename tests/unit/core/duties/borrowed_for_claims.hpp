#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borrowed.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/clocks.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/key_notes.hpp"
#include "core/duties/marker_proof.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/names.hpp"
#include "core/duties/owed_releases.hpp"
#include "core/duties/rounds.hpp"
#include "core/duties/sender.hpp"
#include "core/duties/tracking.hpp"
#include "core/duties/voters.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/waiting/acquisitions.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core::test {

/// Borrowed, with the duties that a claim's requests and answers concern, as in the engine: for
/// duties that borrow many others. Nothing judges a claim: the test itself decides its outcome.
struct BorrowedForClaims : Borrowed {
  explicit BorrowedForClaims(std::size_t size = 3) : Borrowed(size) { begin_step(); }

  void begin_step(Duration passed = 0s) {
    Borrowed::begin_step(passed);
    wait_queue.begin_step(now);
    tracking.begin_step();
  }

  // --- nodes ------------------------------------------------------------------------------------
  /// Connects to the node again, with the facts of the event.
  void reconnect(NodeUp event) {
    const std::string server = "server" + std::to_string(event.node);
    if (nodes[event.node].up()) go_down(event.node);
    nodes[event.node].contact.by(me).connecting(now);
    event.server = server;
    event.connection = ++connections;
    nodes[event.node].came_up(me, event, now);
  }
  void reconnect(NodeIndex node, Capabilities capabilities) {
    NodeUp event;
    event.node = node;
    event.capabilities = capabilities;
    reconnect(event);
  }
  /// Makes the node a replica, which takes no writes.
  void make_replica(NodeIndex node) {
    NodeUp event;
    event.node = node;
    event.replica = true;
    reconnect(event);
  }
  void quarantine(NodeIndex node) {
    nodes[node].mandate.by(me).quarantine(later(now, 30s), "it restarted");
  }
  /// From now on the node takes no further requests.
  void congest(NodeIndex node) {
    settings.max_unanswered = 4;
    while (!nodes[node].in_flight->congested()) nodes[node].sent(me, Stamp(Verb::write_name), now);
  }

  // --- claims -----------------------------------------------------------------------------------
  /// A claim whose round has asked no node.
  Claim& begun(Claim::Purpose purpose, const SpecialTerms& terms = {}) {
    Claim& claim = claims.make(purpose, "resource", random.token());
    claim.set_terms(me, terms);
    idle_leases.wake(claim);
    claim.keys.by(me).begin_votes(lost_votes);
    voters.begin_round(claim, 1, 10s);
    claim.valid_until.by(me) = later(now, 10s);
    return claim;
  }
  Claim& attempt(const SpecialTerms& terms = {}) {
    Claim& claim = begun(Claim::Purpose::acquire, terms);
    Acquisition& acquisition = acquisitions.make(CallId::none);
    acquisition.claim.by(me) = claim.id();
    acquisition.state.by(me) = Acquisition::State::in_round;
    acquisition.free_permits.by(me).assign(terms.permits, 0);
    claim.acquisition.by(me) = acquisition.index;
    claim.task.by(me) = Claim::Task::acquire;
    claim.verb.by(me) = Verb::set;
    return claim;
  }
  [[nodiscard]] Acquisition& acquisition_of(const Claim& claim) {
    return acquisitions.at(claim.acquisition);
  }
  /// Makes the attempt a lease.
  void hold(Claim& claim) {
    claim.phase.by(me) = Claim::Phase::held;
    claim.task.by(me) = Claim::Task::none;
    claim.granted_at.by(me) = now;
    claim.lease(me).basis.round = claim.round->number();
    claims.lease_began(claim);
  }
  /// A lease that every node has granted.
  Claim& lease(const SpecialTerms& terms = {}) {
    Claim& claim = attempt(terms);
    sender.send(claim, Verb::set, nodes.all());
    nodes.all().each([&](NodeIndex node) { take(claim, answer(node, Reply::granted)); });
    hold(claim);
    begin_step();
    return claim;
  }
  /// Ends the claim: each node that may have its key is owed a release.
  static void end(Claim& claim) {
    claim.phase.by(me) = Claim::Phase::cleaning_up;
    claim.task.by(me) = Claim::Task::none;
    claim.keys.by(me).owe_release();
  }
  /// Begins an extend of the lease that has asked no node.
  void begin_extend(Claim& claim) {
    claim.task.by(me) = Claim::Task::extend;
    claim.verb.by(me) = Verb::extend;
    voters.begin_round(claim, claim.round->next_number(), 10s);
  }

  // --- answers ----------------------------------------------------------------------------------
  /// The node answers its oldest request for a claim, and the upkeep requests before it.
  Answer answer(NodeIndex node, Reply reply) {
    Answer answer = Borrowed::answer(node, reply);
    while (is_upkeep(answer.stamp.verb)) answer = Borrowed::answer(node, reply);
    return answer;
  }
  /// The nodes answer all requests, and the answers are dropped.
  void ignore_answers() {
    nodes.up().each([&](NodeIndex node) {
      while (nodes[node].in_flight->size() > 0)
        static_cast<void>(Borrowed::answer(node, Reply::done));
    });
  }
  /// Gives the answer to the claim's round.
  void take(Claim& claim, const Answer& answer) {
    rounds.take(claim, answer, Vote::unreachable, 1ms);
  }
  /// The step's last request for a claim.
  [[nodiscard]] const Request& last_request() const {
    const Request* last = nullptr;
    for (const Command& command : commands) {
      if (const Request* const request = request_for_claim_in(command)) last = request;
    }
    return *last;
  }

  Claims claims;
  Acquisitions acquisitions;
  LostVotes lost_votes;
  Agenda agenda{now, nodes};
  core::Tracking tracking{nodes, outbox};
  WaitQueue wait_queue{settings,          nodes, outbox, acquisitions.pool(), tracking.resources(),
                       tracking.queues(), random};
  Clocks clocks{settings, now, nodes, outbox};
  Closing closing{now, claims, nodes, outbox};
  MarkerProof cover{settings, nodes, outbox};
  Meter meter{settings, nodes};
  FencingTokens fencing{settings, nodes, meter, outbox};
  Names names{settings, now, nodes, outbox};
  IdleLeases idle_leases{settings, claims};
  Voters voters{now, nodes, lost_votes, idle_leases, meter};
  Sender sender{settings, now,      acquisitions, nodes, idle_leases, clocks,
                cover,    tracking, fencing,      names, wait_queue,  outbox};
  OwedReleases owed_releases{settings, now, closing, nodes, acquisitions, claims, agenda, sender};
  KeyNotes key_notes{now,     lost_votes, voters, acquisitions, tracking,
                     fencing, wait_queue, sender, owed_releases};
  Rounds rounds{claims, nodes, voters, meter, agenda, tracking, sender, key_notes};
};

}  // namespace redlock::core::test
