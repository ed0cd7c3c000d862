"""A granted lock."""

from __future__ import annotations

import os
import threading
import warnings
from ctypes import POINTER, byref
from functools import partial
from typing import Any, Callable, Generic, TypeVar

from . import _callbacks
from . import _structs as s
from ._arguments import Duration, to_ns
from ._blocks import exit_method
from ._copies import NotCopied, name_of
from ._library import from_ns, lib, text
from ._owned import CALL, LeaseHandle
from ._threads import real
from ._waiting import blocking_work
from .detached import DetachedLease
from .errors import ForkedError, LeaseLostError, NotHolderError, RedlockError, call, taken_error
from .reports import Round, taken_round


_T = TypeVar("_T")
_Event = TypeVar("_Event")


class _Released:
    """Belongs to a lease. It has no finalizer in Python, which could take the exception of a signal
    handler; an _Unreleased has one."""

    def __init__(self, handle: LeaseHandle, resource: str) -> None:
        self._handle = handle
        self._resource = resource


class _Unreleased(_Released):
    """Dropped while the lease is held, it warns."""

    def __del__(self, _warn: Callable[..., Any] = warnings.warn) -> None:
        if lib.redlock_lease_valid(self._handle):
            self._handle.clear()  # first: a filter may make an error of the warning
            _warn(f"the lease on '{self._resource}' was dropped, and so released: keep the Lock or "
                  "Lease while you need it", ResourceWarning, stacklevel=2, source=self)


def _new_turn() -> Any:
    return real("_thread", "allocate_lock")()


class LeaseState(NotCopied, Generic[_Event]):
    """The state of a lease, which the leases of both clients share. It makes no call to the nodes.
    Any thread may read it."""

    _instead = "pass it on as it is, or hand it on to another process with detach()"

    def __init__(self, handle: LeaseHandle, lost: _Event, raise_on_release_error: bool) -> None:
        self._handle = handle
        #: An event: set when the deadline passes without a renewal, and when the client is closed;
        #: not by a release. `lost.wait(seconds)`, or `await lost.wait()`, waits for it.
        self.lost = lost
        self._raise_on_release_error = raise_on_release_error
        # Held during calls that need the handle for themselves, or use it for long.
        self._turn = _new_turn()
        self._process = os.getpid()
        #: All resources of a lease on several; one otherwise.
        self.resources: tuple[str, ...] = tuple(
            text(lib.redlock_lease_resource_at(handle, i))
            for i in range(lib.redlock_lease_resource_count(handle)))
        self._token: str = text(lib.redlock_lease_token(handle))
        self._fencing_token: int | None = lib.redlock_lease_fencing_token(handle) or None
        round = POINTER(s.Round)()
        call(lib.redlock_lease_round, handle, byref(round))
        #: The granting round, node by node.
        self.round: Round = taken_round(round)
        self._warns = _Released(handle, self.resource)
        self._warns.__class__ = _Unreleased

    def _in_turn(self, function: Any, *arguments: Any) -> Any:
        """Calls a function whose first argument is the lease, while nobody else does."""
        # A child of fork(), where every call is refused, has no thread that would end its turn.
        turn = self._turn if self._process == os.getpid() else _new_turn()
        _, result, _ = list(map(CALL, (turn.acquire,
                                       partial(function, self._handle.owned(), *arguments),
                                       turn.release)))
        return result

    def _begin_end(self) -> bool:
        """Claims the end of the lease for the caller, who clears the handle in any case. False: the
        lease had ended before."""
        self._warns.__class__ = _Released
        return self._handle.hide()

    def _end(self, work: Callable[[], _T]) -> _T | None:
        """Does what ends the lease. It ends in any case, also if a handler of a signal raises
        before the work. None: it had ended before."""
        try:
            result = work() if self._begin_end() else None
        except BaseException:
            self._handle.clear()
            raise
        if result is not None:
            self._handle.clear()
        return result

    def _handle_of_block(self) -> LeaseHandle:
        return self._handle

    @property
    def _ended(self) -> bool:
        return self._handle.ended

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
        return bool(lib.redlock_lease_valid(self._handle))

    @property
    def loss(self) -> RedlockError | None:
        """Why it was lost: what `on_lost` gets. None: it was not lost, or the client was closed. It
        is there when `lost` is set."""
        return self._handle.loss

    @property
    def remaining(self) -> float:
        """Seconds until the deadline. 0 if it has passed or the lease has ended."""
        return from_ns(lib.redlock_lease_remaining_ns(self._handle))

    @property
    def valid_until(self) -> float:
        """The deadline: seconds, by the clock of quorum_redlock.now(). 0 after a release."""
        return float(lib.redlock_lease_valid_until_ns(self._handle) / 1e9)

    def detach(self) -> DetachedLease:
        """Ends renewal and ownership, and leaves the key on the nodes until its TTL has passed: for
        handing a lock to another owner, of any process, who calls `Client.adopt` with what is
        returned. Raises NotHolderError if the lease has ended, or is lost: then its key is not
        left for anybody."""
        words = self._end(partial(self._in_turn, lib.redlock_lease_detach))
        detached = text(words) if words is not None else ""
        if not detached:
            raise NotHolderError(f"the lease on '{self.resource}' has ended", code="not_holder")
        return DetachedLease(detached)

    def __repr__(self) -> str:
        return f"<{name_of(type(self))} {self.resource!r} " \
               f"{'valid' if self.valid else 'not valid'}>"


