"""The interface for C in terms of ctypes, as redlock.h, which the package carries, declares it.

Structs, the types of callbacks and numbers have the names of C without the prefix: `Round` is
redlock_round, `RoundDone` redlock_round_done. Handles, whose structs C hides, are c_void_p."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

_HEADER = os.path.join(os.path.dirname(__file__), "redlock.h")
_PLAIN: dict[str, Any] = {
    "void": None, "bool": ctypes.c_bool, "size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
    "char": ctypes.c_char,
}

FOREVER = 2**63 - 1  # nanoseconds


def _title(name: str) -> str:
    return "".join(word.title() for word in name[len("redlock_"):].split("_"))


class Header:
    """What redlock.h declares. `functions` has the types of results and arguments."""

    def __init__(self) -> None:
        with open(_HEADER, encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        text = re.sub(r"^#[^\n]*(\\\n[^\n]*)*", "", text, flags=re.MULTILINE)
        self.numbers: dict[str, int] = {}
        for body in re.findall(r"\benum \{(.*?)\}", text, re.S):
            self.numbers.update((name, int(value)) for name, value in
                                re.findall(r"REDLOCK_(\w+) = (\d+)", body))
        self._types = dict(_PLAIN)
        for kind, name in re.findall(r"typedef (\w+) (redlock_\w+);", text):
            self._types[name] = _PLAIN[kind]
        bodies = re.findall(r"typedef struct (redlock_\w+) \{(.*?)\} \1;", text, re.S)
        self.structs: dict[str, Any] = {}
        for name, _ in bodies:
            self.structs[name] = self._types[name] = type(_title(name), (ctypes.Structure,), {})
        self.callbacks = {name: self.callback(result, arguments) for result, name, arguments in
                          re.findall(r"typedef (\w+) \(\*(redlock_\w+)\)\((.*?)\);", text, re.S)}
        self._types.update(self.callbacks)
        for name, body in bodies:
            fields = []
            for declaration in filter(None, map(str.strip, body.split(";"))):
                found = re.search(r"\(\*(\w+)\)|(\w+)$", declaration)
                assert found
                fields.append((found[1] or found[2], self.type_of(declaration)))
            self.structs[name]._fields_ = fields
        self.functions = {
            name: (self.type_of(result), self.types_of(arguments)) for result, name, arguments in
            re.findall(r"REDLOCK_C_(?:EXPORT|CHECKED)\s+([\w\s*]+?)\s*(redlock_\w+)"
                       r"\(((?:[^()]|\([^()]*\))*)\);", text, re.S)}

    def type_of(self, declaration: str) -> Any:
        """The type of "const char* const* names", "void (*call)(void* context)", or a mere type."""
        pointer = re.match(r"\s*(\w+) \(\*\w*\)\((.*)\)\s*$", declaration, re.S)
        if pointer:
            return self.callback(*pointer.groups())
        words = re.sub(r"\b(const|struct)\b", " ", declaration).strip()
        name, stars = re.match(r"(\w+)\s*((?:\*\s*)*)", words).groups()  # type: ignore[union-attr]
        depth = stars.count("*")
        if depth and name == "char" and "const" not in declaration:
            # A text that the caller frees: a c_char_p would lose its address.
            kind: Any = ctypes.c_void_p
            depth -= 1
        elif depth and name == "char":
            kind = ctypes.c_char_p
            depth -= 1
        elif depth and self._types.get(name) is None:  # void, or a handle
            kind = ctypes.c_void_p
            depth -= 1
        else:
            kind = self._types[name]
        for _ in range(depth):
            kind = ctypes.POINTER(kind)
        return kind

    def types_of(self, arguments: str) -> list[Any]:
        if arguments.strip() == "void":
            return []
        return [self.type_of(one) for one in
                re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+", arguments)]

    def callback(self, result: str, arguments: str) -> Any:
        return ctypes.CFUNCTYPE(self.type_of(result), *self.types_of(arguments))


header = Header()
OK = header.numbers["OK"]
NODE_EVENT_KINDS, EVENT_LEVELS, OBSERVATION_KINDS = (
    tuple(name[len(prefix):].lower() for name in header.numbers if re.match(of_it, name))
    for prefix, of_it in (("NODE_", "NODE_"), ("LEVEL_", "LEVEL_"),
                          ("", "(ACQUIRE|HOLD|LEASE)_(BEGAN|ENDED|LOST)")))


def _member(struct: str, name: str) -> Any:
    return dict(header.structs[struct]._fields_)[name]


NodeEventCallback = _member("redlock_client_options", "on_node_event")
ObservationCallback = _member("redlock_client_options", "on_observation")
CredentialsCallback = _member("redlock_client_options", "on_credentials")
AtRiskCallback = _member("redlock_acquire_options", "on_at_risk")
LostCallback = _member("redlock_acquire_options", "on_lost")
ProgressCallback = _member("redlock_change_options", "on_progress")
WatchCallback = header.functions["redlock_watch"][1][3]
LeaderCallback = header.functions["redlock_election_observe"][1][1]

globals().update({_title(name): kind
                  for name, kind in (*header.structs.items(), *header.callbacks.items())})
globals().update(header.numbers)


def __getattr__(name: str) -> Any:  # tells mypy that there is more than it sees
    raise AttributeError(name)
