"""The words of states and kinds. Later versions of the library may have further ones, so a program
that tells them apart has a case for the rest."""

from __future__ import annotations

from typing import Literal

#: Of Inspection.state.
State = Literal["free", "held", "split", "indeterminate"]

#: Of ListedLock.state.
ListedState = Literal["free", "held", "split", "minority", "indeterminate", "reserved"]

#: Of a key: what it is a lock of.
LockKind = Literal["none", "exclusive", "shared", "owned", "interval", "reserved", "other"]

#: Of Holder.kind.
HolderKind = Literal["exclusive", "shared", "owned", "interval", "reserved", "other", "writer"]

#: A node's part in a round.
Vote = Literal["pending", "granted", "refused", "timeout", "unreachable", "error", "excluded"]

NodeEventKind = Literal["up", "down", "protocol", "excluded", "undelivered", "learned", "paused",
                        "warning", "counters_reset", "unknown"]

#: Of NodeEvent.level.
EventLevel = Literal["debug", "info", "warning", "unknown"]

ObservationKind = Literal["acquire_began", "acquire_ended", "hold_began", "hold_ended",
                          "lease_lost", "unknown"]

#: Of RedlockError.code.
ErrorCode = Literal["held", "split", "unavailable", "expired", "excluded", "not_holder",
                    "cancelled", "closed", "forked", "would_block", "invalid_argument",
                    "limit_reached", "no_memory", "internal", "unknown"]

#: Of Observation.end.
HoldEnd = Literal["open", "released", "detached", "lost", "closed", ""]

#: Of ChangeProgress.kind.
ProgressKind = Literal["waiting", "writing"]

#: Of NodeCheck.role.
Role = Literal["master", "replica", "sentinel", "unknown", ""]

#: Of Member.state.
MemberState = Literal["member", "joining", "opening", "blank", "unmarked", "removed", "unreachable"]
