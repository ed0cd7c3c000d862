"""The deployment as a whole, for operators: quorum_redlock.deployment for asyncio.

The calls run in threads of the loop's default executor. `on_progress` is called in the loop. If the
task of a change is cancelled, the change stops, and the task goes on when it has: a change that
ended early is resumed by the same call."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Callable, Iterable, TYPE_CHECKING, TypeVar

from .. import deployment
from .._arguments import Duration
from .._waiting import Stop
from ..deployment import ChangeProgress, DeploymentCheck, LockList, Membership
from ..options import ClientOptions
from ._answers import deliver_to

if TYPE_CHECKING:
    from typing_extensions import Unpack

_T = TypeVar("_T")


async def _in_thread(call: Callable[[], _T]) -> _T:
    return await asyncio.get_running_loop().run_in_executor(None, call)


async def _change(call: Callable[..., _T],
                  on_progress: Callable[[ChangeProgress], Any] | None) -> _T:
    loop, stop = asyncio.get_running_loop(), Stop()
    if on_progress is not None:
        call = partial(call, on_progress=partial(deliver_to(loop), on_progress))
    change = loop.run_in_executor(None, partial(call, stop=stop))
    # A cancelled task does not look at the error, which asyncio would log then.
    change.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        return await asyncio.shield(change)
    except BaseException:  # cancelled, or a handler of a signal has raised
        stop.request()
        await asyncio.wait([change])
        raise


async def check(nodes: Iterable[str], **options: Unpack[ClientOptions]) -> DeploymentCheck:
    """See quorum_redlock.deployment.check."""
    return await _in_thread(partial(deployment.check, nodes, **options))


async def bootstrap(nodes: Iterable[str], *, after_loss: bool = False,
                    patience: Duration | None = None,
                    on_progress: Callable[[ChangeProgress], Any] | None = None,
                    **options: Unpack[ClientOptions]) -> DeploymentCheck:
    """See quorum_redlock.deployment.bootstrap."""
    return await _change(partial(deployment.bootstrap, nodes, after_loss=after_loss,
                                 patience=patience, **options), on_progress)


async def members(nodes: Iterable[str], **options: Unpack[ClientOptions]) -> Membership:
    """See quorum_redlock.deployment.members."""
    return await _in_thread(partial(deployment.members, nodes, **options))


async def replace_member(nodes: Iterable[str], leaving: str, entering: str, *,
                         patience: Duration | None = None,
                         on_progress: Callable[[ChangeProgress], Any] | None = None,
                         **options: Unpack[ClientOptions]) -> Membership:
    """See quorum_redlock.deployment.replace_member."""
    return await _change(partial(deployment.replace_member, nodes, leaving, entering,
                                 patience=patience, **options), on_progress)


async def add_member(nodes: Iterable[str], entering: str, *, patience: Duration | None = None,
                     on_progress: Callable[[ChangeProgress], Any] | None = None,
                     **options: Unpack[ClientOptions]) -> Membership:
    """See quorum_redlock.deployment.add_member."""
    return await _change(partial(deployment.add_member, nodes, entering, patience=patience,
                                 **options), on_progress)


async def remove_member(nodes: Iterable[str], leaving: str, *, patience: Duration | None = None,
                        on_progress: Callable[[ChangeProgress], Any] | None = None,
                        **options: Unpack[ClientOptions]) -> Membership:
    """See quorum_redlock.deployment.remove_member."""
    return await _change(partial(deployment.remove_member, nodes, leaving, patience=patience,
                                 **options), on_progress)


async def list_locks(nodes: Iterable[str], pattern: str | None = None, *, keys_per_node: int = 0,
                     **options: Unpack[ClientOptions]) -> LockList:
    """See quorum_redlock.deployment.list_locks."""
    return await _in_thread(partial(deployment.list_locks, nodes, pattern,
                                    keys_per_node=keys_per_node, **options))
