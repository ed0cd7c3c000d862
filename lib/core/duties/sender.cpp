#include "core/duties/sender.hpp"

#include "core/claim/delay_token.hpp"
#include "core/vocabulary/kind.hpp"

namespace redlock::core {

Sender::Sender(const Settings& settings, const Instant& now, const Acquisitions& acquisitions,
               Nodes& nodes, IdleLeases& idle_leases, Clocks& clocks, MarkerProof& proof,
               Tracking& tracking, FencingTokens& fencing, Names& names, WaitQueue& wait_queue,
               Outbox& outbox)
    : settings_(settings),
      now_(now),
      acquisitions_(acquisitions),
      nodes_(nodes),
      idle_leases_(idle_leases),
      clocks_(clocks),
      proof_(proof),
      tracking_(tracking),
      fencing_(fencing),
      names_(names),
      wait_queue_(wait_queue),
      outbox_(outbox),
      keeper_(delay_token(settings.client_id, settings.name)) {}

// --- in which form ------------------------------------------------------------------------------

NodeSet Sender::send(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form) {
  NodeSet sent;
  NodeSet to_prune;
  for (const Form& one : forms_of(claim, verb, nodes, form)) {
    const NodeSet reached = transmit(claim, one.verb, one.nodes, form);
    sent = sent | reached;
    if (one.numbers) to_prune = to_prune | reached;
  }
  if (!to_prune.empty()) fencing_.prune(to_prune);
  return sent;
}

Sender::Forms Sender::forms_of(const Claim& claim, Verb verb, NodeSet nodes,
                               ScriptForm form) const {
  Forms forms;
  const auto plain = form == ScriptForm::digest ? plain_form(claim, verb) : std::nullopt;
  if (plain) {
    NodeSet able = nodes & take_plain(claim, *plain);
    if (is_fenced(*plain)) able = able & nodes_.can_set_fenced(claim.fencing()->first);
    forms.add({fencing_.short_form(claim, *plain), able});
    nodes = nodes - able;
  }
  if (!is_fenced(verb)) {
    forms.add({verb, nodes, verb == Verb::take && claim.fencing()});
    return forms;
  }
  const NodeSet numbering = nodes & nodes_.can_set_fenced(claim.fencing()->first);
  forms.add({fencing_.short_form(claim, verb), numbering, true});
  forms.add({Verb::take, nodes - numbering, true});
  return forms;
}

std::optional<Verb> Sender::plain_form(const Claim& claim, Verb verb) const {
  const SpecialTerms& terms = claim.terms();
  const bool ours = claim.purpose == Claim::Purpose::acquire;
  const KindTraits& kind = terms.traits();
  // After a downgrade, a node that runs no scripts still has the writer's key.
  const bool has_one_token = kind.has_one_token || claim.downgraded();
  switch (verb) {
    case Verb::release:
      if (!has_one_token || claim.cooldown(now_) > Duration::zero()) return std::nullopt;
      return Verb::release_plain;
    case Verb::extend:
    case Verb::extend_or_set:
      // A claim by token may be a hold, or have a TTL that is unknown here. And an interval is
      // longer than the TTL of the request.
      if (!ours || !has_one_token || terms.interval > Duration::zero()) {
        return std::nullopt;
      }
      return verb == Verb::extend ? Verb::extend_plain : Verb::repair_plain;
    case Verb::raise_fence:
      return kind.has_one_token ? std::optional(Verb::raise_plain) : std::nullopt;
    case Verb::take:
      if (terms.kind() == Kind::exclusive) return claim.fencing() ? Verb::set_fenced : Verb::set;
      return claim.fencing() ? std::nullopt : std::optional(Verb::set_all);
    default:
      return std::nullopt;
  }
}

NodeSet Sender::take_plain(const Claim& claim, Verb plain) const {
  const Nodes::Able& able = nodes_.able();
  // If others may wait, a script is better: it releases and notifies at once, and names the holder.
  const bool wanted = settings_.plain_commands && !claim.contended && !claim.downgraded() &&
                      !wait_queue_.is_contended(claim.resource());
  const NodeSet unable_to_run_scripts = able.up - able.to(Capability::run_scripts);
  const NodeSet asked = wanted ? able.up : unable_to_run_scripts;
  switch (plain) {
    case Verb::release_plain:
      return able.to(Capability::compare) & asked;
    case Verb::extend_plain:
    case Verb::repair_plain:
      return able.to(Capability::compare) & unable_to_run_scripts;
    case Verb::set_all:
      return able.to(Capability::set_all) & asked;
    default:
      return able.to(Capability::set_fenced) & unable_to_run_scripts;
  }
}

// --- sending ------------------------------------------------------------------------------------

NodeSet Sender::transmit(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form) {
  if (is_set(verb)) clocks_.read_before_votes(nodes);
  // A replica would refuse the request, and end the connection.
  if (verb != Verb::inspect) nodes = nodes & nodes_.able().to_write;
  const NodeSet sent = nodes_.open(nodes);
  if (sent.empty()) return sent;
  idle_leases_.wake(claim);
  note_sent(claim, verb, sent);
  const Stamp stamp(verb, claim.id(), claim.round->number());
  fill_in(claim, verb, outbox_.send(sent, stamp, form));
  const bool renews = is_extend(verb) && claim.phase == Claim::Phase::held;
  if (is_set(verb) || renews) names_.write(sent);
  return sent;
}

void Sender::note_sent(Claim& claim, Verb verb, NodeSet sent) {
  proof_.sent(verb, sent);
  claim.unanswered.by(me) += static_cast<std::uint32_t>(sent.size());
  if (is_set(verb) || is_extend(verb)) {
    const bool sets = is_set(verb) || repairs(verb);
    const bool ours = claim.phase == Claim::Phase::acquiring || claim.phase == Claim::Phase::held;
    if (sets && ours) claim.keys.by(me).write_sent(sent);
    claim.keys.by(me).asked_for(claim.time_to_ask(verb, now_), now_);
  }
  if (is_set(verb)) claim.keys.by(me).set_sent(sent);
  if (is_extend(verb)) claim.keys.by(me).extend_sent(sent);
  const bool queues =
      (verb == Verb::take || verb == Verb::take_permit) && claim.work->position->ticket;
  if (queues && claim.phase == Claim::Phase::acquiring) {
    claim.work->position.by(me).nodes = claim.work->position->nodes | sent;
    wait_queue_.asked(acquisitions_.at(claim.acquisition), sent);
  }
  tracking_.sent(claim, verb, sent);
}

void Sender::fill_in(const Claim& claim, Verb verb, Terms& terms) const {
  terms.resource = claim.resource();
  terms.token = claim.token();
  terms.ttl = claim.time_to_ask(verb, now_);
  if (claim.is_special()) {
    const SpecialTerms& special = claim.terms();
    terms.more_resources = special.more_resources;
    terms.group = special.group;
    terms.permits = special.permits;
    terms.cooldown = claim.cooldown(now_);
  }
  if (claim.fencing()) terms.fencing_number = claim.fencing()->number;
  terms.writer_reservation = claim.writer_reservation();
  terms.reserved_for = wait_queue_.reserved_for();
  if (const QueuePosition* position = claim.position_in(verb)) {
    terms.client = wait_queue_.client_id().view();
    terms.ticket = position->ticket;
    // A release that keeps some of several resources cannot be quiet.
    terms.quiet = position->quiet && position->kept == 0;
    terms.waits_for = position->waits_for;
    terms.kept = position->kept;
    terms.keep = std::max(position->keep_until, now_) - now_;
    if (position->reserved_for > Duration::zero()) terms.reserved_for = position->reserved_for;
  }
  terms.downgraded = claim.downgraded();
  terms.by_token = claim.purpose != Claim::Purpose::acquire;
  if (verb == Verb::break_lock) terms.keeper = keeper_.view();
  if (verb == Verb::write_audit) terms.name = settings_.name;
  terms.may_share_call = claim.purpose == Claim::Purpose::acquire && terms.are_usual();
}

void Sender::notify_queued(Claim& claim, NodeIndex node) {
  wait_queue_.note_contended(claim.resource());
  // If this request is lost, the waiters only lose the time until their next own attempt.
  if (nodes_[node].mandate->can(Capability::run_scripts)) {
    transmit(claim, Verb::notify, NodeSet::of(node), ScriptForm::digest);
  }
}

// --- in another form ----------------------------------------------------------------------------

bool Sender::sent_again(Claim& claim, const Answer& answer) {
  if (answer.reply == Reply::script_needed && sent_as_script(claim, answer)) return true;
  const Verb verb = answer.stamp.verb;
  NodeSet& in_full = claim.work->in_full.by(me)[static_cast<std::size_t>(verb)];
  const bool unknown_digest = answer.reply == Reply::script_missing && !in_full.has(answer.node);
  if (unknown_digest && is_wanted(claim, answer.stamp)) {
    in_full.add(answer.node);
    if (!send(claim, verb, NodeSet::of(answer.node), ScriptForm::text).empty()) return true;
  }
  in_full.remove(answer.node);
  return false;
}

bool Sender::is_wanted(const Claim& claim, const Stamp& stamp) {
  // Sent again after a release, the request would set what was released. A lease in its first round
  // still gives a late node its key.
  const bool first_round =
      claim.phase == Claim::Phase::held && stamp.round() == claim.round->number();
  if (is_taking_script(stamp.verb)) return claim.phase == Claim::Phase::acquiring || first_round;
  if (!is_extend(stamp.verb)) return true;
  // Sent again after a release, the request would revive what was released; after a hand-over, it
  // would extend what is somebody else's. Sent after the extend of the next round, it would be
  // counted in that round, which finds out by itself what the node needs. A round by token never
  // releases.
  const bool by_token = claim.purpose == Claim::Purpose::extend;
  return by_token || (claim.phase == Claim::Phase::held && stamp.round() == claim.round->number());
}

bool Sender::sent_as_script(Claim& claim, const Answer& answer) {
  // One refusal is enough: a user's permissions and a server's commands rarely change.
  const bool for_good = answer.text.starts_with("NOPERM") || answer.text.starts_with("ERR");
  const bool runs_scripts = nodes_[answer.node].mandate->can(Capability::run_scripts);
  if (for_good && runs_scripts) nodes_[answer.node].mandate.by(me).forget_plain(answer.stamp.verb);
  Stamp stamp = answer.stamp;
  stamp.verb = about(answer.stamp.verb).script;
  if (!runs_scripts || !is_wanted(claim, stamp)) return false;
  return !transmit(claim, stamp.verb, NodeSet::of(answer.node), ScriptForm::digest).empty();
}

std::optional<Answer> Sender::in_terms_of_scripts(const Claim& claim, const Answer& answer) {
  const Verb verb = answer.stamp.verb;
  Answer changed = answer;
  changed.text = {};
  if (verb == Verb::extend_plain || verb == Verb::repair_plain) {
    // The answer names the token that had the key: ours, which still has it.
    if (answer.reply != Reply::taken || answer.text != claim.token()) return std::nullopt;
    changed.reply = Reply::extended;
    return changed;
  }
  // A key of another type is somebody else's, unless the claim is by token and may be a hold.
  const bool foreign = verb == Verb::release_plain && answer.reply == Reply::script_needed &&
                       claim.purpose == Claim::Purpose::acquire &&
                       answer.text.starts_with("WRONGTYPE");
  if (!foreign) return std::nullopt;
  changed.reply = Reply::taken;
  return changed;
}

}  // namespace redlock::core
