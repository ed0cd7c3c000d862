"""Objects of C, which functions of C alone free.

The interpreter runs the handlers of signals between two bytecodes, so what a handler raises can
come between any two of them. If it comes before the first bytecode of a finalizer, the finalizer
does not run, and the exception is lost. The interpreter runs no handler inside a function of C.
What must not be left undone is therefore composed of functions of C: of dict, functools and
operator."""

from __future__ import annotations

import functools
import weakref
from ctypes import POINTER, byref, c_void_p
from operator import attrgetter, methodcaller
from types import SimpleNamespace
from typing import Any, Callable

from . import _callbacks
from . import _structs as s
from ._library import lib
from .errors import NoMemoryError, NotHolderError, RedlockError, taken_error

#: `list(map(CALL, (first, second)))` calls functions of C one after the other, with no bytecode in
#: between. The tuple is in no variable: a traceback keeps variables, and what they refer to.
CALL = methodcaller("__call__")


def method_of_c(function: Callable[..., Any]) -> Any:
    """A method that calls a function of C with its object, and runs no bytecode."""
    return functools.lru_cache(maxsize=0)(function)


class Owned(dict[str, c_void_p]):
    """Owns an object of C. A function of C gets it as an argument, and puts the object into
    `["pointer"]`."""

    _as_parameter_ = property(methodcaller("get", "pointer"))
    #: A user's finalizer may run after this one's, and must find no pointer.
    _taken = property(methodcaller("pop", "pointer", SimpleNamespace(freed=None)))
    #: Frees the object; again: does nothing.
    free = attrgetter("_taken.freed")
    __del__ = method_of_c(free)

    _pointer: type[c_void_p]

    def __init_subclass__(cls, free: Callable[[Any], Any]) -> None:
        cls._pointer = type("Pointer", (c_void_p,), {"freed": property(free)})

    def __init__(self) -> None:
        super().__init__(pointer=self._pointer())


class NativeStop(Owned, free=lib.redlock_stop_free):
    """A redlock_stop."""

    def __init__(self) -> None:
        super().__init__()
        self["pointer"].value = lib.redlock_stop_new()
        if not self["pointer"]:
            raise NoMemoryError("no memory")

    def request(self) -> None:
        lib.redlock_stop_request(self)


class StopAtEnd:
    """Requests a stop when its last reference ends."""

    def __init__(self, stop: NativeStop) -> None:
        self._as_parameter_ = stop

    __del__ = method_of_c(lib.redlock_stop_request)


class _OwnedLease(Owned, free=lib.redlock_lease_free):
    """A redlock_lease. Freed, it is released without waiting."""


class LeaseHandle(dict[str, _OwnedLease]):
    """The place of a lease, and the only one that refers to it: tracebacks keep frames, so no frame
    may refer to the lease itself, or it would stay held for as long as somebody has the exception.
    `clear` ends the lease without waiting. A function of C that keeps the interpreter's lock, and
    only reads, gets the handle as its argument."""

    __slots__ = ("context", "loss", "__weakref__")

    context: _callbacks.Context
    loss: RedlockError | None
    _as_parameter_ = property(methodcaller("get", "shown"))

    def prepare(self, signals: _callbacks.LeaseSignals) -> None:
        """Before C puts a lease into it."""
        self.loss = None
        signals.handle = weakref.ref(self)
        self.context = _callbacks.contexts.add(signals)
        owned = _OwnedLease()
        self.update(owned=owned, shown=owned)

    def fill(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a function whose last arguments are a redlock_lease** and a redlock_error**."""
        error = POINTER(s.Error)()
        # The last step keeps the place alive: somebody may clear the handle during the call.
        status, _ = list(map(CALL, (
            functools.partial(function, *arguments, byref(self.owned()["pointer"]), byref(error)),
            self.owned().__len__)))
        if status != s.OK:
            raise taken_error(error, status)

    @property
    def ended(self) -> bool:
        return "shown" not in self

    def hide(self) -> bool:
        """Claims the lease for the caller alone, who ends it. False: it has ended."""
        return self.pop("shown", None) is not None

    def owned(self) -> _OwnedLease:
        """For an argument, and not for a variable."""
        try:
            return self["owned"]
        except KeyError:
            raise NotHolderError("the lease has ended") from None
