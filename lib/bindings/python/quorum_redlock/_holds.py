"""The owners of the leases of a lock object."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Callable, Generic, TypeVar

from .lease import LeaseState

_Lease = TypeVar("_Lease", bound=LeaseState)


class Holds(Generic[_Lease]):
    """The leases of one lock object, and the thread or task that acquired each.

    Any thread may release a threading.Lock, but only its owner may release a lease. An acquire call
    can fail, and a lease can be lost: a `finally` that releases nevertheless would release the
    lease of another owner, who still works. If an owner has ended, anybody may release the leases
    that it left, the oldest first. So there are as many releases as acquire calls, and none comes
    too early."""

    def __init__(self, has_ended: Callable[[Any], bool] = lambda owner: False) -> None:
        self._has_ended = has_ended  # for owners that still exist; collected ones have ended
        self._lock = threading.RLock()
        self._held: list[tuple[weakref.ref[Any], _Lease]] = []

    def add(self, owner: object, lease: _Lease) -> None:
        with self._lock:
            # Drops lost leases of this owner, and ended leases of owners that have ended.
            self._held = [hold for hold in self._held if not (
                not hold[1].valid if hold[0]() is owner else self._is_left(hold) and
                hold[1]._ended)]
            self._held.append((weakref.ref(owner), lease))

    def holds(self, owner: object) -> bool:
        with self._lock:
            return any(of() is owner and lease.valid for of, lease in self._held)

    def any_valid(self) -> bool:
        with self._lock:
            return any(lease.valid for _, lease in self._held)

    def find(self, owner: object) -> _Lease | None:
        """The owner's lease, which may have been lost or released, or else one that an owner left
        who has ended."""
        with self._lock:
            hold = self._find(owner)
        return None if hold is None else hold[1]

    def take(self, owner: object) -> _Lease | None:
        with self._lock:
            hold = self._find(owner)
            self._held = [other for other in self._held if other is not hold]
        return None if hold is None else hold[1]

    def _find(self, owner: object) -> tuple[weakref.ref[Any], _Lease] | None:
        own = [hold for hold in self._held if hold[0]() is owner]
        left = [hold for hold in self._held if self._is_left(hold) and not hold[1]._ended]
        return next(iter(own or left), None)

    def _is_left(self, hold: tuple[weakref.ref[Any], _Lease]) -> bool:
        owner = hold[0]()
        return owner is None or self._has_ended(owner)
