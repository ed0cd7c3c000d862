"""What can go wrong: one exception for each outcome."""

from __future__ import annotations

from ctypes import POINTER, byref

from . import _structs
from ._library import lib, text
from .reports import NodeVote, Round, round_from


class RedlockError(Exception):
    """An operation failed. `str(error)` is one line for people; the class, or `code`, is for
    programs."""

    code = "unknown"  #: as the command `quorum-lock` and the C interface call it

    def __init__(self, message: str, *, code: str = "", holder_name: str = "",
                 round: Round | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code:
            self.code = code
        #: What people call the holder. Only of a client with `name_holders`.
        self.holder_name = holder_name
        #: The last round, with the vote of every node. None: nothing was sent.
        self.round = round

    @property
    def votes(self) -> tuple[NodeVote, ...]:
        """The votes of the last round, in the order of the nodes; empty if nothing was sent."""
        return self.round.votes if self.round else ()

    def __reduce__(self):
        return _rebuilt, (type(self), self.message, self.code, self.holder_name, self.round)


def _rebuilt(kind, message, code, holder_name, round):  # for pickle
    return kind(message, code=code, holder_name=holder_name, round=round)


class NotGranted(RedlockError):
    """No lease was granted. The subclasses say why; a later attempt may succeed."""


class Held(NotGranted):
    """A majority has another holder: wait."""

    code = "held"


class Split(NotGranted):
    """Contenders divided the nodes and none has a majority: try again soon."""

    code = "split"


class Unavailable(NotGranted):
    """Too few nodes answered; `votes` says which did not, and why. Releases and inspections raise
    it, too."""

    code = "unavailable"


class Expired(NotGranted):
    """A quorum granted, too late for a valid lease: raise the TTL."""

    code = "expired"


class Excluded(NotGranted):
    """Guards leave too few voters; `votes` says which and why."""

    code = "excluded"


class NotHolder(RedlockError):
    """The lock is not, or no longer, this token's."""

    code = "not_holder"


class Cancelled(RedlockError):
    """The caller cancelled."""

    code = "cancelled"


class Closed(RedlockError):
    """The client is closed."""

    code = "closed"


class Forked(RedlockError):
    """The client belongs to the parent process: a child of fork() needs one of its own."""

    code = "forked"


class WouldBlock(RedlockError):
    """A blocking call inside a callback of the library would wait for itself."""

    code = "would_block"


class InvalidArgument(RedlockError, ValueError):
    """Nothing was sent; the message names the argument."""

    code = "invalid_argument"


class LimitReached(RedlockError):
    """A limit of the library, or of a lease's renewals; the message names it."""

    code = "limit_reached"


class NoMemory(RedlockError, MemoryError):
    """The memory is exhausted."""

    code = "no_memory"


class InternalError(RedlockError):
    """A mistake in the library; the message says which."""

    code = "internal"


_BY_STATUS = {
    1: Held, 2: Split, 3: Unavailable, 4: Expired, 5: Excluded, 6: NotHolder, 7: Cancelled,
    8: Closed, 9: Forked, 10: WouldBlock, 11: InvalidArgument, 12: LimitReached, 1000: NoMemory,
    1001: InternalError,
}


def error_from(pointer, status: int | None = None) -> RedlockError:
    """Reads a redlock_error, and leaves it to its owner. Where there is none, `status` is all that
    is known."""
    seen = pointer.contents if pointer else None
    status = status if seen is None else seen.status
    code = text(lib.redlock_status_name(status))
    if seen is None:
        return _BY_STATUS.get(status, RedlockError)(code, code=code)
    return _BY_STATUS.get(status, RedlockError)(
        text(seen.message), code=code, holder_name=text(seen.holder_name),
        round=round_from(seen.round) if seen.round else None)


def taken_error(pointer, status: int | None = None) -> RedlockError:
    """Reads a redlock_error and frees it."""
    try:
        return error_from(pointer, status)
    finally:
        lib.redlock_error_free(pointer)


def call(function, *arguments) -> None:
    """Calls a function whose last argument is a redlock_error**, and raises what it reports."""
    error = POINTER(_structs.Error)()
    status = function(*arguments, byref(error))
    if status != _structs.OK:
        raise taken_error(error, status)
