"""Leader election, for asyncio."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Awaitable, Callable, Coroutine, Generator

from .._arguments import Duration
from .._blocks import aexit_method, entered_handle
from .._copies import NotCopied
from .._owned import LeaseHandle
from ..election import BaseElection, BaseLeadership, refuse_wait
from ..errors import HeldError, RedlockError, SplitError, UnavailableError
from ..inspection import Inspection
from ..watching import Leader
from .client import Client
from .lease import Lease


class Election(BaseElection[Client]):
    """A leader among many candidates: an exclusive lock on the election's name, with a fencing
    token as the term. Made by Client.election."""

    def __init__(self, client: Client, name: str, *, candidate: str, ttl: Duration | None,
                 poll_interval: Duration) -> None:
        super().__init__(client, name, candidate, ttl)
        self._poll_interval = poll_interval

    def campaign(self, *, wait: Duration | None = None,
                 on_lost: Callable[[RedlockError], Any] | None = None,
                 on_at_risk: Callable[[float], Any] | None = None,
                 raise_on_release_error: bool = True) -> LeadershipRequest:
        """`async with election.campaign() as leadership:`, or `await election.campaign()`: waits
        until elected. See quorum_redlock.Election.campaign."""
        return LeadershipRequest(lambda handle: self._client._acquire_into(
            handle, self._name, wait=wait, on_lost=on_lost, on_at_risk=on_at_risk,
            raise_on_release_error=raise_on_release_error, **self._terms))

    async def try_campaign(self, **more: Any) -> Leadership | None:
        """Asks once. None: there is another leader, or candidates contend. See
        quorum_redlock.Election.try_campaign."""
        refuse_wait(more)
        try:
            return await self.campaign(wait=0, **more)
        except (HeldError, SplitError):
            return None

    async def leader(self) -> Leader | None:
        """The leader now. Raises UnavailableError, ClosedError, ForkedError."""
        seen = await self._client.inspect(self._name)
        if seen.state == "indeterminate":
            answered = sum(not node.error for node in seen.nodes)
            nodes = "1 node" if len(seen.nodes) == 1 else f"{len(seen.nodes)} nodes"
            raise UnavailableError(f"unknown who leads '{self._name}': {answered} of {nodes} "
                                   f"answered, {seen.quorum} needed")
        return _leader_in(seen)

    async def observe(self) -> AsyncIterator[Leader | None]:
        """`async for leader in election.observe():` the leader, None for none: the first one at
        once, then one after every change. While too few nodes answer, it reports no change."""
        last: Any = self  # no leader, and not None
        async with self._client.watch(self._name, poll_interval=self._poll_interval) as watch:
            async for seen in watch:
                now = _leader_in(seen)
                if now != last:
                    last = now
                    yield now


def _leader_in(seen: Inspection) -> Leader | None:
    if seen.state != "held" or seen.holder is None:
        return None
    # An operator broke the lock of the last leader: the key keeps everybody out for a while.
    if seen.holder[16:40] == 24 * "0":
        return None
    name = seen.holder[41:] if seen.holder[40:41] == ":" else ""
    return Leader(name, seen.holder)


class Leadership(BaseLeadership[Lease, asyncio.Event]):
    """Being the leader: a lease that is renewed in the background, and an asynchronous context
    manager that resigns."""

    async def resign(self) -> None:
        """Waits until another candidate can be elected. Raises as quorum_redlock.Lease.release."""
        await self.lease.release()

    async def __aenter__(self) -> Leadership:
        return self

    @aexit_method
    async def __aexit__(self, kind: Any, error: Any, traceback: Any, guard: Any = None) -> None:
        await self.lease._end_block(kind, error, traceback)


class LeadershipRequest(NotCopied):
    """A candidacy: `await` it for the leadership, or use it as an asynchronous context manager that
    resigns."""

    _instead = Leadership._instead

    def __init__(self, acquire: Callable[[LeaseHandle], Awaitable[Lease]]) -> None:
        self._acquire = acquire
        self._leadership: Leadership | None = None

    async def _campaign(self, handle: LeaseHandle) -> Leadership:
        return Leadership(await self._acquire(handle))

    def __await__(self) -> Generator[Any, None, Leadership]:
        return self._campaign(LeaseHandle()).__await__()

    def __aenter__(self) -> Coroutine[Any, Any, Leadership]:
        return self._enter(entered_handle(self))

    async def _enter(self, handle: LeaseHandle) -> Leadership:
        self._leadership = leadership = await self._campaign(handle)
        return leadership

    @aexit_method
    async def __aexit__(self, kind: Any, error: Any, traceback: Any, guard: Any = None) -> None:
        leadership, self._leadership = self._leadership, None
        if leadership is not None:
            await leadership.lease._end_block(kind, error, traceback)

    def _handle_of_block(self) -> LeaseHandle:
        return LeaseHandle()
