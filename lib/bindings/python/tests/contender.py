"""The package as a contender of `quorum-lock chaos --contender-command 'python3 contender.py'`: the
contract is in tools/docs/CLI.md. Half of the starts use threads, half of them asyncio."""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import itertools
import os
import random
import sys
import threading
import time
from typing import Any

import quorum_redlock
import quorum_redlock.aio

FOLDER = os.environ["QUORUM_LOCK_CHAOS_FOLDER"]
HEALED = os.environ["QUORUM_LOCK_CHAOS_HEALED"]
RESOURCES = os.environ["QUORUM_LOCK_CHAOS_RESOURCES"].split(",")
NODES = os.environ["QUORUM_LOCK_NODES"].split(",")
SEED = int(os.environ["QUORUM_LOCK_CHAOS_SEED"])
MAX_TTL = int(os.environ["QUORUM_LOCK_CHAOS_MAX_TTL_MS"]) / 1000
LONGEST = min(0.8, MAX_TTL)
CLOCK = getattr(time, "CLOCK_BOOTTIME", None)
OFFSET = 0 if CLOCK is not None else int(os.environ["QUORUM_LOCK_CHAOS_CLOCK_OFFSET_NS"])

_history = os.open(os.environ["QUORUM_LOCK_CHAOS_HISTORY"],
                   os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
_numbers = itertools.count(1)
_keeping = ctypes.PyDLL(None)


def now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC if CLOCK is None else CLOCK) + OFFSET


def record(*words: object) -> None:
    os.write(_history, (" ".join(map(str, words)) + "\n").encode())


def keep_the_interpreters_lock(draw: random.Random, ttl: float) -> None:
    """Now and then keeps the lock, at times for longer than a lease lasts without renewals."""
    if draw.random() < 0.05:
        _keeping.usleep(round(draw.uniform(0, 1.5 * ttl) * 1e6))


class Holding:
    """A lease as the history knows it."""

    def __init__(self, resource: str, lease: Any, ttl: float, asked: int) -> None:
        self.number = next(_numbers)
        self.resource = resource
        self.lease = lease
        self._until = self._deadline()
        record("granted", self.number, resource, asked, now(), self._until, round(ttl * 1e9), 0)
        record("token", self.number, lease.token)

    def _deadline(self) -> int:
        return int(self.lease.valid_until * 1e9)

    def valid(self) -> bool:
        asked = now()
        if not self.lease.valid:
            return False
        self.extended()
        record("used", self.number, asked)
        return True

    def extended(self) -> None:
        """Records an extension, if there was one, by a call or in the background."""
        until = self._deadline()
        if until > self._until:
            self._until = until
            record("deadline", self.number, now(), until)

    def ends(self) -> None:
        record("ended", self.number, now(), "released")

    def update(self) -> None:
        """Adds one to the counter of the resource."""
        name = self.resource.replace("/", "-")
        with open(f"{FOLDER}/{name}.counter", "r+b", buffering=0) as file:
            before = file.read()
            if not self.valid():  # only a value read before the lease ended counts
                return
            value, token = (before or b"0 0").split()
            after = b"%020d %020d\n" % (int(value) + 1, int(token))
            record("trying", self.number, now())
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            took = file.read() == before
            if took:
                file.seek(0)
                file.write(after)
            fcntl.flock(file, fcntl.LOCK_UN)
        record("wrote" if took else "refused", self.number, now())


def hold_once(client: quorum_redlock.Client, resource: str, draw: random.Random) -> bool:
    ttl, asked = round(draw.uniform(0.2, LONGEST), 3), now()
    try:
        lease = client.acquire(resource, ttl=ttl, wait=draw.choice([0, 0.1, 1]),
                               renew=draw.random() < 0.5)
    except quorum_redlock.NotGrantedError as error:
        record("failed", resource, asked, now(), error.code)
        return False
    holding = Holding(resource, lease, ttl, asked)
    keep_the_interpreters_lock(draw, ttl)
    for _ in range(draw.randint(1, 3)):
        holding.update()
        time.sleep(draw.uniform(0, 0.01))
    if draw.random() < 0.25 and holding.valid():
        try:
            lease.extend(ttl)
            holding.extended()
        except quorum_redlock.RedlockError:
            pass
        holding.update()
    if draw.random() < 0.1:
        while holding.valid() and draw.random() < 0.98:
            time.sleep(0.01)
    if holding.valid():
        holding.ends()
        try:
            lease.release()
        except quorum_redlock.RedlockError:
            pass
    return True


async def hold_once_async(client: quorum_redlock.aio.Client, resource: str,
                          draw: random.Random) -> bool:
    ttl, asked = round(draw.uniform(0.2, LONGEST), 3), now()
    try:
        # Some give up earlier than the call does.
        lease = await asyncio.wait_for(
            client.acquire(resource, ttl=ttl, wait=1, renew=draw.random() < 0.5),
            draw.choice([0.05, 2]))
    except (quorum_redlock.NotGrantedError, asyncio.TimeoutError) as error:
        record("failed", resource, asked, now(), getattr(error, "code", "timeout"))
        return False
    holding = Holding(resource, lease, ttl, asked)
    keep_the_interpreters_lock(draw, ttl)
    for _ in range(draw.randint(1, 3)):
        holding.update()
        await asyncio.sleep(draw.uniform(0, 0.01))
    if holding.valid():
        holding.ends()
        try:
            await lease.release()
        except quorum_redlock.RedlockError:
            pass
    return True


def run_threads() -> None:
    with quorum_redlock.Client(NODES, max_ttl=MAX_TTL) as client:
        def contend(seed: int) -> None:
            draw = random.Random(seed)
            while not os.path.exists(HEALED):
                if not hold_once(client, draw.choice(RESOURCES), draw):
                    time.sleep(draw.uniform(0.001, 0.02))

        threads = [threading.Thread(target=contend, args=(SEED + i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        draw = random.Random(SEED)
        for resource in RESOURCES:
            while not hold_once(client, resource, draw):
                pass


async def run_tasks() -> None:
    async with quorum_redlock.aio.Client(NODES, max_ttl=MAX_TTL) as client:
        async def contend(seed: int) -> None:
            draw = random.Random(seed)
            while not os.path.exists(HEALED):
                if not await hold_once_async(client, draw.choice(RESOURCES), draw):
                    await asyncio.sleep(draw.uniform(0.001, 0.02))

        await asyncio.gather(*(contend(SEED + i) for i in range(3)))
        draw = random.Random(SEED)
        for resource in RESOURCES:
            while not await hold_once_async(client, resource, draw):
                pass


if SEED % 2:
    run_threads()
else:
    asyncio.run(run_tasks())
sys.exit(0)
