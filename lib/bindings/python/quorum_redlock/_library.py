"""Loads the shared library and declares the functions of redlock.h that the package calls."""

from __future__ import annotations

import ctypes
import math
import os
from ctypes import c_char_p
from types import SimpleNamespace
from typing import Any

from . import _structs as s
from ._version import __version__

# These only read a few words, or pass on a request. They keep the interpreter's lock: giving it up
# would cost more, and so no two of them overlap.
_QUICK = {
    "redlock_now_ns", "redlock_lease_valid", "redlock_lease_remaining_ns",
    "redlock_lease_valid_until_ns", "redlock_lease_token", "redlock_lease_fencing_token",
    "redlock_lease_resource_count", "redlock_lease_resource_at", "redlock_lease_lost",
    "redlock_lease_detach", "redlock_stop_request",
}

_SERIES = ".".join(__version__.split(".")[:2])
_NAME = f"libredlock.so.{_SERIES}"
#: A wheel of tools/packaging/python/run has it.
_BUNDLED = os.path.join(os.path.dirname(__file__), "_bundled", _NAME)


def _load() -> SimpleNamespace:
    path = os.environ.get("REDLOCK_LIBRARY")
    if not path:
        path = _BUNDLED if os.path.exists(_BUNDLED) else _NAME
    try:
        releasing, keeping = ctypes.CDLL(path), ctypes.PyDLL(path)
    except OSError as error:
        raise ImportError(
            f"quorum_redlock: the library {path} cannot be loaded ({error}). Install libredlock, "
            f"or a wheel that carries it, or set the environment variable REDLOCK_LIBRARY to the "
            f"path of {_NAME}") from None
    try:
        releasing.redlock_version.restype = c_char_p
        version = releasing.redlock_version().decode()
    except AttributeError:
        raise ImportError(f"quorum_redlock: {path} has no interface for C; version {_SERIES} of "
                          "libredlock is needed") from None
    if not version.startswith(_SERIES + "."):
        raise ImportError(f"quorum_redlock: {path} is version {version}; this package needs "
                          f"{_SERIES}")
    loaded = SimpleNamespace()
    for name, (result, arguments) in s.header.functions.items():
        try:
            function = getattr(keeping if name in _QUICK else releasing, name)
        except AttributeError:
            raise ImportError(f"quorum_redlock: {path}, version {version}, has no {name}: it is "
                              "older than this package") from None
        function.restype, function.argtypes = result, arguments
        setattr(loaded, name, function)
    return loaded


lib = _load()


def library_version() -> str:
    """The version of the library that was loaded: "1.2.3"."""
    return text(lib.redlock_version())


def text(value: bytes | None) -> str:
    """Tokens of other clients may be no UTF-8: `encoded` gives the same bytes back."""
    return (value or b"").decode("utf-8", "surrogateescape")


def taken_text(address: Any) -> str:
    """A text that is ours, which is freed."""
    try:
        return text(ctypes.string_at(address))
    finally:
        lib.redlock_text_free(address)


def text_or_none(value: bytes | None) -> str | None:
    return None if value is None else text(value)


def from_ns(ns: int) -> float:
    """Seconds; math.inf for a duration that never ends."""
    return math.inf if ns == s.FOREVER else ns / 1e9


def known(ns: int) -> float | None:
    """The duration in seconds; None for -1, which C uses for a duration that is not known."""
    return None if ns < 0 else from_ns(ns)
