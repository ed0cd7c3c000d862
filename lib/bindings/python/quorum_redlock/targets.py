"""The kinds of locks that a call can ask for."""

from __future__ import annotations

from ctypes import byref, c_char_p, sizeof
from dataclasses import dataclass
from typing import Any, Iterable, Union

from . import _structs as s
from ._arguments import Duration, encoded, to_count, to_ns
from ._library import lib
from .errors import InvalidArgumentError


@dataclass(frozen=True)
class Target:
    """A lock to ask for: made by `exclusive`, `shared`, `owned`, `permit`, `all_of` and `interval`.
    A str in its place is the exclusive lock on that resource."""

    kind: int
    resources: tuple[str, ...]
    owner: str = ""
    permits: int = 0
    interval_ns: int = 0


#: A resource, or another kind of lock.
TargetLike = Union[str, Target]


def exclusive(resource: str) -> Target:
    """One holder."""
    return Target(s.TARGET_EXCLUSIVE, (resource,))


def shared(resource: str) -> Target:
    """Many readers. A caller that asks for the resource exclusively is a writer."""
    return Target(s.TARGET_SHARED, (resource,))


def owned(resource: str, owner: str) -> Target:
    """Any number of holds of one owner, in any number of processes."""
    return Target(s.TARGET_OWNED, (resource,), owner=owner)


def permit(resource: str, permits: int, *, interval: Duration = 0) -> Target:
    """One of the permits of a semaphore. All clients must name the same number."""
    if to_count(permits, "permits") < 1:
        raise InvalidArgumentError("permits is below 1")
    return Target(s.TARGET_PERMIT, (resource,), permits=permits,
                  interval_ns=to_ns(interval, "interval"))


def all_of(*resources: str | Iterable[str], interval: Duration = 0) -> Target:
    """Several resources, all or none: `all_of("account/1", "account/2")`, or of a list."""
    names: list[str] = []
    for part in resources:
        names.extend([part] if isinstance(part, str) else part)
    if not names:
        raise InvalidArgumentError("all_of: at least one resource is needed")
    return Target(s.TARGET_ALL_OF, tuple(names),
                  interval_ns=to_ns(interval, "interval"))


def interval(resource: str, interval: Duration) -> Target:
    """Once per interval: nobody acquires the resource again until `interval`, a year at most,
    has passed since it was acquired, even if it is released at once."""
    return Target(s.TARGET_EXCLUSIVE, (resource,),
                  interval_ns=to_ns(interval, "interval"))


def native_target(target: TargetLike) -> s.Target:
    """The struct. It refers to its texts, which live as long as it."""
    if isinstance(target, str):
        target = exclusive(target)
    if not isinstance(target, Target):
        raise TypeError(f"target is a {type(target).__name__}; a str or a Target is needed")
    names = [encoded(name, "resource") for name in target.resources]
    native = s.Target()
    lib.redlock_target_init(byref(native), sizeof(native))
    native.kind = target.kind
    native.resource = names[0]
    if len(names) > 1:
        native.more_resources = (c_char_p * (len(names) - 1))(*names[1:])
        native.more_resource_count = len(names) - 1
    if target.kind == s.TARGET_OWNED:
        native.owner = encoded(target.owner, "owner")
    native.permits = to_count(target.permits, "permits")
    native.interval_ns = target.interval_ns
    return native


def by_token(target: TargetLike, token: str) -> tuple[Any, bytes]:
    """The arguments of calls of C that take a target and a token."""
    return byref(native_target(target)), encoded(token, "token")


def of_resource(resource: str, token: str) -> tuple[bytes, bytes]:
    """The arguments of calls of C that take a resource and a token."""
    return encoded(resource, "resource"), encoded(token, "token")
