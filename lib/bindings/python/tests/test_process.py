"""Signals, fork(), the end of the interpreter, and its lock."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import signal
import threading
import unittest

import quorum_redlock
from case import PATIENT, ROOT, begin_python, fresh_resource, run_python, shared_nodes
from nodes import Nodes, eventually

_BEGIN = f"""
import os, signal, sys, threading, quorum_redlock
resource, nodes = sys.argv[1], sys.argv[2:]
def connect(): return quorum_redlock.Client(nodes, **{PATIENT!r})
"""


class ProcessCase(unittest.TestCase):
    def setUp(self) -> None:
        self.nodes = shared_nodes()
        self.client = quorum_redlock.Client(self.nodes.urls, **PATIENT)
        self.addCleanup(self.client.close)
        self.resource = fresh_resource()

    def run_program(self, program: str) -> str:
        run = run_python(_BEGIN + program, self.resource, *self.nodes.urls)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def waits(self) -> bool:
        return self.client.inspect(self.resource).waiters == 1


class Signals(ProcessCase):
    def interrupt_when(self, condition) -> None:
        main = threading.main_thread().ident

        def interrupt() -> None:
            eventually(condition)
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        self.addCleanup(thread.join)

    def test_ctrl_c_ends_a_wait(self) -> None:
        with self.client.lock(self.resource) as lease:
            self.interrupt_when(self.waits)
            with self.assertRaises(KeyboardInterrupt):
                self.client.acquire(self.resource)
            self.assertTrue(lease.valid)
        # The call has left nothing behind.
        self.client.acquire(self.resource, wait=30).release()

    def test_ctrl_c_ends_a_watch_and_a_campaign(self) -> None:
        watch = self.client.watch(self.resource)
        next(watch)
        ready = threading.Event()
        self.interrupt_when(ready.is_set)
        with self.assertRaises(KeyboardInterrupt):
            ready.set()
            next(watch)
        election = self.client.election(self.resource)
        with election.campaign():
            self.interrupt_when(self.waits)
            with self.assertRaises(KeyboardInterrupt):
                election.campaign()

    def test_a_handler_that_returns_ends_nothing(self) -> None:
        handled = threading.Event()
        before = signal.signal(signal.SIGUSR1, lambda *_: handled.set())
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        lease = self.client.acquire(self.resource)

        def release() -> None:
            eventually(self.waits)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            handled.wait(30)
            lease.release()

        thread = threading.Thread(target=release)
        thread.start()
        with self.client.lock(self.resource):
            self.assertTrue(handled.is_set())
        thread.join()

    def test_what_the_page_shows_for_sigterm_releases(self) -> None:
        with open(os.path.join(ROOT, "tools", "docs", "PYTHON.md"), encoding="utf-8") as file:
            page = file.read()
        shown = re.search(r"^```python\n(import signal\n.*?)^```", page, re.S | re.MULTILINE)[1]
        for program in ("""
with connect() as client, client.lock(resource, ttl=30):
    threading.Event().wait()
""", """
with connect() as client:
    held = client.acquire(resource)
    client.acquire(resource)
""", """
import asyncio, quorum_redlock.aio
async def main():
    async with quorum_redlock.aio.Client(nodes) as client, client.lock(resource, ttl=30):
        await asyncio.Event().wait()
asyncio.run(main())
"""):
            with self.subTest(program=program):
                end, begun = begin_python(_BEGIN + shown + program, self.resource, *self.nodes.urls)
                eventually(lambda: not self.free())
                if "acquire" in program:
                    eventually(self.waits)
                begun.send_signal(signal.SIGTERM)
                self.assertEqual(begun.wait(), 143)
                os.close(end)
                self.assertTrue(self.free())

    def free(self) -> bool:
        return self.client.inspect(self.resource).state == "free"


class Fork(ProcessCase):
    def test_a_child_has_no_client(self) -> None:
        program = """
client = connect()
lease = client.acquire(resource)
child = os.fork()
if child == 0:
    seen = []
    for call in (lambda: client.acquire("x"), lambda: client.inspect("x"), lease.release):
        try:
            call()
        except quorum_redlock.ForkedError as error:
            seen.append(error.code)
    with connect() as own, own.lock(resource + "-child"):
        seen.append(own.ownership(resource, lease.token))
    print(seen, flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1], lease.valid)
