"""A granted lock."""

from __future__ import annotations

import threading
from ctypes import POINTER, byref, c_void_p
from typing import Any

from . import _callbacks
from . import _structs as s
from ._arguments import Duration, to_ns
from ._library import from_ns, lib, text
from .errors import NotHolder, RedlockError, call
from .reports import Round, taken_round


class LeaseHandle:
    """A redlock_lease, and the number of its callbacks. Dropped, it releases the lease without
    waiting."""

    __slots__ = ("pointer", "context")

    def __init__(self, context: int) -> None:
        self.pointer = c_void_p()
        self.context = context

    def __del__(self, _free=lib.redlock_lease_free, _remove=_callbacks.contexts.remove) -> None:
        _remove(self.context)
        if self.pointer:
            _free(self.pointer)


class LeaseState:
    """What the leases of both clients have in common: the state, without a call to the nodes. Any
    thread may ask for it."""

    def __init__(self, handle: LeaseHandle) -> None:
        self._handle: LeaseHandle | None = handle
        # Of the handle, whose end must not overlap with a look at it. Handlers of signals may look.
        self._lock = threading.RLock()
        pointer = handle.pointer
        #: All resources of a lease on several; one otherwise.
        self.resources: tuple[str, ...] = tuple(
            text(lib.redlock_lease_resource_at(pointer, i))
            for i in range(lib.redlock_lease_resource_count(pointer)))
        self._token = text(lib.redlock_lease_token(pointer))
        self._fencing_token = lib.redlock_lease_fencing_token(pointer) or None
        round = POINTER(s.Round)()
        call(lib.redlock_lease_round, pointer, byref(round))
        #: The granting round, node by node.
        self.round: Round = taken_round(round)

    def _read(self, function: Any, ended: Any) -> Any:
        with self._lock:
            return ended if self._handle is None else function(self._handle.pointer)

    def _take(self) -> LeaseHandle | None:
        """Ends the lease. None: it had ended before."""
        with self._lock:
            handle, self._handle = self._handle, None
        return handle

    @property
    def resource(self) -> str:
        """Of a permit, its name: "jobs#3"."""
        return self.resources[0]

    @property
    def token(self) -> str:
        return self._token

    @property
    def fencing_token(self) -> int | None:
        """To send along with every write that the lock protects. None unless `fencing` asked for
        it."""
        return self._fencing_token

    @property
    def valid(self) -> bool:
        """Compares the clock with the deadline at every call. False after release and loss."""
        return self._read(lib.redlock_lease_valid, False)

    @property
    def remaining(self) -> float:
        """Seconds until the deadline. 0 if it has passed or the lease has ended."""
        return from_ns(self._read(lib.redlock_lease_remaining_ns, 0))

    @property
    def valid_until(self) -> float:
        """The deadline: seconds, by the clock of quorum_redlock.now(). 0 after a release."""
        return self._read(lib.redlock_lease_valid_until_ns, 0) / 1e9

    def detach(self) -> str:
        """Ends renewal and ownership, and leaves the key on the nodes until its TTL has passed or
        somebody releases the token: for handing a lock to another process. Returns the token."""
        handle = self._take()
        if handle is not None:
            lib.redlock_lease_detach(handle.pointer)
        return self._token

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} {self.resource!r} " \
               f"{'valid' if self.valid else 'not valid'}>"


class Lease(LeaseState):
    """A granted lock, and a context manager that releases it. Dropped without that, it is released
    in the background.

    Until its deadline no other client holds a lease on the resource. Ask `valid` before each step
    that cannot be undone. Any thread may use it."""

    def __init__(self, handle: LeaseHandle, lost: threading.Event) -> None:
        super().__init__(handle)
        #: Set when the deadline passes without a renewal; not by a release. `lost.wait(seconds)`
        #: waits for it.
        self.lost = lost
        # Extending and releasing need the handle for themselves.
        self._changing = threading.RLock()

    def extend(self, ttl: Duration) -> Round:
        """Asks for `ttl` from now on. It never shortens a lease. Raises NotHolder, Unavailable,
        LimitReached, Closed, Forked, WouldBlock, InvalidArgument."""
        round = POINTER(s.Round)()
        with self._changing:
            handle = self._handle
            if handle is None:
                raise NotHolder("the lease has ended")
            call(lib.redlock_lease_extend, handle.pointer, to_ns(ttl, "ttl"), byref(round))
        return taken_round(round)

    def release(self) -> Round:
        """Deletes the key on all nodes where it is still this lease's, and waits until it is on no
        majority any more. The lease ends in any case. Raises NotHolder (it had expired),
        Unavailable, Closed, Forked, WouldBlock."""
        round = POINTER(s.Round)()
        with self._changing:
            handle = self._take()
            if handle is None:
                raise NotHolder("the lease has ended")
            call(lib.redlock_lease_release, handle.pointer, byref(round))
        return taken_round(round)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """Releases. Raises NotHolder if the lease had been lost: what the block did was not
        protected to its end. Other failures leave the key to its TTL, and are logged."""
        if self._handle is None:
            return
        try:
            self.release()
        except RedlockError as failure:
            end_of_block(failure, error)


def end_of_block(failure: RedlockError, error: BaseException | None) -> None:
    """What becomes of a failed release at the end of a with block that raised `error`."""
    if isinstance(failure, NotHolder) and error is None:
        raise failure
    _callbacks.logger.warning("a lease was not released: %s", failure)
