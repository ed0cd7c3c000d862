"""quorum_redlock for asyncio: the same calls, to be awaited.

    async with quorum_redlock.aio.Client(["10.0.0.1", "10.0.0.2", "10.0.0.3"]) as client:
        async with client.lock("invoice/42", ttl=10) as lease:
            ...

A client belongs to the event loop in which it was made, and so do its leases. Cancelling a task
ends its call; a lease that was granted at that moment is released."""

from __future__ import annotations

from . import deployment
from .client import Client
from .election import Election, Leadership, LeadershipRequest
from .lease import Lease
from .lock import Lock
from .watching import Watch

__all__ = ["Client", "Election", "Leadership", "LeadershipRequest", "Lease", "Lock", "Watch",
           "deployment"]
