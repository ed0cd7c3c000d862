"""From the thread that takes callbacks to the event loop."""

from __future__ import annotations

import asyncio
from ctypes import c_void_p
from typing import Any, Callable

from .. import _callbacks
from .. import _structs as s
from .._handles import AsyncHandle
from ..errors import RedlockError, taken_error
from ..inspection import taken_inspection
from ..lease import LeaseHandle
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

    __slots__ = ("settle",)

    def __init__(self, settle: Callable[[Any, RedlockError | None], Any]) -> None:
        self.settle = settle


async def ask(client: AsyncHandle, function: Callable[..., Any], *arguments: Any,
              cancel: Callable[..., Any] | None = None) -> Any:
    """Calls a function whose first argument is the client and whose last argument is the context of
    its answer, and waits for the answer. If the task is cancelled, `cancel` cancels the call, and
    the answer is dropped."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    deliver = deliver_to(loop)
    with client as pointer:
        request = function(pointer, *arguments, _callbacks.contexts.add(
            Answer(lambda value, error: deliver(_settle, future, value, error))))
    try:
        return await future
    except asyncio.CancelledError:
        if cancel is not None:
            with client as pointer:
                cancel(pointer, request)
        raise


def _settle(future: asyncio.Future[Any], value: Any, error: RedlockError | None) -> None:
    if future.done():
        return  # cancelled: the value is dropped, which releases a lease
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


def _answer(context: int, take: Callable[[], Any], error: Any) -> None:
    answer = _callbacks.contexts.remove(context)
    failure = taken_error(error) if error else None
    value = None if failure is not None else take()
    if answer is not None:
        _callbacks.guarded(answer.settle, value, failure)


def _taken_lease(pointer: int) -> LeaseHandle:
    handle = LeaseHandle(0)
    handle.pointer = c_void_p(pointer)
    return handle


@_callbacks.native(s.LeaseDone)
def on_lease(context: int, lease: Any, error: Any) -> None:
    _answer(context, lambda: _taken_lease(lease), error)


@_callbacks.native(s.RoundDone)
def on_round(context: int, round: Any, error: Any) -> None:
    _answer(context, lambda: taken_round(round), error)


@_callbacks.native(s.InspectionDone)
def on_inspection(context: int, inspection: Any, error: Any) -> None:
    _answer(context, lambda: taken_inspection(inspection), error)


@_callbacks.native(s.OwnershipDone)
def on_ownership(context: int, held: bool, error: Any) -> None:
    _answer(context, lambda: held, error)


@_callbacks.native(s.CloseDone)
def on_close(context: int, report: Any, error: Any) -> None:
    _answer(context, lambda: taken_close_report(report), error)


# The only callback that is called more than once. Its last call has an error.
@_callbacks.native(s.InspectionDone)
def on_change(context: int, inspection: Any, error: Any) -> None:
    if error:
        return _answer(context, lambda: None, error)
    answer = _callbacks.contexts.find(context)
    value = taken_inspection(inspection)
    if answer is not None:
        _callbacks.guarded(answer.settle, value, None)
