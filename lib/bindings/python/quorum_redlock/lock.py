"""Locks as threading has them."""

from __future__ import annotations

import threading
from typing import Any, Callable

from ._arguments import Duration
from ._request import Request, lock_wait_to_ns
from .errors import HeldError, NotHolderError, SplitError, WouldBlockError
from .lease import Lease

_here = threading.local()


def _this_thread() -> object:
    """As an ident, but never that of another thread which has ended."""
    try:
        return _here.thread
    except AttributeError:
        _here.thread = object()
        return _here.thread


class Lock:
    """A lock that may be acquired again and again, made by Client.lock, which asks no node. A
    context manager: `with lock as lease:` waits as long as the lock's `wait` allows.

    Any number of threads may share it. Each holds for itself: for another thread's lease it waits
    as for that of another machine, and it releases only its own. A thread that holds an exclusive
    lock, a permit or a hold by this object cannot acquire it again before it has released. Keep the
    object: dropped, it is released in the background, and a ResourceWarning says so."""

    def __init__(self, acquire: Callable[[Request, int], Lease], request: Request,
                 wait_ns: int) -> None:
        self._ask = acquire
        self._request = request
        self._wait_ns = wait_ns
        # By threads, whose end ends no lease: a block may go on in another one.
        self._leases: dict[object, Lease] = {}

    def acquire(self, blocking: bool = True, timeout: Duration | None = None) -> bool:
        """As that of threading.Lock. False: somebody else has the lock, or contends for it.
        `timeout` None: the lock's `wait`; -1: as long as it takes. Raises UnavailableError,
        ExpiredError, ExcludedError, WouldBlockError (this thread holds it), CancelledError,
        ClosedError, ForkedError, InvalidArgumentError, LimitReachedError."""
        wait_ns = lock_wait_to_ns(blocking, timeout, self._wait_ns)
        if not blocking and self._holds():
            return False
        try:
            self._acquire(wait_ns)
        except (HeldError, SplitError):
            return False
        return True

    def _acquire(self, wait_ns: int) -> Lease:
        if self._holds():
            raise WouldBlockError(f"this thread holds '{self._request.resource}' already, and "
                                  "would wait for itself")
        lease = self._ask(self._request, wait_ns)
        self._leases[_this_thread()] = lease
        return lease

    def _holds(self) -> bool:
        """A lease that was lost is in nobody's way."""
        lease = self._leases.get(_this_thread())
        return lease is not None and lease.valid

    @property
    def lease(self) -> Lease | None:
        """That of this thread, until it is released; it may have been lost."""
        lease = self._leases.get(_this_thread())
        return None if lease is None or lease._ended else lease

    def locked(self) -> bool:
        """Whether a thread of this process holds the lock now, by this object. Asks no node:
        Client.inspect does."""
        return any(lease.valid for lease in list(self._leases.values()))

    def release(self) -> None:
        """Releases what this thread holds. Raises as Lease.release, and NotHolderError if this
        thread does not hold it."""
        lease = self._leases.pop(_this_thread(), None)
        if lease is None:
            raise NotHolderError(f"this thread does not hold '{self._request.resource}'; a lease "
                                 "of Client.acquire may be released by any thread")
        lease.release()

    def __enter__(self) -> Lease:
        return self._acquire(self._wait_ns)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """As that of Lease. A thread that does not hold the lock raises as in `release`."""
        lease = self._leases.pop(_this_thread(), None)
        if lease is not None:
            lease.__exit__(kind, error, traceback)
        elif error is None:
            self.release()

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} {self._request.resource!r} " \
               f"{'locked' if self.locked() else 'unlocked'}>"
