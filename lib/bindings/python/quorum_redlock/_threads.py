"""Threads of the operating system, and what wakes those who wait for them.

If gevent has replaced the parts of threading, a thread of the program is a greenlet, and a C
function that waits stops all greenlets of its thread. Therefore calls that wait in C run in a real
thread, and a greenlet waits for that thread in gevent's way."""

from __future__ import annotations

import _thread
import importlib
import os
import queue
import sys
import threading
import time
import weakref
from typing import Any, Callable, Protocol


# A finalizer at the end of the interpreter finds no module in sys.modules.
_MODULES: dict[str, Any] = {"_thread": _thread, "queue": queue}


def green() -> bool:
    """Whether the program's threads are greenlets of gevent."""
    monkey: Any = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


def real(module: str, name: str) -> Any:
    """A member of one of these modules as it was before gevent replaced it."""
    if green():
        return sys.modules["gevent.monkey"].get_original(module, name)
    return getattr(_MODULES[module], name)


class _Start:
    """A thread that was asked for, until it runs."""


_starts: weakref.WeakSet[_Start] = weakref.WeakSet()
os.register_at_fork(after_in_child=_starts.clear)


def await_starts(patience: float) -> None:
    """Until all threads run that were asked for: a thread that begins while the interpreter ends
    would crash the process."""
    deadline = time.monotonic() + patience
    while len(_starts) > 0 and time.monotonic() < deadline:
        time.sleep(0.001)


class RealThread:
    """A daemon thread."""

    def __init__(self, run: Callable[[], Any], name: str) -> None:
        self._do = run
        self._name = name
        self._ident: int | None = None
        self._begun, self._ended = _new_lock(), _new_lock()
        self._ended.acquire()

    def begin(self) -> RealThread:
        """Starts it unless it has started. A start that was cut off may be repeated."""
        if not self._begun.locked():
            start = _Start()
            _starts.add(start)
            begin = self._main if green() else self._begin_named
            real("_thread", "start_new_thread")(begin, (start,))
        return self

    def _begin_named(self, start: _Start) -> None:
        """threading.Thread.start waits for an Event, which an exception from a signal handler
        would break: so another thread than the main one calls it."""
        try:
            threading.Thread(target=self._main, args=(start,), name=self._name,
                             daemon=True).start()
        except RuntimeError:  # there are too many threads
            self._main(start)

    def _main(self, start: _Start) -> None:
        _starts.discard(start)
        if not self._begun.acquire(False):
            return
        self._ident = real("_thread", "get_ident")()
        try:
            self._do()
        finally:
            self._ended.release()

    def is_current(self) -> bool:
        return bool(self._ident == real("_thread", "get_ident")())

    def join(self, patience: float) -> None:
        begun = self._begun.locked() and not self.is_current()
        if begun and self._ended.acquire(timeout=patience):
            self._ended.release()


def _new_lock() -> Any:
    return real("_thread", "allocate_lock")()


class Waker(Protocol):
    """Lets a greenlet or a thread wait until a real thread has called `set`. It may also wake
    early, and need not wake twice: ask for what you wait for."""

    def set(self) -> None: ...

    def wait(self) -> Any: ...

    def close(self) -> None: ...


class _ThreadWaker:
    """A single lock of C, because an exception may end `wait` between any two bytecodes."""

    def __init__(self) -> None:
        self._lock = _new_lock()
        self._lock.acquire()

    def set(self) -> None:
        try:
            self._lock.release()
        except RuntimeError:  # set twice
            pass

    def wait(self, timeout: float = -1) -> None:
        self._lock.acquire(True, timeout)

    def close(self) -> None:
        pass


class _GreenWaker:
    def __init__(self) -> None:
        self._event = importlib.import_module("gevent.event").Event()
        self._bell = importlib.import_module("gevent").get_hub().loop.async_()
        self._bell.start(self._event.set)

    def set(self) -> None:
        self._bell.send()

    def wait(self) -> None:
        self._event.wait()

    def close(self) -> None:
        self._bell.stop()
        self._bell.close()


def make_waker() -> Waker:
    if green():
        return _GreenWaker()
    return _ThreadWaker()


class _Event(threading.Event):
    """An Event of which an exception during `wait` leaves no lock behind: `set` never waits."""

    def __init__(self) -> None:
        super().__init__()
        self._happened = False
        self._wakers: list[_ThreadWaker] = []

    def is_set(self) -> bool:
        return self._happened

    isSet = is_set  # an alias of old, which Python 3.9 does not look up

    def set(self) -> None:
        self._happened = True
        for waker in list(self._wakers):
            waker.set()

    def clear(self) -> None:
        self._happened = False

    def wait(self, timeout: float | None = None) -> bool:
        waker = _ThreadWaker()
        self._wakers.append(waker)
        try:
            if not self._happened:
                waker.wait(-1 if timeout is None else max(timeout, 0))
        finally:
            self._wakers.remove(waker)
        return self._happened


def make_event() -> threading.Event:
    """An event that real threads may set, and the program's threads or greenlets wait for."""
    return threading.Event() if green() else _Event()
