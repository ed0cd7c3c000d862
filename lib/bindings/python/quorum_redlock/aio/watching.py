"""Asynchronous iterators over what changes."""

from __future__ import annotations

import asyncio
from typing import Any, Generic, TypeVar

from .. import _callbacks
from .._copies import NotCopied
from .._handles import AsyncHandle
from .._library import lib
from ..errors import ClosedError, RedlockError, StoppedError
from ._answers import Answer, deliver_to, on_change

T = TypeVar("T")
_NOTHING = object()


class _Feed:
    """The latest change that the iterator has not seen. A slow iterator misses earlier ones."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()
        self._latest: Any = _NOTHING
        self._error: RedlockError | None = None

    def put(self, value: Any, error: RedlockError | None) -> None:
        if error is None:
            self._latest = value
        else:
            self._error = error
        self._changed.set()

    async def take(self) -> Any:
        while self._latest is _NOTHING:
            if isinstance(self._error, StoppedError):
                raise StopAsyncIteration
            if self._error is not None:
                raise self._error
            self._changed.clear()
            await self._changed.wait()
        value, self._latest = self._latest, _NOTHING
        return value


class Watch(NotCopied, Generic[T]):
    """An asynchronous iterator that waits for changes, and ends when it is closed. An asynchronous
    context manager that closes it; dropped, it is closed."""

    _instead = "make it with Client.watch or Election.observe in the process that uses it"

    def __init__(self, client: AsyncHandle, resource: bytes, interval_ns: int) -> None:
        self._client = client
        self._feed = _Feed()
        deliver, put = deliver_to(asyncio.get_running_loop()), self._feed.put
        self._context = _callbacks.contexts.add(
            Answer(lambda value, error: deliver(put, value, error)))
        self._request = lib.redlock_async_watch(client.pointer(), resource, interval_ns, on_change,
                                                self._context)

    def __aiter__(self) -> Watch[T]:
        return self

    async def __anext__(self) -> T:
        value: T = await self._feed.take()
        return value

    def close(self) -> None:
        """Ends the iteration. It does not wait."""
        try:
            lib.redlock_async_cancel(self._client.pointer(), self._request)
        except ClosedError:
            pass

    async def __aenter__(self) -> Watch[T]:
        return self

    async def __aexit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_request"):
            self.close()
