"""The blocking client."""

from __future__ import annotations

import re
from ctypes import POINTER, byref, c_bool, c_char_p, c_void_p
from functools import partial
from typing import Any, Callable, Generic, Iterable, Mapping, TYPE_CHECKING, TypeVar

from . import _callbacks, deployment
from . import _structs as s
from ._arguments import Duration, encoded, to_ns, wait_to_ns
from ._copies import NotCopied, name_of
from ._handles import ClientHandle, NativeClient
from ._library import lib, taken_text, text
from ._owned import LeaseHandle
from ._request import Request
from ._threads import make_event
from ._waiting import Stop, blocking, blocking_work, interruptible, make_native_stop
from .detached import DetachedLease
from .errors import HeldError, NotGrantedError, SplitError, timed_out
from .inspection import Inspection, taken_inspection
from .lease import Lease
from .lock import Lock
from .options import AcquireOptions, ClientOptions, client_signals, native_client_options
from .reports import CloseReport, Round, taken_round
from .targets import TargetLike, by_token, of_resource
from .watching import Watch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .election import Election

_Handle = TypeVar("_Handle", bound=NativeClient)


def native_labels(labels: Mapping[str, str] | None) -> tuple[Any, Any, int]:
    names = [encoded(name, "label") for name in labels or {}]
    values = [encoded(value, "label value") for value in (labels or {}).values()]
    array = c_char_p * len(names)
    return array(*names), array(*values), len(names)


class BaseClient(NotCopied, Generic[_Handle]):
    """The part that both clients share."""

    _instead = "make a client in the process that uses it"

    def __init__(self, make: Callable[[s.ClientOptions, _callbacks.ClientSignals], _Handle],
                 deliver: _callbacks.Deliver, nodes: Iterable[str],
                 options: ClientOptions) -> None:
        self._nodes = list(nodes) if not isinstance(nodes, str) else nodes
        self._options = options
        native = native_client_options(self._nodes, options)
        self._request = partial(Request, native.max_ttl_ns)
        self._handle = make(native, client_signals(options, deliver))

    def __repr__(self) -> str:
        """Without user and password."""
        if not hasattr(self, "_handle"):  # refused: the URLs may be malformed
            return super().__repr__()
        nodes = [re.sub(r"^((?!unix:)\w+://).*@", r"\1", text(encoded(node, "node")), flags=re.I)
                 for node in self._nodes]
        name = self._options.get("name")
        return f"<{name_of(type(self))} {nodes}{f' name={name!r}' if name else ''} " \
               f"{'closed' if self._handle.closed else 'open'}>"


