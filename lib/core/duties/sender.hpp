#pragma once

#include <optional>

#include "core/claim/acquisitions.hpp"
#include "core/claim/claim.hpp"
#include "core/duties/clocks.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/marker_cover.hpp"
#include "core/duties/names.hpp"
#include "core/duties/rest.hpp"
#include "core/duties/tracking.hpp"
#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/request.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"
#include "core/waiting/wait_queue.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Sends what is asked for a claim, to each node in the form that it understands, and notes it
/// wherever an answer is waited for.
///
/// Of a claim, it adds to `unanswered` and to the ledger what was sent, and notes which nodes were
/// asked to queue its client, and which were sent a script in full.
///
/// Some servers compare without a script, and answer in a fraction of the time; and some users may
/// not run scripts. A plain command is sent if it does the same, or if nothing else may be sent. An
/// extend stays a script where scripts may run: the script only raises the expiry, while a plain
/// command sets it, and nobody knows here whether another program extended by the same token.
class Sender {
 public:
  Sender(const Settings& settings, const Instant& now, const Acquisitions& acquisitions,
         Nodes& nodes, Rest& rest, Clocks& clocks, MarkerCover& cover, Tracking& tracking,
         FencingTokens& fencing, Names& names, WaitQueue& wait_queue, Outbox& outbox);

  /// To those of the nodes that may be asked for it now: they are up, take another request, and are
  /// no replicas, which only inspections are sent to. Returns the nodes that it was sent to.
  /// Whether their votes count is not asked here.
  NodeSet send(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form = ScriptForm::digest);
  /// The node did not execute what it was asked, because it does not know the script, or because a
  /// plain command says too little. True: it was asked again, in a form that it understands. Not if
  /// the claim does not want any more what was asked for, and in full only once.
  bool sent_again(Claim& claim, const Answer& answer);
  /// Clients are queued on that node, which has released a key by a plain command. They are
  /// notified if scripts run there, and the resource counts as contended.
  void notify_queued(Claim& claim, NodeIndex node);

  /// An answer to a plain command that compares, as a script would have said it. None: it does say
  /// it like this.
  [[nodiscard]] static std::optional<Answer> in_terms_of_scripts(const Claim& claim,
                                                                 const Answer& answer);

 private:
  /// The plain command that does the same; none: there is none.
  [[nodiscard]] std::optional<Verb> plain_form(const Claim& claim, Verb verb) const;
  /// Nodes that take it.
  [[nodiscard]] NodeSet take_plain(const Claim& claim, Verb plain) const;
  NodeSet send_script(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form);
  NodeSet send_as_it_is(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form);
  void note_sent(Claim& claim, Verb verb, NodeSet sent);
  /// What a request for the claim says.
  void fill_in(const Claim& claim, Verb verb, Terms& terms) const;
  bool send_as_script(Claim& claim, const Answer& answer);
  /// Whether the claim still wants what was asked then.
  [[nodiscard]] static bool is_wanted(const Claim& claim, const Stamp& stamp);

  const Settings& settings_;
  const Instant& now_;
  const Acquisitions& acquisitions_;
  Nodes& nodes_;
  Rest& rest_;
  Clocks& clocks_;
  MarkerCover& cover_;
  Tracking& tracking_;
  FencingTokens& fencing_;
  Names& names_;
  WaitQueue& wait_queue_;
  Outbox& outbox_;
  const Token keeper_;  ///< keeps everybody out of a lock that this client has broken
};

}  // namespace redlock::core
