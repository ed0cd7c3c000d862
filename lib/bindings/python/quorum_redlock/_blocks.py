"""The ends of with blocks.

A with statement keeps the `__exit__` that it has fetched until its block has ended, in whatever
way. So this object owns the block's lease, with a finalizer of C: if a handler of a signal raises
before the first bytecode of `__exit__`, or after the last one of `__enter__`, the lease ends with
the statement, although the lock object and the program's variables live on."""

from __future__ import annotations

import functools
import threading
import weakref
from operator import methodcaller
from typing import Any, Callable, Generic, TypeVar, overload

from ._owned import LeaseHandle, method_of_c

_R = TypeVar("_R")
_here = threading.local()


class _Guard:
    """Clears a handle when its last reference ends."""

    clear: Callable[[], Any] = dict  # in case that __init__ is cut off

    def __init__(self, handle: LeaseHandle) -> None:
        self.clear = handle.clear

    __del__ = method_of_c(methodcaller("clear"))


class _Exit(functools.partial[Any]):
    """What a with statement keeps."""

    owner: Any
    guard: _Guard
    handle: LeaseHandle


class exit_method(Generic[_R]):
    """Makes a method the `__exit__` of its class, whose `_handle_of_block` returns the handle for
    the lease of a block. `entered_handle` returns the same handle to `__enter__`, which the with
    statement calls next."""

    def __init__(self, method: Callable[..., _R]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, owner: None, kind: Any) -> Callable[[Any, Any, Any, Any], _R]: ...

    @overload
    def __get__(self, owner: object, kind: Any) -> Callable[[Any, Any, Any], _R]: ...

    def __get__(self, owner: Any, kind: Any) -> Any:
        if owner is None:
            return self._method
        handle = owner._handle_of_block()
        made = self._make(owner, _Guard(handle))
        made.owner, made.handle = owner, handle
        _here.fetched = weakref.ref(made)
        return made

    def _make(self, owner: Any, guard: _Guard) -> _Exit:
        made = _Exit(self._method, owner)
        made.guard = guard
        return made


class aexit_method(exit_method[_R]):
    """As exit_method, for `__aexit__`. The statement drops what it has fetched before the coroutine
    begins, so the coroutine gets the guard."""

    def _make(self, owner: Any, guard: _Guard) -> _Exit:
        return _Exit(self._method, owner, guard=guard)


def entered_handle(owner: Any) -> LeaseHandle:
    """For `__enter__`. If no with statement calls it, as in contextlib.ExitStack, the handle has no
    guard."""
    fetched = getattr(_here, "fetched", None)
    _here.fetched = None
    exit = None if fetched is None else fetched()
    if exit is None or exit.owner is not owner:
        return owner._handle_of_block()  # type: ignore[no-any-return]
    return exit.handle  # type: ignore[no-any-return]