lease.release()
client.close()
"""
        self.assertEqual(self.run_program(program),
                         "['forked', 'forked', 'forked', True]\n0 True\n")

    def test_a_child_waits_for_no_thread_of_its_parent(self) -> None:
        """At the fork, another thread is in a call with the lease."""
        program = """
resource, pids, nodes = sys.argv[1], list(map(int, sys.argv[2].split(","))), sys.argv[3:]
client = connect()
lease = client.acquire(resource, ttl=30)
for pid in pids:
    os.kill(pid, signal.SIGSTOP)
thread = threading.Thread(target=lease.extend, args=(30,))
thread.start()
while not lease._turn.locked(): pass
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a child that waits
    for call in (lambda: lease.extend(30), lease.release):
        try:
            call()
        except quorum_redlock.ForkedError as error:
            print(error.code, flush=True)
    os._exit(0)
for pid in pids:
    os.kill(pid, signal.SIGCONT)
thread.join()
print(os.waitpid(child, 0)[1], lease.valid)
lease.release()
client.close()
"""
        with Nodes(3) as nodes:
            pids = ",".join(str(node.pid) for node in nodes.nodes)
            run = run_python(_BEGIN + program, self.resource, pids, *nodes.urls)
        self.assertEqual((run.stdout, run.stderr), ("forked\nforked\n0 True\n", ""))

    def test_a_child_of_asyncio_has_no_client(self) -> None:
        program = """
import asyncio, quorum_redlock.aio
async def begin():
    client = quorum_redlock.aio.Client(nodes)
    return client, await client.acquire(resource)
async def attempt(client):
    try:
        await client.acquire("x")
    except quorum_redlock.ForkedError as error:
        print(error.code, flush=True)
loop = asyncio.new_event_loop()
client, lease = loop.run_until_complete(begin())
child = os.fork()
if child == 0:
    asyncio.run(attempt(client))
    os._exit(0)  # at an ordinary end, asyncio closes the parent's loop: they share its epoll
print(os.waitpid(child, 0)[1], lease.valid)
loop.run_until_complete(client.close())
loop.close()
"""
        # On a busy machine, asyncio says on stderr which step was slow.
        run = run_python(_BEGIN + program, self.resource, *self.nodes.urls)
        self.assertEqual(run.stdout, "forked\n0 True\n", run.stderr)


class Ends(ProcessCase):
    def test_an_interpreter_ends_amid_everything(self) -> None:
        program = """
def report(*what): pass
client = connect()
leases = [client.acquire(resource + str(i), ttl=0.1, on_lost=report, on_at_risk=report)
          for i in range(50)]
observed = quorum_redlock.Client(nodes, on_node_event=report, on_observation=report)
held = observed.acquire(resource)
watch = client.watch(resource)
print(next(watch).state)
for call in (lambda: client.acquire(resource), lambda: list(watch),
             lambda: client.election(resource).campaign()):
    threading.Thread(target=call, daemon=True).start()
while not client.inspect(resource).waiters: pass
import asyncio, quorum_redlock.aio
async def main():
    global forgotten, lease, watching
    forgotten = quorum_redlock.aio.Client(nodes, on_observation=report)
    lease = await forgotten.acquire(resource + "-aio", ttl=0.1, on_lost=report)
    watching = forgotten.watch(resource)
    print((await watching.__anext__()).state)
asyncio.run(main())
"""
        run = run_python(_BEGIN + program, self.resource, *self.nodes.urls)
        self.assertEqual((run.returncode, run.stdout), (0, "held\nheld\n"), run.stderr)
        # The resource is free at once, before its TTL has passed.
        self.client.acquire(self.resource, wait=30).release()

    def test_the_end_releases(self) -> None:
        self.run_program("client = connect(); lease = client.acquire(resource, ttl=30)\n")
        self.assertEqual(self.client.inspect(self.resource).state, "free")

    def test_a_thread_that_has_just_begun_is_waited_for(self) -> None:
        # No other thread gets the interpreter's lock before the program ends.
        self.run_program("from quorum_redlock._threads import RealThread\n"
                         "sys.setswitchinterval(100)\n"
                         "for _ in range(20): RealThread(lambda: None, 't').begin()\n")

    def test_an_error_in_a_block_is_the_programs(self) -> None:
        run = run_python(_BEGIN + "with connect() as client, client.lock(resource): 1 / 0\n",
                         self.resource, *self.nodes.urls)
        self.assertIn("ZeroDivisionError", run.stderr)
        self.assertEqual(self.client.inspect(self.resource).state, "free")


class Interpreter(ProcessCase):
    def hold_the_lock_while_a_node_dies(self, client: quorum_redlock.Client, nodes: Nodes) -> None:
        """Holds it until the lease was renewed for longer than its TTL, or is gone."""
        program = """
