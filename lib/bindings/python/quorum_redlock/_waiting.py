"""Calls that can wait for long, and that signals can end.

Python runs the handlers of signals in the main thread, between two steps of the interpreter: never
while that thread is inside a C function. Therefore another thread makes the calls of the main
thread that wait, and the main thread waits for that thread in a way that signals interrupt.
Greenlets of gevent do the same for every call that waits for the nodes.
"""

from __future__ import annotations

import os
import queue
import threading
import weakref
from typing import Any, Callable

from ._library import lib
from ._threads import RealThread, green, make_waker, real
from .errors import NoMemoryError, call


class NativeStop:
    """A redlock_stop."""

    __slots__ = ("pointer", "__weakref__")

    def __init__(self) -> None:
        self.pointer = lib.redlock_stop_new()
        if not self.pointer:
            raise NoMemoryError("no memory")

    def request(self) -> None:
        lib.redlock_stop_request(self.pointer)

    def __del__(self, _free: Callable[..., Any] = lib.redlock_stop_free) -> None:
        if getattr(self, "pointer", None):
            _free(self.pointer)


class Stop:
    """Ends calls that wait, from another thread: they raise `CancelledError`. One may serve any
    number of calls. Any thread may use it, and handlers of signals, too."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._requested = False
        self._calls: weakref.WeakSet[NativeStop] = weakref.WeakSet()

    def request(self) -> None:
        """Ends the calls that have it, now and later."""
        with self._lock:
            self._requested = True
            calls = list(self._calls)
        for native in calls:
            native.request()

    @property
    def requested(self) -> bool:
        return self._requested

    def make_native(self) -> NativeStop:
        """Makes a stop for a single call, which a signal can end alone."""
        native = NativeStop()
        with self._lock:
            self._calls.add(native)
            requested = self._requested
        if requested:
            native.request()
        return native


def make_native_stop(stop: Stop | None) -> NativeStop:
    return NativeStop() if stop is None else stop.make_native()


class _Job:
    __slots__ = ("call", "done", "result", "error")

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call: Callable[[], Any] | None = call
        self.done = make_waker()
        self.result: Any = None
        self.error: BaseException | None = None


class _Worker:
    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job] = real("queue", "SimpleQueue")()
        RealThread(self._run, "quorum_redlock call")

    def _run(self) -> None:
        while True:
            self._do(self.jobs.get())

    def _do(self, job: _Job) -> None:  # a function of its own: its end drops the last job
        call, job.call = job.call, None
        try:
            assert call is not None
            job.result = call()
        except BaseException as error:
            job.error = error
        done = job.done
        del call, job  # the result is the caller's alone
        _idle.append(self)
        done.set()


_idle: list[_Worker] = []
os.register_at_fork(after_in_child=_idle.clear)


def _take_worker() -> _Worker:
    try:
        return _idle.pop()
    except IndexError:
        return _Worker()


def interruptible(call: Callable[[], Any], cancel: Callable[[], Any]) -> Any:
    """`call()`. Meanwhile the main thread runs the handlers of signals, and gevent other greenlets.
    If one of them ends the wait, `cancel` has to end the call, whose result is dropped."""
    if not green() and threading.current_thread() is not threading.main_thread():
        return call()
    job = _Job(call)
    begun = False
    try:
        worker = _take_worker()
        begun = True
        worker.jobs.put(job)
        job.done.wait()
    except BaseException:
        if begun:
            cancel()
            _wait_for_the_end(job)
        raise
    finally:
        job.done.close()
    if job.error is not None:
        try:
            raise job.error
        finally:
            job.error = None  # the error refers to this frame: each would keep the other alive
    return job.result


def _wait_for_the_end(job: _Job) -> None:
    while not job.done.is_set():
        try:
            job.done.wait()
        except BaseException:  # a second Ctrl-C while the first one ends the call
            pass


def blocking(function: Any, *arguments: Any) -> None:
    """errors.call, for a function that waits for the nodes. It waits no longer than the nodes may
    take, so it is not ended early."""
    if green():
        interruptible(lambda: call(function, *arguments), cancel=lambda: None)
    else:
        call(function, *arguments)
