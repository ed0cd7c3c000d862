"""A granted lock."""

from __future__ import annotations

import threading
import warnings
from ctypes import POINTER, byref, c_void_p
from typing import Any, Callable

from . import _callbacks, _leases
from . import _structs as s
from ._arguments import Duration, to_ns
from ._library import from_ns, lib, text
from ._waiting import blocking
from .detached import DetachedLease
from .errors import ForkedError, LeaseLostError, NotHolderError, RedlockError, call
from .reports import Round, taken_round


class LeaseHandle:
    """A redlock_lease, and the number of its callbacks. Dropped, it releases the lease without
    waiting."""

    __slots__ = ("pointer", "context")

    def __init__(self, context: int) -> None:
        self.pointer = c_void_p()
        self.context = context

    def __del__(self, _free: Callable[..., Any] = lib.redlock_lease_free,
                _remove: Callable[..., Any] = _callbacks.contexts.remove,
                _none: c_void_p = c_void_p()) -> None:
        _remove(self.context)
        # The garbage collector may end this handle before the lease, which still uses the handle.
        pointer, self.pointer = self.pointer, _none
        if pointer:
            _free(pointer)


class LeaseState:
    """The state of a lease, which the leases of both clients share. It makes no call to the nodes.
    Any thread may read it."""

    def __init__(self, handle: LeaseHandle, raise_on_release_error: bool) -> None:
        self._handle: LeaseHandle | None = handle
        self._raise_on_release_error = raise_on_release_error
        # Guards the handle: freeing it must not overlap with a read. Signal handlers can read it.
        self._lock = threading.RLock()
        pointer = handle.pointer
        #: All resources of a lease on several; one otherwise.
        self.resources: tuple[str, ...] = tuple(
            text(lib.redlock_lease_resource_at(pointer, i))
            for i in range(lib.redlock_lease_resource_count(pointer)))
        self._token: str = text(lib.redlock_lease_token(pointer))
        self._fencing_token: int | None = lib.redlock_lease_fencing_token(pointer) or None
        round = POINTER(s.Round)()
        call(lib.redlock_lease_round, pointer, byref(round))
        #: The granting round, node by node.
        self.round: Round = taken_round(round)
        _leases.add(self)

    def _read(self, function: Any, ended: Any) -> Any:
        with self._lock:
            return ended if self._handle is None else function(self._handle.pointer)

    def _take(self) -> LeaseHandle | None:
        """Ends the lease. None: it had ended before."""
        with self._lock:
            handle, self._handle = self._handle, None
        return handle

    @property
    def _ended(self) -> bool:
        return self._handle is None

    @property
    def resource(self) -> str:
        """The resource; for a permit, the permit's name: "jobs#3"."""
        return self.resources[0]

    @property
    def token(self) -> str:
        return self._token

    @property
    def fencing_token(self) -> int | None:
        """The number to send along with every write that the lock protects. None without
        `fencing`."""
        return self._fencing_token

    @property
    def valid(self) -> bool:
        """Compares the clock with the deadline at every call. False after release and loss."""
        return bool(self._read(lib.redlock_lease_valid, False))

    @property
    def remaining(self) -> float:
        """Seconds until the deadline. 0 if it has passed or the lease has ended."""
        return from_ns(self._read(lib.redlock_lease_remaining_ns, 0))

    @property
    def valid_until(self) -> float:
        """The deadline: seconds, by the clock of quorum_redlock.now(). 0 after a release."""
        return float(self._read(lib.redlock_lease_valid_until_ns, 0) / 1e9)

    def notice_loss(self) -> None:
        """For a client that is closed."""
        if self._read(lib.redlock_lease_lost, False):
            self._set_lost()

    def _set_lost(self) -> None:
        raise NotImplementedError

    def detach(self) -> DetachedLease:
        """Ends renewal and ownership, and leaves the key on the nodes until its TTL has passed: for
        handing a lock to another owner, of any process, who calls `Client.adopt` with what is
        returned. Raises NotHolderError if the lease has ended, or is lost: then its key is not
        left for anybody."""
        handle = self._take()
        detached = text(lib.redlock_lease_detach(handle.pointer)) if handle is not None else ""
        if not detached:
            raise NotHolderError(f"the lease on '{self.resource}' has ended", code="not_holder")
        return DetachedLease(detached)

    def __del__(self, _warn: Callable[..., Any] = warnings.warn) -> None:
        if getattr(self, "_handle", None) is not None and self.valid:
            self._take()  # first: somebody may keep the warning, which refers to the lease
            _warn(f"the lease on '{self.resource}' was dropped, and so released: keep the Lock or "
                  "Lease while you need it", ResourceWarning, stacklevel=2, source=self)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} {self.resource!r} " \
               f"{'valid' if self.valid else 'not valid'}>"


