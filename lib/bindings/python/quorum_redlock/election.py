"""Leader election."""

from __future__ import annotations

import threading
from ctypes import POINTER, byref, sizeof
from typing import Any, Callable, Generic, Mapping, TypeVar

from . import _structs as s
from ._arguments import Duration, encoded, to_ns
from ._blocks import exit_method
from ._copies import NotCopied
from ._library import lib
from ._owned import LeaseHandle, Owned
from ._waiting import Stop, blocking
from .client import BaseClient, Client
from .errors import HeldError, SplitError, RedlockError, call
from .lease import Lease, LeaseState
from .options import AcquireOptions
from .watching import Leader, Watch, leader_from

_Client = TypeVar("_Client", bound=BaseClient[Any])
_Lease = TypeVar("_Lease", bound=LeaseState[Any])
_Event = TypeVar("_Event")


class BaseElection(NotCopied, Generic[_Client]):
    """The part that the elections of both clients share."""

    _instead = "make it with Client.election in the process that uses it"

    def __init__(self, client: _Client, name: str, candidate: str, ttl: Duration | None) -> None:
        self._client = client
        self._name = name
        more: AcquireOptions = {"name": candidate} if candidate else {}
        client._request(name, ttl, True, True, more)  # what is wrong is said here
        self._terms: dict[str, Any] = {"name": candidate or None, "ttl": ttl, "fencing": True}


class BaseLeadership(NotCopied, Generic[_Lease, _Event]):
    """The part that the leaderships of both clients share."""

    _instead = "pass it on as it is; another process campaigns for itself"

    def __init__(self, lease: _Lease) -> None:
        self.lease = lease
        self.lost: _Event = lease.lost  #: see Lease.lost

    @property
    def term(self) -> int:
        """To send along with every write: larger than that of every leader elected before."""
        return self.lease.fencing_token or 0

    @property
    def valid(self) -> bool:
        """Compares the clock with the deadline at every call. False after it was lost or
        resigned."""
        return self.lease.valid

    def _handle_of_block(self) -> LeaseHandle:
        return self.lease._handle


def refuse_wait(options: Mapping[str, Any]) -> None:
    if "wait" in options:
        raise TypeError("there is no option wait of try_campaign: it asks once; campaign waits")


class _OwnedElection(Owned, free=lib.redlock_election_free):
    """A redlock_election."""


class Election(BaseElection[Client]):
    """A leader among many candidates: an exclusive lock on the election's name, with a fencing
    token as the term. Made by Client.election. Any thread may use it."""

    def __init__(self, client: Client, name: str, *, candidate: str, ttl: Duration | None,
                 poll_interval: Duration | None) -> None:
        super().__init__(client, name, candidate, ttl)
        options = s.ElectionOptions()
        lib.redlock_election_options_init(byref(options), sizeof(options))
        options.candidate = encoded(candidate, "candidate")
        if ttl is not None:
            options.ttl_ns = to_ns(ttl, "ttl")
        if poll_interval is not None:
            options.poll_interval_ns = to_ns(poll_interval, "poll_interval")
        self._owned = _OwnedElection()
        call(lib.redlock_election_create, client._handle.pointer(), encoded(name, "name"),
             byref(options), byref(self._owned["pointer"]))

    def _pointer(self) -> Owned:
        self._client._handle.pointer()  # raises after the end of the client
        return self._owned

    def campaign(self, *, wait: Duration | None = None, stop: Stop | None = None,
                 on_lost: Callable[[RedlockError], Any] | None = None,
                 on_at_risk: Callable[[float], Any] | None = None,
                 raise_on_release_error: bool = True) -> Leadership:
        """Waits until elected: for `wait`, None: as long as it takes, through outages, 0: asks
        once. Ctrl-C ends a wait of the main thread. Raises as Client.acquire."""
        lease = self._client.acquire(self._name, wait=wait, stop=stop, on_lost=on_lost,
                                     on_at_risk=on_at_risk,
                                     raise_on_release_error=raise_on_release_error, **self._terms)
        return Leadership(lease)

    def try_campaign(self, **more: Any) -> Leadership | None:
        """Asks once. None: there is another leader, or candidates contend. Takes `on_lost`,
        `on_at_risk` and `raise_on_release_error`, and raises for everything else, as `campaign`."""
        refuse_wait(more)
        try:
            return self.campaign(wait=0, **more)
        except (HeldError, SplitError):
            return None

    def leader(self) -> Leader | None:
        """The leader now. Raises UnavailableError, ClosedError, ForkedError."""
        seen = POINTER(s.Leader)()
        blocking(lib.redlock_election_leader, self._pointer(), byref(seen))
        try:
            return leader_from(seen)
        finally:
            lib.redlock_leader_free(seen)

    def observe(self) -> Watch[Leader | None]:
        """An iterator of leaders, None for none: the first one at once, then one after every
        change. While too few nodes answer, it reports no change."""
        return Watch.of_election(self._pointer)


class Leadership(BaseLeadership[Lease, threading.Event]):
    """Being the leader: a lease that is renewed in the background, and a context manager that
    resigns. Any thread may use it."""

    def resign(self) -> None:
        """Waits until another candidate can be elected. Raises as Lease.release."""
        self.lease.release()

    def __enter__(self) -> Leadership:
        return self

    @exit_method
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.lease._end_block(kind, error, traceback)
