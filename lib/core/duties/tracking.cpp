#include "core/duties/tracking.hpp"

#include <string>

namespace redlock::core {

void Tracking::sent(const Claim& claim, Verb verb, NodeSet nodes) {
  if (!queues_.empty() && claim.position_in(verb) != nullptr) {
    queues_.may_be_written(claim.resource(), nodes);
  }
  if (resources_.empty() || !(is_write(verb) || is_taking_script(verb))) return;
  resources_.may_be_written(claim.resource(), nodes);
  for (const std::string& more : claim.terms().more_resources) {
    resources_.may_be_written(more, nodes);
  }
}

void Tracking::written(const Claim& claim, NodeIndex node) {
  resources_.written(claim.resource(), NodeSet::of(node));
  for (const std::string& more : claim.terms().more_resources) {
    resources_.written(more, NodeSet::of(node));
  }
}

void Tracking::inspected(const Claim& claim, const Answer& answer) {
  const bool tells = answer.stamp.verb == Verb::inspect &&
                     (answer.reply == Reply::found || answer.reply == Reply::gone);
  if (tells) resources_.seen(claim.resource(), answer.node, answer.reply == Reply::found);
}

}  // namespace redlock::core
