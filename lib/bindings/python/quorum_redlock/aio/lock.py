"""Locks as asyncio has them."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable

from .._arguments import Duration
from .._request import Request, lock_wait_to_ns
from ..errors import HeldError, NotHolderError, SplitError, WouldBlockError
from .lease import Lease


def _this_task() -> object:
    return asyncio.current_task() or asyncio.get_running_loop()


class Lock:
    """A lock that may be acquired again and again, made by Client.lock, which asks no node. An
    asynchronous context manager: `async with lock as lease:` waits as long as the lock's `wait`
    allows. Any number of tasks may share it, and each holds for itself: see quorum_redlock.Lock."""

    def __init__(self, acquire: Callable[[Request, int], Awaitable[Lease]], request: Request,
                 wait_ns: int) -> None:
        self._ask = acquire
        self._request = request
        self._wait_ns = wait_ns
        # By tasks, whose end ends no lease: a block may go on in another one.
        self._leases: dict[object, Lease] = {}

    async def acquire(self, blocking: bool = True, timeout: Duration | None = None) -> bool:
        """See quorum_redlock.Lock.acquire."""
        wait_ns = lock_wait_to_ns(blocking, timeout, self._wait_ns)
        if not blocking and self._holds():
            return False
        try:
            await self._acquire(wait_ns)
        except (HeldError, SplitError):
            return False
        return True

    async def _acquire(self, wait_ns: int) -> Lease:
        if self._holds():
            raise WouldBlockError(f"this task holds '{self._request.resource}' already, and would "
                                  "wait for itself")
        lease = await self._ask(self._request, wait_ns)
        self._leases[_this_task()] = lease
        return lease

    def _holds(self) -> bool:
        """A lease that was lost is in nobody's way."""
        lease = self._leases.get(_this_task())
        return lease is not None and lease.valid

    @property
    def lease(self) -> Lease | None:
        """That of this task, until it is released; it may have been lost."""
        lease = self._leases.get(_this_task())
        return None if lease is None or lease._ended else lease

    def locked(self) -> bool:
        """Whether a task holds the lock now, by this object. Asks no node: Client.inspect does."""
        return any(lease.valid for lease in self._leases.values())

    async def release(self) -> None:
        """Releases what this task holds. Raises as Lease.release, and NotHolderError if this task
        does not hold it."""
        lease = self._leases.pop(_this_task(), None)
        if lease is None:
            raise NotHolderError(f"this task does not hold '{self._request.resource}'; a lease of "
                                 "Client.acquire may be released by any task")
        await lease.release()

    async def __aenter__(self) -> Lease:
        return await self._acquire(self._wait_ns)

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """As that of Lease. A task that does not hold the lock raises as in `release`."""
        lease = self._leases.pop(_this_task(), None)
        if lease is not None:
            await lease.__aexit__(kind, error, traceback)
        elif error is None:
            await self.release()

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} {self._request.resource!r} " \
               f"{'locked' if self.locked() else 'unlocked'}>"
