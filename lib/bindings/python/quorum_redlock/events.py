"""The events that a client reports about its nodes, its calls and its leases."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from . import _structs
from ._library import lib, text
from ._reading import read
from .literals import ErrorCode, EventLevel, HoldEnd, NodeEventKind, ObservationKind


@dataclass(frozen=True)
class NodeEvent:
    """A change in the state of a node."""

    kind: NodeEventKind
    node: int  #: position in the nodes of the client; past its end: a learned one
    url: str  #: without the password
    message: str  #: one line
    level: EventLevel = "info"  #: that of its line in the log
    times: int = 1  #: how often it happened: more only in the summaries of a log


@dataclass(frozen=True)
class Observation:
    """An acquire call or a hold that began or ended, for tracing."""

    kind: ObservationKind
    failure: ErrorCode | None  #: acquire ended: why no lease was granted; None: it was
    call: int  #: names the call and its lease within one client
    at: float  #: when it happened: seconds, by the clock of quorum_redlock.now()
    resource: str  #: the first of several; of a permit that is held: its name
    token: str  #: of a hold; empty otherwise
    fencing_token: int | None  #: of a hold
    end: HoldEnd  #: hold ended: how; else "open"


def _name(names: tuple[str, ...], kind: int) -> str:
    return names[kind] if 0 <= kind < len(names) else "unknown"


def node_event_from(event: Any) -> NodeEvent:
    return read(NodeEvent, event, kind=_name(_structs.NODE_EVENT_KINDS, event.kind),
                level=_name(_structs.EVENT_LEVELS, event.level))


def observation_from(seen: Any) -> Observation:
    failure = None if seen.failure == _structs.OK else text(lib.redlock_status_name(seen.failure))
    return read(Observation, seen, kind=_name(_structs.OBSERVATION_KINDS, seen.kind),
                failure=failure, fencing_token=seen.fencing_token or None)


def log_node_event(logger: logging.Logger, event: NodeEvent) -> None:
    level = {"debug": logging.DEBUG, "info": logging.INFO}.get(event.level, logging.WARNING)
    logger.log(level, "node %s: %s: %s", event.url, event.kind, event.message)
