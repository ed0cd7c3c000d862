"""The exceptions: one for each outcome that is a failure."""

from __future__ import annotations

from ctypes import POINTER, byref
from typing import Any, cast

from . import _structs
from ._library import lib, text
from .literals import ErrorCode
from .reports import NodeVote, Round, round_from


class RedlockError(Exception):
    """An operation failed. `str(error)` is one line for people; the class, or `code`, is for
    programs."""

    code: ErrorCode = "unknown"  #: as the command `quorum-lock` and the C interface call it

    def __init__(self, message: str, *, code: ErrorCode | None = None, holder_name: str = "",
                 round: Round | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        #: The holder's name for people; empty: not known, see `name_holders`.
        self.holder_name = holder_name
        #: The last round, with the vote of every node. None: nothing was sent.
        self.round = round

    @property
    def votes(self) -> tuple[NodeVote, ...]:
        """The votes of the last round, in the order of the nodes; empty if nothing was sent."""
        return self.round.votes if self.round else ()

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self.message, self.code, self.holder_name, self.round)


def _rebuilt(kind: type[RedlockError], message: str, code: ErrorCode, holder_name: str,
             round: Round | None) -> RedlockError:  # for pickle
    return kind(message, code=code, holder_name=holder_name, round=round)


class NotGrantedError(RedlockError):
    """No lease was granted. The subclasses say why; a later attempt may succeed. If the wait was
    bounded, it is also a TimeoutError of Python."""


class HeldError(NotGrantedError):
    """A majority has another holder: wait."""

    code = "held"


class SplitError(NotGrantedError):
    """Contenders divided the nodes and none has a majority: try again soon."""

    code = "split"


class UnavailableError(NotGrantedError):
    """Too few nodes answered; `votes` says which did not, and why. Releases and inspections raise
    it, too."""

    code = "unavailable"


class ExpiredError(NotGrantedError):
    """A quorum granted, too late for a valid lease: raise the TTL."""

    code = "expired"


class ExcludedError(NotGrantedError):
    """Guards leave too few voters; `votes` says which and why."""

    code = "excluded"


class HeldTimeoutError(HeldError, TimeoutError):
    """HeldError, at the end of a bounded wait."""


class SplitTimeoutError(SplitError, TimeoutError):
    """SplitError, at the end of a bounded wait."""


class UnavailableTimeoutError(UnavailableError, TimeoutError):
    """UnavailableError, at the end of a bounded wait."""


class ExpiredTimeoutError(ExpiredError, TimeoutError):
    """ExpiredError, at the end of a bounded wait."""


class ExcludedTimeoutError(ExcludedError, TimeoutError):
    """ExcludedError, at the end of a bounded wait."""


class NotHolderError(RedlockError):
    """The lock is not, or no longer, this token's; or this thread or task does not hold it."""

    code = "not_holder"


class LeaseLostError(NotHolderError):
    """A lease was lost before its block ended: what the block did was not protected to its end."""


class StoppedError(RedlockError):
    """A Stop was requested."""

    code = "cancelled"


class ClosedError(RedlockError):
    """The client is closed."""

    code = "closed"


class ForkedError(RedlockError):
    """The client belongs to the parent process: a child of fork() needs one of its own."""

    code = "forked"


class WouldBlockError(RedlockError):
    """A blocking call inside a callback of the library would wait for itself, or a thread or task
    for a lock that it holds."""

    code = "would_block"


class InvalidArgumentError(RedlockError, ValueError):
    """Nothing was sent; the message names the argument."""

    code = "invalid_argument"


class LimitReachedError(RedlockError):
    """A limit of the library, or of a lease's renewals; the message names it."""

    code = "limit_reached"


class NoMemoryError(RedlockError, MemoryError):
    """The memory is exhausted."""

    code = "no_memory"


class InternalError(RedlockError):
    """A mistake in the library; the message says which."""

    code = "internal"


_BY_STATUS: dict[int, type[RedlockError]] = {
    1: HeldError, 2: SplitError, 3: UnavailableError, 4: ExpiredError, 5: ExcludedError,
    6: NotHolderError, 7: StoppedError, 8: ClosedError, 9: ForkedError, 10: WouldBlockError,
    11: InvalidArgumentError, 12: LimitReachedError, 1000: NoMemoryError, 1001: InternalError,
}
_TIMED_OUT: dict[type[RedlockError], type[NotGrantedError]] = {
    HeldError: HeldTimeoutError, SplitError: SplitTimeoutError,
    UnavailableError: UnavailableTimeoutError, ExpiredError: ExpiredTimeoutError,
    ExcludedError: ExcludedTimeoutError,
}


def timed_out(failure: NotGrantedError) -> NotGrantedError:
    """The failure as the error of a bounded wait that has ended."""
    return _TIMED_OUT[type(failure)](failure.message, code=failure.code,
                                     holder_name=failure.holder_name, round=failure.round)


def error_from(pointer: Any, status: int = 0) -> RedlockError:
    """Reads a redlock_error, and leaves it to its owner. If there is none, only `status` is
    known."""
    seen = pointer.contents if pointer else None
    status = status if seen is None else seen.status
    code = cast(ErrorCode, text(lib.redlock_status_name(status)))
    if seen is None:
        return _BY_STATUS.get(status, RedlockError)(code, code=code)
    return _BY_STATUS.get(status, RedlockError)(
        text(seen.message), code=code, holder_name=text(seen.holder_name),
        round=round_from(seen.round) if seen.round else None)


def taken_error(pointer: Any, status: int = 0) -> RedlockError:
    """Reads a redlock_error and frees it."""
    try:
        return error_from(pointer, status)
    finally:
        lib.redlock_error_free(pointer)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last argument is a redlock_error**, and raises what it reports."""
    error = POINTER(_structs.Error)()
    status = function(*arguments, byref(error))
    if status != _structs.OK:
        raise taken_error(error, status)
