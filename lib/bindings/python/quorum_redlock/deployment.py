"""The deployment as a whole, for operators. These calls make connections of their own, with the
nodes and options of a Client, and block. Words such as a state are the same that `quorum-lock`
shows: later versions may have further ones. Durations are seconds."""

from __future__ import annotations

from ctypes import POINTER, byref, sizeof
from dataclasses import dataclass
from typing import Any, Callable, Iterable, TYPE_CHECKING

from . import _callbacks
from . import _structs as s
from ._arguments import Duration, encoded, to_count, to_ns
from ._library import lib, text
from ._reading import parts, read
from ._waiting import Stop, blocking, interruptible, make_native_stop
from .errors import call
from .literals import ListedState, LockKind, MemberState, ProgressKind, Role
from .options import ClientOptions, native_call_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class ServerCheck:
    """A server of a replicated node, as the node's primary reports it."""

    address: str  #: "10.0.0.7:6379"; empty: not known
    primary: bool
    state: str  #: of a replica, as Redis says it, such as "online"; of the primary: empty
    offset: int  #: of the replication: how far it has come
    behind: int  #: bytes that the replica has not acknowledged
    lag: float | None  #: since the replica's last acknowledgement


@dataclass(frozen=True)
class ReignCheck:
    """The reign of a replicated node's primary. A node votes while a majority of its servers has
    followed its primary without a break."""

    servers: int  #: as many as its URL says
    stands: bool
    why_not: str  #: empty: it stands
    confirmed_for: float | None  #: since a client saw a majority follow; None: none has
    acknowledged: int  #: replicas that acknowledged a write
    needed: int  #: replicas that have to
    attached: int  #: how often replicas have attached since the last record
    seen: tuple[ServerCheck, ...]  #: the primary first


@dataclass(frozen=True)
class NodeCheck:
    """One node's facts about itself."""

    url: str  #: without the password
    problem: str  #: why it is not reachable, or reports nothing
    round_trip: float
    version: str  #: of Redis, or the one that a fork is compatible with
    server: str  #: "Redis", "Valkey"; empty: it did not say
    server_version: str  #: its own
    role: Role
    run_id: str
    uptime: float | None
    persistence: str  #: "none", "rdb", "aof everysec", …
    maxmemory_policy: str
    used_memory: int | None  #: bytes
    max_memory: int | None  #: bytes; 0: no limit
    clock_offset: float | None  #: from the median of all nodes
    membership: str  #: by its own marker alone: "member", "joining", …
    member: str  #: the URL in its marker: clients may know it by another one
    replicas: int  #: attached to it
    quarantine: float  #: how long it has no vote for new leases; math.inf: no expiry
    reachable: bool
    durable: bool  #: writes every command to disk before it answers
    cluster: bool
    loading: bool
    marked: bool  #: belongs to a deployment
    restarted: bool  #: since its marker was written
    reign: ReignCheck | None  #: None: it is no replicated node, or its primary did not say


@dataclass(frozen=True)
class Finding:
    """Something that is wrong."""

    node: str  #: the node's URL; several are separated by ", "
    kind: str  #: "not-durable", as `quorum-lock doctor` shows it
    what: str
    why: str
    remedy: str


@dataclass(frozen=True)
class DeploymentCheck:
    nodes: tuple[NodeCheck, ...]
    findings: tuple[Finding, ...]  #: empty: nothing is wrong
    #: Seconds until locks are granted; 0: now; math.inf: not before a quarantine without end is
    #: deleted; None: too few members were found.
    granted_in: float | None


@dataclass(frozen=True)
class ChangeProgress:
    """The next step of a change of the members."""

    kind: ProgressKind  #: "waiting" for `left` or for the node; "writing" its marker next
    node: str
    what: str
    left: float | None


@dataclass(frozen=True)
class Member:
    """The membership of a node, by its own marker and those of the others."""

    url: str  #: that it was asked at, without user and password
    state: MemberState
    problem: str  #: unreachable: why
    deployment: str  #: the id in its marker
    quarantine: float
    member: str  #: the URL in its marker: clients may know it by another one
    primary: str  #: a replicated node: the address of its primary; empty: it is none, or not known


