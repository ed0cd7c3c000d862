"""Locks as asyncio has them."""

from __future__ import annotations

import asyncio
import functools
from typing import Any, Callable, Coroutine, TypeVar

from .._arguments import Duration
from .._blocks import aexit_method, entered_handle
from .._owned import LeaseHandle
from .._request import lock_wait_to_ns
from ..errors import HeldError, SplitError
from ..lock import BaseLock, check_decorated
from .lease import Lease


_Function = TypeVar("_Function", bound=Callable[..., Coroutine[Any, Any, Any]])


class Lock(BaseLock[Lease]):
    """A lock that may be acquired again and again, made by Client.lock, which asks no node. An
    asynchronous context manager: `async with lock as lease:` waits as long as the lock's `wait`
    allows. Any number of tasks may share it, and each holds for itself: see quorum_redlock.Lock.
    The task that calls `acquire` holds, even through `asyncio.wait_for(lock.acquire(), 5)`."""

    _holder = "task"

    @staticmethod
    def _this_holder() -> object:
        """The task that makes the call, or else the loop; None outside of the loop. To be called
        before the coroutine runs: asyncio.wait_for, create_task, gather and shield run it in
        another task."""
        try:
            return asyncio.current_task() or asyncio.get_running_loop()
        except RuntimeError:
            return None

    @staticmethod
    def _has_ended(task: Any) -> bool:
        return isinstance(task, asyncio.Future) and task.done()

    def acquire(self, blocking: bool = True,
                timeout: Duration | None = None) -> Coroutine[Any, Any, bool]:
        """See quorum_redlock.Lock.acquire."""
        return self._try_acquire(self._this_holder(), blocking, timeout)

    async def _try_acquire(self, owner: object, blocking: bool, timeout: Duration | None) -> bool:
        owner = owner or self._this_holder()
        wait_ns = lock_wait_to_ns(blocking, timeout, self._wait_ns)
        if not blocking and self._holds.holds(owner):
            return False
        try:
            await self._acquire(owner, wait_ns, LeaseHandle())
        except (HeldError, SplitError):
            return False
        return True

    async def _acquire(self, owner: object, wait_ns: int, handle: LeaseHandle) -> Lease:
        self._refuse_again(owner)
        try:
            lease: Lease = await self._ask(wait_ns, handle)
            self._holds.add(owner, lease)
            return lease
        except BaseException:  # a handler of a signal: the caller has got no lease
            handle.clear()
            raise

    def release(self) -> Coroutine[Any, Any, None]:
        """See quorum_redlock.Lock.release."""
        return self._release(self._this_holder())

    async def _release(self, owner: object) -> None:
        lease = self._take(owner or self._this_holder())
        try:
            await lease.release()
        finally:
            lease._handle.clear()

    def __call__(self, function: _Function) -> _Function:
        """As a decorator of an `async def`: see quorum_redlock.Lock."""
        check_decorated(function, coroutine=True)

        @functools.wraps(function)
        async def locked(*arguments: Any, **named: Any) -> Any:
            async with self:
                return await function(*arguments, **named)

        return locked  # type: ignore[return-value]

    def __aenter__(self) -> Coroutine[Any, Any, Lease]:
        return self._enter(entered_handle(self))

    async def _enter(self, handle: LeaseHandle) -> Lease:
        return await self._acquire(self._this_holder(), self._wait_ns, handle)

    @aexit_method
    async def __aexit__(self, kind: Any, error: Any, traceback: Any, guard: Any = None) -> None:
        """See Lease. A task that does not hold the lock raises as in `release`."""
        lease = self._holds.take(self._this_holder())
        if lease is not None:
            await lease._end_block(kind, error, traceback)
        elif error is None:
            await self.release()