class Lease(LeaseState):
    """A granted lock, and a context manager that releases it. Dropped without that, it is released
    in the background, and a ResourceWarning says so.

    Until its deadline no other client holds a lease on the resource. Ask `valid` before each step
    that cannot be undone. Any thread may use it."""

    def __init__(self, handle: LeaseHandle, lost: threading.Event,
                 raise_on_release_error: bool) -> None:
        super().__init__(handle, raise_on_release_error)
        #: Set when the deadline passes without a renewal, and when the client is closed; not by a
        #: release. `lost.wait(seconds)` waits for it.
        self.lost = lost
        # Extending and releasing need the handle for themselves.
        self._changing = threading.RLock()

    def _set_lost(self) -> None:
        _callbacks.dispatcher.soon(self.lost.set)

    def extend(self, ttl: Duration) -> Round:
        """Asks for `ttl` from now on. It never shortens a lease. Raises NotHolderError,
        UnavailableError, LimitReachedError, ClosedError, ForkedError, WouldBlockError,
        InvalidArgumentError."""
        round = POINTER(s.Round)()
        with self._changing:
            handle = self._handle
            if handle is None:
                raise NotHolderError("the lease has ended")
            blocking(lib.redlock_lease_extend, handle.pointer, to_ns(ttl, "ttl"), byref(round))
        return taken_round(round)

    def downgrade(self) -> Round:
        """Makes a writer's lease (of a name) a reader's (of `shared`), without a gap: readers that
        wait come in at once, and the deadline and the fencing token stay. It is a reader's from the
        call on, also after an UnavailableError: then the next renewal, or another call, sees to the
        rest of the nodes. There is no way back. Raises NotHolderError, UnavailableError,
        ClosedError, ForkedError, WouldBlockError, and InvalidArgumentError for a lease of several
        resources, of an owner, of a permit or with an interval."""
        round = POINTER(s.Round)()
        with self._changing:
            handle = self._handle
            if handle is None:
                raise NotHolderError("the lease has ended")
            blocking(lib.redlock_lease_downgrade, handle.pointer, byref(round))
        return taken_round(round)

    def release(self) -> Round:
        """Deletes the key on all nodes where it is still this lease's, and waits until no majority
        has it. The lease ends in any case. Raises NotHolderError (it had expired),
        UnavailableError, ClosedError, ForkedError, WouldBlockError."""
        round = POINTER(s.Round)()
        with self._changing:
            handle = self._take()
            if handle is None:
                raise NotHolderError("the lease has ended")
            blocking(lib.redlock_lease_release, handle.pointer, byref(round))
        return taken_round(round)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """Releases. Raises LeaseLostError if the lease had been lost: what the block did was not
        protected to its end. With `raise_on_release_error=False` that is logged. If the block
        raised, that exception goes on, with a note of the loss. Other failures of a release leave
        the key to its TTL, and are logged."""
        with self._changing:
            handle = self._take()
            if handle is None:
                return
            valid = bool(lib.redlock_lease_valid(handle.pointer))
            try:
                blocking(lib.redlock_lease_release, handle.pointer, None)
            except RedlockError as failure:
                end_of_block(self, valid, failure, error)
            else:
                end_of_block(self, valid, None, error)


def end_of_block(lease: LeaseState, valid: bool, failure: RedlockError | None,
                 error: BaseException | None) -> None:
    """The end of a with block that raised `error`: whether the lease was valid until then, and why
    its release failed."""
    if failure is not None and (isinstance(failure, ForkedError) or
                                valid and not isinstance(failure, NotHolderError)):
        _callbacks.logger.warning("the lease on '%s' was not released: %s", lease.resource, failure)
        return
    if failure is None and valid:
        return
    message = f"the lease on '{lease.resource}' was lost before the end of its block"
    if error is None and lease._raise_on_release_error:
        # No variable has the error: they would keep each other alive, and the lease.
        raise LeaseLostError(message, round=failure.round if failure else None) from failure
    _callbacks.logger.warning("%s", message)
    if error is None:
        return
    if hasattr(error, "add_note"):  # since Python 3.11
        error.add_note(message)
        return
    while error.__context__ is not None:
        error = error.__context__
    error.__context__ = LeaseLostError(message)