@dataclass(frozen=True)
class Membership:
    deployment: str  #: the id; empty: no node belongs to a deployment
    members: tuple[str, ...]  #: URLs, sorted
    nodes: tuple[Member, ...]  #: the members, and the other nodes that were asked
    max_ttl: float  #: the longest lease
    resume: str  #: arguments of `quorum-lock` that resume an unfinished change; or empty


@dataclass(frozen=True)
class ListedLock:
    """A lock over all nodes."""

    resource: str  #: of a semaphore its name
    kind: LockKind
    state: ListedState
    holder: str | None  #: exclusive, but no semaphore: the token on most nodes
    owner: str | None  #: owned: the name of the owner on most nodes
    holds: int  #: shared, owned: the number of holds
    permits: int | None  #: of a semaphore: how many are held
    remaining: float | None  #: how long the lock is held unless it is extended
    waiters: int
    nodes: int  #: that store it
    holder_name: str | None  #: the holder's name for people; None: not known


@dataclass(frozen=True)
class ListedNode:
    """The part of one node in the list."""

    url: str  #: without the password
    error: str  #: why it did not answer; empty if it did
    unread: int  #: keys that it did not show
    stopped_early: bool  #: it has more keys than were to be gone through


@dataclass(frozen=True)
class LockList:
    locks: tuple[ListedLock, ...]  #: sorted by resource
    nodes: tuple[ListedNode, ...]
    quorum: int
    answered: int  #: nodes; below the quorum, locks may be missing
    complete: bool  #: a quorum of nodes answered, and these showed all of their keys


def check(nodes: Iterable[str], **options: Unpack[ClientOptions]) -> DeploymentCheck:
    """Asks every node for its facts and changes nothing. A problem of a node is a finding and no
    error. Raises InvalidArgumentError, LimitReachedError."""
    seen = POINTER(s.DeploymentCheck)()
    blocking(lib.redlock_check, byref(native_call_options(nodes, options)), byref(seen))
    return _taken_check(seen)


def bootstrap(nodes: Iterable[str], *, after_loss: bool = False, patience: Duration | None = None,
              stop: Stop | None = None, on_progress: Callable[[ChangeProgress], Any] | None = None,
              **options: Unpack[ClientOptions]) -> DeploymentCheck:
    """Opens a deployment: marks every node as a member. It does not ask before it replaces a
    deployment that has other members. `after_loss`: the nodes have lost their data. `patience`: how
    long to wait for a node in the midst of a change. Raises InvalidArgumentError, UnavailableError,
    HeldError, StoppedError, LimitReachedError."""
    seen = POINTER(s.DeploymentCheck)()
    _change(lib.redlock_bootstrap, nodes, options, (), seen, after_loss=after_loss,
            patience=patience, stop=stop, on_progress=on_progress)
    return _taken_check(seen)


def members(nodes: Iterable[str], **options: Unpack[ClientOptions]) -> Membership:
    """Changes nothing. Raises InvalidArgumentError, LimitReachedError."""
    seen = POINTER(s.Membership)()
    blocking(lib.redlock_members, byref(native_call_options(nodes, options)), byref(seen))
    return _taken_membership(seen)


def replace_member(nodes: Iterable[str], leaving: str, entering: str, *,
                   patience: Duration | None = None, stop: Stop | None = None,
                   on_progress: Callable[[ChangeProgress], Any] | None = None,
                   **options: Unpack[ClientOptions]) -> Membership:
    """Replaces a node while clients run. A call that ended early is resumed by the same call.
    Raises InvalidArgumentError, UnavailableError, StoppedError, LimitReachedError."""
    return _change_members(lib.redlock_replace_member, nodes, options, (leaving, entering),
                           patience=patience, stop=stop, on_progress=on_progress)


def add_member(nodes: Iterable[str], entering: str, *, patience: Duration | None = None,
               stop: Stop | None = None,
               on_progress: Callable[[ChangeProgress], Any] | None = None,
               **options: Unpack[ClientOptions]) -> Membership:
    """As replace_member."""
    return _change_members(lib.redlock_add_member, nodes, options, (entering,),
                           patience=patience, stop=stop, on_progress=on_progress)


