"""Iterators over what changes."""

from __future__ import annotations

import atexit
import weakref
from typing import Any, Callable, Generic, TypeVar

from . import _structs as s
from ._callbacks import contexts, native
from ._library import lib, text
from ._threads import RealThread, Waker, make_waker, real
from ._waiting import NativeStop
from .errors import RedlockError, call
from .inspection import inspection_from

T = TypeVar("T")
_NOTHING = object()
_threads: weakref.WeakSet[RealThread] = weakref.WeakSet()


# Runs after the function of the clients, which ends their watches: a thread that is inside the
# library must not outlive the interpreter.
@atexit.register
def _join() -> None:
    for thread in list(_threads):
        thread.join(1)


class _Feed:
    """The latest change that the iterator has not seen. A slow iterator misses earlier ones."""

    def __init__(self) -> None:
        self._lock = real("_thread", "RLock")()  # for handlers of signals
        self._waiters: set[Waker] = set()
        self._latest: Any = _NOTHING
        self._ended = False
        self._error: BaseException | None = None

    def put(self, value: Any) -> None:
        with self._lock:
            self._latest = value
            self._wake()

    def end(self, error: BaseException | None) -> None:
        with self._lock:
            if not self._ended:
                self._ended, self._error = True, error
                self._wake()

    def _wake(self) -> None:
        for waiter in self._waiters:
            waiter.set()

    def take(self) -> Any:
        while True:
            with self._lock:
                value, self._latest = self._latest, _NOTHING
                if value is not _NOTHING:
                    return value
                if self._error is not None:
                    raise self._error
                if self._ended:
                    raise StopIteration
                waiter = make_waker()
                self._waiters.add(waiter)
            try:
                waiter.wait()
            finally:
                with self._lock:
                    self._waiters.remove(waiter)
                waiter.close()


# These run on the thread of the watch, so the caller cannot see what they raise.
@native(s.WatchCallback)
def _inspected(context: int, inspection: Any) -> None:
    contexts.find(context).put(inspection_from(inspection))


@native(s.LeaderCallback)
def _led(context: int, leader: Any) -> None:
    contexts.find(context).put(leader_from(leader))


def leader_from(pointer: Any) -> Leader | None:
    if not pointer:
        return None
    return Leader(text(pointer.contents.candidate), text(pointer.contents.token))


class Leader:
    """The leader as an observer sees it: a snapshot."""

    __slots__ = ("candidate", "token")

    def __init__(self, candidate: str, token: str) -> None:
        self.candidate = candidate  #: empty if the leader gave no name
        self.token = token

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leader) and (self.candidate, self.token) == \
            (other.candidate, other.token)

    def __hash__(self) -> int:
        return hash((self.candidate, self.token))

    def __repr__(self) -> str:
        return f"Leader(candidate={self.candidate!r}, token={self.token!r})"


class Watch(Generic[T]):
    """An iterator that waits for changes, and ends when it is closed, by any thread. A context
    manager that closes it; dropped, it is closed. Ctrl-C ends a wait of the main thread."""

    def __init__(self, run: Callable[[int, NativeStop], None]) -> None:
        self._stop = NativeStop()
        self._feed = _Feed()
        # The thread does not refer to the iterator, so that the iterator can be dropped.
        feed, stop = self._feed, self._stop
        _threads.add(RealThread(lambda: _run(run, feed, stop), "quorum_redlock watch"))

    @classmethod
    def of_resource(cls, client: Any, resource: bytes, interval_ns: int) -> Watch[Any]:
        def run(context: int, stop: NativeStop) -> None:
            with client as pointer:
                call(lib.redlock_watch, pointer, resource, interval_ns, _inspected, context,
                     stop.pointer, None)
        return cls(run)

    @classmethod
    def of_election(cls, election: Any) -> Watch[Any]:
        def run(context: int, stop: NativeStop) -> None:
            with election as pointer:
                call(lib.redlock_election_observe, pointer, _led, context, stop.pointer, None)
        return cls(run)

    def __iter__(self) -> Watch[T]:
        return self

    def __next__(self) -> T:
        value: T = self._feed.take()
        return value

    def close(self) -> None:
        """Ends the iteration. It does not wait."""
        self._stop.request()
        self._feed.end(None)

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_stop"):
            self._stop.request()


def _run(run: Callable[[int, NativeStop], None], feed: _Feed, stop: NativeStop) -> None:
    context = contexts.add(feed)
    error: BaseException | None = None
    try:
        run(context, stop)
    except RedlockError as failure:
        error = failure
    finally:
        contexts.remove(context)
        feed.end(error)
