"""The options of clients and of acquire calls. Durations are seconds or timedeltas."""

from __future__ import annotations

import logging
from ctypes import byref, c_char_p, sizeof
from typing import Any, Callable, Iterable, TypedDict

from . import _callbacks
from . import _structs as s
from ._arguments import Duration, encoded, to_count, to_ns
from ._library import lib
from .errors import RedlockError
from .events import NodeEvent, Observation


class ClientOptions(TypedDict, total=False):
    """What `Client(nodes, **options)` takes. The library has a default for each."""

    quorum: int  #: votes that make a lock; a majority unless given
    name: str  #: what people call this client; default: user@host:pid program
    user: str  #: ACL user for URLs without one
    password: str  #: for URLs without one
    tls_ca_file: str  #: PEM; default: the system's certificate store
    tls_certificate_file: str
    tls_key_file: str
    shortest_node_limit: Duration  #: bounds of how long one node may take to answer
    longest_node_limit: Duration
    connect_timeout: Duration  #: of the first attempt; default: longest_node_limit
    max_ttl: Duration  #: the longest TTL of this deployment
    quarantine: Duration  #: of a node that restarted; default: from max_ttl
    clock_bound: Duration  #: how far a node's clock may be from the median of all
    guard_restart: bool
    guard_clock: bool
    trust_durable: bool
    name_holders: bool  #: errors name the holder, for one more round trip
    plain_commands: bool
    on_node_event: Callable[[NodeEvent], Any] | None
    on_observation: Callable[[Observation], Any] | None  #: is told of acquire calls and leases
    logger: logging.Logger | None  #: gets the node events; default: the logger "quorum_redlock"


class AcquireOptions(TypedDict, total=False):
    """What `acquire`, `try_acquire` and `lock` take besides their own arguments."""

    name: str  #: of this lease's holder, for people; default: the client's
    max_renewals: int  #: after that many the lease expires
    max_hold: Duration  #: never valid longer than this after it was granted
    #: Gives this expiry to a key that blocks and has none: as a TTL, from 0.003 to max_ttl.
    orphan_ttl: Duration
    #: Called with the remaining seconds when only a third of the TTL is left, because renewals
    #: fail or have reached their limit.
    on_at_risk: Callable[[float], Any] | None
    #: Called once when the deadline passes without a renewal: from then on the lock may have
    #: another holder. Never after a release.
    on_lost: Callable[[RedlockError], Any] | None
    #: Whether the end of a with block raises if its lease was lost; True unless given.
    raise_on_release_error: bool


_CLIENT_TEXTS = ("name", "user", "password", "tls_ca_file", "tls_certificate_file", "tls_key_file")
_CLIENT_DURATIONS = ("shortest_node_limit", "longest_node_limit", "connect_timeout", "max_ttl",
                     "quarantine", "clock_bound")
_CLIENT_PLAIN = ("quorum", "guard_restart", "guard_clock", "trust_durable", "name_holders",
                 "plain_commands")
_CALLBACKS = {"on_node_event", "on_observation", "logger"}


def _set(native: Any, options: dict[str, Any], texts: Iterable[str], durations: Iterable[str],
         plain: Iterable[str]) -> None:
    """Takes what it knows out of the options. None is the default."""
    for name in texts:
        if (value := options.pop(name, None)) is not None:
            setattr(native, name, encoded(value, name))
    for name in durations:
        if (value := options.pop(name, None)) is not None:
            setattr(native, name + "_ns", to_ns(value, name))
    for name in plain:
        if (value := options.pop(name, None)) is not None:
            setattr(native, name, to_count(value, name))


def native_client_options(nodes: Iterable[str], given: ClientOptions) -> s.ClientOptions:
    """The struct without callbacks. It refers to its texts, which live as long as it."""
    if isinstance(nodes, str):
        raise TypeError("nodes is a str; a list of URLs is needed")
    options = {name: value for name, value in given.items() if name not in _CALLBACKS}
    urls = [encoded(node, "node") for node in nodes]
    native = s.ClientOptions()
    lib.redlock_client_options_init(byref(native), sizeof(native))
    native.nodes = (c_char_p * len(urls))(*urls)
    native.node_count = len(urls)
    _set(native, options, _CLIENT_TEXTS, _CLIENT_DURATIONS, _CLIENT_PLAIN)
    if options:
        raise TypeError(f"there is no option {', '.join(sorted(options))} of a client")
    return native


def client_signals(given: ClientOptions, deliver: _callbacks.Deliver) -> _callbacks.ClientSignals:
    return _callbacks.ClientSignals(deliver, given.get("on_node_event"),
                                    given.get("on_observation"),
                                    given.get("logger", _callbacks.logger))


def set_client_callbacks(native: s.ClientOptions, signals: _callbacks.ClientSignals,
                         context: int) -> None:
    native.dispatcher = _callbacks.arrivals.queue()
    native.context = context
    if signals.log is not None or signals.on_node_event is not None:
        native.on_node_event = _callbacks.on_node_event
    if signals.on_observation is not None:
        native.on_observation = _callbacks.on_observation


def native_acquire_options(given: AcquireOptions, *, ttl: Duration | None,
                           renew: bool, fencing: bool, context: int) -> s.AcquireOptions:
    options: dict[str, Any] = dict(given)
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
        raise TypeError(f"there is no option {', '.join(sorted(options))} of a lock")
    native.context = context
    return native
