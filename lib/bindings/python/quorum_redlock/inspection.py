"""The locks that the nodes store for a resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._library import lib, text
from ._reading import parts, read
from .literals import LockKind, State


@dataclass(frozen=True)
class NextClient:
    """The client that a released lock is passed on to."""

    id: str  #: the beginning of its tokens
    name: str  #: its name for people; empty: not known


@dataclass(frozen=True)
class NodeInspection:
    """The lock that one node stores for a resource."""

    url: str  #: without the password
    kind: LockKind  #: as Inspection.kind
    holder: str | None  #: exclusive: the stored token
    owner: str | None  #: owned: the name of the owner
    holder_name: str  #: the holder's name for people; empty: not known
    holds: int  #: shared, owned: the number of holds
    waiters: int
    tokens: tuple[str, ...]  #: shared, owned: the tokens of the holds that expire first
    names: tuple[str, ...]  #: the holders' names of the first of `tokens`
    next: NextClient | None  #: None: the node has nobody in its queue
    remaining: float | None  #: seconds; None: the key has no expiry, or there is none
    fencing_token: int  #: the last fencing token that the node acknowledged; 0: none
    quarantine: float  #: seconds; how long the node has no vote for new leases
    error: str  #: why nothing is known of this node; empty if it answered


@dataclass(frozen=True)
class BrokenLock:
    """A lock that an operator broke."""

    time: float  #: seconds since 1970, by the node's clock
    token: str  #: the token that was deleted
    by: str  #: the name of the operator's client


@dataclass(frozen=True)
class Inspection:
    """The locks on a resource over all nodes. A snapshot."""

    state: State
    kind: LockKind  #: of the key on most nodes
    holder: str | None  #: exclusive: the token on most nodes
    owner: str | None  #: owned: the name of the owner on most nodes
    holder_name: str  #: the holder's name for people; empty: not known
    waiters: int
    next: NextClient | None  #: on most nodes
    quorum: int
    nodes: tuple[NodeInspection, ...]
    broken: tuple[BrokenLock, ...]  #: the newest first


def _next_from(seen: Any) -> NextClient | None:
    return NextClient(text(seen.next), text(seen.next_name)) if seen.next else None


def _node_from(node: Any) -> NodeInspection:
    return read(NodeInspection, node, next=_next_from(node),
                tokens=tuple(text(node.tokens[i]) for i in range(node.token_count)),
                names=tuple(text(node.names[i]) for i in range(node.name_count)))


def inspection_from(pointer: Any) -> Inspection:
    """Reads a redlock_inspection, and leaves it to its owner."""
    seen = pointer.contents
    nodes = (lib.redlock_inspection_node(pointer, i).contents for i in range(seen.node_count))
    broken = parts(BrokenLock, lib.redlock_inspection_broken, pointer, seen.broken_count)
    return read(Inspection, seen, next=_next_from(seen), nodes=tuple(map(_node_from, nodes)),
                broken=broken)


def taken_inspection(pointer: Any) -> Inspection:
    """Reads a redlock_inspection and frees it."""
    try:
        return inspection_from(pointer)
    finally:
        lib.redlock_inspection_free(pointer)
