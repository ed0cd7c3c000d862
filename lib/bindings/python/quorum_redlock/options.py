"""The options of clients and of acquire calls. Durations are seconds or timedeltas."""

from __future__ import annotations

import logging
import os
import weakref
from ctypes import byref, c_char_p, sizeof
from typing import Any, Callable, Iterable, TypedDict

from . import _callbacks
from . import _structs as s
from ._arguments import Duration, encoded, to_count, to_ns
from ._library import lib
from .errors import RedlockError
from .events import NodeEvent, Observation


class ClientOptions(TypedDict, total=False):
    """What `Client(nodes, **options)` takes. A Duration is seconds, or a timedelta. An option that
    is None has its default.

    quorum: votes that make a lock. Default: a majority.
    name: what people call this client. Default: "user@host:pid program".
    user: the ACL user for URLs without one. Default: none.
    password: for URLs without one. Default: none.
    tls_ca_file: path of a PEM file. Default: the system's certificate store.
    tls_certificate_file: path of a PEM file, the client's own. Default: none.
    tls_key_file: path of a PEM file, of that certificate's key. Default: none.
    shortest_node_limit: one node may take this long to answer at least. Default: 0.25 seconds.
    longest_node_limit: and this long at most. Default: 1 second.
    connect_timeout: of the first attempt to connect. Default: longest_node_limit.
    max_ttl: the longest TTL of this deployment, for all of its clients. Default: 30 seconds.
    quarantine: of a node that restarted without its data. Default: max_ttl, and a margin.
    clock_bound: how far a node's clock may be from the median of all. Default: 1 second.
    guard_restart: whether nodes that may have forgotten have no vote. Default: True.
    guard_clock: whether nodes whose clock jumped have no vote. Default: True.
    trust_durable: whether a restarted node that had everything on disk votes. Default: False.
    name_holders: whether errors name the holder, for one more round trip. Default: False.
    plain_commands: whether nodes that can compare without a script do. Default: True.
    on_node_event: is called with a NodeEvent. Default: nothing is.
    on_observation: is called with an Observation of acquire calls and leases. Default: nothing is.
    logger: gets the node events: repeated ones in one line a minute, and idle connections that end
        at the level DEBUG; None: nobody does. Default: the logger "quorum_redlock".
    prefix: before each resource's name on the nodes, and only there: "team:". Default: none.
    password_file: a file whose first line is the password for URLs without one, read at each new
        connection to a node. Default: none.
    credentials: is called with the URL of a node at each new connection to it, if that URL has no
        password, and returns the password, or a tuple of user and password. It runs in a thread of
        its own, and may block; the time that it takes is part of the time to connect. What it
        raises fails this attempt to connect. Default: nothing is called.
    tls_server_name: the name that servers' certificates must have, for rediss:// URLs without
        ?server_name=. Default: the host of the URL."""

    quorum: int
    name: str
    user: str
    password: str
    tls_ca_file: str
    tls_certificate_file: str
    tls_key_file: str
    shortest_node_limit: Duration
    longest_node_limit: Duration
    connect_timeout: Duration
    max_ttl: Duration
    quarantine: Duration
    clock_bound: Duration
    guard_restart: bool
    guard_clock: bool
    trust_durable: bool
    name_holders: bool
    plain_commands: bool
    on_node_event: Callable[[NodeEvent], Any] | None
    on_observation: Callable[[Observation], Any] | None
    logger: logging.Logger | None
    prefix: str
    password_file: str | os.PathLike[str]
    credentials: _callbacks.CredentialsProvider | None
    tls_server_name: str


class AcquireOptions(TypedDict, total=False):
    """What `acquire`, `try_acquire`, `adopt` and `lock` take besides their own arguments, which are
    `ttl`, `wait`, `renew`, `fencing` and `stop`: see Client.acquire. A Duration is seconds, or a
    timedelta. An option that is None has its default. A lease that is adopted keeps its name, and
    has no `orphan_ttl`.

    name: of this lease's holder, for people. Default: the client's.
    max_renewals: after that many the lease expires. Default: no limit.
    max_hold: the lease is never valid for longer after it was granted. Default: no limit.
    orphan_ttl: gives this expiry, from 0.003 seconds to max_ttl, to a key that blocks and has none.
        Default: such a key blocks until somebody deletes it.
    on_at_risk: is called with the remaining seconds when only a third of the TTL is left, because
        renewals fail or have reached their limit. Default: nothing is.
    on_lost: is called once, with a RedlockError, when the deadline passes without a renewal: from
        then on the lock may have another holder. Never after a release in time. Default: nothing
        is.
    raise_on_release_error: whether the end of a with block raises LeaseLostError if its lease was
        lost. Default: True."""

    name: str
    max_renewals: int
    max_hold: Duration
    orphan_ttl: Duration
    on_at_risk: Callable[[float], Any] | None
    on_lost: Callable[[RedlockError], Any] | None
    raise_on_release_error: bool


_CLIENT_TEXTS = ("name", "user", "password", "tls_ca_file", "tls_certificate_file", "tls_key_file",
                 "prefix", "password_file", "tls_server_name")
_CLIENT_DURATIONS = ("shortest_node_limit", "longest_node_limit", "connect_timeout", "max_ttl",
                     "quarantine", "clock_bound")
_CLIENT_PLAIN = ("quorum", "guard_restart", "guard_clock", "trust_durable", "name_holders",
                 "plain_commands")
#: Advice about options that people give to calls which do not have them.
_HINTS = {
    "wait": ": acquire and lock wait, and have it; the others ask once",
    "stop": ": acquire and lock of the blocking client have it",
    "timeout": ": that of acquire and lock is wait, and lock(…).acquire has timeout",
    "fencing": ": a lease that is adopted keeps its fencing token",
}
_CLIENT_CALLBACKS = ("on_node_event", "on_observation", "credentials")
_OF_PYTHON = {*_CLIENT_CALLBACKS, "logger"}


def _set(native: Any, options: dict[str, Any], texts: Iterable[str], durations: Iterable[str],
         plain: Iterable[str]) -> None:
    """Moves the known options into the struct. None is the default."""
    for name in texts:
        if (value := options.pop(name, None)) is not None:
            setattr(native, name, encoded(value, name))
    for name in durations:
        if (value := options.pop(name, None)) is not None:
            setattr(native, name + "_ns", to_ns(value, name))
    for name in plain:
        if (value := options.pop(name, None)) is not None:
            setattr(native, name, to_count(value, name))


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
    if options.get("password_file") is not None:
        options["password_file"] = os.fspath(options["password_file"])
    urls = [encoded(node, "node") for node in nodes]
    native = s.ClientOptions()
    lib.redlock_client_options_init(byref(native), sizeof(native))
    native.nodes = (c_char_p * len(urls))(*urls)
    native.node_count = len(urls)
    _set(native, options, _CLIENT_TEXTS, _CLIENT_DURATIONS, _CLIENT_PLAIN)
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
    _set(native, options, ("name",), ("max_hold", "orphan_ttl"), ("max_renewals",))
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
