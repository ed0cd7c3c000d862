"""Iterators over what changes."""

from __future__ import annotations

import atexit
import collections
import weakref
from typing import Any, Callable, Generic, TypeVar

from . import _structs as s
from ._callbacks import contexts, native
from ._copies import NotCopied
from ._library import lib, text
from ._owned import NativeStop, Owned, StopAtEnd
from ._threads import RealThread, Waker, make_waker
from .errors import RedlockError, call
from .inspection import inspection_from

T = TypeVar("T")
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
        self._latest: collections.deque[Any] = collections.deque(maxlen=1)
        self._waiters: list[Waker] = []
        self._ended = False
        self._error: BaseException | None = None

    def put(self, value: Any) -> None:
        self._latest.append(value)
        self._wake()

    def end(self, error: BaseException | None) -> None:
        if not self._ended:
            self._error = error
            self._ended = True
            self._wake()

    def _wake(self) -> None:
        for waiter in list(self._waiters):
            waiter.set()

    def take(self) -> Any:
        while True:
            waiter = make_waker()
            self._waiters.append(waiter)
            try:
                if self._latest or self._ended:  # asked last: a change either is seen, or wakes
                    return self._taken()
                waiter.wait()
            except IndexError:  # another thread has taken it
                pass
            finally:
                self._waiters.remove(waiter)
                waiter.close()

    def _taken(self) -> Any:
        if self._latest:
            return self._latest.pop()
        if self._error is not None:
            raise self._error
        raise StopIteration


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


class Watch(NotCopied, Generic[T]):
    """An iterator that waits for changes, and ends when it is closed, by any thread. A context
    manager that closes it; dropped, it is closed. Ctrl-C ends a wait of the main thread."""

    _instead = "make it with Client.watch or Election.observe in the process that uses it"

    def __init__(self, run: Callable[[int, NativeStop], None]) -> None:
        self._stop = stop = NativeStop()
        self._feed = feed = _Feed()
        # The thread does not refer to the iterator, so that the iterator can be dropped.
        self._dropped = StopAtEnd(stop)
        thread = RealThread(lambda: _run(run, feed, stop), "quorum_redlock watch")
        _threads.add(thread)
        thread.begin()

    @classmethod
    def of_resource(cls, client: Any, resource: bytes, interval_ns: int) -> Watch[Any]:
        def run(context: int, stop: NativeStop) -> None:
            call(lib.redlock_watch, client.pointer(), resource, interval_ns, _inspected, context,
                 stop, None)
        return cls(run)

    @classmethod
    def of_election(cls, election: Callable[[], Owned]) -> Watch[Any]:
        def run(context: int, stop: NativeStop) -> None:
            call(lib.redlock_election_observe, election(), _led, context, stop, None)
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


def _run(run: Callable[[int, NativeStop], None], feed: _Feed, stop: NativeStop) -> None:
    context = contexts.add(feed)
    error: BaseException | None = None
    try:
        run(context, stop)
    except RedlockError as failure:
        error = failure
    finally:
        feed.end(error)
