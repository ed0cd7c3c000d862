"""From Python's arguments to those of C: texts end with a NUL, durations are nanoseconds."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Union

from ._structs import FOREVER
from .errors import InvalidArgument

#: Seconds, or a timedelta. math.inf is forever.
Duration = Union[float, int, timedelta]


def to_ns(duration: Duration, name: str) -> int:
    if isinstance(duration, timedelta):
        ns = (duration.days * 86400 + duration.seconds) * 10**9 + duration.microseconds * 1000
    elif isinstance(duration, bool) or not isinstance(duration, (int, float)):
        raise TypeError(f"{name} is a {type(duration).__name__}; seconds or a timedelta are needed")
    elif math.isnan(duration):
        raise InvalidArgument(f"{name} is not a number")
    elif math.isinf(duration):
        ns = FOREVER if duration > 0 else -1
    else:
        ns = round(duration * 10**9)
    if ns < 0:
        raise InvalidArgument(f"{name} is negative")
    return min(ns, FOREVER)


def wait_to_ns(wait: Duration | None) -> int:
    """None: forever."""
    return FOREVER if wait is None else to_ns(wait, "wait")


def encoded(value: str | bytes, name: str) -> bytes:
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    if not isinstance(value, bytes):
        raise TypeError(f"{name} is a {type(value).__name__}; a str is needed")
    if b"\0" in value:
        raise InvalidArgument(f"{name} contains a NUL")
    return value
