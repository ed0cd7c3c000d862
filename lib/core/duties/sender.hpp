#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/claim/claim.hpp"
#include "core/duties/clocks.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/marker_proof.hpp"
#include "core/duties/names.hpp"
#include "core/duties/tracking.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/request.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/acquisitions.hpp"
#include "core/waiting/wait_queue.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Sends the requests of claims, to each node in the form that it understands, and notes them
/// wherever an answer is awaited.
///
/// Some servers can compare without a script, in a fraction of the time, and some users are not
/// allowed to run scripts. A plain command is sent if it does the same as the script, or if the
/// node takes nothing else. An extend stays a script on nodes that run scripts: the script only
/// raises the expiry, while a plain command sets it, and another program may have extended by the
/// same token.
class Sender {
 public:
  Sender(const Settings& settings, const Instant& now, const Acquisitions& acquisitions,
         Nodes& nodes, IdleLeases& idle_leases, Clocks& clocks, MarkerProof& proof,
         Tracking& tracking, FencingTokens& fencing, Names& names, WaitQueue& wait_queue,
         Outbox& outbox);

  /// Sends `verb` to those of the nodes that take it now: they are up, have room for another
  /// request, and are not replicas (a replica is sent inspections only). Returns the nodes that it
  /// was sent to. Does not check whether their votes count.
  NodeSet send(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form = ScriptForm::digest);
  /// Sends a request again, in a form that the node understands, if the node did not execute it
  /// because it does not know the script, or because a plain command says too little. Returns true
  /// if the request was sent. A request that the claim no longer wants is not sent again, and a
  /// script is sent in full only once.
  bool sent_again(Claim& claim, const Answer& answer);
  /// The node has released a key by a plain command, and clients are queued there. They are
  /// notified if the node runs scripts, and the resource counts as contended.
  void notify_queued(Claim& claim, NodeIndex node);

  /// Translates the answer to a comparing plain command into that of a script. None: it already
  /// reads like a script's.
  [[nodiscard]] static std::optional<Answer> in_terms_of_scripts(const Claim& claim,
                                                                 const Answer& answer);

 private:
  static constexpr By<Sender> me{};

  /// The plain command that does the same as `verb`; none: there is no such command.
  [[nodiscard]] std::optional<Verb> plain_form(const Claim& claim, Verb verb) const;
  /// Nodes to which the plain command is sent instead of the script.
  [[nodiscard]] NodeSet take_plain(const Claim& claim, Verb plain) const;
  /// One form of a request, and the nodes that are sent this form.
  struct Form {
    Verb verb{};
    NodeSet nodes{};
    bool numbers = false;  ///< by script, with a fencing number that the node remembers
  };
  class Forms {
   public:
    void add(const Form& form) noexcept {
      if (!form.nodes.empty()) forms_[size_++] = form;
    }
    [[nodiscard]] const Form* begin() const noexcept { return forms_.data(); }
    [[nodiscard]] const Form* end() const noexcept { return forms_.data() + size_; }

   private:
    std::array<Form, 3> forms_;
    std::size_t size_ = 0;
  };
  [[nodiscard]] Forms forms_of(const Claim& claim, Verb verb, NodeSet nodes, ScriptForm form) const;
  NodeSet transmit(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form);
  void note_sent(Claim& claim, Verb verb, NodeSet sent);
  /// Fills in the terms of a request for the claim.
  void fill_in(const Claim& claim, Verb verb, Terms& terms) const;
  bool sent_as_script(Claim& claim, const Answer& answer);
  /// Whether the claim still wants what the request was for.
  [[nodiscard]] static bool is_wanted(const Claim& claim, const Stamp& stamp);

  const Settings& settings_;
  const Instant& now_;
  const Acquisitions& acquisitions_;
  Nodes& nodes_;
  IdleLeases& idle_leases_;
  Clocks& clocks_;
  MarkerProof& proof_;
  Tracking& tracking_;
  FencingTokens& fencing_;
  Names& names_;
  WaitQueue& wait_queue_;
  Outbox& outbox_;
  const Token keeper_;  ///< keeps everybody out of locks that this client has broken
};

}  // namespace redlock::core
