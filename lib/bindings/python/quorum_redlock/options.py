"""The options of clients and of acquire calls. Durations are seconds or timedeltas."""

from __future__ import annotations

import logging
import os
import weakref
from ctypes import byref, c_bool, c_char_p, c_int64, c_uint64, sizeof
from typing import Any, Callable, Iterable, TypedDict

from . import _callbacks
from . import _structs as s
from ._arguments import Duration, encoded, to_count, to_ns
from ._library import lib
from .errors import RedlockError
from .events import NodeEvent, Observation


class ClientOptions(TypedDict, total=False):
    """What `Client(nodes, **options)` takes. A Duration is seconds, or a timedelta. An option that
    is None has its default."""

    # face: options of clients
    quorum: int
    """How many votes make a lock: at least a majority of the nodes. Default: a majority."""
    name: str
    """The name of this client for people, in inspections and refusals. Default: `user@host:pid
    program`."""
    user: str
    """The ACL user of nodes whose URL names none. Default: none."""
    password: str
    """The password of nodes whose URL has none. Default: none."""
    password_file: str | os.PathLike[str]
    """A file whose first line is the password of nodes whose URL has none. It is read again at
    each connection to a node. Not together with `password` or a function that provides
    credentials. Default: none."""
    tls_ca_file: str | os.PathLike[str]
    """CA certificates for rediss:// (PEM). Default: the system's."""
    tls_certificate_file: str | os.PathLike[str]
    """The client's own certificate for rediss:// (PEM). Default: none."""
    tls_key_file: str | os.PathLike[str]
    """The private key of that certificate (PEM). Default: none."""
    tls_server_name: str
    """The name that certificates of rediss:// nodes must have, for URLs without ?server_name=NAME.
    Default: the host of the URL."""
    node_connect_timeout: Duration
    """How long the first attempt to connect to a node may take. After each attempt that took
    longer, the limit doubles, up to eight times. Default: the longest time for an answer."""
    node_shortest_timeout: Duration
    """The least time that a node has for an answer. The limit follows the measured round trip.
    Default: 0.25 seconds."""
    node_longest_timeout: Duration
    """The most time that a node has for an answer. Default: 1 second."""
    node_plain_commands: bool
    """Whether nodes that can compare and delete without a script do. Default: True."""
    max_ttl: Duration
    """The longest TTL that this deployment allows. Default: 30 seconds."""
    guard_quarantine: Duration
    """How long a node that restarted without its data has no vote. Default: the max TTL and a
    margin."""
    guard_clock_bound: Duration
    """How far a node's clock may be from the median of all clocks before the node loses its vote.
    Default: 1 second."""
    guard_restart: bool
    """Whether nodes that may have forgotten locks have no vote. Default: True."""
    guard_clock: bool
    """Whether nodes whose clock stepped forward have no vote. Default: True."""
    guard_trust_durable: bool
    """A node that restarted with its data keeps its vote if it writes every command to disk
    (appendfsync always). Default: False."""
    name_holders: bool
    """Whether calls that do not wait also name the holder if they fail, for one more round trip.
    Default: False."""
    prefix: str
    """A text before the names of resources on the nodes, so that teams can share nodes. It ends
    with a colon, as team: does. Names in calls and results are without it. Default: none."""
    # face: end
    on_node_event: Callable[[NodeEvent], Any] | None
    """Is called with a NodeEvent. Default: nothing is."""
    on_observation: Callable[[Observation], Any] | None
    """Is called with an Observation of acquire calls and leases. Default: nothing is."""
    logger: logging.Logger | None
    """Gets the node events: repeated ones in one line a minute, and idle connections that end at
    the level DEBUG; None: nobody does. Default: the logger "quorum_redlock"."""
    credentials: _callbacks.CredentialsProvider | None
    """Is called with the URL of a node at each new connection to it, if that URL has no password,
    and returns the password, or a tuple of user and password. It runs in a thread of its own, and
    may block; the time that it takes is part of the time to connect. What it raises fails this
    attempt to connect. Default: nothing is called."""


class AcquireOptions(TypedDict, total=False):
    """What `acquire`, `try_acquire`, `adopt` and `lock` take besides their own arguments, which are
    `ttl`, `wait`, `renew`, `fencing` and `stop`: see Client.acquire. A Duration is seconds, or a
    timedelta. An option that is None has its default. A lease that is adopted keeps its name, and
    has no `orphan_ttl`."""

    # face: options of calls
    max_hold: Duration
    """The lease is never valid for longer than this after it was granted. Default: no limit."""
    max_renewals: int
    """After that many renewals the lease expires. Default: no limit."""
    orphan_ttl: Duration
    """Gives this expiry, from 3 ms to the max TTL, to a key that blocks and has none. Default:
    such a key blocks until somebody deletes it."""
    name: str
    """The name of this lease's holder, for people. Default: the client's."""
    # face: end
    on_at_risk: Callable[[float], Any] | None
    """Is called with the remaining seconds when only a third of the TTL is left, because renewals
    fail or have reached their limit. Default: nothing is."""
    on_lost: Callable[[RedlockError], Any] | None
    """Is called once, with a RedlockError, when the deadline passes without a renewal: from then on
    the lock may have another holder. Never after a release in time. Default: nothing is."""
    raise_on_release_error: bool
    """Whether the end of a with block raises LeaseLostError if its lease was lost. Default:
    True."""


