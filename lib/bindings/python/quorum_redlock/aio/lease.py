"""A granted lock, for asyncio."""

from __future__ import annotations

import asyncio
from ctypes import c_void_p
from typing import Any

from .._arguments import Duration, to_ns
from .._handles import AsyncHandle
from .._library import lib
from ..errors import NotHolderError, RedlockError
from ..lease import LeaseHandle, LeaseState, end_of_block
from ..reports import Round
from ._answers import ask, deliver_to, on_round


class Lease(LeaseState):
    """A granted lock, and an asynchronous context manager that releases it. Dropped without that,
    it is released in the background. See quorum_redlock.Lease."""

    def __init__(self, client: AsyncHandle, handle: LeaseHandle, lost: asyncio.Event,
                 raise_on_release_error: bool) -> None:
        super().__init__(handle, raise_on_release_error)
        self._client = client
        self._deliver = deliver_to(asyncio.get_running_loop())
        #: Set when the deadline passes without a renewal, and when the client is closed; not by a
        #: release. `await lost.wait()` waits for it.
        self.lost = lost

    def _set_lost(self) -> None:
        self._deliver(self.lost.set)

    async def extend(self, ttl: Duration) -> Round:
        """See quorum_redlock.Lease.extend."""
        handle, ns = self._handle, to_ns(ttl, "ttl")
        if handle is None:
            raise NotHolderError("the lease has ended")
        round: Round = await ask(self._client, lib.redlock_async_lease_extend, handle.pointer, ns,
                                 on_round)
        return round

    async def downgrade(self) -> Round:
        """See quorum_redlock.Lease.downgrade."""
        handle = self._handle
        if handle is None:
            raise NotHolderError("the lease has ended")
        round: Round = await ask(self._client, lib.redlock_async_lease_downgrade, handle.pointer,
                                 on_round)
        return round

    async def release(self) -> Round:
        """See quorum_redlock.Lease.release. A task that is cancelled meanwhile does not wait for
        the answer."""
        handle = self._take()
        if handle is None:
            raise NotHolderError("the lease has ended")
        # The call frees it.
        pointer, handle.pointer = handle.pointer, c_void_p()
        round: Round = await ask(self._client, lib.redlock_async_lease_release, pointer, on_round)
        return round

    async def __aenter__(self) -> Lease:
        return self

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
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
