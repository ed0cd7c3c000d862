"""A granted lock, for asyncio."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from .._arguments import Duration, to_ns
from .._blocks import aexit_method
from .._handles import AsyncHandle
from .._library import lib
from .._owned import CALL, LeaseHandle, Owned
from ..errors import NotHolderError, RedlockError
from ..lease import LeaseState, end_of_block
from ..reports import Round
from ._answers import Asked, ask, on_round


class Lease(LeaseState[asyncio.Event]):
    """A granted lock, and an asynchronous context manager that releases it. Dropped without that,
    it is released in the background. See quorum_redlock.Lease."""

    def __init__(self, client: AsyncHandle, handle: LeaseHandle, lost: asyncio.Event,
                 raise_on_release_error: bool) -> None:
        super().__init__(handle, lost, raise_on_release_error)
        self._client = client

    async def extend(self, ttl: Duration) -> Round:
        """See quorum_redlock.Lease.extend."""
        return await self._ask(lib.redlock_async_lease_extend, to_ns(ttl, "ttl"))

    async def downgrade(self) -> Round:
        """See quorum_redlock.Lease.downgrade."""
        return await self._ask(lib.redlock_async_lease_downgrade)

    async def _ask(self, function: Any, *arguments: Any) -> Round:
        round: Round = await ask(self._client, partial(self._call, function), *arguments, on_round)
        return round

    def _call(self, function: Any, client: Owned, *arguments: Any) -> None:
        function(client, self._handle.owned(), *arguments)

    async def release(self) -> Round:
        """See quorum_redlock.Lease.release. A task that is cancelled meanwhile does not wait for
        the answer."""
        asked = self._end(partial(Asked, self._client, self._begin_release, on_round))
        if asked is None:
            raise NotHolderError("the lease has ended")
        round: Round = await asked.answer
        return round

    def _begin_release(self, client: Owned, *arguments: Any) -> None:
        list(map(CALL, (
            partial(lib.redlock_async_lease_release, client, self._handle.owned(), *arguments),
            self._handle.owned().clear)))  # the call has freed it

    async def __aenter__(self) -> Lease:
        return self

    async def _end_block(self, kind: Any, error: Any, traceback: Any, guard: Any = None) -> None:
        """See quorum_redlock.Lease.__exit__."""
        if self._ended:
            return
        valid = self.valid
        try:
            await self.release()
        except RedlockError as failure:
            end_of_block(self, valid, failure, error)
        else:
            end_of_block(self, valid, None, error)

    __aexit__ = aexit_method(_end_block)
