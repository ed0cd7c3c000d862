"""Calls that can wait for long, and that signals can end.

Python runs the handlers of signals in the main thread, between two bytecodes: never while that
thread is inside a C function. Therefore another thread makes the calls of the main thread that
wait, and the main thread waits for that thread in a way that signals interrupt. Greenlets of gevent
do the same for every call that waits for the nodes.

A handler may raise, which can end the main thread's wait between any two bytecodes. So nothing here
holds a lock of Python's, not even that of a threading.Event, over a bytecode of the main thread:
what the two threads share changes by single functions of C."""

from __future__ import annotations

import itertools
import os
import queue
import threading
import weakref
from functools import partial
from typing import Any, Callable

from ._copies import NotCopied
from ._owned import NativeStop
from ._threads import RealThread, green, make_waker, real
from .errors import call


class Stop(NotCopied):
    """Ends calls that wait, from another thread: they raise `StoppedError`. One may serve any
    number of calls. Any thread may use it, and handlers of signals, too."""

    _instead = "it ends the calls of one process"

    def __init__(self) -> None:
        self._requested = False
        self._numbers = itertools.count()
        self._calls: dict[int, weakref.ref[NativeStop]] = {}

    def request(self) -> None:
        """Ends the calls that have it, now and later."""
        self._requested = True
        for of_call in list(self._calls.values()):
            native = of_call()
            if native is not None:
                native.request()

    @property
    def requested(self) -> bool:
        return self._requested

    def make_native(self) -> NativeStop:
        """Makes a stop for a single call, which a signal can end alone."""
        for number, of_call in list(self._calls.items()):
            if of_call() is None:
                self._calls.pop(number, None)
        native = NativeStop()
        self._calls[next(self._numbers)] = weakref.ref(native)
        if self._requested:  # read last: a request either finds the call, or is found here
            native.request()
        return native


def make_native_stop(stop: Stop | None) -> NativeStop:
    return NativeStop() if stop is None else stop.make_native()


class _Job:
    """A call that a worker makes unless its caller has given it up before."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call: Callable[[], Any] | None = call
        self._claimed: dict[str, object] = {}
        self._waker = make_waker()
        self.done = False
        self.error: BaseException | None = None

    def claim(self, who: object) -> bool:
        """Whether it is the caller's to make, or the worker's. The first claim wins."""
        return self._claimed.setdefault("by", who) is who

    def run(self) -> None:
        """On a worker's thread, which no handler interrupts."""
        call, self._call = self._call, None
        assert call is not None
        try:
            call()
        except BaseException as error:
            self.error = error

    def finish(self) -> None:
        self.done = True
        self._waker.set()

    def wait(self) -> None:
        while not self.done:
            self._waker.wait()

    def close(self) -> None:
        self._waker.close()


class _Workers:
    """Threads that take jobs from one queue. A few stay for later jobs."""

    _most_idle = 4

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job] = real("queue", "SimpleQueue")()
        self._idle: list[None] = []  # one entry for each idle worker; only workers change it

    def add(self, job: _Job) -> None:
        self._jobs.put(job)
        self._begin_if_needed()

    def _begin_if_needed(self) -> None:
        """To be called after a change of either number: at worst, a worker too many begins."""
        if self._jobs.qsize() > len(self._idle):
            RealThread(self._work, "quorum_redlock call").begin()

    def _work(self) -> None:
        self._idle.append(None)
        while self._do(self._jobs.get()):
            pass

    def _do(self, job: _Job) -> bool:  # a function of its own: its end drops the last job
        self._idle.pop()
        self._begin_if_needed()
        claimed = job.claim(self)
        if claimed:
            job.run()
        stays = len(self._idle) < self._most_idle
        if stays:
            self._idle.append(None)
        if claimed:
            job.finish()  # last: the caller's next job finds an idle worker
        return stays


_workers = _Workers()


def _forget_the_parents() -> None:
    global _workers
    _workers = _Workers()


os.register_at_fork(after_in_child=_forget_the_parents)


def interruptible(call: Callable[[], Any], cancel: Callable[[], Any]) -> None:
    """Makes a call. Meanwhile the main thread runs the handlers of signals, and gevent other
    greenlets. If one of them ends the wait, `cancel` has to end the call, and its outcome is the
    caller's to undo."""
    if not green() and threading.get_ident() != threading.main_thread().ident:
        call()
        return
    job = _Job(call)
    try:
        _workers.add(job)
        job.wait()
    except BaseException:
        _end(job, cancel)
        raise
    finally:
        job.close()
    if job.error is not None:
        try:
            raise job.error
        finally:
            job.error = None  # the error refers to this frame: each would keep the other alive


def _end(job: _Job, cancel: Callable[[], Any]) -> None:
    """Returns when the call has ended, or will never begin."""
    while not job.claim(_end):
        try:
            cancel()
            job.wait()
            return
        except BaseException:  # a second Ctrl-C while the first one ends the call
            pass


def blocking_work(work: Callable[[], Any]) -> None:
    """Does what waits for the nodes, no longer than they may take: it is not ended early."""
    if green():
        interruptible(work, cancel=lambda: None)
    else:
        work()


def blocking(function: Any, *arguments: Any) -> None:
    """errors.call, as blocking_work."""
    blocking_work(partial(call, function, *arguments))
