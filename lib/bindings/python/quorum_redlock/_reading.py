"""From the structs of C to dataclasses, whose members have the same names."""

from __future__ import annotations

import functools
from ctypes import c_char_p
from dataclasses import fields
from typing import Any, Callable, TypeVar

from ._library import from_ns, known, lib, text, text_or_none

_T = TypeVar("_T")
#: Members that are numbers in C, and the functions that name them.
_NAMES = {"kind": lib.redlock_lock_kind_name, "state": lib.redlock_state_name,
          "vote": lib.redlock_vote_name}


def read(kind: Callable[..., _T], struct: Any, /, **more: Any) -> _T:
    """The dataclass of a struct. `more`: the members that do not come from a single one of C."""
    members = {name: reader(getattr(struct, of_c))
               for name, of_c, reader in _members(kind, struct.__class__) if name not in more}
    return kind(**members, **more)


def parts(kind: Callable[..., _T], part: Callable[..., Any], whole: Any,
          count: int) -> tuple[_T, ...]:
    """The dataclasses of the parts of a list."""
    return tuple(read(kind, part(whole, i).contents) for i in range(count))


@functools.lru_cache(maxsize=None)
def _members(kind: Any, struct: Any) -> list[tuple[str, str, Callable[[Any], Any]]]:
    types = dict(struct._fields_)
    names = [(field.name, field.name + "_ns" * (field.name + "_ns" in types), field.type)
             for field in fields(kind)]
    return [(name, of_c, _reader(of_c, types[of_c], str(wanted).endswith("| None")))
            for name, of_c, wanted in names if of_c in types]


def _reader(of_c: str, kind: Any, can_be_none: bool) -> Callable[[Any], Any]:
    """None is NULL in C, or a negative number."""
    if kind is c_char_p:
        return text_or_none if can_be_none else text
    if of_c.endswith("_ns"):
        return known if can_be_none else from_ns
    if of_c in _NAMES:
        return lambda number: text(_NAMES[of_c](number))
    return lambda number: None if can_be_none and number < 0 else number
