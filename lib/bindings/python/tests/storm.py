"""A program whose signal handler raises at random instants: storm.py MODE SEED SIGNALS NODE...

MODE is main, aio or gevent. It prints what is left after the storm, as JSON: test_interrupted.py
says what that has to be."""

from __future__ import annotations

import sys

if sys.argv[1] == "gevent":
    import gevent
    from gevent import monkey
    monkey.patch_all()

import asyncio  # noqa: E402
import faulthandler  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import random  # noqa: E402
import signal  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from typing import Any, Callable  # noqa: E402

import quorum_redlock  # noqa: E402
import quorum_redlock.aio  # noqa: E402
from case import PATIENT  # noqa: E402

MODE, SEED, SIGNALS, NODES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
DRAW = random.Random(SEED)
RESOURCES = ["a", "b", "c"]
NAMES = [*RESOURCES, "jobs", "config", "leader"]
#: Of the package's threads for calls, so many stay for later calls.
IDLE_WORKERS = 4


class Limit(Exception if MODE == "main" else KeyboardInterrupt):  # type: ignore[misc]
    """asyncio and gevent log an Exception that ends a callback of their own, and go on."""


class Storm:
    def __init__(self) -> None:
        self.raised = 0
        self.over = False
        self.calm = False
        self.seen = 0
        self.swallowed: list[str] = []
        self.failures: list[str] = []
        sys.unraisablehook = self._swallow
        signal.signal(signal.SIGALRM, self._handle)

    def _swallow(self, what: Any) -> None:
        if "Limit" in repr(what.exc_type):
            self.swallowed.append(repr(what.object))

    def next(self) -> None:
        if MODE == "gevent":
            return
        # Some follow each other closely, most find the program somewhere else.
        signal.setitimer(signal.ITIMER_REAL, 50e-6 + DRAW.expovariate(
            1 / DRAW.choice([100e-6, 2e-3, 5e-3])))

    def _handle(self, _: int, frame: Any) -> None:
        if self.over:
            return None
        if self.calm or frame is None or frame.f_code in (Storm.run.__code__, Storm.next.__code__):
            return self.next()  # what catches the exceptions is not interrupted
        self.raised += 1
        self.next()  # also after the last one that counts: a finalizer may swallow it
        raise Limit

    def _try(self, step: Callable[[], None]) -> None:
        if MODE != "gevent":
            return step()
        # gevent's own signals: a handler that raises can come between any two steps of gevent's.
        timeout = gevent.Timeout.start_new(DRAW.expovariate(1 / 2e-3), Limit)
        try:
            step()
        except Limit:
            self.raised += 1
            raise
        finally:
            timeout.close()

    def run(self, step: Callable[[], None]) -> None:
        """Repeats a step until the storm is over."""
        self.next()
        while True:
            try:
                while self.raised < SIGNALS:
                    self._try(step)
                self.over = True
                return
            except Limit:
                self.seen += 1
            except quorum_redlock.NotGrantedError:
                pass
            except quorum_redlock.RedlockError as error:  # a lock that it has left behind
                self.calm = True  # repr() has frames of its own
                self.failures.append(repr(error))
                self.calm = False


class Contender:
    """Takes the resources in turn, by a client of its own, so that the storm's calls wait."""

    def __init__(self) -> None:
        self._over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with quorum_redlock.Client(NODES, **PATIENT) as client:
            while not self._over:
                for resource in RESOURCES:
                    with client.lock(resource, ttl=30):
                        time.sleep(0.001)

    def stop(self) -> None:
        """A lease that garbage holds keeps it waiting. The end of a coroutine can make its client
        live on until the next collection."""
        self._over = True
        while self._thread.is_alive():
            gc.collect()
            self._thread.join(0.1)


