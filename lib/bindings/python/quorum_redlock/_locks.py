"""The part that the lock objects of both clients share."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Generic, TypeVar

from ._copies import NotCopied, name_of
from ._holds import Holds
from ._owned import LeaseHandle
from ._request import Request
from .errors import NotHolderError, WouldBlockError
from .lease import LeaseState

_Lease = TypeVar("_Lease", bound=LeaseState)


class BaseLock(NotCopied, Generic[_Lease]):
    """A holder is a thread or a task."""

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
