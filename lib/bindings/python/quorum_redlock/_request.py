"""The target and the terms of an acquire call."""

from __future__ import annotations

from typing import Any, Callable

from . import _admission, _callbacks
from . import _structs as s
from ._arguments import Duration, wait_to_ns
from ._owned import LeaseHandle
from .errors import InvalidArgumentError
from .options import AcquireOptions, native_acquire_options
from .targets import TargetLike, native_target


class Request:
    """A target and terms, checked; any number of acquire calls can use them."""

    def __init__(self, max_ttl_ns: int, target: TargetLike, ttl: Duration | None, renew: bool,
                 fencing: bool, more: AcquireOptions) -> None:
        self.target: s.Target = native_target(target)
        self.resource: str = target if isinstance(target, str) else target.resources[0]
        self.raise_on_release_error: bool = more.get("raise_on_release_error", True)
        self._terms: dict[str, Any] = {"ttl": ttl, "renew": renew, "fencing": fencing}
        self._more = more
        # Mistakes are reported before any node is asked.
        _admission.check(self.target, self.options(0), max_ttl_ns)

    def options(self, context: int) -> s.AcquireOptions:
        return native_acquire_options(self._more, context=context, **self._terms)

    def prepare(self, handle: LeaseHandle, deliver: _callbacks.Deliver,
                set_lost: Callable[[], Any]) -> s.AcquireOptions:
        """Prepares the handle for the lease of a call, and returns the terms of the call."""
        handle.prepare(_callbacks.LeaseSignals(deliver, set_lost, self._more.get("on_lost"),
                                               self._more.get("on_at_risk")))
        return self.options(handle.context)


def lock_wait_to_ns(blocking: bool, timeout: Duration | None, otherwise_ns: int) -> int:
    """The wait of `lock.acquire(blocking, timeout)`, whose words are those of threading.Lock."""
    if not blocking:
        if timeout is not None and timeout != -1:
            raise InvalidArgumentError("timeout is given for a call that does not block")
        return 0
    if timeout is None:
        return otherwise_ns
    return wait_to_ns(None if timeout == -1 else timeout, "timeout")
