"""Redis servers for tests and examples: on Unix sockets in a temporary folder, and killed with the
process that started them."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from typing import Callable

from quorum_redlock import deployment

_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    if hasattr(_libc, "prctl"):
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def command(path: str, *words: str) -> bytes:
    """The first 64 KiB of the raw reply of the server at a Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(180)
        link.connect(path)
        request = b"*%d\r\n" % len(words)
        for word in words:
            data = word.encode()
            request += b"$%d\r\n%s\r\n" % (len(data), data)
        link.sendall(request)
        return link.recv(65536)


class Node:
    """One server."""

    def __init__(self, folder: str, number: int) -> None:
        self._folder = os.path.join(folder, f"node{number}")
        os.mkdir(self._folder)
        self.socket = os.path.join(self._folder, "socket")
        self.url = f"unix://{self.socket}"
        self.start()

    def start(self) -> None:
        with open(os.path.join(self._folder, "log"), "ab") as log:
            self._process = subprocess.Popen(
                ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                 "--appendonly", "no", "--dir", self._folder], stdout=log, stderr=log,
                preexec_fn=_die_with_parent)
        eventually(self._answers, "a server does not answer")

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            raise RuntimeError(f"redis-server ended with {self._process.returncode}")
        try:
            return self.command("PING") == b"+PONG\r\n"
        except OSError:
            return False

    @property
    def pid(self) -> int:
        return self._process.pid

    def command(self, *words: str) -> bytes:
        return command(self.socket, *words)

    def value(self, key: str) -> str:
        """Empty if there is none."""
        reply = self.command("GET", key)
        return "" if reply.startswith(b"$-1") else reply.split(b"\r\n")[1].decode()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        try:
            os.unlink(self.socket)
        except FileNotFoundError:
            pass

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)


class Nodes:
    """Some servers, opened as a deployment as users have it unless a test is about new ones; a
    context manager that kills them."""

    def __init__(self, count: int = 3, *, opened: bool = True) -> None:
        if shutil.which("redis-server") is None:
            raise unittest.SkipTest("redis-server is not installed")
        self._folder = tempfile.mkdtemp(prefix="redlock-python-")
        self.nodes: list[Node] = []
        try:
            for number in range(count):
                self.nodes.append(Node(self._folder, number))
            if opened:
                deployment.bootstrap(self.urls)
        except BaseException:
            self.close()
            raise

    @property
    def urls(self) -> list[str]:
        return [node.url for node in self.nodes]

    def count_with(self, key: str, value: str) -> int:
        """How many nodes have this value."""
        return sum(node.value(key) == value for node in self.nodes)

    def close(self) -> None:
        for node in self.nodes:
            node.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Nodes:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()


def eventually(condition: Callable[[], object], what: str = "the condition does not hold") -> None:
    """Waits until the condition holds; half a minute is for ever."""
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(what)
        time.sleep(0.01)
