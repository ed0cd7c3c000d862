"""Locks as threading has them."""

from __future__ import annotations

import threading
from typing import Any, Callable

from ._arguments import Duration
from ._blocks import entered_handle, exit_method
from ._copies import NotCopied, name_of
from ._holds import Holds
from ._owned import LeaseHandle
from ._request import Request, lock_wait_to_ns
from .errors import HeldError, NotHolderError, SplitError, WouldBlockError
from .lease import Lease

_here = threading.local()


class _Thread:
    """An object that lives as long as a thread."""


def _this_thread() -> object:
    """Identifies the thread, as an ident does, but is never used again for another thread."""
    try:
        return _here.thread
    except AttributeError:
        _here.thread = _Thread()
        return _here.thread


class Lock(NotCopied):
    """A lock that may be acquired again and again, made by Client.lock, which asks no node. A
    context manager: `with lock as lease:` waits as long as the lock's `wait` allows.

    Any number of threads may share it. Each holds for itself: it waits for the lease of another
    thread as for that of another machine, and it releases only its own lease, or one that a
    thread left which has ended. A thread that holds an exclusive lock, a permit or a hold by
    this object cannot acquire it again before it has released. Keep the object: dropped, it is
    released in the background, and a ResourceWarning says so."""

    _instead = "make it with Client.lock in the process that uses it"

    def __init__(self, acquire: Callable[[int, LeaseHandle], Lease], request: Request,
                 wait_ns: int) -> None:
        self._ask = acquire
        self._request = request
        self._wait_ns = wait_ns
        self._holds: Holds[Lease] = Holds()

    def acquire(self, blocking: bool = True, timeout: Duration | None = None) -> bool:
        """As that of threading.Lock. False: somebody else has the lock, or contends for it.
        `timeout` None: the lock's `wait`; -1: as long as it takes. Raises UnavailableError,
        ExpiredError, ExcludedError, WouldBlockError (this thread holds it), StoppedError,
        ClosedError, ForkedError, InvalidArgumentError, LimitReachedError."""
        wait_ns = lock_wait_to_ns(blocking, timeout, self._wait_ns)
        if not blocking and self._holds.holds(_this_thread()):
            return False
        try:
            self._acquire(wait_ns, LeaseHandle())
        except (HeldError, SplitError):
            return False
        return True

    def _acquire(self, wait_ns: int, handle: LeaseHandle) -> Lease:
        if self._holds.holds(_this_thread()):
            raise WouldBlockError(f"this thread holds '{self._request.resource}' already, and "
                                  "would wait for itself")
        try:
            lease = self._ask(wait_ns, handle)
            self._holds.add(_this_thread(), lease)
            return lease
        except BaseException:  # a handler of a signal: the caller has got no lease
            handle.clear()
            raise

    def _handle_of_block(self) -> LeaseHandle:
        return LeaseHandle()

    @property
    def lease(self) -> Lease | None:
        """The lease that `release` would release; it may have been lost."""
        lease = self._holds.find(_this_thread())
        return None if lease is None or lease._ended else lease

    def locked(self) -> bool:
        """Whether a thread of this process holds the lock now, by this object. Asks no node:
        Client.inspect does."""
        return self._holds.any_valid()

    def release(self) -> None:
        """Releases the lease of this thread, or else one that a thread left which has ended. Raises
        as Lease.release, and NotHolderError if there is no such lease."""
        lease = self._holds.take(_this_thread())
        if lease is None:
            raise NotHolderError(f"this thread does not hold '{self._request.resource}'; a lease "
                                 "of Client.acquire may be released by any thread")
        try:
            lease.release()
        finally:
            lease._handle.clear()

    def __enter__(self) -> Lease:
        return self._acquire(self._wait_ns, entered_handle(self))

    @exit_method
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """See Lease. A thread that does not hold the lock raises as in `release`."""
        lease = self._holds.take(_this_thread())
        if lease is not None:
            lease._end_block(kind, error, traceback)
        elif error is None:
            self.release()

    def __repr__(self) -> str:
        return f"<{name_of(type(self))} {self._request.resource!r} " \
               f"{'locked' if self.locked() else 'unlocked'}>"
