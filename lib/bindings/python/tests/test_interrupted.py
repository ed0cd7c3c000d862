"""Signal handlers that raise: at every bytecode, and at random instants."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import unittest
from typing import Any, Callable

import quorum_redlock
from case import ClientCase, environment, shared_nodes
from nodes import eventually
from quorum_redlock._threads import make_event

SIGNALS = int(os.environ.get("STORM_SIGNALS", 300))
_INTERRUPTED = (os.path.dirname(quorum_redlock.__file__), threading.__file__)


class Limit(Exception):
    pass


class _Interruption:
    """Raises before one bytecode of a function, or of a function of the package or of threading
    that runs meanwhile on this thread. CPython calls handlers of signals at fewer places, which its
    versions choose."""

    def __init__(self, function: Callable[[], object], at: int) -> None:
        self._function = function
        self._left = at

    def run(self, call: Callable[[], object]) -> Limit | None:
        sys.settrace(self._trace)
        try:
            call()
        except Limit as error:
            return error
        finally:
            sys.settrace(None)
        return None

    @property
    def came(self) -> bool:
        return self._left == 0

    def _trace(self, frame: Any, event: str, _: object) -> Any:
        code = frame.f_code
        if code is not self._function.__code__ and not code.co_filename.startswith(_INTERRUPTED):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            self._left -= 1
            if self._left == 0:
                sys.settrace(None)
                raise Limit
        return self._trace


class EveryBytecode(ClientCase):
    """The program keeps its lock objects and its variables."""

    def setUp(self) -> None:
        super().setUp()
        before = sys.unraisablehook
        self.addCleanup(setattr, sys, "unraisablehook", before)
        sys.unraisablehook = lambda what: None if what.exc_type is Limit else before(what)

    def interrupt(self, function: Callable[[], object], call: Callable[[], object] | None = None,
                  *, keeps_error: bool = False) -> None:
        for at in itertools.count(1):
            interruption = _Interruption(function, at)
            kept = [interruption.run(call or function)]
            if not interruption.came:
                break
            if not keeps_error:
                kept.clear()
            eventually(lambda: self.nodes.count_with(self.resource, "") == 3,
                       f"held after an exception before bytecode {at}")
        self.assertGreater(at, 300)

    def test_of_a_block_of_a_lock(self) -> None:
        """The lock is free although the exception, and so each frame, still exists."""
        lock, kept = self.client.lock(self.resource, ttl=30), []

        def block() -> None:
            with lock as lease:
                kept[:] = [lease]

        self.interrupt(block, keeps_error=True)
        self.assertFalse(lock.locked())

    def test_of_a_block_of_a_lease(self) -> None:
        kept: list[quorum_redlock.Lease] = []

        def block() -> None:
            with self.client.acquire(self.resource, ttl=30) as lease:
                kept[:] = [lease]

        self.interrupt(block)

    def test_of_a_block_of_a_leadership(self) -> None:
        election, kept = self.client.election(self.resource, ttl=30), []

        def block() -> None:
            with election.campaign() as leadership:
                kept[:] = [leadership]

        self.interrupt(block)

    def test_of_calls_without_a_block(self) -> None:
        """As PYTHON.md recommends."""
        lock = self.client.lock(self.resource, ttl=30)

        def call() -> None:
            if lock.acquire():
                lock.release()

        def call_and_make_good() -> None:
            try:
                call()
            except Limit:
                if lock.lease is not None:
                    lock.release()
                raise

        self.interrupt(call, call_and_make_good)
        self.assertFalse(lock.locked())


class Events(unittest.TestCase):
    def test_an_interrupted_wait_leaves_no_lock(self) -> None:
        for at in itertools.count(1):
            event = make_event()

            def wait() -> None:
                event.wait(0.001)

            interruption = _Interruption(wait, at)
            interruption.run(wait)
            setter = threading.Thread(target=event.set, daemon=True)
            setter.start()
            setter.join(30)
            self.assertFalse(setter.is_alive(), f"interrupted before bytecode {at}")
            self.assertTrue(event.wait(30))
            if not interruption.came:
                break


class Storms(unittest.TestCase):
    """The same seed draws the same calls and delays."""

    def storm(self, mode: str, seed: int) -> dict[str, Any]:
        print(f"storm of {SIGNALS} signals, {mode}, seed {seed} ... ", end="", file=sys.stderr,
              flush=True)
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "storm.py")
        command = [sys.executable, "-W", "ignore", program, mode, str(seed), str(SIGNALS),
                   *shared_nodes().urls]
        try:
            run = subprocess.run(command, env=environment(), capture_output=True, text=True,
                                 timeout=330)
        except subprocess.TimeoutExpired as hung:
            self.fail(f"it hangs: {hung.stderr}")
        self.assertEqual(run.returncode, 0, run.stderr)
        seen: dict[str, Any] = json.loads(run.stdout)
        self.assertGreaterEqual(seen["raised"], SIGNALS)
        self.assertEqual((seen["failures"], seen["left"]), ([], []))
        self.assertLessEqual(seen["threads"], 4)  # idle workers
        return seen

    def test_of_the_blocking_client(self) -> None:
        seen = self.storm("main", 1)
        # No finalizer of an ordinary call has taken the exception of a time limit.
        self.assertEqual([name for name in seen["swallowed"] if re.search("Lease|Stop|lru", name)],
                         [])

    def test_of_asyncio(self) -> None:
        self.storm("aio", 1)

    @unittest.skipIf(importlib.util.find_spec("gevent") is None, "gevent is not installed")
    def test_of_gevent(self) -> None:
        self.storm("gevent", 1)


if __name__ == "__main__":
    unittest.main()
