#include "core/engine/engine.hpp"

/// Plain commands in the place of scripts. Some servers compare without a script, and answer in a
/// fraction of the time; and some users may not run scripts. A plain command is sent where it does
/// the same, or where nothing else may be sent.
///
/// An extend stays a script where scripts may run: the script only raises the expiry, while a plain
/// command sets it, and nobody knows here whether another program extended by the same token.
namespace redlock::core {
namespace {

Verb script_form(Verb plain) {
  switch (plain) {
    case Verb::release_plain:
      return Verb::release;
    case Verb::extend_plain:
      return Verb::extend;
    case Verb::repair_plain:
      return Verb::extend_or_set;
    case Verb::raise_plain:
      return Verb::raise_fence;
    case Verb::set_all:
      return Verb::take;
    default:
      return plain;
  }
}

}  // namespace

std::optional<Verb> Engine::plain_form(const Claim& claim, Verb verb, Instant now) {
  const SpecialTerms& terms = claim.terms();
  const bool ours = claim.purpose == Claim::Purpose::acquire;
  const KindTraits& kind = terms.traits();
  switch (verb) {
    case Verb::release:
      if (!kind.has_one_token || claim.cooldown(now) > Duration::zero()) return std::nullopt;
      return Verb::release_plain;
    case Verb::extend:
    case Verb::extend_or_set:
      // By token it may be a hold, or of a TTL that is not known here; and an interval is longer
      // than what is asked for.
      if (!ours || !kind.has_one_token || terms.hold_at_least > Duration::zero()) {
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

NodeSet Engine::take_plain(const Claim& claim, Verb plain) {
  const Nodes::Able& able = nodes_.able();
  // Where others may wait, the script releases and notifies at once, and names the holder.
  const bool wanted =
      settings_.plain_commands && !claim.contended && !wait_queue_.is_contended(claim.resource());
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

NodeSet Engine::transmit(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form) {
  const auto plain = plain_form(claim, verb, now_);
  if (!plain || form != ScriptForm::digest) return transmit_script(claim, verb, nodes, form);
  NodeSet able = nodes & take_plain(claim, *plain);
  if (is_set_fenced(*plain)) able = able & nodes_.can_set_fenced(claim.fencing()->first);
  if (able.empty()) return transmit_script(claim, verb, nodes, form);
  const NodeSet sent = transmit_same(claim, fencing_.short_form(claim, *plain), able, form);
  return sent | transmit_script(claim, verb, nodes - able, form);
}

std::optional<Answer> Engine::in_terms_of_scripts(const Claim& claim, const Answer& answer) {
  const Verb verb = answer.stamp.verb;
  Answer changed = answer;
  changed.text = {};
  if (verb == Verb::extend_plain || verb == Verb::repair_plain) {
    // Whose key it was, and is still.
    if (answer.reply != Reply::taken || answer.text != claim.token()) return std::nullopt;
    changed.reply = Reply::extended;
    return changed;
  }
  // A key of another type is somebody else's, unless it may be the hold of a token.
  const bool foreign = verb == Verb::release_plain && answer.reply == Reply::script_needed &&
                       claim.purpose == Claim::Purpose::acquire &&
                       answer.text.starts_with("WRONGTYPE");
  if (!foreign) return std::nullopt;
  changed.reply = Reply::taken;
  return changed;
}

bool Engine::send_as_script(Claim& claim, const Answer& answer) {
  // One refusal is enough: what a user may do, or a server knows, does not change so soon.
  const bool for_good = answer.text.starts_with("NOPERM") || answer.text.starts_with("ERR");
  const bool runs_scripts = nodes_[answer.node].can(Capability::run_scripts);
  if (for_good && runs_scripts) nodes_[answer.node].forget_plain(answer.stamp.verb);
  const Verb script = script_form(answer.stamp.verb);
  Stamp stamp = answer.stamp;
  stamp.verb = script;
  if (!runs_scripts || !still_wanted(claim, stamp)) return false;
  return !transmit_same(claim, script, NodeSet::of(answer.node), ScriptForm::digest).empty();
}

void Engine::notify_queued(Claim& claim, NodeIndex node) {
  wait_queue_.note_contended(claim.resource());
  // Lost, it costs those that wait the time until they try by themselves.
  if (nodes_[node].can(Capability::run_scripts)) {
    transmit_same(claim, Verb::notify, NodeSet::of(node), ScriptForm::digest);
  }
}

}  // namespace redlock::core