class Calls:
    """The calls of a program that keeps its lock objects."""

    def __init__(self, client: quorum_redlock.Client) -> None:
        self._client = client
        self._locks = [client.lock(resource, ttl=30) for resource in RESOURCES]
        self._permit = client.lock(quorum_redlock.permit("jobs", 2), ttl=30)
        self._reader = client.lock(quorum_redlock.shared("config"), ttl=30)
        self._election = client.election("leader", ttl=30)
        self._lease: Any = None

    def step(self) -> None:
        DRAW.choice([self._block, self._block, self._lease_block, self._acquire, self._bounded,
                     self._attempt, self._extend, self._semaphore, self._read, self._lead])()

    def warm_up(self) -> None:
        for _ in range(20):
            try:
                self.step()
            except quorum_redlock.NotGrantedError:
                pass

    def _block(self) -> None:
        with DRAW.choice(self._locks) as self._lease:
            assert self._lease.valid

    def _lease_block(self) -> None:
        with self._client.acquire(DRAW.choice(RESOURCES), ttl=30) as self._lease:
            pass

    def _acquire(self) -> None:
        self._client.acquire(DRAW.choice(RESOURCES), ttl=30).release()

    def _bounded(self) -> None:
        lock = self._client.lock(DRAW.choice(RESOURCES), ttl=30)  # not kept: see the page
        if lock.acquire(timeout=0.003):
            lock.release()

    def _attempt(self) -> None:
        lease = self._client.try_acquire(DRAW.choice(RESOURCES), ttl=30)
        if lease is not None:
            lease.release()

    def _extend(self) -> None:
        with self._client.acquire("b", ttl=20) as lease:
            lease.extend(30)

    def _semaphore(self) -> None:
        with self._permit:
            pass

    def _read(self) -> None:
        with self._reader as self._lease:
            pass

    def _lead(self) -> None:
        with self._election.campaign() as self._lease:
            pass


async def tasks() -> None:
    async with quorum_redlock.aio.Client(NODES, **PATIENT) as client:
        locks = [client.lock(resource, ttl=30) for resource in RESOURCES]
        permit = client.lock(quorum_redlock.permit("jobs", 2), ttl=30)
        election = client.election("leader", ttl=30)

        async def work() -> None:
            for _ in range(5):
                async with DRAW.choice(locks):
                    pass
                async with permit, election.campaign():
                    pass
                lease = await client.acquire("b", ttl=20)
                await lease.extend(30)
                await lease.release()

        await asyncio.gather(work(), work())


def forget_tasks() -> None:
    """What asyncio keeps is not made for exceptions at any instant: the loop that runs, and the
    main task, in the handler of Ctrl-C."""
    asyncio.events._set_running_loop(None)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_tasks() -> None:
    forget_tasks()
    try:
        asyncio.run(tasks())
    except RuntimeError:
        pass


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def main() -> None:
    faulthandler.dump_traceback_later(300)
    logging.disable(logging.CRITICAL)  # an interrupted handler of logging keeps its lock
    storm = Storm()
    client = quorum_redlock.Client(NODES, **PATIENT)
    calls = Calls(client)
    contender = Contender()
    calls.warm_up()
    before = threads()
    storm.run(calls.step if MODE != "aio" else run_tasks)
    forget_tasks()
    contender.stop()
    deadline = time.monotonic() + 60
    while threads() > before + IDLE_WORKERS and time.monotonic() < deadline:
        time.sleep(0.01)
    grown, left = threads() - before, []
    with quorum_redlock.Client(NODES, **PATIENT) as other:
        for name in NAMES:
            try:  # an exclusive lock has no other holder of any kind
                other.acquire(name if name != "jobs" else quorum_redlock.all_of("jobs#0", "jobs#1"),
                              wait=60).release()
            except quorum_redlock.NotGrantedError as error:
                left.append(str(error))
    client.close()
    print(json.dumps({"raised": storm.raised, "seen": storm.seen, "swallowed": storm.swallowed,
                      "failures": storm.failures, "left": left, "threads": grown}))


main()
