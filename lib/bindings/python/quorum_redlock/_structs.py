"""The structs and callbacks of redlock.h: tests/test_declarations.py compares them with that."""

from __future__ import annotations

import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_int32, c_int64, c_size_t,
                    c_uint32, c_uint64, c_void_p)

FOREVER = 2**63 - 1  # nanoseconds
OK = 0

TARGET_EXCLUSIVE = 0
TARGET_SHARED = 1
TARGET_OWNED = 2
TARGET_PERMIT = 3
TARGET_ALL_OF = 4

NODE_EVENT_KINDS = ("up", "down", "protocol", "excluded", "undelivered", "learned", "paused",
                    "warning", "counters_reset")
EVENT_LEVELS = ("debug", "info", "warning")
OBSERVATION_KINDS = ("acquire_began", "acquire_ended", "hold_began", "hold_ended", "lease_lost")


class NodeVote(Structure):
    _fields_ = [("url", c_char_p), ("vote", c_int32), ("holder_kind", c_int32),
                ("round_trip_ns", c_int64), ("holder", c_char_p), ("owner", c_char_p),
                ("remaining_ns", c_int64), ("message", c_char_p)]


class Round(Structure):
    _fields_ = [("quorum", c_uint64), ("ttl_ns", c_int64), ("elapsed_ns", c_int64),
                ("validity_ns", c_int64), ("holds_left", c_int64), ("node_count", c_uint64)]


class Error(Structure):
    _fields_ = [("status", c_int32), ("message", c_char_p), ("holder_name", c_char_p),
                ("round", POINTER(Round))]


class Target(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int32), ("resource", c_char_p),
                ("more_resources", POINTER(c_char_p)), ("more_resource_count", c_size_t),
                ("owner", c_char_p), ("permits", c_uint64), ("hold_at_least_ns", c_int64)]


class NodeEvent(Structure):
    _fields_ = [("kind", c_int32), ("node", c_uint64), ("url", c_char_p), ("message", c_char_p),
                ("level", c_int32), ("times", c_uint64)]


class Observation(Structure):
    _fields_ = [("kind", c_int32), ("failure", c_int32), ("call", c_uint64), ("at_ns", c_int64),
                ("resource", c_char_p), ("token", c_char_p), ("fencing_token", c_uint64),
                ("end", c_char_p)]


FreeContext = CFUNCTYPE(None, c_void_p)
NodeEventCallback = CFUNCTYPE(None, c_void_p, POINTER(NodeEvent))
ObservationCallback = CFUNCTYPE(None, c_void_p, POINTER(Observation))
CredentialsCallback = CFUNCTYPE(None, c_void_p, c_void_p)
AtRiskCallback = CFUNCTYPE(None, c_void_p, c_int64)
LostCallback = CFUNCTYPE(None, c_void_p, POINTER(Error))


class ClientOptions(Structure):
    _fields_ = [("size", c_size_t), ("nodes", POINTER(c_char_p)), ("node_count", c_size_t),
                ("quorum", c_uint64), ("name", c_char_p), ("user", c_char_p),
                ("password", c_char_p), ("tls_ca_file", c_char_p),
                ("tls_certificate_file", c_char_p), ("tls_key_file", c_char_p),
                ("shortest_node_limit_ns", c_int64), ("longest_node_limit_ns", c_int64),
                ("max_ttl_ns", c_int64), ("quarantine_ns", c_int64), ("clock_bound_ns", c_int64),
                ("guard_restart", c_bool), ("guard_clock", c_bool), ("trust_durable", c_bool),
                ("name_holders", c_bool), ("plain_commands", c_bool),
                ("on_node_event", NodeEventCallback), ("on_observation", ObservationCallback),
                ("context", c_void_p), ("free_context", FreeContext), ("dispatcher", c_void_p),
                ("connect_timeout_ns", c_int64), ("prefix", c_char_p),
                ("password_file", c_char_p), ("on_credentials", CredentialsCallback),
                ("tls_server_name", c_char_p), ("on_log", NodeEventCallback)]


class Undelivered(Structure):
    _fields_ = [("node", c_uint64), ("url", c_char_p), ("releases", c_uint64),
                ("left_ns", c_int64), ("may_write_late", c_bool)]


class CloseReport(Structure):
    _fields_ = [("undelivered_count", c_uint64)]


class AcquireOptions(Structure):
    _fields_ = [("size", c_size_t), ("ttl_ns", c_int64),
                ("max_renewals", c_uint64), ("max_hold_ns", c_int64), ("orphan_ttl_ns", c_int64),
                ("name", c_char_p), ("renew", c_bool), ("fencing", c_bool),
                ("on_at_risk", AtRiskCallback), ("on_lost", LostCallback),
                ("context", c_void_p), ("free_context", FreeContext)]


class BrokenLock(Structure):
    _fields_ = [("time_ns", c_int64), ("token", c_char_p), ("by", c_char_p)]


