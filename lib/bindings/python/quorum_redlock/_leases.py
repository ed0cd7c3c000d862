"""All live leases. When a client is closed, its leases end, and their `lost` is set."""

from __future__ import annotations

import threading
import weakref
from typing import Protocol


class LiveLease(Protocol):
    def notice_loss(self) -> None:
        """Sets `lost` if the library says so."""


_lock = threading.Lock()
_all: weakref.WeakSet[LiveLease] = weakref.WeakSet()


def add(lease: LiveLease) -> None:
    with _lock:
        _all.add(lease)


def notice_losses() -> None:
    """Checks the leases of all clients: only the library knows which client has which lease."""
    with _lock:
        leases = list(_all)
    for lease in leases:
        lease.notice_loss()
