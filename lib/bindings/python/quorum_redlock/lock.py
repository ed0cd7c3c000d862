"""Locks as threading has them."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, TypeVar

from ._arguments import Duration
from ._blocks import entered_handle, exit_method
from ._locks import BaseLock, check_decorated
from ._owned import LeaseHandle
from ._request import lock_wait_to_ns
from .errors import HeldError, SplitError
from .lease import Lease

_Function = TypeVar("_Function", bound=Callable[..., Any])
_here = threading.local()


class _Thread:
    """An object that lives as long as a thread."""


class Lock(BaseLock[Lease]):
    """A lock that may be acquired again and again, made by Client.lock, which asks no node. A
    context manager: `with lock as lease:` waits as long as the lock's `wait` allows.

    Any number of threads may share it. Each holds for itself: it waits for the lease of another
    thread as for that of another machine, and it releases only its own lease, or one that a
    thread left which has ended. A thread that holds an exclusive lock, a permit or a hold by
    this object cannot acquire it again before it has released. Keep the object: dropped, it is
    released in the background, and a ResourceWarning says so."""

    _holder = "thread"

    @staticmethod
    def _this_holder() -> object:
        """Identifies the thread, as an ident does, but is never used again for another thread."""
        try:
            return _here.thread
        except AttributeError:
            _here.thread = _Thread()
            return _here.thread

    def acquire(self, blocking: bool = True, timeout: Duration | None = None) -> bool:
        """As that of threading.Lock. False: somebody else has the lock, or contends for it.
        `timeout` None: the lock's `wait`; -1: as long as it takes. Raises UnavailableError,
        ExpiredError, ExcludedError, WouldBlockError (this thread holds it), StoppedError,
        ClosedError, ForkedError, InvalidArgumentError, LimitReachedError."""
        wait_ns = lock_wait_to_ns(blocking, timeout, self._wait_ns)
        if not blocking and self._holds.holds(self._this_holder()):
            return False
        try:
            self._acquire(wait_ns, LeaseHandle())
        except (HeldError, SplitError):
            return False
        return True

    def _acquire(self, wait_ns: int, handle: LeaseHandle) -> Lease:
        self._refuse_again(self._this_holder())
        try:
            lease: Lease = self._ask(wait_ns, handle)
            self._holds.add(self._this_holder(), lease)
            return lease
        except BaseException:  # a handler of a signal: the caller has got no lease
            handle.clear()
            raise

    def release(self) -> None:
        """Releases the lease of this thread, or else one that a thread left which has ended. Raises
        as Lease.release, and NotHolderError if there is no such lease."""
        lease = self._take(self._this_holder())
        try:
            lease.release()
        finally:
            lease._handle.clear()

    def __call__(self, function: _Function) -> _Function:
        """As a decorator of a function: each call acquires the lock, runs the function, and
        releases. The calls share this lock object: within the function, `lease` is that of the
        call. A recursive call would wait for itself, and raises WouldBlockError."""
        check_decorated(function, coroutine=False)

        @functools.wraps(function)
        def locked(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        return locked  # type: ignore[return-value]

    def __enter__(self) -> Lease:
        return self._acquire(self._wait_ns, entered_handle(self))

    @exit_method
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """See Lease. A thread that does not hold the lock raises as in `release`."""
        lease = self._holds.take(self._this_holder())
        if lease is not None:
            lease._end_block(kind, error, traceback)
        elif error is None:
            self.release()
