"""A granted lock, for asyncio."""

from __future__ import annotations

import asyncio
from ctypes import byref
from typing import Any, Generator, TYPE_CHECKING

from .. import _callbacks
from .._arguments import Duration, to_ns
from .._handles import AsyncHandle
from .._library import lib
from ..errors import NotHolder, RedlockError
from ..lease import LeaseHandle, LeaseState, end_of_block
from ..options import AcquireOptions, native_acquire_options
from ..reports import Round
from ..targets import TargetLike, native_target
from ._answers import ask, deliver_to, on_lease, on_round

if TYPE_CHECKING:
    from .election import Leadership


class Lease(LeaseState):
    """A granted lock, and an asynchronous context manager that releases it. Dropped without that,
    it is released in the background. See quorum_redlock.Lease."""

    def __init__(self, client: AsyncHandle, handle: LeaseHandle, lost: asyncio.Event) -> None:
        super().__init__(handle)
        self._client = client
        #: Set when the deadline passes without a renewal; not by a release. `await lost.wait()`
        #: waits for it.
        self.lost = lost

    async def extend(self, ttl: Duration) -> Round:
        """See quorum_redlock.Lease.extend."""
        handle, ns = self._handle, to_ns(ttl, "ttl")
        if handle is None:
            raise NotHolder("the lease has ended")
        return await ask(self._client, lib.redlock_async_lease_extend, handle.pointer, ns, on_round)

    async def release(self) -> Round:
        """See quorum_redlock.Lease.release. A task that is cancelled meanwhile does not wait for
        the answer."""
        handle = self._take()
        if handle is None:
            raise NotHolder("the lease has ended")
        # The call frees it.
        pointer, handle.pointer = handle.pointer, None
        return await ask(self._client, lib.redlock_async_lease_release, pointer, on_round)

    async def __aenter__(self) -> Lease:
        return self

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        """Releases. Raises NotHolder if the lease had been lost: what the block did was not
        protected to its end. Other failures leave the key to its TTL, and are logged."""
        if self._handle is None:
            return
        try:
            await self.release()
        except RedlockError as failure:
            end_of_block(failure, error)


class LeaseRequest:
    """A lock that is not yet asked for: `await` it for the lease, or use it as an asynchronous
    context manager that releases the lease. Once only."""

    def __init__(self, client: AsyncHandle, target: TargetLike, wait_ns: int,
                 terms: dict[str, Any], more: AcquireOptions) -> None:
        self._client = client
        self._target = native_target(target)
        self._wait_ns = wait_ns
        self._terms = terms
        self._more = more
        self._lease: Lease | None = None

    async def _acquire(self) -> Lease:
        loop = asyncio.get_running_loop()
        lost = asyncio.Event()
        deliver = deliver_to(loop)
        signals = _callbacks.LeaseSignals(deliver, lambda: deliver(lost.set),
                                          self._more.get("on_lost"), self._more.get("on_at_risk"))
        number = _callbacks.contexts.add(signals)
        try:
            options = native_acquire_options(self._more, wait_ns=self._wait_ns, context=number,
                                             **self._terms)
            handle = await ask(self._client, lib.redlock_async_acquire, byref(self._target),
                               byref(options), on_lease, cancel=lib.redlock_async_cancel)
        except BaseException:
            _callbacks.contexts.remove(number)
            raise
        handle.context = number
        return Lease(self._client, handle, lost)

    def __await__(self) -> Generator[Any, None, Lease]:
        return self._acquire().__await__()

    async def __aenter__(self) -> Lease:
        self._lease = await self._acquire()
        return self._lease

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self._lease is not None:
            await self._lease.__aexit__(kind, error, traceback)


class LeadershipRequest:
    """A candidacy: `await` it for the leadership, or use it as an asynchronous context manager that
    resigns."""

    def __init__(self, request: LeaseRequest) -> None:
        self._request = request

    async def _campaign(self) -> Leadership:
        from .election import Leadership  # which needs this module
        return Leadership(await self._request)

    def __await__(self) -> Generator[Any, None, Leadership]:
        return self._campaign().__await__()

    async def __aenter__(self) -> Leadership:
        from .election import Leadership
        return Leadership(await self._request.__aenter__())

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        await self._request.__aexit__(kind, error, traceback)
