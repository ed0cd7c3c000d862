"""Locks over a quorum of independent Redis masters, by the library redlock.

    with quorum_redlock.Client(["10.0.0.1", "10.0.0.2", "10.0.0.3"]) as client:
        with client.lock("invoice/42", ttl=10, fencing=True) as lease:
            storage.write(invoice, lease.fencing_token)

quorum_redlock.aio has the same for asyncio. Durations are seconds, or timedeltas where they are
given."""

from __future__ import annotations

from . import deployment, literals
from ._arguments import Duration
from ._library import lib as _lib, library_version
from ._version import __version__
from ._waiting import Stop
from .client import Client
from .detached import DetachedLease
from .election import Election, Leadership
from .errors import (ClosedError, ExcludedError, ExpiredError, ForkedError, HeldError,
                     InternalError, InvalidArgumentError, LeaseLostError, LimitReachedError,
                     NoMemoryError, NotGrantedError, NotHolderError, RedlockError, SplitError,
                     StoppedError, UnavailableError, WouldBlockError)
from .events import NodeEvent, Observation
from .inspection import BrokenLock, Inspection, NextClient, NodeInspection
from .lease import Lease
from .lock import Lock
from .options import AcquireOptions, ClientOptions
from .reports import CloseReport, Holder, NodeVote, Round, Undelivered
from .targets import Target, all_of, exclusive, interval, owned, permit, shared
from .watching import Leader, Watch


def now() -> float:
    """The clock of Lease.valid_until, in seconds. It counts on while the machine is suspended."""
    return float(_lib.redlock_now_ns() / 1e9)


__all__ = [
    "AcquireOptions", "BrokenLock", "Client", "ClientOptions", "CloseReport", "ClosedError",
    "DetachedLease", "Duration", "Election", "ExcludedError", "ExpiredError", "ForkedError",
    "HeldError", "Holder", "Inspection", "InternalError", "InvalidArgumentError", "Leader",
    "Leadership", "Lease", "LeaseLostError", "LimitReachedError", "Lock", "NextClient",
    "NoMemoryError", "NodeEvent", "NodeInspection", "NodeVote", "NotGrantedError",
    "NotHolderError", "Observation", "RedlockError", "Round", "SplitError", "Stop",
    "StoppedError", "Target", "UnavailableError", "Undelivered", "Watch", "WouldBlockError",
    "__version__", "all_of", "deployment", "exclusive", "interval", "library_version",
    "literals", "now", "owned", "permit", "shared",
]