#: Advice about options that people give to calls which do not have them.
_HINTS = {
    "wait": ": acquire and lock wait, and have it; the others ask once",
    "stop": ": acquire and lock of the blocking client have it",
    "timeout": ": that of acquire and lock is wait, and lock(…).acquire has timeout",
    "fencing": ": a lease that is adopted keeps its fencing token",
}
_CLIENT_CALLBACKS = ("on_node_event", "on_observation", "credentials")
_OF_PYTHON = {*_CLIENT_CALLBACKS, "logger"}


def _text(value: Any, name: str) -> bytes:
    return encoded(os.fspath(value) if isinstance(value, os.PathLike) else value, name)


_OF_TYPE: dict[Any, Callable[[Any, str], Any]] = {
    c_char_p: _text, c_int64: to_ns, c_bool: to_count, c_uint64: to_count}


def _set(native: Any, options: dict[str, Any], known: Any) -> None:
    """Moves the known options into the members of the struct. None is the default."""
    for member, kind in native._fields_:
        name = member.removesuffix("_ns")
        if name in known.__annotations__ and kind in _OF_TYPE:
            if (value := options.pop(name, None)) is not None:
                setattr(native, member, _OF_TYPE[kind](value, name))


def _check_callbacks(given: Any, names: Iterable[str]) -> None:
    for name in names:
        value = given.get(name)
        if value is not None and not callable(value):
            raise TypeError(f"{name} is {value!r}; a callable is needed")


def native_client_options(nodes: Iterable[str], given: ClientOptions) -> s.ClientOptions:
    """The struct, without callbacks. It keeps the texts that it refers to."""
    if isinstance(nodes, str):
        raise TypeError("nodes is a str; a list of URLs is needed")
    options: dict[str, Any] = {name: value for name, value in given.items()
                               if name not in _OF_PYTHON}
    urls = [encoded(node, "node") for node in nodes]
    native = s.ClientOptions()
    lib.redlock_client_options_init(byref(native), sizeof(native))
    native.nodes = (c_char_p * len(urls))(*urls)
    native.node_count = len(urls)
    _set(native, options, ClientOptions)
    if options:
        raise TypeError(f"there is no option {', '.join(sorted(options))} of a client")
    _check_callbacks(given, _CLIENT_CALLBACKS)
    logger = given.get("logger")
    if not isinstance(logger, (logging.Logger, logging.LoggerAdapter, type(None))):
        raise TypeError(f"logger is {logger!r}; a logging.Logger or None is needed")
    return native


def client_signals(given: ClientOptions, deliver: _callbacks.Deliver) -> _callbacks.ClientSignals:
    return _callbacks.ClientSignals(deliver, given.get("on_node_event"),
                                    given.get("on_observation"),
                                    given.get("logger", _callbacks.logger),
                                    given.get("credentials"))


def native_call_options(nodes: Iterable[str], given: ClientOptions) -> s.ClientOptions:
    """The options of a call without a client, whose only callback asks for credentials."""
    native = native_client_options(nodes, given)
    if given.get("credentials") is not None:
        signals = client_signals(given, _callbacks.dispatcher.deliver)
        context = _callbacks.contexts.add(signals)
        set_credentials_callback(native, signals, context)
        _callbacks.dispatcher.enter(context)
        weakref.finalize(native, _end_call, context)
    return native


def _end_call(context: int) -> None:
    _callbacks.dispatcher.leave(context)


def set_credentials_callback(native: s.ClientOptions, signals: _callbacks.ClientSignals,
                             context: int) -> None:
    native.dispatcher = _callbacks.arrivals.queue()
    native.context = context
    if signals.credentials is not None:
        native.on_credentials = _callbacks.on_credentials


def set_client_callbacks(native: s.ClientOptions, signals: _callbacks.ClientSignals,
                         context: int) -> None:
    set_credentials_callback(native, signals, context)
    if signals.log is not None:
        native.on_log = _callbacks.on_log
    if signals.on_node_event is not None:
        native.on_node_event = _callbacks.on_node_event
    if signals.on_observation is not None:
        native.on_observation = _callbacks.on_observation


def native_acquire_options(given: AcquireOptions, *, ttl: Duration | None,
                           renew: bool, fencing: bool, context: int) -> s.AcquireOptions:
    options: dict[str, Any] = dict(given)
    _check_callbacks(given, ("on_lost", "on_at_risk"))
    native = s.AcquireOptions()
    lib.redlock_acquire_options_init(byref(native), sizeof(native))
    if ttl is not None:
        native.ttl_ns = to_ns(ttl, "ttl")
    native.renew, native.fencing = renew, fencing
    _set(native, options, AcquireOptions)
    native.on_lost = _callbacks.on_lost
    if options.pop("on_at_risk", None) is not None:
        native.on_at_risk = _callbacks.on_at_risk
    options.pop("on_lost", None)
    options.pop("raise_on_release_error", None)
    if options:
        name = min(options)
        raise TypeError(f"there is no option {name} of this call{_HINTS.get(name, '')}")
    native.context = context
    return native
