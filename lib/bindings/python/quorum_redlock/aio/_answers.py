"""From the thread that takes callbacks to the event loop."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Callable

from .. import _callbacks
from .. import _structs as s
from .._handles import AsyncHandle
from .._library import lib, taken_text
from .._owned import LeaseHandle
from ..errors import RedlockError, taken_error
from ..inspection import taken_inspection
from ..reports import taken_close_report, taken_round


def deliver_to(loop: asyncio.AbstractEventLoop) -> _callbacks.Deliver:
    """Calls functions in the loop. After the loop is closed, the calls are dropped."""
    def deliver(function: Callable[..., Any], *arguments: Any) -> None:
        try:
            loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            pass
    return deliver


class Answer:
    """Receives the outcome of a call: a value and None, or None and an error. Called on the thread
    that takes callbacks."""

    __slots__ = ("settle", "handle", "asked")

    def __init__(self, settle: Callable[[Any, RedlockError | None], Any],
                 handle: LeaseHandle | None = None, asked: dict[int, Any] | None = None) -> None:
        self.settle = settle
        self.handle = handle  #: for a lease
        self.asked = asked  #: what keeps the answer until it comes


async def ask(client: AsyncHandle, function: Callable[..., Any], *arguments: Any,
              cancel: Callable[..., Any] | None = None, handle: LeaseHandle | None = None) -> Any:
    """Makes a call, and waits for the answer. If the task is cancelled, `cancel` cancels the call,
    and the answer is dropped."""
    asked = Asked(client, function, *arguments, handle=handle)
    try:
        return await asked.answer
    except BaseException:  # cancelled, or a handler of a signal has raised
        if cancel is not None:
            cancel(client.pointer(), asked.request)
        raise


class Asked:
    """A call that has begun."""

    def __init__(self, client: AsyncHandle, function: Callable[..., Any], *arguments: Any,
                 handle: LeaseHandle | None = None) -> None:
        """Calls a function whose first argument is the client and whose last argument is the
        context of its answer. A lease gets into the handle."""
        loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = loop.create_future()
        context = _callbacks.contexts.add(Answer(
            partial(deliver_to(loop), _settle, self.answer), handle, client.asked))
        # Nobody else need keep the task that waits. If the client is dropped, so is the task.
        client.asked[context] = None
        self.request = function(client.pointer(), *arguments, context)


def _settle(future: asyncio.Future[Any], value: Any, error: RedlockError | None) -> None:
    if future.done():
        return  # cancelled
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


def _answer(context: int, take: Callable[[], Any], error: Any) -> None:
    answer = _callbacks.contexts.take(context)
    failure = taken_error(error) if error else None
    value = None if failure is not None else take()
    if answer is not None:
        _callbacks.guarded(answer.settle, value, failure)
        if answer.asked is not None:
            answer.asked.pop(context, None)


@_callbacks.native(s.LeaseDone)
def on_lease(context: int, lease: Any, error: Any) -> None:
    answer = _callbacks.contexts.find(context)
    owned = None if answer is None else answer.handle.get("owned")
    if owned is not None:
        owned["pointer"].value = lease
    elif lease:  # the caller has given up
        lib.redlock_lease_free(lease)
    del owned
    _answer(context, lambda: None, error)


def _answering(kind: Any, take: Callable[[Any], Any]) -> Any:
    """The callback for results of which `take` makes the answer."""
    return _callbacks.native(kind)(
        lambda context, result, error: _answer(context, lambda: take(result), error))


on_round = _answering(s.RoundDone, taken_round)
on_inspection = _answering(s.InspectionDone, taken_inspection)
on_ownership = _answering(s.OwnershipDone, bool)
on_text = _answering(s.TextDone, taken_text)
on_close = _answering(s.CloseDone, taken_close_report)


# The only callback that is called more than once. Its last call has an error.
@_callbacks.native(s.InspectionDone)
def on_change(context: int, inspection: Any, error: Any) -> None:
    if error:
        return _answer(context, lambda: None, error)
    answer = _callbacks.contexts.find(context)
    value = taken_inspection(inspection)
    if answer is not None:
        _callbacks.guarded(answer.settle, value, None)
