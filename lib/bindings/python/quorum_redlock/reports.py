"""What the nodes answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ._library import lib, text, text_or_none
from ._reading import parts, read
from .literals import HolderKind, Vote


@dataclass(frozen=True)
class Holder:
    """The reason why a node refused a request: who or what has the resource there."""

    kind: HolderKind  #: as LockKind; "writer": somebody waits, and new holds are refused meanwhile
    token: str | None  #: exclusive: the stored token
    owner: str | None  #: owned: the name of the owner


@dataclass(frozen=True)
class NodeVote:
    """One node's part in a round."""

    url: str  #: as configured, without the password
    vote: Vote
    round_trip: float | None  #: seconds; None: there was no answer
    holder: Holder | None  #: refused: the reason, if the node gives one
    remaining: float | None  #: refused: the rest of the holder's TTL in seconds; None: not known
    message: str  #: timeout, unreachable, error, excluded: why


@dataclass(frozen=True)
class Round:
    """The round that decided an operation. Durations are seconds."""

    quorum: int
    ttl: float  #: the requested TTL
    elapsed: float  #: from the first byte of the call's first round to the decision
    remaining: float  #: left of the lease at the decision; 0 without a lease
    holds_left: int | None  #: release of a shared or owned hold: holds that remain, if known
    votes: tuple[NodeVote, ...]  #: in the order of the nodes


@dataclass(frozen=True)
class Undelivered:
    """Releases that a client could not deliver to a node before it was closed."""

    node: int  #: position in the nodes of the client
    url: str  #: without the password
    releases: int
    #: How long at most keys stay there: seconds from the end of the client, or, with
    #: `may_write_late`, from when the node has executed what it has received.
    left: float
    may_write_late: bool  #: a node that hangs can still write a key when it goes on


@dataclass(frozen=True)
class CloseReport:
    """The nodes that did not answer in time."""

    undelivered: tuple[Undelivered, ...] = ()


def _holder_from(vote: Any) -> Holder | None:
    if vote.holder_kind == 0:
        return None
    kind = cast(HolderKind, text(lib.redlock_holder_kind_name(vote.holder_kind)))
    return Holder(kind, text_or_none(vote.holder), text_or_none(vote.owner))


def round_from(pointer: Any) -> Round:
    """Reads a redlock_round, and leaves it to its owner."""
    seen = pointer.contents
    votes = (lib.redlock_round_node(pointer, i).contents for i in range(seen.node_count))
    return read(Round, seen, votes=tuple(read(NodeVote, vote, holder=_holder_from(vote))
                                         for vote in votes))


def taken_round(pointer: Any) -> Round:
    """Reads a redlock_round and frees it."""
    try:
        return round_from(pointer)
    finally:
        lib.redlock_round_free(pointer)


def taken_close_report(pointer: Any) -> CloseReport:
    """Reads a redlock_close_report and frees it."""
    try:
        return CloseReport(parts(Undelivered, lib.redlock_close_report_undelivered, pointer,
                                 pointer.contents.undelivered_count))
    finally:
        lib.redlock_close_report_free(pointer)
