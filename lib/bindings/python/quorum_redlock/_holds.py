"""The owners of the leases of a lock object."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, Callable, Generic, TypeVar

from .lease import LeaseState

_Lease = TypeVar("_Lease", bound=LeaseState[Any])


class Holds(Generic[_Lease]):
    """The leases of one lock object, and the thread or task that acquired each.

    Any thread may release a threading.Lock, but only its owner may release a lease. An acquire call
    can fail, and a lease can be lost: a `finally` that releases nevertheless would release the
    lease of another owner, who still works. If an owner has ended, anybody may release the leases
    that it left, the oldest first. So there are as many releases as acquire calls, and none comes
    too early.

    Every change is a single function of dict: what a signal handler raises could leave a lock
    held."""

    def __init__(self, has_ended: Callable[[Any], bool] = lambda owner: False) -> None:
        self._has_ended = has_ended  # for owners that still exist; collected ones have ended
        self._numbers = itertools.count()
        self._held: dict[int, tuple[weakref.ref[Any], _Lease]] = {}

    def add(self, owner: object, lease: _Lease) -> None:
        # Drops lost leases of this owner, and ended leases of owners that have ended.
        for number, hold in list(self._held.items()):
            if not hold[1].valid if hold[0]() is owner else self._is_left(hold) and hold[1]._ended:
                self._held.pop(number, None)
        self._held[next(self._numbers)] = (weakref.ref(owner), lease)

    def holds(self, owner: object) -> bool:
        return any(of() is owner and lease.valid for of, lease in list(self._held.values()))

    def any_valid(self) -> bool:
        return any(lease.valid for _, lease in list(self._held.values()))

    def find(self, owner: object) -> _Lease | None:
        """The owner's lease, which may have been lost or released, or else one that an owner left
        who has ended."""
        return next((lease for _, lease in self._releasable(owner)), None)

    def take(self, owner: object) -> _Lease | None:
        for number, lease in self._releasable(owner):
            if self._held.pop(number, None) is not None:  # nobody else has taken it meanwhile
                return lease
        return None

    def _releasable(self, owner: object) -> list[tuple[int, _Lease]]:
        holds = list(self._held.items())
        own = [(number, hold[1]) for number, hold in holds if hold[0]() is owner]
        return own or [(number, hold[1]) for number, hold in holds
                       if self._is_left(hold) and not hold[1]._ended]

    def _is_left(self, hold: tuple[weakref.ref[Any], _Lease]) -> bool:
        owner = hold[0]()
        return owner is None or self._has_ended(owner)
