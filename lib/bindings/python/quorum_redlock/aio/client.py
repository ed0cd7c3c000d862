"""The client for asyncio."""

from __future__ import annotations

import asyncio
from ctypes import byref
from functools import partial
from typing import Any, Iterable, Mapping, TYPE_CHECKING

from .. import _callbacks
from .._arguments import Duration, encoded, to_ns, wait_to_ns
from .._handles import AsyncHandle
from .._library import lib
from .._owned import LeaseHandle
from .._request import Request
from .._structs import FOREVER
from ..client import BaseClient, native_labels
from ..deployment import LockList
from ..detached import DetachedLease
from ..errors import HeldError, NotGrantedError, SplitError, timed_out
from ..inspection import Inspection
from ..options import AcquireOptions, ClientOptions
from ..reports import CloseReport, Round
from ..targets import TargetLike, by_token, of_resource
from . import deployment
from ._answers import (ask, deliver_to, on_close, on_inspection, on_lease, on_ownership, on_round,
                       on_text)
from .lease import Lease
from .lock import Lock
from .watching import Watch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .election import Election


class Client(BaseClient[AsyncHandle]):
    """Locks over independent Redis masters, for the tasks of the running event loop. Callbacks of
    the options are called in the loop. See quorum_redlock.Client."""

    def __init__(self, nodes: Iterable[str], **options: Unpack[ClientOptions]) -> None:
        super().__init__(AsyncHandle, deliver_to(asyncio.get_running_loop()), nodes, options)
        self._report: CloseReport | None = None

    async def _ask_round(self, function: Any, *arguments: Any) -> Round:
        round: Round = await ask(self._handle, function, *arguments, on_round)
        return round

    def lock(self, target: TargetLike, *, ttl: Duration | None = None,
             wait: Duration | None = None, renew: bool = True, fencing: bool = False,
             **more: Unpack[AcquireOptions]) -> Lock:
        """A lock to be acquired later, again and again: `async with client.lock("x") as lease:`.
        Asks no node. See quorum_redlock.Client.lock."""
        request = self._request(target, ttl, renew, fencing, more)
        return Lock(partial(self._acquire, request), request, wait_to_ns(wait))

    async def acquire(self, target: TargetLike, *, wait: Duration | None = None,
                      ttl: Duration | None = None, renew: bool = True, fencing: bool = False,
                      **more: Unpack[AcquireOptions]) -> Lease:
        """Waits until the lock is granted. Cancelling the task ends the wait. See
        quorum_redlock.Client.acquire."""
        return await self._acquire_into(LeaseHandle(), target, wait=wait, ttl=ttl, renew=renew,
                                        fencing=fencing, **more)

    async def _acquire_into(self, handle: LeaseHandle, target: TargetLike, *,
                            wait: Duration | None = None, ttl: Duration | None = None,
                            renew: bool = True, fencing: bool = False,
                            **more: Unpack[AcquireOptions]) -> Lease:
        return await self._acquire(self._request(target, ttl, renew, fencing, more),
                                   wait_to_ns(wait), handle)

    async def try_acquire(self, target: TargetLike, *, ttl: Duration | None = None,
                          renew: bool = True, fencing: bool = False,
                          **more: Unpack[AcquireOptions]) -> Lease | None:
        """Asks once and does not wait. None: somebody else has the lock, or contends for it."""
        try:
            return await self._acquire(self._request(target, ttl, renew, fencing, more), 0,
                                       LeaseHandle())
        except (HeldError, SplitError):
            return None

    async def _acquire(self, request: Request, wait_ns: int, handle: LeaseHandle) -> Lease:
        try:
            return await self._granted(request, handle, lib.redlock_async_try_acquire_for,
                                       byref(request.target), wait_ns,
                                       cancel=lib.redlock_async_cancel)
        except NotGrantedError as failure:
            if wait_ns == FOREVER:
                raise
            raise timed_out(failure) from None

    async def _granted(self, request: Request, handle: LeaseHandle, function: Any, *arguments: Any,
                       cancel: Any = None) -> Lease:
        """The lease that a function puts into the handle. If it is interrupted, there is none."""
        lost = asyncio.Event()
        deliver = deliver_to(asyncio.get_running_loop())
        try:
            options = request.prepare(handle, deliver, lambda: deliver(lost.set))
            await ask(self._handle, function, *arguments, byref(options), on_lease, cancel=cancel,
                      handle=handle)
            return Lease(self._handle, handle, lost, request.raise_on_release_error)
        except BaseException:
            handle.clear()
            raise

    async def adopt(self, detached: str, *, ttl: Duration | None = None, renew: bool = True,
                    **more: Unpack[AcquireOptions]) -> Lease:
        """See quorum_redlock.Client.adopt."""
        text = DetachedLease(detached)
        request = self._request(text.resource, ttl, renew, False, more)
        return await self._granted(request, LeaseHandle(), lib.redlock_async_adopt,
                                   encoded(text, "detached"))

    # face: calls by a token
    async def extend(self, target: TargetLike, token: str, ttl: Duration) -> Round:
        """See quorum_redlock.Client.extend."""
        return await self._ask_round(lib.redlock_async_extend, *by_token(target, token),
                                     to_ns(ttl, "ttl"))

    async def downgrade(self, resource: str, token: str) -> Round:
        """See quorum_redlock.Client.downgrade."""
        return await self._ask_round(lib.redlock_async_downgrade, *of_resource(resource, token))

    async def release(self, target: TargetLike, token: str) -> Round:
        """See quorum_redlock.Client.release."""
        return await self._ask_round(lib.redlock_async_release, *by_token(target, token))

    async def break_lock(self, resource: str, token: str, *, delay: Duration = 0) -> Round:
        """See quorum_redlock.Client.break_lock."""
        return await self._ask_round(lib.redlock_async_break, *of_resource(resource, token),
                                     to_ns(delay, "delay"))
    # face: end

    async def ownership(self, resource: str, token: str) -> bool:
        """Whether the token holds the resource now. See quorum_redlock.Client.ownership."""
        held: bool = await ask(self._handle, lib.redlock_async_ownership,
                               *of_resource(resource, token), on_ownership)
        return held

    async def inspect(self, resource: str) -> Inspection:
        """Asks every node what it stores for the resource. See quorum_redlock.Client.inspect."""
        seen: Inspection = await ask(self._handle, lib.redlock_async_inspect,
                                     encoded(resource, "resource"), on_inspection)
        return seen

    def watch(self, resource: str, *, poll_interval: Duration = 0) -> Watch[Inspection]:
        """`async for inspection in client.watch("x"):` see quorum_redlock.Client.watch."""
        return Watch(self._handle, encoded(resource, "resource"),
                     to_ns(poll_interval, "poll_interval"))

    def election(self, name: str, *, candidate: str = "", ttl: Duration | None = None,
                 poll_interval: Duration = 0) -> Election:
        """A leader among many candidates. See quorum_redlock.Client.election."""
        from .election import Election  # which needs this module
        return Election(self, name, candidate=candidate, ttl=ttl, poll_interval=poll_interval)

    async def list_locks(self, pattern: str | None = None, *,
                         keys_per_node: int = 0) -> LockList:
        """Lists the locks that the nodes store, in a thread: see aio.deployment.list_locks."""
        return await deployment.list_locks(self._nodes, pattern, keys_per_node=keys_per_node,
                                           **self._options)

    async def prometheus(self, labels: Mapping[str, str] | None = None) -> str:
        """See quorum_redlock.Client.prometheus."""
        metrics: str = await ask(self._handle, lib.redlock_async_prometheus,
                                 *native_labels(labels), on_text)
        return metrics

    async def close(self) -> CloseReport:
        """Ends every call with ClosedError, releases every lease, waits for the answers, at most
        one node time limit, and closes the connections."""
        if self._report is None:
            self._handle.set_closed()
            self._report = await ask(self._handle, lib.redlock_async_close, on_close)
            _callbacks.notice_losses()
        return self._report

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        await self.close()