class Lease(LeaseState[threading.Event]):
    """A granted lock, and a context manager that releases it. Dropped without that, it is released
    in the background, and a ResourceWarning says so.

    Until its deadline no other client holds a lease on the resource. Ask `valid` before each step
    that cannot be undone. Any thread may use it."""

    def _call(self, function: Any, *arguments: Any) -> None:
        error = POINTER(s.Error)()
        status = self._in_turn(function, *arguments, byref(error))
        if status != s.OK:
            raise taken_error(error, status)

    def _ask(self, function: Any, *arguments: Any) -> Round:
        round = POINTER(s.Round)()
        blocking_work(partial(self._call, function, *arguments, byref(round)))
        return taken_round(round)

    def extend(self, ttl: Duration) -> Round:
        """Asks for `ttl` from now on. It never shortens a lease. Raises NotHolderError,
        UnavailableError, LimitReachedError, ClosedError, ForkedError, WouldBlockError,
        InvalidArgumentError."""
        return self._ask(lib.redlock_lease_extend, to_ns(ttl, "ttl"))

    def downgrade(self) -> Round:
        """Makes a writer's lease (of a name) a reader's (of `shared`), without a gap: readers that
        wait come in at once, and the deadline and the fencing token stay. It is a reader's from the
        call on, also after an UnavailableError: then the next renewal, or another call, sees to the
        rest of the nodes. There is no way back. Raises NotHolderError, UnavailableError,
        ClosedError, ForkedError, WouldBlockError, and InvalidArgumentError for a lease of several
        resources, of an owner, of a permit or with an interval."""
        return self._ask(lib.redlock_lease_downgrade)

    def release(self) -> Round:
        """Deletes the key on all nodes where it is still this lease's, and waits until no majority
        has it. The lease ends in any case. Raises NotHolderError (it had expired),
        UnavailableError, ClosedError, ForkedError, WouldBlockError."""
        round = self._end(partial(self._ask, lib.redlock_lease_release))
        if round is None:
            raise NotHolderError("the lease has ended")
        return round

    def __enter__(self) -> Lease:
        return self

    def _end_block(self, kind: Any, error: Any, traceback: Any) -> None:
        """Releases. Raises LeaseLostError if the lease had been lost: what the block did was not
        protected to its end. With `raise_on_release_error=False` that is logged. If the block
        raised, that exception goes on, with a note of the loss. Other failures of a release leave
        the key to its TTL, and are logged."""
        valid = self.valid
        try:
            if self._end(partial(self._ask, lib.redlock_lease_release)) is None:
                return
        except RedlockError as failure:
            end_of_block(self, valid, failure, error)
        else:
            end_of_block(self, valid, None, error)

    __exit__ = exit_method(_end_block)


def end_of_block(lease: LeaseState[Any], valid: bool, failure: RedlockError | None,
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
    if lease.loss is not None:
        message += ": " + str(lease.loss).removeprefix(f"lost the lease on '{lease.resource}': ")
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
