"""The clients of C behind both clients of the package, and what becomes of them.

A callback that enters an interpreter which has ended ends the process, so at the end of the program
every client is freed, and then the thread ends that takes their callbacks. They must not be in use
then."""

from __future__ import annotations

import atexit
import os
import time
import warnings
import weakref
from ctypes import POINTER, byref, c_void_p
from typing import Any, Callable

from . import _callbacks, _leases
from . import _structs as s
from ._library import lib
from ._waiting import blocking
from .errors import ClosedError, RedlockError, call
from .options import set_client_callbacks
from .reports import CloseReport, taken_close_report

_open: weakref.WeakSet[NativeClient] = weakref.WeakSet()


class NativeClient:
    """The common part of both handles. `with handle as pointer:` keeps it from being freed."""

    kind = ""  # the kind of the client, for people
    free: Callable[..., Any]

    def __init__(self, native: s.ClientOptions, signals: _callbacks.ClientSignals) -> None:
        self._pointer: c_void_p | None = None
        self._process = os.getpid()
        # One entry for each use. Appending is atomic, so it needs no lock.
        self._users: list[None] = []
        self.closed = False
        self._context = _callbacks.contexts.add(signals)
        set_client_callbacks(native, signals, self._context)
        made = c_void_p()
        self._create(native, made)
        self._pointer = made
        _callbacks.dispatcher.enter()
        _open.add(self)

    def set_closed(self) -> None:
        if not self.closed:
            self.closed = True
            _callbacks.dispatcher.leave()

    def _create(self, native: s.ClientOptions, made: c_void_p) -> None:
        raise NotImplementedError

    def _end_calls(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> c_void_p:
        self._users.append(None)
        pointer = self._pointer
        if pointer is None:
            self._users.pop()
            raise ClosedError("the client is closed")
        return pointer

    def __exit__(self, *what: Any) -> None:
        self._users.pop()

    def end(self) -> None:
        """At the end of the program. A child of fork() has no client of its parent."""
        if self._pointer is None or self._process != os.getpid():
            return
        if not self.closed:
            self._end_calls()
        pointer, self._pointer = self._pointer, None
        # Calls of threads that the program leaves behind return now.
        deadline = time.monotonic() + 1
        while self._users and time.monotonic() < deadline:
            time.sleep(0.001)
        if not self._users:
            type(self).free(pointer)

    def __del__(self, _remove: Callable[..., Any] = _callbacks.contexts.remove) -> None:
        _remove(self._context)
        pointer, self._pointer = self._pointer, None
        if pointer is None:
            return
        if not self.closed and self._process == os.getpid():
            warnings.warn(f"a {self.kind} was not closed", ResourceWarning, source=self)
            self.set_closed()
        if _callbacks.arrivals.is_this_thread():
            # It must not wait for the nodes: what arrives for other clients would wait as well.
            _callbacks.dispatcher.deliver(type(self).free, pointer)
        else:
            type(self).free(pointer)


class ClientHandle(NativeClient):
    """A redlock_client."""

    kind = "quorum_redlock.Client"
    free = lib.redlock_client_free

    def _create(self, native: s.ClientOptions, made: c_void_p) -> None:
        call(lib.redlock_client_create, byref(native), byref(made))

    def close(self) -> CloseReport:
        report = POINTER(s.CloseReport)()
        with self as pointer:
            blocking(lib.redlock_client_close, pointer, byref(report))
        _leases.notice_losses()
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
    free = lib.redlock_async_free

    def _create(self, native: s.ClientOptions, made: c_void_p) -> None:
        call(lib.redlock_async_create, byref(native), None, byref(made))

    def _end_calls(self) -> None:
        """None of them blocks a thread."""


@atexit.register
def _end() -> None:
    for handle in list(_open):
        handle.end()
    _callbacks.arrivals.stop(patience=1)
    _callbacks.dispatcher.stop(patience=1)
