"""The clients of C behind both clients of the package, and what becomes of them.

A callback that enters an interpreter which has ended ends the process, so at the end of the program
every client is freed, and then the thread ends that takes their callbacks. They must not be in use
then. The stops come before the wait for threads that do not run yet: they end at once."""

from __future__ import annotations

import atexit
import os
import time
import warnings
import weakref
from ctypes import POINTER, byref
from typing import Any, Callable

from . import _callbacks
from . import _structs as s
from ._library import lib
from ._owned import Owned
from ._threads import await_starts
from ._waiting import blocking
from .errors import ClosedError, RedlockError, call
from .options import set_client_callbacks
from .reports import CloseReport, taken_close_report

_open: weakref.WeakSet[NativeClient] = weakref.WeakSet()


class _OwnedClient(Owned, free=lib.redlock_client_free):
    """A redlock_client."""


class _OwnedAsync(Owned, free=lib.redlock_async_free):
    """A redlock_async with a thread of its own."""


class NativeClient:
    """The common part of both handles."""

    kind = ""  # the kind of the client, for people

    def __init__(self, native: s.ClientOptions, signals: _callbacks.ClientSignals,
                 create: Callable[[s.ClientOptions, Any], None], owned: Owned) -> None:
        self._owned: Owned | None = owned
        self._process = os.getpid()
        self.closed = False
        self._context = _callbacks.contexts.add(signals)
        set_client_callbacks(native, signals, self._context)
        create(native, byref(owned["pointer"]))
        _callbacks.dispatcher.enter(self._context)
        _open.add(self)

    def set_closed(self) -> None:
        self.closed = True
        _callbacks.dispatcher.leave(self._context)

    def _end_calls(self) -> None:
        raise NotImplementedError

    def pointer(self) -> Owned:
        """For the calls of C, whose arguments keep it from being freed."""
        if self._owned is None:
            raise ClosedError("the client is closed")
        return self._owned

    def end(self) -> None:
        """At the end of the program. A child of fork() has no client of its parent."""
        if self._owned is None or self._process != os.getpid():
            return
        if not self.closed:
            self._end_calls()
        used = weakref.ref(self._owned)
        self._owned = None
        # Calls of threads that the program leaves behind return now.
        deadline = time.monotonic() + 1
        while used() is not None and time.monotonic() < deadline:
            time.sleep(0.001)

    def __del__(self) -> None:
        owned, self._owned = self._owned, None
        if owned is None:
            return
        if not self.closed and self._process == os.getpid():
            warnings.warn(f"a {self.kind} was not closed", ResourceWarning, source=self)
            self.set_closed()
        if _callbacks.arrivals.is_this_thread():
            # It must not wait for the nodes: what arrives for other clients would wait as well.
            _callbacks.dispatcher.deliver(Owned.free, owned)


class ClientHandle(NativeClient):
    """A redlock_client."""

    kind = "quorum_redlock.Client"

    def __init__(self, native: s.ClientOptions, signals: _callbacks.ClientSignals) -> None:
        super().__init__(native, signals, lambda options, made: call(
            lib.redlock_client_create, byref(options), made), _OwnedClient())

    def close(self) -> CloseReport:
        report = POINTER(s.CloseReport)()
        blocking(lib.redlock_client_close, self.pointer(), byref(report))
        _callbacks.notice_losses()
        self.set_closed()
        return taken_close_report(report)

    def _end_calls(self) -> None:
        try:
            self.close()
        except RedlockError:
            pass


class AsyncHandle(NativeClient):
    """A redlock_async with a thread of its own."""

    kind = "quorum_redlock.aio.Client"

    def __init__(self, native: s.ClientOptions, signals: _callbacks.ClientSignals) -> None:
        super().__init__(native, signals, lambda options, made: call(
            lib.redlock_async_create, byref(options), None, made), _OwnedAsync())
        self.asked: dict[int, Any] = {}  # the contexts of the calls that have no answer

    def _end_calls(self) -> None:
        """None of them blocks a thread."""


@atexit.register
def _end() -> None:
    try:
        for handle in list(_open):
            handle.end()
    finally:  # a handler of a signal may raise here, too
        _callbacks.arrivals.stop(patience=1)
        _callbacks.dispatcher.stop(patience=1)
        await_starts(patience=10)