import os, signal, sys
from nodes import command
victim, other, key = sys.argv[1:]
os.kill(int(victim), signal.SIGKILL)
left, renewals = 0, 0
while left >= 0 and renewals < 4:
    before, left = left, int(command(other, "PTTL", key)[1:])
    renewals += left > before
"""
        ends, helper = begin_python(program, str(nodes.nodes[0].pid), nodes.nodes[1].socket,
                                    self.resource)
        libc = ctypes.PyDLL(None)  # whose functions keep the interpreter's lock
        self.assertEqual(libc.read(ends, ctypes.create_string_buffer(1), ctypes.c_size_t(1)), 0)
        os.close(ends)
        self.assertEqual(helper.wait(), 0)

    def test_its_lock_holds_up_no_renewal(self) -> None:
        seen: list[object] = []
        options = {"on_node_event": seen.append, "on_observation": seen.append}
        with Nodes(3) as nodes, quorum_redlock.Client(nodes.urls, **PATIENT, **options) as client:
            # A renewal may be late by a second and more on a busy machine.
            with client.lock(self.resource, ttl=3, on_at_risk=seen.append) as lease:
                self.hold_the_lock_while_a_node_dies(client, nodes)
                self.assertTrue(lease.valid)
            eventually(lambda: any(getattr(event, "kind", "") == "down" for event in seen))

    def test_threads_share_a_lease(self) -> None:
        with self.client.lock(self.resource) as lease:
            seen = []
            threads = [threading.Thread(target=lambda: seen.extend(
                lease.valid and lease.remaining > 0 for _ in range(500))) for _ in range(4)]
            for thread in threads:
                thread.start()
            for _ in range(20):
                lease.extend(10)
            for thread in threads:
                thread.join()
            self.assertEqual(set(seen), {True})

    def test_a_release_beside_other_threads(self) -> None:
        for _ in range(20):
            lease = self.client.acquire(self.resource)
            threads = [threading.Thread(target=lambda: [lease.remaining for _ in range(200)])
                       for _ in range(3)]
            for thread in threads:
                thread.start()
            lease.release()
            for thread in threads:
                thread.join()

    def test_nothing_is_left_of_many_leases(self) -> None:
        from quorum_redlock import _callbacks
        gc.collect()
        before = len(_callbacks.contexts._objects)
        folder = f"/proc/{os.getpid()}/fd"
        files = len(os.listdir(folder)) if os.path.isdir(folder) else 0
        for _ in range(100):
            self.client.acquire(self.resource).release()
            with self.assertWarns(ResourceWarning):
                self.assertIsNotNone(self.client.try_acquire(self.resource + "-dropped"))
            with self.assertRaises(quorum_redlock.InvalidArgumentError):
                self.client.acquire("")
        self.assertEqual(len(_callbacks.contexts._objects), before)
        self.assertEqual(len(os.listdir(folder)) if files else 0, files)

    def test_nothing_of_c_is_left(self) -> None:
        libc = ctypes.CDLL(None)
        if not hasattr(libc, "mallinfo2"):
            self.skipTest("the C library does not say how much memory is allocated")

        class Info(ctypes.Structure):
            _fields_ = [(name, ctypes.c_size_t) for name in (
                "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                "fordblks", "keepcost")]

        libc.mallinfo2.restype = Info
        held = fresh_resource()
        lease = self.client.acquire(held)
        election = self.client.election(held)

        def turn() -> None:
            self.client.acquire(self.resource, name="x" * 60).release()
            self.assertIsNone(self.client.try_acquire(held))
            lease.extend(10)
            self.client.inspect(held)
            self.client.list_locks(held)
            election.leader()
            self.client.prometheus()
            quorum_redlock.deployment.check(self.nodes.urls)

        def allocated() -> int:
            return libc.mallinfo2().uordblks

        turns = 40
        for _ in range(turns):
            turn()
        # Memory that the library keeps for a while differs from turn to turn: the least counts.
        least = []
        for _ in range(3):
            before = allocated()
            for _ in range(turns):
                turn()
            least.append(allocated() - before)
        self.assertLess(min(least), turns * 200)


if __name__ == "__main__":
    unittest.main()