def remove_member(nodes: Iterable[str], leaving: str, *, patience: Duration | None = None,
                  stop: Stop | None = None,
                  on_progress: Callable[[ChangeProgress], Any] | None = None,
                  **options: Unpack[ClientOptions]) -> Membership:
    """As replace_member."""
    return _change_members(lib.redlock_remove_member, nodes, options, (leaving,),
                           patience=patience, stop=stop, on_progress=on_progress)


def list_locks(nodes: Iterable[str], pattern: str | None = None, *, keys_per_node: int = 0,
               **options: Unpack[ClientOptions]) -> LockList:
    """Lists the locks that the nodes store. `pattern` is a glob as Redis has it, None: all
    resources. `keys_per_node`: how many keys of each node are gone through, 0: the default. Changes
    nothing. Raises InvalidArgumentError, LimitReachedError."""
    seen = POINTER(s.LockList)()
    glob = None if pattern is None else encoded(pattern, "pattern")
    blocking(lib.redlock_list_locks, byref(native_call_options(nodes, options)), glob,
             to_count(keys_per_node, "keys_per_node"), byref(seen))
    try:
        whole = seen.contents
        return read(
            LockList, whole,
            locks=parts(ListedLock, lib.redlock_lock_list_lock, seen, whole.lock_count),
            nodes=parts(ListedNode, lib.redlock_lock_list_node, seen, whole.node_count))
    finally:
        lib.redlock_lock_list_free(seen)


def _reign(node: Any) -> ReignCheck | None:
    if not node.reign:
        return None
    reign = node.reign.contents
    return read(ReignCheck, reign, seen=tuple(read(ServerCheck, reign.seen[i].contents)
                                              for i in range(reign.seen_count)))


def _taken_check(seen: Any) -> DeploymentCheck:
    try:
        whole = seen.contents
        nodes = (lib.redlock_deployment_check_node(seen, i).contents
                 for i in range(whole.node_count))
        return read(
            DeploymentCheck, whole,
            nodes=tuple(read(NodeCheck, node, clock_offset=_clock_offset(node), reign=_reign(node))
                        for node in nodes),
            findings=parts(Finding, lib.redlock_deployment_check_finding, seen,
                           whole.finding_count))
    finally:
        lib.redlock_deployment_check_free(seen)


def _clock_offset(node: Any) -> float | None:
    """It can be negative."""
    return None if node.clock_offset_ns == -2**63 else node.clock_offset_ns / 1e9


def _taken_membership(seen: Any) -> Membership:
    try:
        whole = seen.contents
        return read(
            Membership, whole,
            members=tuple(text(whole.members[i]) for i in range(whole.member_count)),
            nodes=parts(Member, lib.redlock_membership_node, seen, whole.node_count))
    finally:
        lib.redlock_membership_free(seen)


# On the thread that makes the call.
@_callbacks.native(s.ProgressCallback)
def _progressed(context: Any, progress: Any) -> None:
    report = _callbacks.contexts.find(context)
    _callbacks.guarded(report, read(ChangeProgress, progress.contents))


def _change(function: Any, nodes: Iterable[str], options: Any, names: tuple[str, ...], out: Any, *,
            patience: Duration | None, stop: Stop | None, on_progress: Any,
            after_loss: bool = False) -> None:
    client_options = native_call_options(nodes, options)
    texts = [encoded(name, "node") for name in names]
    ends = make_native_stop(stop)
    change = s.ChangeOptions()
    lib.redlock_change_options_init(byref(change), sizeof(change))
    change.after_loss, change.stop = after_loss, ends["pointer"]
    if patience is not None:
        change.patience_ns = to_ns(patience, "patience")
    context = _callbacks.contexts.add(on_progress)
    if on_progress is not None:
        change.on_progress, change.context = _progressed, context
    interruptible(lambda: call(function, byref(client_options), *texts, byref(change),
                               byref(out)), cancel=ends.request)


def _change_members(function: Any, nodes: Iterable[str], options: Any, names: tuple[str, ...],
                    **terms: Any) -> Membership:
    seen = POINTER(s.Membership)()
    _change(function, nodes, options, names, seen, **terms)
    return _taken_membership(seen)
