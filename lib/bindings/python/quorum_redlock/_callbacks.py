"""Callbacks of the library.

The library gets the functions of this module, which live as long as the process, and a number as
the context of each callback. The number leads to a Python object for as long as the object wants
callbacks: a callback that arrives too late finds nothing, so no object has to outlive a call.

The client's loop thread renews leases, and never enters Python: a thread that keeps the
interpreter's lock would hold up the renewals. The library keeps the callbacks in a queue of C, from
which a thread of this module takes them. This thread only passes them on, to the dispatcher's
thread or to an event loop. A program that takes long there delays only the next callback.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import logging
import os
import queue
import weakref
from typing import Any, Callable

from . import _structs as s
from ._library import lib, text
from ._threads import RealThread, green, real
from .errors import ClosedError, NoMemoryError, error_from
from .events import NodeEvent, log_node_event, node_event_from, observation_from

logger = logging.getLogger("quorum_redlock")
logger.addHandler(logging.NullHandler())

#: Calls a function later: `deliver(function, *arguments)`.
Deliver = Callable[..., Any]

#: Is given the URL of a node, and returns the password, or the user and the password.
CredentialsProvider = Callable[[str], "str | tuple[str, str]"]


def native(kind: Any) -> Callable[[Callable[..., Any]], Any]:
    """Makes a function a callback of C."""
    return lambda function: kind(function)


class _Item:
    __slots__ = ("value", "__weakref__")

    def __init__(self, value: Any) -> None:
        self.value = value


class Contexts:
    """Numbers for objects that have a Context, and live no longer for having a number."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._objects: dict[int, weakref.ref[_Item]] = {}

    def add(self, value: Any) -> Context:
        item, number = _Item(value), next(self._numbers)
        self._objects[number] = weakref.ref(item)
        return Context(number, item)

    def find(self, number: int) -> Any:
        return getattr(self._item(number), "value", None)

    def take(self, number: int) -> Any:
        """For the last callback. The context keeps the object no longer."""
        item = self._item(number)
        if item is None:
            return None
        value, item.value = item.value, None
        return value

    def all(self) -> list[Any]:
        return [self.find(number) for number in list(self._objects)]

    def _item(self, number: int) -> _Item | None:
        item = self._objects.get(number)
        return None if item is None else item()


contexts = Contexts()


class Context(int):
    """A number that leads to an object for as long as this lives. Its finalizer is a function of C:
    see _owned."""

    _item: _Item

    def __new__(cls, number: int, item: _Item) -> Context:
        made = super().__new__(cls, number)
        made._item = item
        return made

    __del__ = functools.lru_cache(maxsize=0)(contexts._objects.pop)


