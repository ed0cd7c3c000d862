"""The checks of the library, so that a lock object is refused when it is made.

The library has the last word, and the same limits: lib/api/options/admission.cpp."""

from __future__ import annotations

from . import _structs as s
from .errors import InvalidArgumentError

_SHORTEST_TTL_NS = 3_000_000
_LONGEST_HOLD_NS = 365 * 86_400 * 10**9
_RESOURCE_BYTES = 8192
_NAME_BYTES = 80
_PERMITS = 256
_RESOURCES = 64


def check(target: s.Target, terms: s.AcquireOptions, max_ttl_ns: int) -> None:
    _check_target(target)
    _check_ttl("ttl", terms.ttl_ns, max_ttl_ns)
    if terms.orphan_ttl_ns != 0:
        _check_ttl("orphan_ttl", terms.orphan_ttl_ns, max_ttl_ns)
        if target.more_resource_count:
            raise InvalidArgumentError("orphan_ttl: not for several resources")
    if terms.name is not None:
        _check_size("name", terms.name, _NAME_BYTES, least=0)
    if terms.fencing and target.kind not in (s.TARGET_EXCLUSIVE, s.TARGET_ALL_OF):
        raise InvalidArgumentError("fencing: not for shared, owned and permit, which may have "
                                   "several holders")
    if terms.max_hold_ns < _SHORTEST_TTL_NS:
        raise InvalidArgumentError(f"max_hold: {_seconds(terms.max_hold_ns)}; "
                                   f"{_seconds(_SHORTEST_TTL_NS)} or more is allowed")


def _check_target(target: s.Target) -> None:
    more = target.more_resource_count
    if more >= _RESOURCES:
        raise InvalidArgumentError(f"resources: {more + 1}; at most {_RESOURCES} are allowed")
    for resource in (target.resource, *(target.more_resources[i] for i in range(more))):
        if resource.startswith(b"redlock:node:"):
            raise InvalidArgumentError("resource: names that begin with redlock:node: are the "
                                       "library's own")
        _check_size("resource", resource, _RESOURCE_BYTES)
    if target.kind == s.TARGET_OWNED:
        _check_size("owner", target.owner, _NAME_BYTES)
    if target.kind == s.TARGET_PERMIT and not 1 <= target.permits <= _PERMITS:
        raise InvalidArgumentError(f"permits: {target.permits}; 1 to {_PERMITS} are allowed")
    if target.interval_ns > _LONGEST_HOLD_NS:
        raise InvalidArgumentError(f"interval: {_seconds(target.interval_ns)}; up to "
                                   f"{_seconds(_LONGEST_HOLD_NS)} is allowed")


def _check_size(name: str, text: bytes, most: int, least: int = 1) -> None:
    if not least <= len(text) <= most:
        raise InvalidArgumentError(f"{name}: {len(text)} bytes; {least} to {most} are allowed")


def _check_ttl(name: str, ns: int, max_ttl_ns: int) -> None:
    if not _SHORTEST_TTL_NS <= ns <= max_ttl_ns:
        raise InvalidArgumentError(f"{name}: {_seconds(ns)}; {_seconds(_SHORTEST_TTL_NS)} to the "
                                   f"max TTL of {_seconds(max_ttl_ns)} is allowed")


def _seconds(ns: int) -> str:
    """Never with an exponent."""
    if ns == s.FOREVER:
        return "for ever"
    return f"{ns / 1e9:.9f}".rstrip("0").rstrip(".") + " s"
