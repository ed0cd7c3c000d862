"""From Python's arguments to those of C: texts end with a NUL, durations are nanoseconds."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Union

from ._structs import FOREVER
from .errors import InvalidArgumentError

#: Seconds, or a timedelta. math.inf is forever.
Duration = Union[float, int, timedelta]


def to_ns(duration: Duration, name: str) -> int:
    if isinstance(duration, timedelta):
        ns = (duration.days * 86400 + duration.seconds) * 10**9 + duration.microseconds * 1000
    elif isinstance(duration, bool) or not isinstance(duration, (int, float)):
        raise TypeError(f"{name} is a {type(duration).__name__}; seconds or a timedelta are needed")
    elif isinstance(duration, float) and math.isnan(duration):
        raise InvalidArgumentError(f"{name} is not a number")
    elif abs(duration) >= FOREVER:  # the product might not be finite
        ns = FOREVER if duration > 0 else -1
    else:
        ns = round(duration * 10**9)
    if ns < 0:
        raise InvalidArgumentError(f"{name} is negative")
    return min(ns, FOREVER)


def wait_to_ns(wait: Duration | None, name: str = "wait") -> int:
    """None: forever."""
    return FOREVER if wait is None else to_ns(wait, name)


def to_count(count: int, name: str) -> int:
    """Refuses a number that is too large: C would keep only its lower bits."""
    if not isinstance(count, int):
        raise TypeError(f"{name} is {count!r}; a bool or a number is needed")
    if not 0 <= count < 2**64:
        raise InvalidArgumentError(f"{name} is {count}; 0 to 2**64 - 1 is allowed")
    return count


def encoded(value: str | bytes, name: str) -> bytes:
    if isinstance(value, str):
        try:
            value = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InvalidArgumentError(f"{name} contains half of a surrogate pair, which no UTF-8 "
                                       "has") from None
    if not isinstance(value, bytes):
        raise TypeError(f"{name} is a {type(value).__name__}; a str is needed")
    if b"\0" in value:
        raise InvalidArgumentError(f"{name} contains a NUL")
    return value
