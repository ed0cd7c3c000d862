"""Credentials that change while clients run: of a callable, and of a file."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import unittest
from pathlib import Path

import quorum_redlock
from case import PATIENT, run_python, shared_nodes
from nodes import Node, Nodes, eventually
from quorum_redlock import aio, deployment


class Rotating:
    """The password of nodes."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.password = ""

    def rotate(self, password: str) -> None:
        """Sets the password and ends all connections, so that each client needs it now."""
        for node in self.nodes:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.connect(node.socket)
                words = f"CONFIG SET requirepass {password}\r\nCLIENT KILL TYPE normal\r\nQUIT\r\n"
                if self.password:
                    words = f"AUTH {self.password}\r\n{words}"
                link.sendall(words.encode())
                while link.recv(4096):
                    pass
        self.password = password


def extended(lease: quorum_redlock.Lease) -> bool:
    try:
        lease.extend(20)
    except quorum_redlock.RedlockError:
        return False
    return not lease.lost.is_set()


class Credentials(unittest.TestCase):
    def setUp(self) -> None:
        nodes = Nodes(5)
        self.addCleanup(nodes.close)
        self.urls = nodes.urls
        self.rotating = Rotating(list(nodes.nodes))

    def test_a_callable_over_a_rotation_and_the_death_of_a_minority(self) -> None:
        asked = set()

        def provide(url: str) -> tuple[str, str]:
            asked.add((url, threading.current_thread() is threading.main_thread()))
            return "default", self.rotating.password

        self.rotating.rotate("first")
        with quorum_redlock.Client(self.urls, credentials=provide, **PATIENT) as client:
            lease = client.acquire("r", ttl=20)
            self.rotating.rotate("second")
            eventually(lambda: extended(lease))
            for _ in range(2):
                self.rotating.nodes.pop().kill()
            self.rotating.rotate("third")
            eventually(lambda: extended(lease))
            lease.release()
        self.assertEqual(asked, {(url, False) for url in self.urls})
        listed = deployment.list_locks(self.urls, credentials=lambda url: self.rotating.password)
        self.assertEqual((len(listed.locks), listed.complete), (0, True))

    def test_a_file_that_is_replaced(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "password")
            file.write_text("first\n")
            self.rotating.rotate("first")
            with quorum_redlock.Client(self.urls, password_file=file, **PATIENT) as client:
                lease = client.acquire("r", ttl=20)
                Path(folder, "next").write_text("second\n")
                os.rename(Path(folder, "next"), file)
                self.rotating.rotate("second")
                eventually(lambda: extended(lease))


class AioCredentials(unittest.IsolatedAsyncioTestCase):
    async def test_a_callable_runs_beside_the_event_loop(self) -> None:
        threads = set()

        def provide(url: str) -> str:
            threads.add(threading.current_thread())
            return ""

        async with aio.Client(shared_nodes().urls, credentials=provide, **PATIENT) as client:
            async with client.lock("aio-credentials"):
                pass
        self.assertNotIn(threading.current_thread(), threads)
        self.assertTrue(threads)


class BadCredentials(unittest.TestCase):
    def message_of(self, credentials: object) -> str:
        with quorum_redlock.Client(shared_nodes().urls, credentials=credentials,
                                   **PATIENT) as client:
            with self.assertRaises(quorum_redlock.UnavailableError) as caught:
                client.acquire("r", wait=0)
        return str(caught.exception)

    def test_what_fails_is_named_and_nothing_is_shown(self) -> None:
        def seal(url: str) -> str:
            raise OSError("the vault\nis sealed")

        self.assertIn("no credentials: the vault is sealed", self.message_of(seal))
        for wrong in (None, b"s3cret", ("user", 1), ("a", "s3cret", "c"), "s3cret\0"):
            message = self.message_of(lambda url: wrong)
            self.assertIn("no credentials: credentials returned a ", message)
            self.assertNotIn("s3cret", message)

    def test_a_mistake_is_named(self) -> None:
        with self.assertRaisesRegex(TypeError, "credentials is 'x'; a callable is needed"):
            quorum_redlock.Client(["localhost"], credentials="x")  # type: ignore[typeddict-item]
        with self.assertRaisesRegex(quorum_redlock.InvalidArgumentError,
                                    "credentials: not together with a password"):
            quorum_redlock.Client(["localhost"], password="x", credentials=lambda url: "x")


class Ends(unittest.TestCase):
    def test_a_program_ends_while_a_callable_hangs(self) -> None:
        ended = run_python(
            "import sys, threading, quorum_redlock\n"
            "asked = threading.Event()\n"
            "def hang(url):\n"
            "    asked.set()\n"
            "    threading.Event().wait()\n"
            "client = quorum_redlock.Client(sys.argv[1:], credentials=hang)\n"
            "asked.wait()\n"
            "client.close()\n"
            "left = quorum_redlock.Client(sys.argv[1:], credentials=hang)\n", *shared_nodes().urls)
        self.assertEqual((ended.returncode, ended.stdout), (0, ""), ended.stderr)
