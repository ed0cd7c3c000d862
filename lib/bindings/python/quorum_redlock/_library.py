"""Loads the shared library and declares the functions of redlock.h that the package calls."""

from __future__ import annotations

import ctypes
import math
import os
from ctypes import POINTER, c_bool, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from types import SimpleNamespace

from . import _structs as s
from ._version import __version__

_P = POINTER
_STATUS = c_int32
_ERROR = _P(_P(s.Error))
_CLIENT_OPTIONS = _P(s.ClientOptions)
_CHANGE = [_P(s.ChangeOptions), _P(_P(s.Membership)), _ERROR]

# Those of the opaque types are c_void_p: client, async client, lease, stop, election, dispatcher,
# credentials.
FUNCTIONS = {
    "redlock_status_name": (c_char_p, [_STATUS]),
    "redlock_vote_name": (c_char_p, [c_int32]),
    "redlock_holder_kind_name": (c_char_p, [c_int32]),
    "redlock_lock_kind_name": (c_char_p, [c_int32]),
    "redlock_state_name": (c_char_p, [c_int32]),
    "redlock_version": (c_char_p, []),
    "redlock_now_ns": (c_int64, []),
    "redlock_round_node": (_P(s.NodeVote), [_P(s.Round), c_size_t]),
    "redlock_round_free": (None, [_P(s.Round)]),
    "redlock_error_free": (None, [_P(s.Error)]),
    "redlock_stop_new": (c_void_p, []),
    "redlock_stop_request": (None, [c_void_p]),
    "redlock_stop_free": (None, [c_void_p]),
    "redlock_dispatcher_new": (c_void_p, []),
    "redlock_dispatcher_run": (None, [c_void_p]),
    "redlock_dispatcher_stop": (None, [c_void_p]),
    "redlock_target_init": (None, [_P(s.Target), c_size_t]),
    "redlock_client_options_init": (None, [_CLIENT_OPTIONS, c_size_t]),
    "redlock_credentials_url": (c_char_p, [c_void_p]),
    "redlock_credentials_provide": (None, [c_void_p, c_char_p, c_char_p]),
    "redlock_credentials_fail": (None, [c_void_p, c_char_p]),
    "redlock_client_create": (_STATUS, [_CLIENT_OPTIONS, _P(c_void_p), _ERROR]),
    "redlock_close_report_undelivered": (_P(s.Undelivered), [_P(s.CloseReport), c_size_t]),
    "redlock_close_report_free": (None, [_P(s.CloseReport)]),
    "redlock_client_close": (_STATUS, [c_void_p, _P(_P(s.CloseReport)), _ERROR]),
    "redlock_client_free": (None, [c_void_p]),
    "redlock_acquire_options_init": (None, [_P(s.AcquireOptions), c_size_t]),
    "redlock_try_acquire": (_STATUS, [c_void_p, _P(s.Target), _P(s.AcquireOptions), _P(c_void_p),
                                      _ERROR]),
    "redlock_try_acquire_for": (_STATUS, [c_void_p, _P(s.Target), c_int64, _P(s.AcquireOptions),
                                          c_void_p, _P(c_void_p), _ERROR]),
    "redlock_lease_resource_count": (c_size_t, [c_void_p]),
    "redlock_lease_resource_at": (c_char_p, [c_void_p, c_size_t]),
    "redlock_lease_token": (c_char_p, [c_void_p]),
    "redlock_lease_fencing_token": (c_uint64, [c_void_p]),
    "redlock_lease_valid": (c_bool, [c_void_p]),
    "redlock_lease_lost": (c_bool, [c_void_p]),
    "redlock_lease_remaining_ns": (c_int64, [c_void_p]),
    "redlock_lease_valid_until_ns": (c_int64, [c_void_p]),
    "redlock_lease_round": (_STATUS, [c_void_p, _P(_P(s.Round)), _ERROR]),
    "redlock_lease_extend": (_STATUS, [c_void_p, c_int64, _P(_P(s.Round)), _ERROR]),
    "redlock_lease_downgrade": (_STATUS, [c_void_p, _P(_P(s.Round)), _ERROR]),
    "redlock_lease_release": (_STATUS, [c_void_p, _P(_P(s.Round)), _ERROR]),
    "redlock_lease_detach": (c_char_p, [c_void_p]),
    "redlock_lease_free": (None, [c_void_p]),
    "redlock_extend": (_STATUS, [c_void_p, _P(s.Target), c_char_p, c_int64, _P(_P(s.Round)),
                                 _ERROR]),
    "redlock_downgrade": (_STATUS, [c_void_p, c_char_p, c_char_p, _P(_P(s.Round)), _ERROR]),
    "redlock_release": (_STATUS, [c_void_p, _P(s.Target), c_char_p, _P(_P(s.Round)), _ERROR]),
    "redlock_break": (_STATUS, [c_void_p, c_char_p, c_char_p, c_int64, _P(_P(s.Round)), _ERROR]),
    "redlock_ownership": (_STATUS, [c_void_p, c_char_p, c_char_p, _P(c_bool), _ERROR]),
    "redlock_inspection_node": (_P(s.NodeInspection), [_P(s.Inspection), c_size_t]),
    "redlock_inspection_broken": (_P(s.BrokenLock), [_P(s.Inspection), c_size_t]),
    "redlock_inspection_free": (None, [_P(s.Inspection)]),
    "redlock_inspect": (_STATUS, [c_void_p, c_char_p, _P(_P(s.Inspection)), _ERROR]),
    "redlock_async_create": (_STATUS, [_CLIENT_OPTIONS, c_void_p, _P(c_void_p), _ERROR]),
    "redlock_async_close": (None, [c_void_p, s.CloseDone, c_void_p]),
    "redlock_async_free": (None, [c_void_p]),
    "redlock_adopt": (_STATUS, [c_void_p, c_char_p, _P(s.AcquireOptions), _P(c_void_p), _ERROR]),
    "redlock_async_adopt": (None, [c_void_p, c_char_p, _P(s.AcquireOptions), s.LeaseDone,
                                   c_void_p]),
    "redlock_async_try_acquire_for": (c_uint64, [c_void_p, _P(s.Target), c_int64,
                                                 _P(s.AcquireOptions), s.LeaseDone, c_void_p]),
    "redlock_async_cancel": (None, [c_void_p, c_uint64]),
    "redlock_async_lease_extend": (None, [c_void_p, c_void_p, c_int64, s.RoundDone, c_void_p]),
    "redlock_async_lease_downgrade": (None, [c_void_p, c_void_p, s.RoundDone, c_void_p]),
    "redlock_async_lease_release": (None, [c_void_p, c_void_p, s.RoundDone, c_void_p]),
    "redlock_async_extend": (None, [c_void_p, _P(s.Target), c_char_p, c_int64, s.RoundDone,
                                    c_void_p]),
    "redlock_async_downgrade": (None, [c_void_p, c_char_p, c_char_p, s.RoundDone, c_void_p]),
    "redlock_async_release": (None, [c_void_p, _P(s.Target), c_char_p, s.RoundDone, c_void_p]),
    "redlock_async_ownership": (None, [c_void_p, c_char_p, c_char_p, s.OwnershipDone, c_void_p]),
    "redlock_async_inspect": (None, [c_void_p, c_char_p, s.InspectionDone, c_void_p]),
    "redlock_async_watch": (c_uint64, [c_void_p, c_char_p, c_int64, s.InspectionDone, c_void_p]),
    "redlock_watch": (_STATUS, [c_void_p, c_char_p, c_int64, s.WatchCallback, c_void_p, c_void_p,
                                _P(c_uint64), _ERROR]),
    "redlock_election_options_init": (None, [_P(s.ElectionOptions), c_size_t]),
    "redlock_election_create": (_STATUS, [c_void_p, c_char_p, _P(s.ElectionOptions),
                                          _P(c_void_p), _ERROR]),
    "redlock_election_free": (None, [c_void_p]),
    "redlock_leader_free": (None, [_P(s.Leader)]),
    "redlock_election_leader": (_STATUS, [c_void_p, _P(_P(s.Leader)), _ERROR]),
    "redlock_election_observe": (_STATUS, [c_void_p, s.LeaderCallback, c_void_p, c_void_p,
                                           _P(c_uint64), _ERROR]),
    # Free with redlock_text_free: a c_char_p would lose the address.
    "redlock_client_prometheus": (_STATUS, [c_void_p, _P(c_char_p), _P(c_char_p), c_size_t,
                                            _P(c_void_p), _ERROR]),
    "redlock_text_free": (None, [c_void_p]),
    "redlock_deployment_check_node": (_P(s.NodeCheck), [_P(s.DeploymentCheck), c_size_t]),
    "redlock_deployment_check_finding": (_P(s.Finding), [_P(s.DeploymentCheck), c_size_t]),
    "redlock_deployment_check_free": (None, [_P(s.DeploymentCheck)]),
    "redlock_check": (_STATUS, [_CLIENT_OPTIONS, _P(_P(s.DeploymentCheck)), _ERROR]),
    "redlock_change_options_init": (None, [_P(s.ChangeOptions), c_size_t]),
    "redlock_bootstrap": (_STATUS, [_CLIENT_OPTIONS, _P(s.ChangeOptions), _P(_P(s.DeploymentCheck)),
                                    _ERROR]),
    "redlock_membership_node": (_P(s.Member), [_P(s.Membership), c_size_t]),
    "redlock_membership_free": (None, [_P(s.Membership)]),
    "redlock_members": (_STATUS, [_CLIENT_OPTIONS, _P(_P(s.Membership)), _ERROR]),
    "redlock_replace_member": (_STATUS, [_CLIENT_OPTIONS, c_char_p, c_char_p, *_CHANGE]),
    "redlock_add_member": (_STATUS, [_CLIENT_OPTIONS, c_char_p, *_CHANGE]),
    "redlock_remove_member": (_STATUS, [_CLIENT_OPTIONS, c_char_p, *_CHANGE]),
    "redlock_lock_list_lock": (_P(s.ListedLock), [_P(s.LockList), c_size_t]),
    "redlock_lock_list_node": (_P(s.ListedNode), [_P(s.LockList), c_size_t]),
    "redlock_lock_list_free": (None, [_P(s.LockList)]),
    "redlock_list_locks": (_STATUS, [_CLIENT_OPTIONS, c_char_p, c_uint64, _P(_P(s.LockList)),
                                     _ERROR]),
}

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
    for name, (result, arguments) in FUNCTIONS.items():
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


def text_or_none(value: bytes | None) -> str | None:
    return None if value is None else text(value)


def from_ns(ns: int) -> float:
    """Seconds; math.inf for a duration that never ends."""
    return math.inf if ns == s.FOREVER else ns / 1e9


def known(ns: int) -> float | None:
    """The duration in seconds; None for -1, which C uses for a duration that is not known."""
    return None if ns < 0 else from_ns(ns)
