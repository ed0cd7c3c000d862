"""Threads of the operating system, and what wakes those who wait for them.

If gevent has replaced the parts of threading, a thread of the program is a greenlet, and a C
function that waits stops all greenlets of its thread. Therefore calls that wait in C run in a real
thread, and a greenlet waits for that thread in gevent's way."""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any, Callable, Protocol


def green() -> bool:
    """Whether the program's threads are greenlets of gevent."""
    monkey: Any = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


def real(module: str, name: str) -> Any:
    """A member of a Python module as it was before gevent replaced it."""
    if green():
        return sys.modules["gevent.monkey"].get_original(module, name)
    return getattr(importlib.import_module(module), name)


class RealThread:
    """A daemon thread that has been started."""

    def __init__(self, run: Callable[[], Any], name: str) -> None:
        self._ident: int | None = None
        self._ended = real("_thread", "allocate_lock")()
        self._ended.acquire()
        if green():
            real("_thread", "start_new_thread")(self._run, (run,))
        else:
            threading.Thread(target=self._run, args=(run,), name=name, daemon=True).start()

    def _run(self, run: Callable[[], Any]) -> None:
        self._ident = real("_thread", "get_ident")()
        try:
            run()
        finally:
            self._ended.release()

    def is_current(self) -> bool:
        return bool(self._ident == real("_thread", "get_ident")())

    def join(self, patience: float) -> None:
        if not self.is_current() and self._ended.acquire(timeout=patience):
            self._ended.release()


class Waker(Protocol):
    """Lets a greenlet or a thread wait until a real thread has called `set`."""

    def set(self) -> None: ...

    def is_set(self) -> bool: ...

    def wait(self) -> Any: ...

    def close(self) -> None: ...


class _ThreadWaker(threading.Event):
    def close(self) -> None:
        pass


class _GreenWaker:
    def __init__(self) -> None:
        self._event = importlib.import_module("gevent.event").Event()
        self._bell = importlib.import_module("gevent").get_hub().loop.async_()
        self._bell.start(self._event.set)

    def set(self) -> None:
        self._bell.send()

    def is_set(self) -> bool:
        return bool(self._event.is_set())

    def wait(self) -> None:
        self._event.wait()

    def close(self) -> None:
        self._bell.stop()
        self._bell.close()


def make_waker() -> Waker:
    if green():
        return _GreenWaker()
    return _ThreadWaker()