class NodeInspection(Structure):
    _fields_ = [("url", c_char_p), ("kind", c_int32), ("holder", c_char_p), ("owner", c_char_p),
                ("holder_name", c_char_p), ("holds", c_uint32), ("waiters", c_uint32),
                ("tokens", POINTER(c_char_p)), ("token_count", c_uint64),
                ("names", POINTER(c_char_p)), ("name_count", c_uint64), ("next", c_char_p),
                ("next_name", c_char_p), ("remaining_ns", c_int64), ("fencing", c_uint64),
                ("quarantine_ns", c_int64), ("error", c_char_p)]


class Inspection(Structure):
    _fields_ = [("state", c_int32), ("kind", c_int32), ("holder", c_char_p),
                ("owner", c_char_p), ("holder_name", c_char_p), ("waiters", c_uint32),
                ("next", c_char_p), ("next_name", c_char_p), ("broken_count", c_uint64),
                ("quorum", c_uint64), ("node_count", c_uint64)]


class ElectionOptions(Structure):
    _fields_ = [("size", c_size_t), ("candidate", c_char_p), ("ttl_ns", c_int64),
                ("poll_interval_ns", c_int64), ("on_at_risk", AtRiskCallback),
                ("on_lost", LostCallback),
                ("context", c_void_p), ("free_context", FreeContext)]


class Leader(Structure):
    _fields_ = [("candidate", c_char_p), ("token", c_char_p)]


class NodeCheck(Structure):
    _fields_ = [("url", c_char_p), ("problem", c_char_p), ("round_trip_ns", c_int64),
                ("version", c_char_p), ("server", c_char_p), ("server_version", c_char_p),
                ("role", c_char_p), ("run_id", c_char_p), ("uptime_ns", c_int64),
                ("persistence", c_char_p), ("maxmemory_policy", c_char_p),
                ("used_memory", c_int64), ("max_memory", c_int64), ("clock_offset_ns", c_int64),
                ("membership", c_char_p), ("member", c_char_p), ("replicas", c_uint64),
                ("quarantine_ns", c_int64),
                ("reachable", c_bool), ("durable", c_bool), ("cluster", c_bool),
                ("loading", c_bool), ("marked", c_bool), ("restarted", c_bool)]


class Finding(Structure):
    _fields_ = [("node", c_char_p), ("kind", c_char_p), ("what", c_char_p), ("why", c_char_p),
                ("remedy", c_char_p)]


class DeploymentCheck(Structure):
    _fields_ = [("node_count", c_uint64), ("finding_count", c_uint64), ("granted_in_ns", c_int64)]


class ChangeProgress(Structure):
    _fields_ = [("kind", c_char_p), ("node", c_char_p), ("what", c_char_p), ("left_ns", c_int64)]


ProgressCallback = CFUNCTYPE(None, c_void_p, POINTER(ChangeProgress))


class ChangeOptions(Structure):
    _fields_ = [("size", c_size_t), ("patience_ns", c_int64), ("after_loss", c_bool),
                ("stop", c_void_p), ("on_progress", ProgressCallback), ("context", c_void_p)]


class Member(Structure):
    _fields_ = [("url", c_char_p), ("state", c_char_p), ("problem", c_char_p),
                ("deployment", c_char_p), ("quarantine_ns", c_int64), ("member", c_char_p)]


class Membership(Structure):
    _fields_ = [("deployment", c_char_p), ("members", POINTER(c_char_p)),
                ("member_count", c_uint64), ("node_count", c_uint64), ("max_ttl_ns", c_int64),
                ("resume", c_char_p)]


class ListedLock(Structure):
    _fields_ = [("resource", c_char_p), ("kind", c_int32), ("state", c_char_p),
                ("holder", c_char_p), ("owner", c_char_p), ("holds", c_uint64),
                ("permits", c_int64), ("remaining_ns", c_int64), ("waiters", c_uint64),
                ("nodes", c_uint64), ("holder_name", c_char_p)]


class ListedNode(Structure):
    _fields_ = [("url", c_char_p), ("error", c_char_p), ("unread", c_uint64),
                ("stopped_early", c_bool)]


class LockList(Structure):
    _fields_ = [("lock_count", c_uint64), ("node_count", c_uint64), ("quorum", c_uint64),
                ("answered", c_uint64), ("complete", c_bool)]


LeaseDone = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(Error))
RoundDone = CFUNCTYPE(None, c_void_p, POINTER(Round), POINTER(Error))
InspectionDone = CFUNCTYPE(None, c_void_p, POINTER(Inspection), POINTER(Error))
OwnershipDone = CFUNCTYPE(None, c_void_p, c_bool, POINTER(Error))
CloseDone = CFUNCTYPE(None, c_void_p, POINTER(CloseReport), POINTER(Error))
WatchCallback = CFUNCTYPE(None, c_void_p, POINTER(Inspection))
LeaderCallback = CFUNCTYPE(None, c_void_p, POINTER(Leader))

ALL = {kind.__name__: kind for kind in list(globals().values())
       if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind is not Structure}