class Client(BaseClient[ClientHandle]):
    """Locks over independent Redis masters, for any number of threads at once.

    `nodes` are URLs: redis://[user[:password]@]host[:port][/db], rediss:// for TLS,
    unix:///path[?db=n], or host[:port][/db]; all but the last may have the option prefix as
    ?prefix=team:. All clients that share locks name the same nodes. It connects in the background.
    Options: see ClientOptions. Raises InvalidArgumentError, LimitReachedError."""

    def __init__(self, nodes: Iterable[str], **options: Unpack[ClientOptions]) -> None:
        super().__init__(ClientHandle, _callbacks.dispatcher.deliver, nodes, options)

    def _call(self, function: Any, *arguments: Any) -> None:
        blocking(function, self._handle.pointer(), *arguments)

    def _ask_round(self, function: Any, *arguments: Any) -> Round:
        round = POINTER(s.Round)()
        self._call(function, *arguments, byref(round))
        return taken_round(round)

    def lock(self, target: TargetLike, *, ttl: Duration | None = None,
             wait: Duration | None = None, renew: bool = True, fencing: bool = False,
             stop: Stop | None = None, **more: Unpack[AcquireOptions]) -> Lock:
        """A lock to be acquired later, again and again: `with client.lock("x") as lease:`. Asks no
        node. `wait`: how long each attempt waits, None: as long as it takes, 0: asks once. The rest
        as in `acquire`. Raises InvalidArgumentError."""
        request = self._request(target, ttl, renew, fencing, more)
        return Lock(partial(self._acquire, request, stop), request, wait_to_ns(wait))

    def acquire(self, target: TargetLike, *, wait: Duration | None = None,
                ttl: Duration | None = None, renew: bool = True, fencing: bool = False,
                stop: Stop | None = None, **more: Unpack[AcquireOptions]) -> Lease:
        """Waits until the lock is granted: for `wait`, None: as long as it takes, also while no
        node answers, 0: asks once. The logger `quorum_redlock` says which nodes are down.

        The lease is renewed in the background, unless `renew` is False, and is a context manager
        that releases it. `ttl`: how long the nodes keep the lock if this process dies; 10 seconds
        unless given. `fencing` gives it a fencing token. `stop` ends the wait from another thread;
        in the main thread, Ctrl-C does. More options: see AcquireOptions.

        Raises HeldError, SplitError, UnavailableError, ExpiredError, ExcludedError, whose base is
        NotGrantedError, and which are TimeoutErrors, too, if `wait` is given; StoppedError,
        ClosedError, ForkedError, InvalidArgumentError, LimitReachedError."""
        request = self._request(target, ttl, renew, fencing, more)
        return self._acquire(request, stop, wait_to_ns(wait), LeaseHandle())

    def try_acquire(self, target: TargetLike, *, ttl: Duration | None = None, renew: bool = True,
                    fencing: bool = False, **more: Unpack[AcquireOptions]) -> Lease | None:
        """Asks once and does not wait. None: somebody else has the lock, or contends for it. Raises
        as `acquire` for everything else."""
        try:
            return self._acquire(self._request(target, ttl, renew, fencing, more), None, 0,
                                 LeaseHandle())
        except (HeldError, SplitError):
            return None

    def _acquire(self, request: Request, stop: Stop | None, wait_ns: int,
                 handle: LeaseHandle) -> Lease:
        def ask(options: s.AcquireOptions) -> None:
            client, target, terms = self._handle.pointer(), byref(request.target), byref(options)
            if wait_ns == 0 and stop is None:
                blocking_work(partial(handle.fill, lib.redlock_try_acquire, client, target, terms))
                return
            ends = make_native_stop(stop)
            interruptible(partial(handle.fill, lib.redlock_try_acquire_for, client, target, wait_ns,
                                  terms, ends), cancel=ends.request)

        try:
            return self._granted(request, handle, ask)
        except NotGrantedError as failure:
            if wait_ns == s.FOREVER:
                raise
            raise timed_out(failure) from None

    def _granted(self, request: Request, handle: LeaseHandle,
                 ask: Callable[[s.AcquireOptions], None]) -> Lease:
        """The lease that `ask` puts into the handle. If it is interrupted, there is none."""
        lost = make_event()
        dispatcher = _callbacks.dispatcher
        try:
            ask(request.prepare(handle, dispatcher.deliver, lambda: dispatcher.soon(lost.set)))
            return Lease(handle, lost, request.raise_on_release_error)
        except BaseException:
            handle.clear()
            raise

    def adopt(self, detached: str, *, ttl: Duration | None = None, renew: bool = True,
              **more: Unpack[AcquireOptions]) -> Lease:
        """Makes a lease of what `Lease.detach` returned, here or in another process: asks for the
        TTL from now on, and is a lease only if a quorum still had the lock. It keeps its fencing
        token, or has a larger one if another client asked for one since. Raises NotHolderError (the
        lock had expired or was released), UnavailableError, ExpiredError, ExcludedError (no larger
        fencing token is left), ClosedError, ForkedError, InvalidArgumentError,
        LimitReachedError."""
        text = DetachedLease(detached)
        request = self._request(text.resource, ttl, renew, False, more)
        handle = LeaseHandle()
        return self._granted(request, handle, lambda options: blocking_work(partial(
            handle.fill, lib.redlock_adopt, self._handle.pointer(), encoded(text, "detached"),
            byref(options))))

    # By a token that was detached or came from another process.
    # face: calls by a token
    def extend(self, target: TargetLike, token: str, ttl: Duration) -> Round:
        """Extends the lock, of whatever kind it is, to `ttl` from now on; of several resources, all
        or none. A permit is named by its resource, 'jobs#3'. Raises ExpiredError, NotHolderError,
        UnavailableError, ClosedError, ForkedError, WouldBlockError, InvalidArgumentError."""
        return self._ask_round(lib.redlock_extend, *by_token(target, token), to_ns(ttl, "ttl"))

    def downgrade(self, resource: str, token: str) -> Round:
        """Makes a writer's lock a reader's, as `downgrade` of a lease does. Raises NotHolderError,
        UnavailableError, ClosedError, ForkedError, WouldBlockError, InvalidArgumentError."""
        return self._ask_round(lib.redlock_downgrade, *of_resource(resource, token))

    def release(self, target: TargetLike, token: str) -> Round:
        """Releases the lock; of several resources, those that the token still holds. Raises
        NotHolderError, UnavailableError, ClosedError, ForkedError, WouldBlockError,
        InvalidArgumentError."""
        return self._ask_round(lib.redlock_release, *by_token(target, token))

    def break_lock(self, resource: str, token: str, *, delay: Duration = 0) -> Round:
        """Breaks somebody's lock, for an operator: the nodes remember who did it. For `delay` after
        that (0: no time), nobody can acquire the resource. Others who share the lock keep their
        holds. Raises NotHolderError, UnavailableError, ClosedError, ForkedError, WouldBlockError,
        InvalidArgumentError."""
        return self._ask_round(lib.redlock_break, *of_resource(resource, token),
                               to_ns(delay, "delay"))
    # face: end

    def ownership(self, resource: str, token: str) -> bool:
        """Whether the token holds the resource now. Raises UnavailableError, ClosedError,
        ForkedError, InvalidArgumentError."""
        answer = c_bool()
        self._call(lib.redlock_ownership, *of_resource(resource, token), byref(answer))
        return answer.value

    def inspect(self, resource: str) -> Inspection:
        """Asks every node what it stores for the resource. Raises ClosedError, ForkedError,
        InvalidArgumentError."""
        seen = POINTER(s.Inspection)()
        self._call(lib.redlock_inspect, encoded(resource, "resource"), byref(seen))
        return taken_inspection(seen)

    def watch(self, resource: str, *, poll_interval: Duration = 0) -> Watch[Inspection]:
        """An iterator of inspections: the first one at once, then one after every change of the
        resource's state, kind or holder. `poll_interval`: how often nodes are asked that do not
        notify the client; 0: the default. Raises ClosedError when the client is closed."""
        name, interval = encoded(resource, "resource"), to_ns(poll_interval, "poll_interval")
        return Watch.of_resource(self._handle, name, interval)

    def election(self, name: str, *, candidate: str = "", ttl: Duration | None = None,
                 poll_interval: Duration | None = None) -> Election:
        """A leader among many candidates. `candidate` is the name that observers see; a leader that
        dies is replaced within `ttl`. Asks no node. Raises InvalidArgumentError."""
        from .election import Election  # which needs this module
        return Election(self, name, candidate=candidate, ttl=ttl, poll_interval=poll_interval)

    def list_locks(self, pattern: str | None = None, *,
                   keys_per_node: int = 0) -> deployment.LockList:
        """Lists the locks that the nodes store: see deployment.list_locks. It makes connections of
        its own."""
        return deployment.list_locks(self._nodes, pattern, keys_per_node=keys_per_node,
                                     **self._options)

    def prometheus(self, labels: Mapping[str, str] | None = None) -> str:
        """What the client has counted, as text of Prometheus (version 0.0.4), with these further
        labels on every sample. Raises ClosedError, ForkedError, InvalidArgumentError."""
        answer = c_void_p()
        self._call(lib.redlock_client_prometheus, *native_labels(labels), byref(answer))
        return taken_text(answer)

    def close(self) -> CloseReport:
        """Ends every blocked call with ClosedError, releases every lease, waits for the answers, at
        most one node time limit, and closes the connections. A second call reports the same. Raises
        ForkedError."""
        return self._handle.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.close()
