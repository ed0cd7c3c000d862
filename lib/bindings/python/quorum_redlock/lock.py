"""Locks as threading has them."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any, Callable, Generic, TypeVar

from ._arguments import Duration
from ._blocks import entered_handle, exit_method
from ._copies import NotCopied, name_of
from ._holds import Holds
from ._owned import LeaseHandle
from ._request import Request, lock_wait_to_ns
from .errors import HeldError, NotHolderError, SplitError, WouldBlockError
from .lease import Lease, LeaseState

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Lease = TypeVar("_Lease", bound=LeaseState[Any])
_here = threading.local()


class BaseLock(NotCopied, Generic[_Lease]):
    """The part that the locks of both clients share. A holder is a thread or a task."""

    _instead = "make it with Client.lock in the process that uses it"
    _holder: str  #: the word for one

    @staticmethod
    def _this_holder() -> object:
        raise NotImplementedError

    @staticmethod
    def _has_ended(holder: Any) -> bool:
        """Of a holder that still exists. One that was collected has ended."""
        return False

    def __init__(self, acquire: Callable[[int, LeaseHandle], Any], request: Request,
                 wait_ns: int) -> None:
        self._ask = acquire
        self._request = request
        self._wait_ns = wait_ns
        self._holds: Holds[_Lease] = Holds(self._has_ended)

    def _refuse_again(self, holder: object) -> None:
        if self._holds.holds(holder):
            raise WouldBlockError(f"this {self._holder} holds '{self._request.resource}' already, "
                                  "and would wait for itself")

    def _take(self, holder: object) -> _Lease:
        lease = self._holds.take(holder)
        if lease is None:
            raise NotHolderError(
                f"this {self._holder} does not hold '{self._request.resource}'; a lease of "
                f"Client.acquire may be released by any {self._holder}")
        return lease

    def _handle_of_block(self) -> LeaseHandle:
        return LeaseHandle()

    @property
    def lease(self) -> _Lease | None:
        """The lease that `release` would release; it may have been lost."""
        lease = self._holds.find(self._this_holder())
        return None if lease is None or lease._ended else lease

    def locked(self) -> bool:
        """Whether a thread of this process, or a task, holds the lock now, by this object. Asks no
        node: Client.inspect does."""
        return self._holds.any_valid()

    def __repr__(self) -> str:
        return f"<{name_of(type(self))} {self._request.resource!r} " \
               f"{'locked' if self.locked() else 'unlocked'}>"


def check_decorated(function: Any, *, coroutine: bool) -> None:
    """Refuses a function that a lock of this client would not protect to its end."""
    if not callable(function):
        raise TypeError(f"what the lock decorates is {function!r}; a function is needed")
    name = getattr(function, "__qualname__", None) or repr(function)

    def is_a(kind: Callable[[Any], bool]) -> bool:
        return kind(function) or kind(type(function).__call__)

    if is_a(inspect.isgeneratorfunction) or is_a(inspect.isasyncgenfunction):
        raise TypeError(f"{name} is a generator function; acquire the lock in its body")
    if is_a(inspect.iscoroutinefunction) and not coroutine:
        raise TypeError(f"{name} is a coroutine function; a lock of quorum_redlock.aio.Client is "
                        "needed: this one would be released before the first step")
    if coroutine and not is_a(inspect.iscoroutinefunction):
        raise TypeError(f"{name} is not a coroutine function; `async def`, or a lock of "
                        "quorum_redlock.Client, is needed")


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
