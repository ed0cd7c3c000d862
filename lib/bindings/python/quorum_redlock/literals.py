"""The words of states and kinds. Later versions of the library may have further ones, so a program
that tells them apart has a case for the rest."""

from __future__ import annotations

from typing import Literal

# face: texts
#: Why a call failed.
ErrorCode = Literal["held", "split", "unavailable", "expired", "excluded", "not_holder",
                    "cancelled", "closed", "forked", "would_block", "invalid_argument",
                    "limit_reached", "no_memory", "internal", "unknown"]
#: The answer of one node in one round.
Vote = Literal["pending", "granted", "refused", "timeout", "unreachable", "error", "excluded"]
#: As LockKind. 'writer': somebody waits, and new holds are refused meanwhile.
HolderKind = Literal["exclusive", "shared", "owned", "interval", "reserved", "other", "writer"]
#: The kind of lock that is stored for a resource.
LockKind = Literal["none", "exclusive", "shared", "owned", "interval", "reserved", "other"]
#: The state of a resource.
State = Literal["free", "held", "split", "indeterminate"]
#: The state of a lock in a list. 'minority': left behind on too few nodes to be held.
ListedState = Literal["held", "split", "minority", "indeterminate", "reserved", "free"]
#: The kind of a change in the state of a node.
NodeEventKind = Literal["up", "down", "protocol", "excluded", "undelivered", "learned", "paused",
                        "warning", "counters_reset", "unknown"]
#: 'debug': an idle connection ended, or was made again; 'info': up; 'warning': everything else.
EventLevel = Literal["debug", "info", "warning", "unknown"]
#: The kind of an observation.
ObservationKind = Literal["acquire_began", "acquire_ended", "hold_began", "hold_ended",
                          "lease_lost", "unknown"]
#: How a hold ended; 'open': it has not.
HoldEnd = Literal["open", "released", "detached", "lost", "closed", ""]
#: What INFO of a server says that it is.
Role = Literal["unknown", "master", "replica", "sentinel", ""]
#: The membership of a node. Later versions of the library can have further states.
MemberState = Literal["member", "joining", "opening", "blank", "unmarked", "removed", "unreachable"]
# face: end

#: Of ChangeProgress.kind.
ProgressKind = Literal["waiting", "writing"]
