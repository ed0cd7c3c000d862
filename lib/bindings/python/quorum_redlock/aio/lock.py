"""Locks as asyncio has them."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Coroutine

from .._arguments import Duration
from .._blocks import aexit_method, entered_handle
from .._copies import NotCopied, name_of
from .._holds import Holds
from .._owned import LeaseHandle
from .._request import Request, lock_wait_to_ns
from ..errors import HeldError, NotHolderError, SplitError, WouldBlockError
from .lease import Lease


def _this_task() -> object:
    """The task that makes the call, or else the loop; None outside of the loop. To be called before
    the coroutine runs: asyncio.wait_for, create_task, gather and shield run it in another task."""
    try:
        return asyncio.current_task() or asyncio.get_running_loop()
    except RuntimeError:
        return None


def _has_ended(task: object) -> bool:
    return isinstance(task, asyncio.Future) and task.done()


class Lock(NotCopied):
    """A lock that may be acquired again and again, made by Client.lock, which asks no node. An
    asynchronous context manager: `async with lock as lease:` waits as long as the lock's `wait`
    allows. Any number of tasks may share it, and each holds for itself: see quorum_redlock.Lock.
    The task that calls `acquire` holds, even through `asyncio.wait_for(lock.acquire(), 5)`."""

    _instead = "make it with Client.lock in the process that uses it"

    def __init__(self, acquire: Callable[[int, LeaseHandle], Awaitable[Lease]], request: Request,
                 wait_ns: int) -> None:
        self._ask = acquire
        self._request = request
        self._wait_ns = wait_ns
        self._holds: Holds[Lease] = Holds(_has_ended)

    def acquire(self, blocking: bool = True,
                timeout: Duration | None = None) -> Coroutine[Any, Any, bool]:
        """See quorum_redlock.Lock.acquire."""
        return self._try_acquire(_this_task(), blocking, timeout)

    async def _try_acquire(self, owner: object, blocking: bool, timeout: Duration | None) -> bool:
        owner = owner or _this_task()
        wait_ns = lock_wait_to_ns(blocking, timeout, self._wait_ns)
        if not blocking and self._holds.holds(owner):
            return False
        try:
            await self._acquire(owner, wait_ns, LeaseHandle())
        except (HeldError, SplitError):
            return False
        return True

    async def _acquire(self, owner: object, wait_ns: int, handle: LeaseHandle) -> Lease:
        if self._holds.holds(owner):
            raise WouldBlockError(f"this task holds '{self._request.resource}' already, and would "
                                  "wait for itself")
        try:
            lease = await self._ask(wait_ns, handle)
            self._holds.add(owner, lease)
            return lease
        except BaseException:  # a handler of a signal: the caller has got no lease
            handle.clear()
            raise

    def _handle_of_block(self) -> LeaseHandle:
        return LeaseHandle()

    @property
    def lease(self) -> Lease | None:
        """The lease that `release` would release; it may have been lost."""
        lease = self._holds.find(_this_task())
        return None if lease is None or lease._ended else lease

    def locked(self) -> bool:
        """Whether a task holds the lock now, by this object. Asks no node: Client.inspect does."""
        return self._holds.any_valid()

    def release(self) -> Coroutine[Any, Any, None]:
        """See quorum_redlock.Lock.release."""
        return self._release(_this_task())

    async def _release(self, owner: object) -> None:
        lease = self._holds.take(owner or _this_task())
        if lease is None:
            raise NotHolderError(f"this task does not hold '{self._request.resource}'; a lease of "
                                 "Client.acquire may be released by any task")
        try:
            await lease.release()
        finally:
            lease._handle.clear()

    def __aenter__(self) -> Coroutine[Any, Any, Lease]:
        return self._enter(entered_handle(self))

    async def _enter(self, handle: LeaseHandle) -> Lease:
        return await self._acquire(_this_task(), self._wait_ns, handle)

    @aexit_method
    async def __aexit__(self, kind: Any, error: Any, traceback: Any, guard: Any = None) -> None:
        """See Lease. A task that does not hold the lock raises as in `release`."""
        lease = self._holds.take(_this_task())
        if lease is not None:
            await lease._end_block(kind, error, traceback)
        elif error is None:
            await self.release()

    def __repr__(self) -> str:
        return f"<{name_of(type(self))} {self._request.resource!r} " \
               f"{'locked' if self.locked() else 'unlocked'}>"