class Dispatcher:
    """Runs functions, in their order, in a thread. If threads are greenlets of gevent, it runs them
    in greenlets of the hub in which the first client was made."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._jobs: queue.SimpleQueue[Any] = real("queue", "SimpleQueue")()
        self._thread = RealThread(self._run, "quorum_redlock callbacks")
        self._loop: Any = None  # gevent's loop
        self._bell: Any = None
        self._draining = False
        self._clients: dict[int, None] = {}

    def enter(self, client: int) -> None:
        """A client begins, which has this context."""
        self._clients[int(client)] = None  # a Context would keep the client's callbacks
        if self._bell is not None:
            self._bell.ref = True
        elif green():
            loop = importlib.import_module("gevent").get_hub().loop
            bell = loop.async_()
            bell.start(self._begin_to_drain)
            self._loop, self._bell = loop, bell
            bell.send()  # for events that were delivered while the client was created
        else:
            self._thread.begin()

    def leave(self, client: int) -> None:
        """A client ends. Without one, nothing keeps gevent's hub waiting."""
        self._clients.pop(client, None)
        if self._bell is not None and not self._clients:
            self._bell.ref = False

    def deliver(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._jobs.put((function, arguments))
        if self._bell is not None:
            self._bell.send()

    def soon(self, function: Callable[[], Any]) -> None:
        """Calls a function that does not block, in this thread or in gevent's hub."""
        if self._loop is not None:
            self._loop.run_callback_threadsafe(function)
        else:
            function()

    def _run(self) -> None:
        jobs = self._jobs
        while True:
            function, arguments = jobs.get()
            if function is None:
                return
            guarded(function, *arguments)

    def _begin_to_drain(self) -> None:
        if not self._draining:
            self._draining = True
            importlib.import_module("gevent").spawn(self._drain)

    def _drain(self) -> None:
        try:
            while True:
                function, arguments = self._jobs.get_nowait()
                guarded(function, *arguments)
        except queue.Empty:
            pass
        finally:
            self._draining = False

    def stop(self, patience: float) -> None:
        """Ends the thread after the callbacks that it was given, for the end of the process."""
        if self._bell is not None:
            self._drain()
        elif not self._thread.is_current():
            self._jobs.put((None, ()))
            self._thread.join(patience)


class Arrivals:
    """The thread that takes the callbacks from the library's queue."""

    def __init__(self) -> None:
        self._queues: list[int] = []
        self._begin()

    def _begin(self) -> None:
        # A child of fork() must not free the queue of its parent: the parent's thread waits there.
        self._queues.append(lib.redlock_dispatcher_new())
        self._thread = RealThread(lambda: lib.redlock_dispatcher_run(self._queues[-1]),
                                  "quorum_redlock arrivals")

    def queue(self) -> int:
        """The redlock_dispatcher of all clients."""
        if not self._queues[-1]:
            raise NoMemoryError("no memory")
        self._thread.begin()
        return self._queues[-1]

    def is_this_thread(self) -> bool:
        return self._thread.is_current()

    def stop(self, patience: float) -> None:
        """Ends the thread after the calls that have arrived, for the end of the process."""
        if not self._thread.is_current():
            lib.redlock_dispatcher_stop(self._queues[-1])
            self._thread.join(patience)


def guarded(function: Callable[..., Any], *arguments: Any) -> None:
    """Calls a function and logs what it raises, because no exception may leave a callback."""
    try:
        function(*arguments)
    except Exception:
        logger.exception("a callback failed")


dispatcher = Dispatcher()
arrivals = Arrivals()
os.register_at_fork(after_in_child=dispatcher._begin)
os.register_at_fork(after_in_child=arrivals._begin)


class ClientSignals:
    """Delivers the events of a client to its callbacks."""

    def __init__(self, deliver: Deliver, on_node_event: Callable[..., Any] | None,
                 on_observation: Callable[..., Any] | None, log: logging.Logger | None,
                 credentials: CredentialsProvider | None = None) -> None:
        self.deliver = deliver
        self.on_node_event = on_node_event
        self.on_observation = on_observation
        self.log = log
        self.credentials = credentials

    def node_event(self, event: NodeEvent) -> None:
        if self.on_node_event is not None:
            self.deliver(self.on_node_event, event)

    def log_line(self, event: NodeEvent) -> None:
        if self.log is not None:
            dispatcher.deliver(log_node_event, self.log, event)


def one_line(error: BaseException) -> bytes:
    words = str(error) or type(error).__name__
    return " ".join(words.replace("\0", " ").split()).encode("utf-8", "replace")


def provide(provider: CredentialsProvider | None, request: int) -> None:
    """Answers a request for credentials, in a thread that may wait."""
    try:
        if provider is None:
            raise ClosedError("the client is closed")
        given = provider(text(lib.redlock_credentials_url(request)))
        words = ("", given) if isinstance(given, str) else given
        # The message does not show the values: one may be the password.
        if not (isinstance(words, tuple) and len(words) == 2
                and all(isinstance(word, str) and "\0" not in word for word in words)):
            raise TypeError(f"credentials returned a {type(given).__name__}; a str without NUL, or "
                            "a tuple of user and password, is needed")
        user, password = (word.encode("utf-8", "surrogateescape") for word in words)
    except BaseException as error:
        lib.redlock_credentials_fail(request, one_line(error))
        return
    lib.redlock_credentials_provide(request, user, password)


class LeaseSignals:
    """Reports the loss of a lease to its callbacks."""

    def __init__(self, deliver: Deliver, set_lost: Callable[[], Any],
                 on_lost: Callable[..., Any] | None, on_at_risk: Callable[..., Any] | None) -> None:
        self.deliver = deliver
        self.set_lost = set_lost
        self.on_lost = on_lost
        self.on_at_risk = on_at_risk
        #: Returns the handle of the lease while somebody has it.
        self.handle: Callable[[], Any] = lambda: None

    def notice_loss(self) -> None:
        """For a client that is closed: a lease that ends with it is lost without a callback."""
        handle = self.handle()
        if handle is not None and lib.redlock_lease_lost(handle):
            self.set_lost()


def notice_losses() -> None:
    """Checks the leases of all clients: only the library knows which client has which lease."""
    for item in contexts.all():
        if isinstance(item, LeaseSignals):
            item.notice_loss()


@native(s.NodeEventCallback)
def on_node_event(context: int, event: Any) -> None:
    signals = contexts.find(context)
    if signals is not None:
        guarded(signals.node_event, node_event_from(event.contents))


@native(s.NodeEventCallback)
def on_log(context: int, event: Any) -> None:
    signals = contexts.find(context)
    if signals is not None:
        guarded(signals.log_line, node_event_from(event.contents))


@native(s.ObservationCallback)
def on_observation(context: int, observation: Any) -> None:
    signals = contexts.find(context)
    if signals is not None and signals.on_observation is not None:
        seen = observation_from(observation.contents)
        guarded(signals.deliver, signals.on_observation, seen)


@native(s.CredentialsCallback)
def on_credentials(context: int, request: int) -> None:
    signals = contexts.find(context)
    provider = None if signals is None else signals.credentials
    try:
        # The provider may block, but the two threads that all clients share must not.
        if green():
            dispatcher.deliver(importlib.import_module("gevent").spawn, provide, provider, request)
        else:
            RealThread(lambda: provide(provider, request), "quorum_redlock credentials").begin()
    except Exception as error:
        lib.redlock_credentials_fail(request, one_line(error))


@native(s.AtRiskCallback)
def on_at_risk(context: int, remaining_ns: int) -> None:
    signals = contexts.find(context)
    if signals is not None and signals.on_at_risk is not None:
        guarded(signals.deliver, signals.on_at_risk, remaining_ns / 1e9)


@native(s.LostCallback)
def on_lost(context: int, error: Any) -> None:
    signals = contexts.find(context)
    if signals is None:
        return
    why = error_from(error)
    handle = signals.handle()
    if handle is not None:
        handle.loss = why
    guarded(signals.set_lost)
    if signals.on_lost is not None:
        guarded(signals.deliver, signals.on_lost, why)
